//! `http`: requests with whole bodies. Denied whatever is granted; this version sends none.

use crate::bindings::http;
use crate::bindings::plugin_types::Failure;
use crate::guest::Guest;

impl http::Host for Guest {
    async fn fetch(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, Failure>> {
        let what = format!("{} {}", request.method, request.url);
        let granted = &self.scope.identity.effective.http;
        Ok(Err(self.denied(&what, "http", granted, &request.url)))
    }
}
