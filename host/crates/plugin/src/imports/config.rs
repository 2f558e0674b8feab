//! `config`: the plugin's own settings, as JSON text.

use crate::bindings::imports::hermes::plugin::config::Host;
use crate::guest::Guest;

impl Host for Guest {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self.scope.identity.config.get(&key).map(ToString::to_string))
    }
}
