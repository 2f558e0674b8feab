//! `sessions`: what is stored.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use hermes_core::agent::in_call_order;
use hermes_core::message::Message;
use hermes_core::search::SessionSearch;
use hermes_core::store::Store;
use tokio_util::sync::CancellationToken;

use super::{Output, RunArgs, exit};
use crate::UsageError;
use crate::home::Home;
use crate::host::open_store;
use crate::render::{Out, transcript};

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the latest first
    List {
        /// Most sessions to list
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Show the messages of a session
    Show {
        /// Its id, or the start of it
        id: String,
    },
}

/// Runs a `sessions` command.
pub(super) async fn main(
    command: &SessionsCommand,
    args: &RunArgs,
    home: &Home,
) -> Result<ExitCode, UsageError> {
    let out = Out::new(CancellationToken::new());
    match command {
        SessionsCommand::List { limit } => list(*limit, args, home, &out).await?,
        SessionsCommand::Show { id } => show(id, args, home, &out).await?,
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

async fn list(limit: usize, args: &RunArgs, home: &Home, out: &Out) -> Result<(), UsageError> {
    let sessions = open_store(home)?.recent(limit).await.map_err(broken)?;
    if args.output != Output::Text {
        out.json(&sessions);
        return Ok(());
    }
    for session in sessions {
        let title = session.title.unwrap_or_default();
        out.line(&format!("{}  {:>4} messages  {title}", session.session_id, session.messages));
    }
    Ok(())
}

async fn show(id: &str, args: &RunArgs, home: &Home, out: &Out) -> Result<(), UsageError> {
    let store = open_store(home)?;
    let id = crate::host::find_session(&store, id).await?;
    let session = store.load(&id).await.map_err(broken)?;
    let messages = in_call_order(session.messages);
    if args.output != Output::Text {
        out.json::<Vec<Arc<Message>>>(&messages);
        return Ok(());
    }
    for line in transcript(&messages) {
        out.line(&line);
    }
    Ok(())
}

fn broken(error: impl std::fmt::Display) -> UsageError {
    UsageError::new(error.to_string())
}
