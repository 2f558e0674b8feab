//! What one plugin has of secrets: the rules its user granted, their values, and what takes those
//! values out of everything the plugin is shown and says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::redactor::Redactor;
use super::rule::SecretRule;
use super::source::{NoSecrets, SecretError, SecretSource};
use super::value::Secret;

/// The granted secrets of one plugin.
pub struct Vault {
    rules: Vec<SecretRule>,
    source: Arc<dyn SecretSource>,
    known: Mutex<Known>,
}

/// Every value this process has had for one of the names. A value that was replaced since is still
/// taken out of results.
#[derive(Default)]
struct Known {
    values: Vec<(String, Secret)>,
    redactor: Option<Arc<Redactor>>,
}

impl Vault {
    /// A vault with what is granted.
    pub fn new(rules: Vec<SecretRule>, source: Arc<dyn SecretSource>) -> Self {
        Self { rules, source, known: Mutex::default() }
    }

    /// A vault without secrets.
    pub fn empty() -> Self {
        Self::new(Vec::new(), Arc::new(NoSecrets))
    }

    /// What is granted.
    pub fn rules(&self) -> &[SecretRule] {
        &self.rules
    }

    /// The first rule for a secret; `None` where it is not granted.
    pub fn rule(&self, name: &str) -> Option<&SecretRule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// The value of a granted secret as it is now; `None` where it has none.
    ///
    /// # Errors
    /// The place it is kept in cannot be asked.
    pub fn value(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        if self.rule(name).is_none() {
            return Ok(None);
        }
        let value = self.source.get(name)?;
        if let Some(value) = &value {
            self.remember(name, value);
        }
        Ok(value)
    }

    /// Looks at the value of every granted secret, so that [`Vault::redactor`] knows them all,
    /// whichever door one comes back through.
    pub fn learn(&self) {
        for rule in &self.rules {
            if let Err(problem) = self.value(&rule.name) {
                tracing::warn!(secret = %rule.name, "{problem}");
            }
        }
    }

    /// Takes out every value known so far; `None` where there is none.
    pub fn redactor(&self) -> Option<Arc<Redactor>> {
        // Without rules nothing is ever known: the usual case costs no lock.
        if self.rules.is_empty() {
            return None;
        }
        let mut known = self.known();
        if known.redactor.is_none() && !known.values.is_empty() {
            let values = known.values.iter().map(|(_, value)| value.expose());
            known.redactor = Some(Arc::new(Redactor::for_values(values)));
        }
        known.redactor.clone()
    }

    /// `text` without any value known so far.
    pub fn redacted(&self, text: String) -> String {
        match self.redactor() {
            Some(redactor) => redactor.redact_text(&text).into_owned(),
            None => text,
        }
    }

    /// The values known so far, each with its name.
    pub(super) fn values(&self) -> Vec<(String, Secret)> {
        self.known().values.clone()
    }

    fn remember(&self, name: &str, value: &Secret) {
        let mut known = self.known();
        if !known.values.iter().any(|(n, v)| n == name && v == value) {
            known.values.push((name.to_owned(), value.clone()));
            known.redactor = None;
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
