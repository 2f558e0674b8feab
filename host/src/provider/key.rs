//! Which keys a provider may have. A key goes only to the host it was meant for, so this is the one
//! place that decides it; reading a variable is all it does with the world.

use hermes_transport::Secret;

use super::api_mode;
use super::known::{self, Known};
use crate::config::{Config, OneOrMore, ProviderConfig};

/// The variable that holds a key for whatever the primary is.
pub(crate) const GENERIC: &str = "HERMES_HOST_API_KEY";

/// Reads a variable of the environment.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Whose turn it is: the generic variables serve the primary alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The primary.
    Primary,
    /// A fallback, or a side task's provider.
    Other,
}

/// Where a provider's keys come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyFrom {
    /// What is run to get one.
    Command(OneOrMore),
    /// The variables that may hold some.
    Variables {
        /// In the order they are tried.
        names: Vec<String>,
        /// Whether each may hold a key of its own; otherwise the first that is set is the key.
        several: bool,
        /// Whether the provider can do without.
        required: bool,
    },
}

/// Decides where the keys of a provider come from. `by_name` tells that the user named the known
/// provider, rather than that its address was recognised.
pub(crate) fn source(
    config: &ProviderConfig,
    row: Option<&Known>,
    by_name: bool,
    place: (&str, &str),
    role: Role,
) -> KeyFrom {
    let (base_url, api_mode) = place;
    if let Some(command) = &config.key_command {
        return KeyFrom::Command(command.clone());
    }
    if let Some(names) = &config.key_env {
        return KeyFrom::Variables { names: names.all().to_vec(), several: true, required: true };
    }
    let mut names: Vec<String> = row.map(|row| row.keys.clone()).unwrap_or_default();
    if role == Role::Primary {
        names.push(GENERIC.into());
        // A known provider has a variable of its own: what is meant for another never serves it.
        if !by_name {
            names.push(api_mode::usual_key(api_mode).into());
        }
    }
    let required = row.is_some_and(|row| row.serves(base_url));
    KeyFrom::Variables { names, several: false, required }
}

/// The keys in these variables, each with the variable it came from.
pub(crate) fn read(names: &[String], several: bool, lookup: Lookup<'_>) -> Vec<(String, Secret)> {
    let set = names.iter().filter_map(|name| {
        let value = lookup(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| (name.clone(), Secret::new(value)))
    });
    set.take(if several { usize::MAX } else { 1 }).collect()
}

/// The variables that may hold a key: no plugin ever sees them.
pub(crate) fn variables(config: &Config) -> Vec<String> {
    let own = config.providers.values().filter_map(|provider| provider.key_env.as_ref());
    let own = own.flat_map(|names| names.all().iter().cloned());
    let known = known::all().iter().flat_map(|row| row.keys.iter().cloned());
    own.chain(known).chain([GENERIC.to_owned()]).collect()
}
