//! Secrets in this process's environment: `HERMES_HOST_SECRET_NAME`. No plugin can be granted a
//! variable of that name.

use hermes_plugin::name;
use hermes_plugin::secret::{Secret, SecretError, SecretSource};

/// What stands before the name.
pub(crate) const PREFIX: &str = "HERMES_HOST_SECRET_";

/// The environment.
pub(super) struct Environment;

impl SecretSource for Environment {
    fn place(&self) -> &'static str {
        "environment"
    }

    fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let variable = format!("{PREFIX}{name}");
        let Some(value) = std::env::var_os(&variable).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let parsed = value.to_str().ok_or_else(|| "the value is not UTF-8".to_owned());
        let secret = parsed.and_then(Secret::parse);
        secret.map(Some).map_err(|what| SecretError(format!("the variable {variable}: {what}")))
    }

    fn names(&self) -> Result<Vec<String>, SecretError> {
        let name = |variable: std::ffi::OsString| {
            name::secret(variable.to_str()?.strip_prefix(PREFIX)?).ok()
        };
        let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
        Ok(set.filter_map(|(variable, _)| name(variable)).collect())
    }
}
