//! The only place that prints, beside `main`. A renderer is a fold over events; it decides nothing
//! about a turn.

mod out;
mod printable;
mod text;
mod transcript;

use std::sync::Arc;

use hermes_core::event::Event;
use hermes_core::result::{EndKind, ErrorInfo, TurnEnd, TurnResult, WIRE_VERSION};
use hermes_core::transport::ErrorKind;
use hermes_core::usage::Usage;
use tokio_util::sync::CancellationToken;

pub(crate) use out::Out;
pub(crate) use printable::{columns, printable};
pub(crate) use transcript::transcript;

use crate::UsageError;
use crate::cli::Output;

/// A sink that prints events as asked.
pub(crate) fn sink(output: Output, verbose: u8, out: Arc<Out>) -> Box<dyn Fn(Event) + Send + Sync> {
    match output {
        Output::Text => {
            let text = text::Text::new(verbose, out);
            Box::new(move |event| text.show(&event))
        }
        Output::Json => Box::new(|_| {}),
        Output::StreamJson => Box::new(move |event| out.json(&event)),
    }
}

/// Prints what a finished turn still owes.
pub(crate) fn finish(output: Output, result: &TurnResult, out: &Out) {
    match output {
        Output::Text => text::finish(result, out),
        Output::Json => out.json(result),
        Output::StreamJson => {} // its last event was the result
    }
}

/// A run that could not begin.
pub(crate) fn refuse(output: Output, error: &UsageError) {
    let out = Out::new(CancellationToken::new());
    out.note(&format!("hermes-host: {error}"));
    let result = refused(error);
    match output {
        Output::Text => {}
        Output::Json => out.json(&result),
        Output::StreamJson => out.json(&serde_json::json!({
            "v": WIRE_VERSION, "seq": 0, "time": hermes_core::id::now_ms(), "session_id": "",
            "turn": 0, "iteration": 0, "type": "turn_ended", "result": result,
        })),
    }
}

/// The whole result of a run that could not begin.
fn refused(error: &UsageError) -> TurnResult {
    let message = error.to_string();
    TurnResult {
        v: WIRE_VERSION,
        session_id: String::new(),
        task_id: String::new(),
        turn: 0,
        final_response: None,
        completed: false,
        failed: true,
        interrupted: false,
        end: TurnEnd { kind: EndKind::Failed, detail: message.clone() },
        error: Some(ErrorInfo {
            kind: ErrorKind::BadRequest,
            status: None,
            provider: None,
            message,
        }),
        messages: Vec::new(),
        api_calls: 0,
        iterations: Vec::new(),
        usage: Usage::default(),
        cost: None,
        model: String::new(),
        provider: String::new(),
        api_mode: String::new(),
        pending_steer: None,
    }
}
