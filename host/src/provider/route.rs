//! From a provider as it is meant to the route it is asked by. Keys and addresses meet here, in one
//! pure function.

use std::sync::Arc;

use hermes_core::router::Route;
use hermes_transport::{Credentials, ProxyChoice, Settings};

use super::key::{self, KeyFrom, Lookup};
use super::key_command::KeyCommand;
use super::spec::Spec;
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
    let settings = settings(&spec, credentials(&spec, lookup).map_err(NoRoute::Key)?, lookup);
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
pub(crate) fn settings(spec: &Spec, credentials: Credentials, lookup: Lookup<'_>) -> Settings {
    Settings {
        credentials,
        timeouts: spec.timeouts,
        proxy: ProxyChoice::from_variables(lookup),
        quirks: spec.quirks.clone(),
        ..Settings::new(spec.api_mode.clone(), spec.base_url.clone())
    }
}

/// The keys a provider has, or what prints one when it is needed.
///
/// # Errors
/// It needs one and has none.
pub(crate) fn credentials(spec: &Spec, lookup: Lookup<'_>) -> Result<Credentials, UsageError> {
    let name = &spec.name;
    match &spec.keys {
        KeyFrom::Command(command) => {
            let source = KeyCommand { provider: name.clone(), command: command.clone() };
            Ok(Credentials::default().with_source(Arc::new(source)))
        }
        KeyFrom::Variables { names, several, required } => {
            let found = key::read(names, *several, lookup);
            if found.is_empty() && *required {
                return Err(UsageError::new(format!(
                    "the key of provider {name:?} is missing: set {}",
                    names.join(" or ")
                )));
            }
            Ok(Credentials::new(found.into_iter().map(|(_, key)| key)))
        }
    }
}
