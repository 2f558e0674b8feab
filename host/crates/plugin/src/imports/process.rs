//! `process`: programs of the host. Denied whatever is granted; this version runs none.

use crate::bindings::plugin_types::Failure;
use crate::bindings::process;
use crate::guest::Guest;

impl process::Host for Guest {
    async fn run(
        &mut self,
        command: process::Command,
    ) -> wasmtime::Result<Result<process::Finished, Failure>> {
        let argv = command.argv.join(" ");
        let granted = &self.scope.identity.effective.process;
        Ok(Err(self.denied(&format!("running {argv:?}"), "process", granted, &argv)))
    }
}
