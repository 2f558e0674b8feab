//! `secrets`: placeholders for credentials. Denied whatever is granted; this version has none.

use crate::bindings::imports::hermes::plugin::secrets;
use crate::bindings::plugin_types::Failure;
use crate::guest::Guest;

impl secrets::Host for Guest {
    fn exists(&mut self, _name: String) -> wasmtime::Result<bool> {
        Ok(false)
    }

    fn placeholder(&mut self, name: String) -> wasmtime::Result<Result<String, Failure>> {
        let granted = &self.scope.identity.effective.secrets;
        Ok(Err(self.denied(&format!("secret {name:?}"), "secret", granted, &name)))
    }
}
