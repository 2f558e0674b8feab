//! The one place where an answer that is no reply becomes an error with a kind.
//!
//! A provider's own code decides before the status, and the status before words in a text: words
//! are the weakest evidence, since a message may quote anything. What to do about a kind is the
//! loop's decision.

mod body;
mod headers;
mod kind;
mod remedy;

use std::sync::Arc;
use std::time::Duration;

use hermes_core::text;
use hermes_core::transport::{ErrorKind, Remedy, TransportError};

use crate::classify::body::Report;
use crate::limits::RateLimits;
use crate::mode::Fault;
use crate::secret::Mask;

pub(crate) use headers::kept;

/// Most characters of a page or other text that is no error object shown in a message.
const SNIPPET_CHARS: usize = 200;

/// Most bytes of a provider's own message that are repeated in ours.
const MESSAGE_BYTES: usize = 500;

/// What is known about an answer besides its body.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Host and port it came from.
    pub(crate) place: String,
    /// The HTTP status.
    pub(crate) status: u16,
    /// Its `Content-Type`; empty if there was none.
    pub(crate) content_type: String,
    /// The headers worth keeping.
    pub(crate) headers: Vec<(String, String)>,
    /// How long the provider asks us to wait.
    pub(crate) retry_after: Option<Duration>,
    /// Which key the request was sent with.
    pub(crate) credential: Option<u64>,
    /// The pace it allows.
    pub(crate) limits: Option<RateLimits>,
    /// Where a redirect points.
    pub(crate) location: Option<String>,
    /// Takes our credentials out of what the provider wrote.
    pub(crate) mask: Arc<Mask>,
}

impl Answer {
    /// The error for a status that is no success.
    pub(crate) fn refused(&self, body: &[u8]) -> TransportError {
        let body = String::from_utf8_lossy(body);
        let report = body::read(&body);
        let (code, said) = (report.code.as_deref(), report.message.as_deref());
        if (300..400).contains(&self.status) {
            return self.redirected(&body);
        }
        let (kind, remedy) = judge(Some(self.status), &report, &body);
        let told = match said {
            Some(said) => self.shown(said, MESSAGE_BYTES),
            None => self.page(&body),
        };
        let code_shown = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let advice = kind::advice(kind, Some(self.status));
        let message =
            format!("{} answered {}{code_shown}: {told}; {advice}", self.place, self.status);
        let error = self.error(kind, &message, &body);
        let retry_after = self.wait(kind, said.unwrap_or_default());
        TransportError { code: self.code(report.code), remedy, retry_after, ..error }
    }

    /// The error for a reply that turned out to be none.
    pub(crate) fn fault(&self, fault: &Fault) -> TransportError {
        match fault {
            Fault::Reported(json) => self.reported(json),
            Fault::Malformed { reason, text } => {
                let shown = self.snippet(text);
                let message = format!(
                    "{} sent something that is no reply ({reason}): {shown}; check that the base URL and the api mode fit the server",
                    self.place
                );
                self.error(ErrorKind::MalformedReply, &message, text)
            }
            Fault::Empty => self.empty(),
            Fault::Cut => {
                let message = format!(
                    "the stream from {} ended before the reply was complete; try again",
                    self.place
                );
                self.error(ErrorKind::Connection, &message, "")
            }
        }
    }

    /// The error for a success whose body is neither JSON nor an event stream.
    pub(crate) fn no_reply(&self, body: &[u8]) -> TransportError {
        let body = String::from_utf8_lossy(body);
        let message = format!(
            "{} answered {} with {}, which is no reply; check that the base URL is the API's",
            self.place,
            self.status,
            self.page(&body)
        );
        self.error(ErrorKind::MalformedReply, &message, &body)
    }

    /// The error for a success without any content.
    pub(crate) fn empty(&self) -> TransportError {
        let message = format!(
            "{} answered {} with {} and an empty reply; try again, or check the model and the base URL",
            self.place,
            self.status,
            self.media()
        );
        self.error(ErrorKind::EmptyReply, &message, "")
    }

    /// The error for an error object inside a success. Its code may itself be a status.
    fn reported(&self, json: &str) -> TransportError {
        let report = body::read(json);
        let status = report.status;
        let said = report.message.as_deref().unwrap_or(json);
        let (kind, remedy) = judge(status, &report, json);
        let code_shown = report.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
        let message = format!(
            "{} reported an error{code_shown}: {}; {}",
            self.place,
            self.shown(said, MESSAGE_BYTES),
            kind::advice(kind, status)
        );
        let error = self.error(kind, &message, json);
        let status = status.or(error.status);
        let retry_after = self.wait(kind, said);
        TransportError { code: self.code(report.code), status, remedy, retry_after, ..error }
    }

    /// How long to wait: as the provider asks, else until what is used up is there again, else as
    /// its sentence says. Only the first is asked for where it is not the pace.
    fn wait(&self, kind: ErrorKind, said: &str) -> Option<Duration> {
        self.retry_after.or_else(|| {
            let paced = kind == ErrorKind::RateLimited;
            let refilled = || self.limits.and_then(|limits| limits.refilled_in());
            paced.then(|| refilled().or_else(|| headers::told_wait(said))).flatten()
        })
    }

    fn redirected(&self, body: &str) -> TransportError {
        let target = self.location.as_deref().unwrap_or("an address it does not name");
        let message = format!(
            "{} answered {}, a redirect to {target}; redirects are not followed, since they could carry the key elsewhere: set the base URL to the final address",
            self.place, self.status
        );
        self.error(ErrorKind::BadRequest, &message, body)
    }

    /// An error about this answer. `message` and `body` may still hold credentials.
    pub(crate) fn error(&self, kind: ErrorKind, message: &str, body: &str) -> TransportError {
        let body = self.mask.text(body);
        let masked =
            |(name, value): &(String, String)| (name.clone(), self.mask.text(value).into_owned());
        TransportError {
            status: Some(self.status),
            headers: self.headers.iter().map(masked).collect(),
            body: text::prefix(&body, TransportError::BODY_BYTES).to_owned(),
            retry_after: self.retry_after,
            credential: self.credential,
            ..TransportError::new(kind, self.mask.text(message))
        }
    }

    fn code(&self, code: Option<String>) -> Option<String> {
        code.map(|code| self.shown(&code, MESSAGE_BYTES))
    }

    /// A body that is no error object, for a message: its media type and its beginning.
    fn page(&self, body: &str) -> String {
        if body.trim().is_empty() {
            return format!("{} and an empty body", self.media());
        }
        format!("{}: {}", self.media(), self.snippet(body))
    }

    fn media(&self) -> &str {
        if self.content_type.is_empty() { "no content type" } else { &self.content_type }
    }

    fn snippet(&self, body: &str) -> String {
        self.one_line(body).chars().take(SNIPPET_CHARS).collect()
    }

    fn shown(&self, said: &str, max_bytes: usize) -> String {
        text::ellipsis(self.one_line(said).trim_end_matches('.'), max_bytes).into_owned()
    }

    /// `text` masked, then with every run of blanks and control characters as one space. Masking
    /// comes first: a later cut could leave a piece of a key too short to be recognised.
    fn one_line(&self, text: &str) -> String {
        let masked = self.mask.text(text);
        let words = masked.split(|c: char| c.is_whitespace() || c.is_control());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// What an answer means and what to change, from what it reports; `body` stands in for a sentence.
fn judge(status: Option<u16>, report: &Report, body: &str) -> (ErrorKind, Option<Remedy>) {
    let said = report.message.as_deref().unwrap_or(body);
    let kind = kind::of(status, report.code.as_deref(), said);
    let remedy = remedy::of(status, report, body);
    // Words of the window or the model stand in complaints about output tokens and images too:
    // what the provider wants changed is the request, not the history or the model.
    let mistaken = matches!(kind, ErrorKind::ContextOverflow | ErrorKind::ModelNotFound);
    (if mistaken && remedy.is_some() { ErrorKind::BadRequest } else { kind }, remedy)
}

#[cfg(test)]
mod tests;
