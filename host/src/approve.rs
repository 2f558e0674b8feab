//! Asking the person at the terminal. Nobody there, or nothing said, is a no.

use std::io::{BufRead, IsTerminal, Write};

use async_trait::async_trait;
use hermes_core::approver::{Approval, Approver, Inquiry, Question};

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
        let answer = tokio::task::spawn_blocking(move || read_line(&text)).await;
        approval(answer.ok().flatten().as_deref())
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Option<String> {
        if !self.interactive {
            return None;
        }
        let text = inquiry_card(inquiry);
        tokio::task::spawn_blocking(move || read_line(&text)).await.ok().flatten()
    }
}

/// The question of a model and the answers it proposes, by number.
fn inquiry_card(inquiry: &Inquiry) -> String {
    let mut card = format!("\n{}\n", printable(&inquiry.text));
    for (index, choice) in inquiry.choices.iter().enumerate() {
        card.push_str(&format!("  {}. {}\n", index + 1, printable(choice)));
    }
    let hint =
        if inquiry.choices.is_empty() { "Answer: " } else { "A number, or your own answer: " };
    card + hint
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

/// A line of the terminal, after `text` was shown on it; nothing at its end.
fn read_line(text: &str) -> Option<String> {
    let mut error = std::io::stderr().lock();
    error.write_all(text.as_bytes()).and_then(|()| error.flush()).ok()?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).ok()?;
    (read > 0).then_some(answer)
}

fn approval(answer: Option<&str>) -> Approval {
    match answer.unwrap_or_default().trim().to_lowercase().as_str() {
        "y" | "yes" => Approval::Once,
        "s" | "session" => Approval::Session,
        _ => Approval::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inquiry_shows_its_choices_and_commands_nothing() {
        let mut inquiry = Inquiry {
            call_id: "c".into(),
            text: "Which\u{1b}[2J?".into(),
            choices: vec!["red".into(), "blue".into()],
        };
        assert_eq!(
            inquiry_card(&inquiry),
            "\nWhich\u{fffd}[2J?\n  1. red\n  2. blue\nA number, or your own answer: "
        );
        inquiry.choices.clear();
        assert_eq!(inquiry_card(&inquiry), "\nWhich\u{fffd}[2J?\nAnswer: ");
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, meant) in [
            (Some("y\n"), Approval::Once),
            (Some(" YES"), Approval::Once),
            (Some("s"), Approval::Session),
            (Some("yeah"), Approval::Deny),
            (Some(""), Approval::Deny),
            (None, Approval::Deny),
        ] {
            assert_eq!(approval(answer), meant, "{answer:?}");
        }
    }

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
