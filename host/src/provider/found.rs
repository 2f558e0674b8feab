//! What is asked when nobody says what: the first known provider whose key is in the environment.

use super::key::{self, Lookup};
use super::known::{self, Known};

/// The first known provider that can be asked without saying more, and the variable with its key.
pub(crate) fn in_environment(lookup: Lookup<'_>) -> Option<(&'static Known, String)> {
    let ready = |row: &&Known| row.base_url.is_some() && row.model.is_some() && !row.local;
    known::all().iter().filter(ready).find_map(|row| {
        let (variable, _) = key::read(&row.keys, false, lookup).into_iter().next()?;
        Some((row, variable))
    })
}
