//! The core's port to a model, for every api mode of the table.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use hermes_core::transport::{DeltaStream, ModelRequest, Transport, TransportError};

use crate::endpoint::endpoint;
use crate::http::{Sender, root_cause};
use crate::limits::RateLimits;
use crate::mode::{MODES, Mode};
use crate::quirks::Quirks;
use crate::reply::{Body, Reply};
use crate::settings::{Settings, SettingsError};

/// Speaks one api mode to one provider over HTTP. Keeps its connections between calls.
#[derive(Debug)]
pub struct HttpTransport {
    mode: &'static Mode,
    quirks: Quirks,
    sender: Sender,
}

impl HttpTransport {
    /// A transport for these settings. Nothing is connected or read yet.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] if they cannot be used.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let mode = Mode::named(&settings.api_mode).ok_or_else(|| unknown(&settings.api_mode))?;
        let url = endpoint(&settings.base_url, mode.endpoint)?;
        let sender = Sender::new(mode, url, settings)?;
        Ok(Self { mode, quirks: settings.quirks.clone(), sender })
    }

    /// The pace the provider allowed in its last answer that said so.
    pub fn rate_limits(&self) -> Option<RateLimits> {
        self.sender.rate_limits()
    }
}

/// A transport for these settings, as the loop takes it.
///
/// # Errors
///
/// [`SettingsError`] if they cannot be used.
pub fn open(settings: &Settings) -> Result<Arc<dyn Transport>, SettingsError> {
    Ok(Arc::new(HttpTransport::new(settings)?))
}

fn unknown(given: &str) -> SettingsError {
    let names = MODES.iter().map(|mode| mode.name);
    let likeness = |name: &&str| strsim::jaro_winkler(name, given);
    let nearest = names.clone().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    SettingsError::ApiMode {
        given: given.to_owned(),
        known: names.collect::<Vec<_>>().join(", "),
        nearest: nearest.filter(|name| likeness(name) > 0.7).map(str::to_owned),
    }
}

#[async_trait]
impl Transport for HttpTransport {
    fn api_mode(&self) -> &str {
        self.mode.name
    }

    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        let decoder = (self.mode.decoder)(request, &self.quirks);
        let body = (self.mode.encode)(request, &self.quirks);
        let (response, answer, clock) =
            self.sender.post(body, &request.model, request.stream).await?;
        let pieces = response.bytes_stream().map(|piece| piece.map_err(|error| root_cause(&error)));
        let body: Body = Box::pin(pieces);
        Ok(Box::pin(Reply::new(body, decoder, answer, clock)))
    }

    async fn renew_credential(&self, refused: &TransportError) -> bool {
        self.sender.renew_credential(refused).await
    }
}
