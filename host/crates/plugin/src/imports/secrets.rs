//! `secrets`: placeholders for the credentials a plugin was granted. Values are no part of it; they
//! are put into requests on the way out.

use hermes_core::failure::code;

use crate::bindings::imports::hermes::plugin::secrets;
use crate::bindings::plugin_types::Failure;
use crate::convert::refusal;
use crate::guest::Guest;
use crate::secret::missing;

impl secrets::Host for Guest {
    fn exists(&mut self, name: String) -> wasmtime::Result<bool> {
        let value = self.scope.secrets.then(|| self.scope.identity.vault.value(&name));
        Ok(matches!(value, Some(Ok(Some(_)))))
    }

    fn placeholder(&mut self, name: String) -> wasmtime::Result<Result<String, Failure>> {
        let vault = &self.scope.identity.vault;
        let Some(rule) = vault.rule(&name).filter(|_| self.scope.secrets) else {
            return Ok(Err(self.denied(&format!("secret {name:?}"), "secret", &[], &name)));
        };
        Ok(match vault.value(&name) {
            Ok(Some(_)) => Ok(self.placeholders.issue(&name)),
            Ok(None) => Err(refusal(code::AUTH_REQUIRED, missing(rule))),
            Err(problem) => Err(refusal(code::UNAVAILABLE, problem.to_string())),
        })
    }
}
