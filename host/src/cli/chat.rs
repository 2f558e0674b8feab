//! A conversation in the terminal: a line, an answer, a line, until the end of input.

use std::process::ExitCode;
use std::sync::Arc;

use hermes_core::agent::{Agent, TurnInput};
use hermes_core::store::Store;
use reedline::{DefaultPrompt, DefaultPromptSegment, Reedline, Signal};
use tokio_util::sync::CancellationToken;

use super::interrupt::Interrupt;
use super::{RunArgs, exit, run, sessions};
use crate::approve::TerminalApprover;
use crate::home::Home;
use crate::render::{self, Out};
use crate::{Host, UsageError};

const HELP: &str = "A line is sent when you press Enter. Ctrl-C stops the answer, Ctrl-D or /quit ends the chat. \
/compress [topic] sums up what was said so far.";

/// Chats until the person leaves.
pub(super) async fn main(args: &RunArgs, home: &Home) -> Result<ExitCode, UsageError> {
    let host = run::open(args, home)?;
    let session = run::session(args, &host).await?;
    let out = Arc::new(Out::new(CancellationToken::new()));
    let approver = Arc::new(TerminalApprover::new(args.yes, true));
    let sink = render::sink(args.output, args.verbose, Arc::clone(&out));
    let agent = host.agent(session.clone(), approver, sink)?;
    greet(&host, &out);
    run::tell_of_models(&host, &out);
    run::tell_of_plugins(args, &host, &out);
    recap(&host, session.as_deref(), &out).await;

    let interrupt = Interrupt::listen();
    let mut editor = Some(Reedline::create());
    while let Some(line) = read_line(&mut editor).await {
        match line.trim() {
            "" => {}
            "/quit" | "/exit" => break,
            "/help" => out.note(HELP),
            "/compress" => compress(&agent, &interrupt, None, &out).await,
            command if command.starts_with("/compress ") => {
                let topic = command.trim_start_matches("/compress ").trim();
                compress(&agent, &interrupt, Some(topic), &out).await;
            }
            command if command.starts_with('/') && !command.contains(' ') => {
                out.note(&format!("there is no command {command}; {HELP}"));
            }
            text => answer(args, &agent, &interrupt, text, &out).await,
        }
    }
    if let Some(id) = agent.session_id().await {
        out.note(&format!("The session is kept: hermes-host --resume {id}"));
    }
    Ok(ExitCode::from(exit::FINISHED))
}

async fn answer(args: &RunArgs, agent: &Agent, interrupt: &Interrupt, text: &str, out: &Out) {
    let cancel = CancellationToken::new();
    let watcher = interrupt.cancels(cancel.clone());
    let result = agent.run_turn(TurnInput { cancel, ..TurnInput::user(text) }).await;
    watcher.abort();
    render::finish(args.output, &result, out);
}

/// Sums up the session. What became of it is told by events; that there was nothing to do is not.
async fn compress(agent: &Agent, interrupt: &Interrupt, topic: Option<&str>, out: &Out) {
    let cancel = CancellationToken::new();
    let watcher = interrupt.cancels(cancel.clone());
    let compressed = agent.compress(topic, cancel).await;
    watcher.abort();
    match compressed {
        Ok(true) => {}
        Ok(false) => {
            out.note("The history is as it was; there is too little to sum up, or no summary came.")
        }
        Err(error) => out.note(&format!("The history could not be compressed: {error}")),
    }
}

fn greet(host: &Host, out: &Out) {
    let loaded = host.plugins().iter().filter(|plugin| plugin.is_loaded()).count();
    let model = host.model();
    out.note(&format!("hermes-host, {model}, {loaded} plugins. /help tells more."));
}

/// Reminds of how the session ended that is taken up.
async fn recap(host: &Host, session: Option<&str>, out: &Out) {
    let Some(id) = session else { return };
    // What cannot be read is told when the first line is sent.
    if let Ok(stored) = host.store().load(id).await {
        sessions::recap(&stored.messages).iter().for_each(|line| out.note(line));
    }
}

/// The next line, read on a thread of its own since the editor blocks; nothing at the end.
async fn read_line(editor: &mut Option<Reedline>) -> Option<String> {
    let mut reading = editor.take()?;
    let (reading, signal) = tokio::task::spawn_blocking(move || {
        let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
        let signal = reading.read_line(&prompt);
        (reading, signal)
    })
    .await
    .ok()?;
    *editor = Some(reading);
    match signal {
        Ok(Signal::Success(line)) => Some(line),
        Ok(Signal::CtrlC) => Some(String::new()),
        _ => None,
    }
}
