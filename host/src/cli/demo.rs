//! `demo`: a whole conversation on a fresh machine, without any key.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hermes_core::agent::in_call_order;
use hermes_core::store::Store;
use tokio_util::sync::CancellationToken;

use super::{RunArgs, plugins, run};
use crate::demo::model::{MODEL, ModelServer};
use crate::demo::{folder, script};
use crate::home::Home;
use crate::provider::ModelChoice;
use crate::render::{Out, transcript};
use crate::{HostBuilder, UsageError};

/// The shipped plugins the script uses, and what each may do.
const PLUGINS: &[&str] = &["files", "data", "guard", "redact"];

/// Runs the demonstration.
pub(super) async fn main(args: &RunArgs, home: &Home) -> Result<ExitCode, UsageError> {
    let out = Out::new(CancellationToken::new());
    let dirs = plugin_folders(args)?;
    build_if_needed(&dirs, &out).await?;

    let failed =
        |what: &str, error: std::io::Error| UsageError::new(format!("cannot {what}: {error}"));
    let work = tempfile::Builder::new().prefix("hermes-demo-").tempdir();
    let work = work.map_err(|error| failed("make a folder for the demo", error))?;
    folder::fill(work.path()).map_err(|error| failed("fill the demo's folder", error))?;
    let server =
        ModelServer::start().await.map_err(|error| failed("serve the scripted model", error))?;

    let host = HostBuilder::new(home.clone())
        .model(ModelChoice {
            base_url: Some(server.base_url().into()),
            model: Some(MODEL.into()),
            ..ModelChoice::default()
        })
        .plugins(dirs)
        .grants(grants(work.path()))
        .grants(args.grant.clone())
        // The demo shows the plugins as they lie here, changed or not.
        .dev(true)
        .source("demo")
        .open()?;
    out.note(&format!(
        "A scripted model at {}, working on {}.",
        server.base_url(),
        work.path().display()
    ));
    out.note(&format!("> {}\n", script::PROMPT));
    let code = run::one_turn(args, &host, None, script::PROMPT).await?;
    tell_what_was_stored(&host, &out).await?;
    Ok(code)
}

fn grants(work: &Path) -> Vec<String> {
    vec![
        format!("files:fs:{}:rw", work.display()),
        "guard:hook:full,rewrite".into(),
        "redact:hook:full,replace".into(),
    ]
}

async fn tell_what_was_stored(host: &crate::Host, out: &Out) -> Result<(), UsageError> {
    let broken = |error: hermes_core::store::StoreError| UsageError::new(error.to_string());
    let id = host.latest_session().await?;
    let session = host.store().load(&id).await.map_err(broken)?;
    out.line(&format!("\nThe session as stored ({id}):"));
    for line in transcript(&in_call_order(session.messages)) {
        out.line(&line);
    }
    out.note(&format!("\nRead it again: hermes-host sessions show {id}"));
    Ok(())
}

/// The folders of the shipped plugins: those named on the command line, or those of the source tree.
fn plugin_folders(args: &RunArgs) -> Result<Vec<PathBuf>, UsageError> {
    let roots = match args.plugins.as_slice() {
        [] => {
            vec![PathBuf::from("plugins"), Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")]
        }
        named => named.to_vec(),
    };
    let holds_all =
        |root: &&PathBuf| PLUGINS.iter().all(|name| root.join(name).join("plugin.toml").is_file());
    let root = roots.iter().find(holds_all).ok_or_else(|| {
        UsageError::new(
            "the demo needs the shipped plugins: run it in the source folder, or say --plugins DIR",
        )
    })?;
    Ok(PLUGINS.iter().map(|name| root.join(name)).collect())
}

async fn build_if_needed(dirs: &[PathBuf], out: &Out) -> Result<(), UsageError> {
    let missing: Vec<PathBuf> =
        dirs.iter().filter(|dir| !plugins::is_built(dir)).cloned().collect();
    if missing.is_empty() {
        return Ok(());
    }
    out.note("Building the shipped plugins (once) …");
    plugins::build(&missing, out).await
}
