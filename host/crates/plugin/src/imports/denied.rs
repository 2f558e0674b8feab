//! `http`, `secrets` and `process`: linked, so that any component loads, and denied with a failure
//! the guest can handle. This version performs none of them, whatever is granted.

use hermes_core::failure::code;

use crate::bindings::imports::hermes::plugin::secrets;
use crate::bindings::plugin_types::Failure;
use crate::bindings::{http, process};
use crate::convert::refusal;
use crate::guest::Guest;

impl Guest {
    /// Why `what` is denied and what would allow it.
    fn denied(&self, what: &str, kind: &str, granted: &[String], rest: &str) -> Failure {
        let name = &self.scope.identity.name;
        if granted.is_empty() {
            let message = format!(
                "denied: {what} is not in the {kind} grants of plugin {name:?}. Not retryable. To allow it: \
                 hermes-host plugins grant {name} {kind}:{rest}"
            );
            return refusal(code::DENIED, message);
        }
        let message =
            format!("denied: {what}: plugins cannot use {kind} in this version. Not retryable");
        refusal(code::UNAVAILABLE, message)
    }
}

impl http::Host for Guest {
    fn fetch(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, Failure>> {
        let what = format!("{} {}", request.method, request.url);
        let granted = &self.scope.identity.effective.http;
        Ok(Err(self.denied(&what, "http", granted, &request.url)))
    }
}

impl secrets::Host for Guest {
    fn exists(&mut self, _name: String) -> wasmtime::Result<bool> {
        Ok(false)
    }

    fn placeholder(&mut self, name: String) -> wasmtime::Result<Result<String, Failure>> {
        let granted = &self.scope.identity.effective.secrets;
        Ok(Err(self.denied(&format!("secret {name:?}"), "secret", granted, &name)))
    }
}

impl process::Host for Guest {
    fn run(
        &mut self,
        command: process::Command,
    ) -> wasmtime::Result<Result<process::Finished, Failure>> {
        let argv = command.argv.join(" ");
        let granted = &self.scope.identity.effective.process;
        Ok(Err(self.denied(&format!("running {argv:?}"), "process", granted, &argv)))
    }
}
