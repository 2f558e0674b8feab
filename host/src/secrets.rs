//! Where the secrets of plugins are: the environment, then a file only its owner can read. What a
//! plugin may do with one is decided in the plugin crate.

mod environment;
mod file;

use hermes_plugin::secret::{Secret, SecretError, SecretSource};

use crate::home::Home;

pub(crate) use environment::PREFIX;
pub(crate) use file::SecretsFile;

/// All places, the one that is asked first in front.
pub(crate) struct Sources(Vec<Box<dyn SecretSource>>);

impl Sources {
    /// The places of a home.
    pub(crate) fn new(home: &Home) -> Self {
        Self(vec![Box::new(environment::Environment), Box::new(SecretsFile::of(home))])
    }

    /// The place that has a secret; `None` where none has.
    ///
    /// # Errors
    /// A place that comes first cannot be asked.
    pub(crate) fn place_of(&self, name: &str) -> Result<Option<&'static str>, SecretError> {
        Ok(self.find(name)?.map(|(place, _)| place))
    }

    fn find(&self, name: &str) -> Result<Option<(&'static str, Secret)>, SecretError> {
        for source in &self.0 {
            if let Some(secret) = source.get(name)? {
                return Ok(Some((source.place(), secret)));
            }
        }
        Ok(None)
    }
}

impl SecretSource for Sources {
    fn place(&self) -> &'static str {
        "environment or file"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        Ok(self.find(name)?.map(|(_, secret)| secret))
    }

    fn names(&self) -> Result<Vec<String>, SecretError> {
        let mut names = Vec::new();
        for source in &self.0 {
            names.extend(source.names()?);
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}
