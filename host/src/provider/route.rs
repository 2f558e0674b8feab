//! From a provider as it is meant to the route it is asked by. Keys and addresses meet here, in one
//! pure function.

use hermes_core::router::Route;
use hermes_transport::{Credentials, ProxyChoice, Secret, Settings};

use super::key::{self, KeySource, Lookup};
use super::key_command;
use super::spec::Spec;
use super::wait::wait;
use crate::UsageError;

/// Why there is no route.
#[derive(Debug, PartialEq)]
pub(crate) enum NoRoute {
    /// No usable credential: another provider may do instead.
    Key(UsageError),
    /// Something is said that cannot be used.
    Mistake(UsageError),
}

impl From<NoRoute> for UsageError {
    fn from(why: NoRoute) -> Self {
        match why {
            NoRoute::Key(error) | NoRoute::Mistake(error) => error,
        }
    }
}

/// Opens the route to a provider.
///
/// # Errors
/// No key, no model, or settings nothing can be done with.
pub(crate) fn open(spec: Spec, stream: bool, lookup: Lookup<'_>) -> Result<Route, NoRoute> {
    let name = spec.name.clone();
    let model = spec.model.clone().ok_or_else(|| {
        NoRoute::Mistake(UsageError::new(format!(
            "no model is named for provider {name:?}; say --model NAME"
        )))
    })?;
    let settings = settings(&spec, keys(&spec, lookup).map_err(NoRoute::Key)?, lookup);
    let transport = hermes_transport::open(&settings).map_err(|error| {
        NoRoute::Mistake(UsageError::new(format!("provider {name:?}: {error}")))
    })?;
    Ok(Route {
        provider: spec.name,
        model,
        context_window: spec.context_window,
        prices: spec.prices,
        sampling: spec.sampling,
        stream,
        transport,
    })
}

/// What the transport needs to know.
pub(crate) fn settings(spec: &Spec, keys: Vec<Secret>, lookup: Lookup<'_>) -> Settings {
    Settings {
        credentials: Credentials::new(keys),
        timeouts: spec.timeouts,
        proxy: ProxyChoice::from_variables(lookup),
        ..Settings::new(spec.api_mode.clone(), spec.base_url.clone())
    }
}

/// The keys a provider has.
///
/// # Errors
/// It needs one and has none.
pub(crate) fn keys(spec: &Spec, lookup: Lookup<'_>) -> Result<Vec<Secret>, UsageError> {
    let name = &spec.name;
    match &spec.keys {
        KeySource::Command(command) => {
            let key =
                wait(key_command::run(command)).unwrap_or_else(|error| Err(error.to_string()));
            key.map(|key| vec![key]).map_err(|why| {
                UsageError::new(format!("the key_command of provider {name:?} {why}"))
            })
        }
        KeySource::Variables { names, several, required } => {
            let found = key::read(names, *several, lookup);
            if found.is_empty() && *required {
                return Err(UsageError::new(format!(
                    "the key of provider {name:?} is missing: set {}",
                    names.join(" or ")
                )));
            }
            Ok(found.into_iter().map(|(_, key)| key).collect())
        }
    }
}
