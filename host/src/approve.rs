//! Asking the person at the terminal. Nobody there, or nothing said, is a no.

use std::io::{BufRead, IsTerminal, Write};

use async_trait::async_trait;
use hermes_core::approver::{Approval, Approver, Question};

use crate::render::printable;

/// Longest arguments shown with a question, in bytes; what is longer is announced, not hidden.
const SHOWN_BYTES: usize = 2000;

/// Asks on standard error and reads the answer from the terminal.
pub(crate) struct TerminalApprover {
    yes: bool,
    interactive: bool,
}

impl TerminalApprover {
    /// `yes`: agree to everything. `interactive`: a person may be asked if a terminal is there.
    pub(crate) fn new(yes: bool, interactive: bool) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { yes, interactive: interactive && terminal }
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn ask(&self, question: &Question) -> Approval {
        if self.yes {
            return Approval::Once;
        }
        if !self.interactive {
            return Approval::Deny;
        }
        let text = card(question);
        tokio::task::spawn_blocking(move || read_answer(&text)).await.unwrap_or(Approval::Deny)
    }
}

/// The question with everything the answer is for; control characters cannot hide any of it.
fn card(question: &Question) -> String {
    let arguments = printable(&question.arguments);
    let arguments = if arguments.len() > SHOWN_BYTES {
        let head = hermes_core::text::prefix(&arguments, SHOWN_BYTES);
        format!("{head}\n… and {} bytes more", arguments.len() - head.len())
    } else {
        arguments
    };
    format!(
        "\n{} asks: {}\n  {} {arguments}\nAllow? [y]es, once · for the [s]ession · [N]o: ",
        printable(&question.asked_by),
        printable(&question.text),
        question.tool
    )
}

fn read_answer(text: &str) -> Approval {
    let mut error = std::io::stderr().lock();
    if error.write_all(text.as_bytes()).and_then(|()| error.flush()).is_err() {
        return Approval::Deny;
    }
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer).is_err() {
        return Approval::Deny;
    }
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Approval::Once,
        "s" | "session" => Approval::Session,
        _ => Approval::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_what_will_run_and_hides_nothing() {
        let question = Question {
            call_id: "c".into(),
            tool: "terminal".into(),
            asked_by: "guard".into(),
            text: "sure?".into(),
            arguments: "{\"command\":\"ls\u{1b}[8m; rm -rf /\"}".into(),
        };
        assert_eq!(
            card(&question),
            "\nguard asks: sure?\n  terminal {\"command\":\"ls�[8m; rm -rf /\"}\nAllow? [y]es, once · for the [s]ession · [N]o: "
        );
    }
}
