//! A provider as it is meant: the table's row, the configuration over it, the command line over
//! both. Pure: nothing here is opened, asked or run.

use std::time::Duration;

use hermes_core::transport::Sampling;
use hermes_core::usage::Prices;
use hermes_transport::{Quirks, Timeouts};

use super::api_mode;
use super::choice::ModelChoice;
use super::key::{self, KeyFrom, Role};
use super::known::{self, Known};
use super::prices;
use crate::UsageError;
use crate::config::{Config, ProviderConfig};

/// The name of a provider that exists only on the command line.
pub(crate) const CUSTOM: &str = "custom";

/// Seconds a server of one's own may be silent: it reads a long prompt before its first word, and
/// on a small machine that takes many minutes.
const LOCAL_STALL_S: u64 = 900;

/// Likeness above which another provider's name is suggested.
const NEAR: f64 = 0.75;

/// Everything about one place to call but its keys themselves.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) base_url: String,
    pub(crate) api_mode: String,
    /// Absent where nobody names one and none goes without saying.
    pub(crate) model: Option<String>,
    pub(crate) keys: KeyFrom,
    pub(crate) timeouts: Timeouts,
    pub(crate) context_window: Option<u64>,
    pub(crate) sampling: Sampling,
    pub(crate) prices: Option<Prices>,
    pub(crate) quirks: Quirks,
}

impl Spec {
    /// The provider called `name`, or without one the one that is only an address.
    ///
    /// # Errors
    /// No such provider, or nothing says where it is.
    pub(crate) fn new(
        name: Option<&str>,
        choice: &ModelChoice,
        config: &Config,
        role: Role,
    ) -> Result<Self, UsageError> {
        let by_name = name.and_then(known::named);
        let own = match name {
            Some(name) => configured(name, by_name, config),
            None => None,
        };
        if let (Some(name), None, None, None) = (name, by_name, own, &choice.base_url) {
            return Err(unknown(name, config));
        }
        let own = own.cloned().unwrap_or_default();
        let base_url = choice.base_url.clone().or(own.base_url.clone());
        let base_url = base_url.or_else(|| by_name.and_then(|row| row.base_url.clone()));
        let base_url = base_url.ok_or_else(|| no_address(name.unwrap_or(CUSTOM), by_name))?;
        let row = by_name.or_else(|| known::at(&base_url));
        let explicit = choice.api_mode.as_deref().or(own.api_mode.as_deref());
        let known_mode = row.and_then(|row| row.api_mode.as_deref());
        let api_mode = api_mode::resolve(explicit, known_mode, &base_url);
        let place = (base_url.as_str(), api_mode.as_str());
        let keys = key::source(&own, row, by_name.is_some(), place, role);
        let called = name.unwrap_or_else(|| row.map_or(CUSTOM, |row| &row.name));
        let model = choice.model.clone().or(own.model.clone());
        let model = model.or_else(|| row.and_then(|row| row.model.clone()));
        let listed =
            row.zip(model.as_deref()).and_then(|(row, model)| prices::of(&row.name, model));
        Ok(Self {
            name: canonical(called, config),
            keys,
            model,
            timeouts: timeouts(&own, row, &base_url),
            context_window: own.context_window,
            sampling: Sampling {
                temperature: choice.temperature.or(own.params.temperature),
                ..own.params
            },
            prices: own.prices.or(listed),
            quirks: own.quirks.or_else(|| row.map(|row| row.quirks.clone())).unwrap_or_default(),
            base_url,
            api_mode,
        })
    }
}

/// The entry of config.toml that is meant: under the name itself, or under another word for it.
fn configured<'a>(
    name: &str,
    row: Option<&Known>,
    config: &'a Config,
) -> Option<&'a ProviderConfig> {
    config.providers.get(name).or_else(|| {
        let row = row?;
        config.providers.iter().find(|(key, _)| row.is_called(key)).map(|(_, own)| own)
    })
}

/// The one name under which a provider appears in results, whichever of its names was said.
fn canonical(name: &str, config: &Config) -> String {
    match known::named(name) {
        Some(row) if !config.providers.contains_key(name) => row.name.clone(),
        _ => name.to_owned(),
    }
}

fn timeouts(own: &ProviderConfig, row: Option<&Known>, base_url: &str) -> Timeouts {
    let seconds = |value: Option<u64>, default| value.map_or(default, Duration::from_secs);
    let defaults = Timeouts::default();
    let local = row.is_some_and(|row| row.local) || known::is_local(base_url);
    let stall = if local { Duration::from_secs(LOCAL_STALL_S) } else { defaults.stall };
    Timeouts {
        connect: seconds(own.connect_timeout_s, defaults.connect),
        stall: seconds(own.stall_timeout_s, stall),
        total: seconds(own.total_timeout_s, defaults.total),
    }
}

fn no_address(name: &str, row: Option<&Known>) -> UsageError {
    let example = row.and_then(|row| row.example.as_ref());
    let example = example.map(|url| format!(" such as {url}")).unwrap_or_default();
    UsageError::new(format!(
        "provider {name:?} has no base_url; add one{example} under [providers.{name}] or say --base-url"
    ))
}

fn unknown(name: &str, config: &Config) -> UsageError {
    let configured: Vec<&str> = config.providers.keys().map(String::as_str).collect();
    let known: Vec<&str> = known::all().iter().map(|row| row.name.as_str()).collect();
    let nearest = configured
        .iter()
        .chain(&known)
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = nearest.map(|(_, near)| format!("; did you mean {near:?}?")).unwrap_or_default();
    let configured = if configured.is_empty() { "none".into() } else { configured.join(", ") };
    UsageError::new(format!(
        "no provider is named {name:?}{hint} (configured: {configured}; known: {}); \
         another one needs [providers.{name}] with a base_url in config.toml",
        known.join(", ")
    ))
}
