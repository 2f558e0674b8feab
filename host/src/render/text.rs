//! For people: the answer on standard output, what happens meanwhile on standard error.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::event::{Event, EventKind};
use hermes_core::result::{EndKind, TurnResult};

use super::{Out, columns, printable};

/// Columns of a line about a tool call: fits a terminal of 80 beside the mark.
const LINE_COLUMNS: usize = 76;

/// Prints a turn as it happens.
pub(super) struct Text {
    out: Arc<Out>,
    /// Whether to tell what happens beside the answer.
    tells: bool,
    verbose: bool,
    /// Whether the last thing streamed was not a whole line.
    mid_line: AtomicBool,
    /// Tool names by call id, for the line that ends a call.
    calls: Mutex<Vec<(String, String)>>,
}

impl Text {
    pub(super) fn new(verbose: u8, out: Arc<Out>) -> Self {
        let tells = verbose > 0 || std::io::stderr().is_terminal();
        Self { out, tells, verbose: verbose > 0, mid_line: false.into(), calls: Mutex::default() }
    }

    pub(super) fn show(&self, event: &Event) {
        match &event.kind {
            // A pipe gets the answer alone, at the end: earlier text is only on the way to it.
            EventKind::Delta { text } if self.out.is_terminal() => {
                self.out.write(&printable(text));
                self.mid_line.store(!text.ends_with('\n'), Ordering::Relaxed);
            }
            EventKind::ToolCallStarted { call_id, tool, arguments_preview, .. } => {
                self.calls().push((call_id.clone(), tool.clone()));
                self.tell(&format!("→ {tool} {arguments_preview}"));
            }
            EventKind::ToolCallProgress { message, .. } => self.tell(&format!("  {message}")),
            EventKind::ToolCallFinished { call_id, outcome, duration_ms, preview } => {
                let tool = self.forget(call_id);
                match outcome.as_str() {
                    "ok" if self.verbose => {
                        self.tell(&format!("← {tool} {duration_ms} ms: {preview}"))
                    }
                    "ok" => {}
                    _ => self.tell(&format!("✗ {tool}: {preview}")),
                }
            }
            EventKind::HookVerdict { hook, verdict, reason, .. } => {
                let reason =
                    reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                self.tell(&format!("! {hook}: {verdict}{reason}"));
            }
            EventKind::Status { message } => self.announce(message),
            EventKind::Fallback { from, to, reason } => {
                self.announce(&format!("{from} → {to}: {reason}"))
            }
            EventKind::Compressed { archived, .. } => {
                self.tell(&format!("history compressed: {archived} messages archived"));
            }
            _ => {}
        }
    }

    fn tell(&self, line: &str) {
        if !self.tells {
            return;
        }
        if self.mid_line.swap(false, Ordering::Relaxed) {
            self.out.write("\n");
        }
        self.out.note(&columns(line, LINE_COLUMNS));
    }

    /// Tells what a person has to know whether they watch or read a log later.
    fn announce(&self, line: &str) {
        if self.tells {
            self.tell(line);
        } else {
            self.out.note(&format!("hermes-host: {}", printable(line)));
        }
    }

    fn forget(&self, call_id: &str) -> String {
        let mut calls = self.calls();
        let at = calls.iter().position(|(id, _)| id == call_id);
        at.map(|at| calls.swap_remove(at).1).unwrap_or_default()
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<(String, String)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints the answer where it was not streamed, and why a turn ended if it did not simply finish.
pub(super) fn finish(result: &TurnResult, out: &Out) {
    let answer = result.final_response.as_deref().unwrap_or_default();
    if out.is_terminal() {
        out.write("\n");
    } else if !answer.is_empty() {
        out.line(&printable(answer));
    }
    if result.end.kind == EndKind::Finished {
        return;
    }
    let why = match &result.error {
        Some(error) => format!("failed ({}): {}", error.kind, error.message),
        None => result.end.detail.clone(),
    };
    out.note(&format!("hermes-host: {}", printable(&why)));
}
