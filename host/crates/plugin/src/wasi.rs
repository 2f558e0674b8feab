//! WASI as a guest gets it: granted folders and variables, clocks and randomness; no arguments, no
//! standard input, no sockets. `wasi:http` is linked, because JavaScript and Python components
//! import it whether they use it or not, and every request is denied.

use std::path::Path;

use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};
use wasmtime_wasi_http::{RequestOptions, WasiBody, WasiHttpCtxView, WasiHttpHooks, WasiHttpView};

use crate::guest::{Guest, Scope};
use crate::policy::Folder;
use crate::printed::Printed;

/// The WASI context of one call.
///
/// # Errors
/// A granted folder is not there any more; the text names it.
pub(crate) fn context(scope: &Scope, printed: &Printed) -> Result<WasiCtx, String> {
    let effective = &scope.identity.effective;
    let mut builder = WasiCtxBuilder::new();
    builder
        .stdout(printed.clone())
        .stderr(printed.clone())
        // Each call has a thread of its own, which may block.
        .allow_blocking_current_thread(true)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .socket_addr_check(|_, _| Box::pin(async { false }));
    for (name, value) in &effective.env {
        builder.env(name, value);
    }
    let folders = if scope.folders { &effective.fs[..] } else { &[] };
    for (at, folder) in folders.iter().enumerate() {
        let own = folder.host_path.to_string_lossy();
        let first = (at == 0).then_some(".");
        for guest_path in
            first.into_iter().chain([own.as_ref()]).chain(folder.guest_path.as_deref())
        {
            preopen(&mut builder, folder, guest_path, folder.writable && scope.writes)?;
        }
    }
    Ok(builder.build())
}

fn preopen(
    builder: &mut WasiCtxBuilder,
    folder: &Folder,
    guest_path: &str,
    writable: bool,
) -> Result<(), String> {
    let perms = if writable { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
    let opened = builder.preopened_dir(&folder.host_path, guest_path, perms);
    opened.map(|_| ()).map_err(|error| gone(&folder.host_path, &error))
}

fn gone(path: &Path, error: &wasmtime::Error) -> String {
    format!("the granted folder {} cannot be opened: {error}", path.display())
}

/// Denies every request.
pub(crate) struct NoHttp;

/// What [`NoHttp`] answers with.
type Sending = Box<
    dyn Future<Output = Result<(http::Response<WasiBody>, Finishing), wasmtime_wasi_http::Error>>
        + Send,
>;

/// What is left to do once a response has come.
type Finishing = Box<dyn Future<Output = Result<(), wasmtime_wasi_http::Error>> + Send>;

impl WasiHttpHooks for NoHttp {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        _options: Option<RequestOptions>,
        _done: Finishing,
    ) -> Sending {
        tracing::info!(uri = %request.uri(), "wasi:http request denied");
        Box::new(async { Err(wasmtime_wasi_http::Error::HttpRequestDenied) })
    }
}

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.http_hooks }
    }
}
