//! The `hermes-host` program: parses the command line and maps everything to an exit code.

use std::process::ExitCode;

use clap::Parser;
use hermes_host::cli::{self, Cli};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_to_stderr(cli.verbosity());
    // One conversation on one thread: nothing it waits for has to wake another thread first.
    // Guests and signals have threads of their own.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        #[expect(clippy::print_stderr, reason = "there is no renderer without a runtime")]
        Err(error) => {
            eprintln!("hermes-host: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(cli::main(cli));
    // A file operation of a guest may be stuck for good; nobody waits for it.
    runtime.shutdown_background();
    code
}

/// Logs go to standard error: warnings, and more with each `-v`, or as `HERMES_HOST_LOG` says.
fn log_to_stderr(verbosity: u8) {
    let level = match verbosity {
        0 | 1 => "warn",
        2 => "hermes=info,warn",
        3 => "hermes=debug,info",
        _ => "trace",
    };
    let filter =
        EnvFilter::try_from_env("HERMES_HOST_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
