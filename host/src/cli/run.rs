//! One prompt, one answer.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::sync::Arc;

use hermes_core::agent::TurnInput;
use hermes_core::result::{EndKind, TurnResult};
use hermes_plugin::registry::PluginState;
use tokio_util::sync::CancellationToken;

use super::interrupt::Interrupt;
use super::{Output, RunArgs, chat, exit};
use crate::approve::TerminalApprover;
use crate::home::Home;
use crate::render::{self, Out, printable};
use crate::{Host, HostBuilder, UsageError};

/// Runs a prompt or a chat.
pub(super) async fn main(args: &RunArgs, home: &Home) -> Result<ExitCode, UsageError> {
    let Some(prompt) = prompt(args)? else {
        return chat::main(args, home).await;
    };
    let host = open(args, home)?;
    one_turn(args, &host, session(args, &host).await?, &prompt).await
}

/// The host the arguments describe.
pub(super) fn open(args: &RunArgs, home: &Home) -> Result<Host, UsageError> {
    in_folder(args, home)?.open()
}

/// The host the arguments describe, working in the current directory.
pub(super) fn in_folder(args: &RunArgs, home: &Home) -> Result<HostBuilder, UsageError> {
    let builder = builder(args, home)?;
    // A working directory that is gone is none; what needs it says so itself.
    Ok(match std::env::current_dir() {
        Ok(folder) => builder.folder(folder),
        Err(_) => builder,
    })
}

/// The host the arguments describe, as far as they say.
pub(super) fn builder(args: &RunArgs, home: &Home) -> Result<HostBuilder, UsageError> {
    let mut builder = HostBuilder::new(home.clone())
        .model(args.model_choice())
        .grants(args.grant.clone())
        .dev(args.dev)
        .source("cli");
    if !args.plugins.is_empty() {
        builder = builder.plugins(args.plugins.clone());
    }
    if let Some(max) = args.max_turns {
        builder = builder.max_turns(max);
    }
    if let Some(system) = &args.system {
        builder = builder.system(system_prompt(system)?);
    }
    Ok(builder)
}

fn system_prompt(given: &str) -> Result<String, UsageError> {
    let Some(path) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    std::fs::read_to_string(path).map_err(|error| {
        UsageError::new(format!("cannot read the system prompt from {path:?}: {error}"))
    })
}

/// The session to go on with, if one is meant.
pub(super) async fn session(args: &RunArgs, host: &Host) -> Result<Option<String>, UsageError> {
    if let Some(given) = &args.resume {
        return host.find_session(given).await.map(Some);
    }
    if args.continue_latest {
        return host.latest_session().await.map(Some);
    }
    Ok(None)
}

/// Runs one turn and prints it as asked.
pub(super) async fn one_turn(
    args: &RunArgs,
    host: &Host,
    session: Option<String>,
    prompt: &str,
) -> Result<ExitCode, UsageError> {
    let cancel = CancellationToken::new();
    let out = Arc::new(Out::new(cancel.clone()));
    let approver = Arc::new(TerminalApprover::new(args.yes, args.output == Output::Text));
    let sink = render::sink(args.output, args.verbose, Arc::clone(&out));
    let agent = host.agent(session, approver, sink)?;
    tell_of_models(host, &out);
    tell_of_plugins(args, host, &out);

    let interrupt = Interrupt::listen();
    let input = TurnInput { cancel: cancel.clone(), ..TurnInput::user(prompt) };
    let watcher = interrupt.cancels(cancel);
    let result = agent.run_turn(input).await;
    watcher.abort();
    render::finish(args.output, &result, &out);
    if out.is_broken() {
        return Ok(ExitCode::from(exit::BROKEN_PIPE));
    }
    Ok(ExitCode::from(code(&result, &interrupt)))
}

/// Says which model was found, and which providers are passed over.
pub(super) fn tell_of_models(host: &Host, out: &Out) {
    for notice in host.notices() {
        out.note(&printable(&format!("hermes-host: {notice}")));
    }
}

/// Says which plugins are not there, and what else their user should know.
pub(super) fn tell_of_plugins(args: &RunArgs, host: &Host, out: &Out) {
    if args.dev {
        out.note("hermes-host: --dev trusts the plugin folders as they are, whatever changed");
    }
    for plugin in host.plugins() {
        let refused = plugin.reason.iter().filter(|_| plugin.state == PluginState::Refused);
        let warnings = plugin.warnings.iter().filter(|_| args.verbose > 0);
        for line in refused.map(|why| format!("is refused: {why}")).chain(warnings.cloned()) {
            out.note(&printable(&format!("hermes-host: plugin {}: {line}", plugin.name)));
        }
    }
}

/// The exit code of a turn.
pub(super) fn code(result: &TurnResult, interrupt: &Interrupt) -> u8 {
    match result.end.kind {
        EndKind::Finished => exit::FINISHED,
        EndKind::BudgetSpent => exit::BUDGET_SPENT,
        EndKind::Interrupted => interrupt.code(),
        EndKind::Failed | EndKind::StoppedByHook => exit::FAILED,
    }
}

/// The prompt, or nothing if a person wants to chat.
fn prompt(args: &RunArgs) -> Result<Option<String>, UsageError> {
    let prompt = match args.query.as_deref() {
        Some("-") => read_stdin()?,
        Some(query) if args.stdin => fenced(query, &read_stdin()?),
        Some(query) => query.to_owned(),
        None if std::io::stdin().is_terminal() => return Ok(None),
        None => read_stdin()?,
    };
    if prompt.trim().is_empty() {
        return Err(UsageError::new("the prompt is empty; say -q \"…\" or pipe it in"));
    }
    Ok(Some(prompt))
}

fn read_stdin() -> Result<String, UsageError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|error| UsageError::new(format!("cannot read standard input: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `query` with `data` below it, in a fence longer than any in the data.
fn fenced(query: &str, data: &str) -> String {
    let longest = data.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let data = data.trim_end_matches('\n');
    format!("{query}\n\n{fence}\n{data}\n{fence}")
}

/// A run that could not begin: the error on standard error, and a whole result where a program
/// waits for one.
pub(super) fn refuse(args: &RunArgs, error: &UsageError) -> ExitCode {
    render::refuse(args.output, error);
    ExitCode::from(exit::USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_fenced_by_more_than_it_contains() {
        assert_eq!(fenced("sum", "1\n2\n"), "sum\n\n```\n1\n2\n```");
        assert_eq!(fenced("see", "a ```` b"), "see\n\n`````\na ```` b\n`````");
    }
}
