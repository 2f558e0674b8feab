//! `plugins`: what is loaded, what it may do, building it and calling it.

mod call;
mod grants;
mod list;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use hermes_plugin::builder;
use hermes_plugin::manifest::Manifest;
use hermes_plugin::registry::{Loaded, Registry};
use hermes_store::SqliteStore;
use tokio_util::sync::CancellationToken;

use super::{RunArgs, exit};
use crate::UsageError;
use crate::config::Config;
use crate::extensions::Extensions;
use crate::home::Home;
use crate::host::open_store;
use crate::render::Out;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum PluginsCommand {
    /// List plugins: loaded, refused and disabled ones
    List,
    /// Show everything about one plugin
    Inspect {
        /// The plugin
        name: String,
    },
    /// Build plugins from their source folders
    Build {
        /// Source folders, or folders of source folders [default: ./plugins]
        #[arg(value_name = "DIR")]
        dirs: Vec<PathBuf>,
    },
    /// Look at how a plugin changed, and approve it as it is now
    Approve {
        /// The plugin
        name: String,
    },
    /// Grant a power for good, such as: grant files fs:.:rw
    Grant {
        /// The plugin
        name: String,
        /// What it may do
        #[arg(value_name = "KIND:REST")]
        power: String,
    },
    /// Take a granted power away
    Revoke {
        /// The plugin
        name: String,
        /// What it may do no longer
        #[arg(value_name = "KIND:REST")]
        power: String,
    },
    /// Call a tool as the model would, hooks and limits included
    Call {
        /// The plugin
        name: String,
        /// Its tool
        tool: String,
        /// The arguments, a JSON object
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
    },
}

/// Runs a `plugins` command.
pub(super) async fn main(
    command: &PluginsCommand,
    args: &RunArgs,
    home: &Home,
) -> Result<ExitCode, UsageError> {
    let out = Out::new(CancellationToken::new());
    match command {
        PluginsCommand::List => list::list(&load(args, home)?, args, &out),
        PluginsCommand::Inspect { name } => list::inspect(&load(args, home)?, name, args, &out)?,
        PluginsCommand::Build { dirs } => build_all(dirs, &out).await?,
        PluginsCommand::Approve { name } => grants::approve(&open(args, home)?, name, args, &out)?,
        PluginsCommand::Grant { name, power } => {
            grants::grant(&open(args, home)?, &format!("{name}:{power}"), &out)?;
        }
        PluginsCommand::Revoke { name, power } => {
            grants::revoke(&open(args, home)?, &format!("{name}:{power}"), &out)?;
        }
        PluginsCommand::Call { name, tool, arguments } => {
            return call::call(args, home, name, tool, arguments, &out).await;
        }
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

fn extensions<'a>(
    args: &'a RunArgs,
    home: &'a Home,
    config: &'a Config,
    store: &Arc<SqliteStore>,
) -> Extensions<'a> {
    let native = hermes_native::tools(store, home.memories());
    Extensions {
        home,
        config,
        dirs: Some(args.plugins.clone()).filter(|dirs| !dirs.is_empty()),
        grants: &args.grant,
        dev: args.dev,
        reserved: native.iter().map(|tool| tool.spec().name.clone()).collect(),
    }
}

pub(super) fn load(args: &RunArgs, home: &Home) -> Result<Loaded, UsageError> {
    let config = Config::load(&home.config())?;
    let store = open_store(home)?;
    extensions(args, home, &config, &store).load(store)
}

fn open(args: &RunArgs, home: &Home) -> Result<Registry, UsageError> {
    let config = Config::load(&home.config())?;
    let store = open_store(home)?;
    extensions(args, home, &config, &store).open(store)
}

async fn build_all(dirs: &[PathBuf], out: &Out) -> Result<(), UsageError> {
    let default = [PathBuf::from("plugins")];
    let dirs = if dirs.is_empty() { default.as_slice() } else { dirs };
    let mut folders = Vec::new();
    for dir in dirs {
        let found = builder::sources(dir).map_err(|error| UsageError::new(error.to_string()))?;
        folders.extend(found);
    }
    build(&folders, out).await
}

/// Builds source folders and says what came of it.
pub(super) async fn build(folders: &[PathBuf], out: &Out) -> Result<(), UsageError> {
    let built = builder::build(folders, |line| out.note(line));
    for plugin in built.map_err(|error| UsageError::new(error.to_string()))? {
        out.note(&format!("built {}", plugin.component.display()));
    }
    Ok(())
}

/// Whether the component of a source folder is there.
pub(super) fn is_built(dir: &Path) -> bool {
    let file = dir.join("plugin.toml");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    Manifest::parse(&file, &text).is_ok_and(|manifest| dir.join(manifest.component).is_file())
}
