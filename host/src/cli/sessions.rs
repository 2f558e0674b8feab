//! `sessions`: what is stored.

mod export;
mod list;
mod recap;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use hermes_core::agent::in_call_order;
use hermes_core::message::Message;
use hermes_core::store::Store;
use hermes_store::SqliteStore;
use tokio_util::sync::CancellationToken;

use super::{Output, RunArgs, exit};
use crate::UsageError;
use crate::home::Home;
use crate::host::{find_session, open_store};
use crate::render::{Out, printable, transcript};

pub(super) use recap::recap;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the latest first
    List(list::ListArgs),
    /// Show the messages of a session
    Show {
        /// Its id or title, or the start of one
        id: String,
    },
    /// Find messages: all words, "a phrase", this OR that
    Search(list::SearchArgs),
    /// Write a session to standard output, one piece after the other
    Export {
        /// Its id or title, or the start of one
        id: String,
        /// As what
        #[arg(long, value_enum, default_value_t = Format::Jsonl)]
        format: Format,
    },
    /// Give a session a title
    Rename {
        /// Its id or title, or the start of one
        id: String,
        /// The title; another session's gets a number behind it
        title: String,
    },
    /// Bring back what compressing took out of a session, as a session that continues it
    Restore {
        /// Its id or title, or the start of one
        id: String,
    },
    /// Delete a session and all that is kept for it, for good
    Delete {
        /// Its whole id
        id: String,
    },
    /// Delete sessions nobody has used for long, for good; those that continue each other only
    /// together
    Prune {
        /// For how many days they were not used
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
        older_than: u32,
    },
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The session, then a message a line, archived ones included
    Jsonl,
    /// For people: what was said and done
    Markdown,
}

/// Runs a `sessions` command.
pub(super) async fn main(
    command: &SessionsCommand,
    args: &RunArgs,
    home: &Home,
) -> Result<ExitCode, UsageError> {
    let out = Out::new(CancellationToken::new());
    let store = open_store(home)?;
    match command {
        SessionsCommand::List(which) => list::list(which, args.output, &store, &out).await?,
        SessionsCommand::Search(what) => list::search(what, args.output, &store, &out).await?,
        SessionsCommand::Show { id } => show(id, args.output, &store, &out).await?,
        SessionsCommand::Export { id, format } => {
            let id = find_session(&store, id).await?;
            export::export(&store, &id, *format, &out).await?;
        }
        SessionsCommand::Rename { id, title } => {
            let id = find_session(&store, id).await?;
            let title = store.rename_session(&id, title).await.map_err(broken)?;
            out.line(&format!("{id}  {title}"));
        }
        SessionsCommand::Restore { id } => {
            let id = find_session(&store, id).await?;
            let restored = store.restore_session(&id).await.map_err(broken)?;
            out.line(&restored);
            out.note(&format!("hermes-host --resume {restored} goes on with it"));
        }
        SessionsCommand::Delete { id } => {
            store.delete_session(id).await.map_err(broken)?;
            out.line(&format!("deleted {}", printable(id)));
        }
        SessionsCommand::Prune { older_than } => prune(*older_than, &store, &out).await?,
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

async fn prune(days: u32, store: &SqliteStore, out: &Out) -> Result<(), UsageError> {
    const DAY_MS: u64 = 24 * 60 * 60 * 1000;
    let before_ms = hermes_core::id::now_ms().saturating_sub(u64::from(days) * DAY_MS);
    let count = store.prune_sessions(before_ms).await.map_err(broken)?;
    out.line(&format!("deleted {count} sessions"));
    Ok(())
}

async fn show(id: &str, output: Output, store: &SqliteStore, out: &Out) -> Result<(), UsageError> {
    let id = find_session(store, id).await?;
    let session = store.load(&id).await.map_err(broken)?;
    let messages = in_call_order(session.messages);
    if output != Output::Text {
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
