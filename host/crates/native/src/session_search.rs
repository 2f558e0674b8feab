//! `session_search`: what was said in earlier sessions, found and read without asking a model.
//!
//! Four ways to ask, by what is given: nothing lists recent sessions, a query searches, a session
//! is read, and a message in it is read with what surrounds it. The session that asks is left out,
//! since the model sees it, except where it asks for it by name: what a compression took out of
//! the conversation is found again that way.

mod shown;

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::failure::{Failure, code};
use hermes_core::message::{Effect, Role};
use hermes_core::search::{SearchOrder, SearchQuery, SessionSearch as Port};
use hermes_core::store::StoreError;
use hermes_core::tool::{Outcome, Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use serde::Deserialize;
use serde_json::value::RawValue;

const PARAMETERS: &str = r#"{"type":"object","additionalProperties":false,"properties":{"query":{"type":"string","maxLength":2048,"description":"Words that must all be there; \"a phrase\" in quotes; OR between alternatives."},"session_id":{"type":"string","description":"Search or read only this session. \"current\" is the present one, with what was compressed away."},"around_message_id":{"type":"string","description":"With session_id: read this message and those around it."},"window":{"type":"integer","minimum":0,"maximum":20,"description":"Messages on each side of it. Default 5; 0 shows it alone and longer."},"limit":{"type":"integer","minimum":1,"maximum":10,"description":"Most hits or sessions. Default 3 hits, 10 sessions."},"sort":{"type":"string","enum":["rank","newest","oldest"],"description":"Order of hits. Default rank."},"roles":{"type":"array","items":{"type":"string","enum":["user","assistant","tool"]},"description":"Search only what these said. Default user and assistant."}}}"#;

/// What stands for the session that asks, which the model knows no id of.
const CURRENT: &str = "current";

/// Hits shown where the model does not say how many.
const HITS: usize = 3;

/// Sessions listed where the model does not say how many.
const SESSIONS: usize = 10;

/// Messages on each side where the model does not say how many.
const WINDOW: usize = 5;

/// Messages shown around each hit, enough to tell whether it is the right one.
const AROUND_A_HIT: usize = 1;

/// Messages of a session that is read whole: how it began, and how it ended.
const FIRST: usize = 20;
const LAST: usize = 10;

/// The tool.
pub struct SessionSearch {
    spec: ToolSpec,
    port: Arc<dyn Port>,
}

#[derive(Deserialize)]
struct Arguments {
    query: Option<String>,
    session_id: Option<String>,
    around_message_id: Option<String>,
    window: Option<usize>,
    limit: Option<usize>,
    #[serde(default)]
    sort: SearchOrder,
    #[serde(default)]
    roles: Vec<Role>,
}

impl SessionSearch {
    /// The tool's name.
    pub const NAME: &str = "session_search";

    /// A search of what `port` keeps.
    pub fn new(port: Arc<dyn Port>) -> Self {
        let parameters = RawValue::from_string(PARAMETERS.into());
        let spec = ToolSpec {
            name: Self::NAME.into(),
            title: Some("Search earlier sessions".into()),
            description: "Finds and reads what was said in earlier sessions. Without arguments: recent sessions. With query: the best hits. With session_id: that session's beginning and end. With session_id and around_message_id: what was said around a message. Ask it before asking the user to repeat something."
                .into(),
            parameters: parameters.expect("the schema above is JSON").into(),
            source: "native".into(),
            traits: ToolTraits {
                read_only: true,
                parallel_safe: true,
                idempotent: true,
                ..ToolTraits::default()
            },
        };
        Self { spec, port }
    }

    async fn answer(&self, invocation: &ToolInvocation) -> Outcome {
        let mut arguments: Arguments = serde_json::from_str(&invocation.arguments)
            .map_err(|error| Failure::new(code::INVALID_ARGUMENTS, error.to_string()))?;
        let current = &*invocation.session_id;
        for given in
            [&mut arguments.query, &mut arguments.session_id, &mut arguments.around_message_id]
        {
            // Models fill in what they do not mean to give.
            *given = given.take().filter(|text| !text.trim().is_empty());
        }
        if arguments.session_id.as_deref() == Some(CURRENT) {
            arguments.session_id = Some(current.to_owned());
        }
        let text = match (&arguments.query, &arguments.session_id, &arguments.around_message_id) {
            (None, None, Some(_)) => {
                return Err(Failure::new(
                    code::INVALID_ARGUMENTS,
                    "around_message_id needs the session_id that stands beside it in a hit",
                ));
            }
            (_, Some(session), Some(message)) => {
                self.around(session, message, arguments.window.unwrap_or(WINDOW)).await
            }
            (Some(query), _, _) => self.search(query, &arguments, current).await,
            (None, Some(session), None) => self.whole(session).await,
            (None, None, None) => self.recent(arguments.limit.unwrap_or(SESSIONS), current).await,
        };
        text.map(|text| vec![Part::text(text)]).map_err(failure)
    }

    async fn search(
        &self,
        text: &str,
        arguments: &Arguments,
        current: &str,
    ) -> Result<String, StoreError> {
        let roles = match arguments.roles.as_slice() {
            [] => vec![Role::User, Role::Assistant],
            some => some.to_vec(),
        };
        let limit = arguments.limit.unwrap_or(HITS);
        let query = SearchQuery {
            text: text.to_owned(),
            session: arguments.session_id.clone(),
            roles,
            source: None,
            without: arguments.session_id.is_none().then(|| current.to_owned()),
            order: arguments.sort,
            limit,
        };
        let hits = self.port.search(&query).await?;
        if hits.is_empty() {
            return Ok(shown::nothing_found(text));
        }
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let around = Some(hit.message_id.as_str());
            let page = self.port.read(&hit.session_id, around, AROUND_A_HIT, AROUND_A_HIT).await?;
            found.push((hit, page));
        }
        Ok(shown::hits(&found, limit))
    }

    async fn around(
        &self,
        session: &str,
        message: &str,
        window: usize,
    ) -> Result<String, StoreError> {
        self.port.read(session, Some(message), window, window).await.map(|page| shown::page(&page))
    }

    async fn whole(&self, session: &str) -> Result<String, StoreError> {
        self.port.read(session, None, FIRST, LAST).await.map(|page| shown::page(&page))
    }

    /// The newest session of each line, that of the asking one left out.
    async fn recent(&self, limit: usize, current: &str) -> Result<String, StoreError> {
        // A line that was compressed often has many sessions; this is enough for ordinary ones.
        let mut sessions = self.port.recent(limit.saturating_mul(5).saturating_add(5)).await?;
        let of_current = sessions.iter().find(|session| session.session_id == current);
        let mut seen: HashSet<String> =
            of_current.map(|session| session.root.clone()).into_iter().collect();
        sessions
            .retain(|session| session.session_id != current && seen.insert(session.root.clone()));
        sessions.truncate(limit);
        Ok(shown::sessions(&sessions))
    }
}

fn failure(error: StoreError) -> Failure {
    match &error {
        StoreError::NoSession(_) => Failure::new(
            code::NOT_FOUND,
            format!("{error}; take session_id from a hit, or list sessions by giving no arguments"),
        ),
        _ => Failure::new(code::UNAVAILABLE, error.to_string()),
    }
}

#[async_trait]
impl Tool for SessionSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        ToolResult::new(self.answer(&invocation).await, Effect::None)
    }
}

#[cfg(test)]
#[path = "session_search/tests.rs"]
mod tests;
