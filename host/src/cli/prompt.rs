//! `prompt`: what the model is told before the person speaks.

use std::process::ExitCode;

use clap::Subcommand;
use hermes_core::prompt::{Layer, LayerKind, Prompt};
use hermes_core::store::Store;
use hermes_core::tokens::{Estimate, TokenCounter};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Output, RunArgs, exit, run};
use crate::UsageError;
use crate::home::Home;
use crate::host::{find_session, open_store};
use crate::prompt::ReadPrompt;
use crate::render::{Out, printable};

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum PromptCommand {
    /// Show the system prompt a new session would get, or with --resume the one a session has
    Show,
}

/// What programs get.
#[derive(Serialize)]
struct Shown<'a> {
    layers: Vec<Measured<'a>>,
    problems: &'a [String],
    chars: usize,
    tokens: u64,
    text: &'a str,
}

#[derive(Serialize)]
struct Measured<'a> {
    #[serde(flatten)]
    layer: &'a Layer,
    chars: usize,
    /// Estimated.
    tokens: u64,
}

/// Runs a `prompt` command.
pub(super) async fn main(
    command: &PromptCommand,
    args: &RunArgs,
    home: &Home,
) -> Result<ExitCode, UsageError> {
    let PromptCommand::Show = command;
    let out = Out::new(CancellationToken::new());
    let read = match &args.resume {
        Some(session) => stored(session, home).await?,
        None => run::in_folder(args, home)?.prompt()?,
    };
    if args.output == Output::Text {
        show(&read, &out)
    } else {
        show_json(&read, &out)
    }
    Ok(ExitCode::from(if out.is_broken() { exit::BROKEN_PIPE } else { exit::FINISHED }))
}

/// The prompt a session was born with, which is kept as one text.
async fn stored(session: &str, home: &Home) -> Result<ReadPrompt, UsageError> {
    let store = open_store(home)?;
    let id = find_session(&store, session).await?;
    let session = store.load(&id).await.map_err(|error| UsageError::new(error.to_string()))?;
    let (kind, source) = (LayerKind::Identity, format!("session {id}"));
    let layers = vec![Layer { kind, source, notes: Vec::new(), text: session.system }];
    Ok(ReadPrompt { prompt: Prompt { layers }, problems: Vec::new() })
}

fn show(read: &ReadPrompt, out: &Out) {
    for layer in &read.prompt.layers {
        let measured = measured(layer);
        let (chars, tokens) = (measured.chars, measured.tokens);
        let source = printable(&layer.source);
        out.line(&format!("--- {source}: {chars} characters, about {tokens} tokens"));
        out.line(&printable(&layer.text));
        out.line("");
    }
    let text = read.prompt.text();
    let (chars, tokens) = (text.chars().count(), Estimate.count(&text));
    out.line(&format!("--- in all: {chars} characters, about {tokens} tokens"));
    for note in read.notes() {
        out.note(&printable(&format!("hermes-host: {note}")));
    }
}

fn show_json(read: &ReadPrompt, out: &Out) {
    let text = read.prompt.text();
    out.json(&Shown {
        layers: read.prompt.layers.iter().map(measured).collect(),
        problems: &read.problems,
        chars: text.chars().count(),
        tokens: Estimate.count(&text),
        text: &text,
    });
}

fn measured(layer: &Layer) -> Measured<'_> {
    let tokens = Estimate.count(&layer.text);
    Measured { layer, chars: layer.text.chars().count(), tokens }
}
