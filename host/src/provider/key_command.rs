//! Runs what prints a key. What it says on its error output is shown nowhere: it may hold the key.

use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use hermes_transport::{KeySource, Secret};
use tokio::process::Command;

use crate::config::OneOrMore;

/// Longest time a command may take: long enough to unlock a vault by hand.
const PATIENCE: Duration = Duration::from_secs(30);

/// Most bytes a key may have; a header could not carry more.
const LONGEST: usize = 16 * 1024;

/// Prints fresh keys of a provider.
pub(crate) struct KeyCommand {
    /// The provider, for messages.
    pub(crate) provider: String,
    /// What is run.
    pub(crate) command: OneOrMore,
}

#[async_trait]
impl KeySource for KeyCommand {
    async fn fresh(&self) -> Result<Secret, String> {
        let key = run(&self.command).await;
        key.map_err(|why| format!("the key_command of provider {:?} {why}", self.provider))
    }
}

/// The key that `command` prints: all of its output, without the blanks around it.
///
/// # Errors
/// It cannot run, fails, takes too long, or prints no key. The text holds nothing it printed.
async fn run(command: &OneOrMore) -> Result<Secret, String> {
    let mut process = program(command);
    process.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(PATIENCE, process.output()).await {
        Err(_) => return Err(format!("took longer than {} s", PATIENCE.as_secs())),
        Ok(Err(error)) => return Err(format!("cannot run: {error}")),
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        return Err(format!("failed ({}); run it by hand to see why", output.status));
    }
    let key = String::from_utf8(output.stdout).map_err(|_| "printed something that is no text")?;
    match key.trim() {
        "" => Err("printed nothing".into()),
        key if key.len() > LONGEST => Err(format!("printed {} bytes, which is no key", key.len())),
        key if key.contains(char::is_control) => Err("printed more than one line".into()),
        key => Ok(Secret::new(key)),
    }
}

/// A list is run as it is; nothing in it is interpreted. A string goes through the shell.
fn program(command: &OneOrMore) -> Command {
    match command {
        OneOrMore::One(line) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]);
            shell
        }
        OneOrMore::More(words) => {
            let mut words = words.iter();
            let mut program = Command::new(words.next().map_or("", String::as_str));
            program.args(words);
            program
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn said(words: &[&str]) -> Result<String, String> {
        let command = match words {
            [line] => OneOrMore::One((*line).into()),
            words => OneOrMore::More(words.iter().map(|word| (*word).into()).collect()),
        };
        run(&command).await.map(|key| key.expose().to_owned())
    }

    #[tokio::test]
    async fn a_key_is_all_that_is_printed_without_blanks() {
        let key = |key: &str| Ok(key.to_owned());
        assert_eq!(said(&["printf ' sk-1\\n\\n'"]).await, key("sk-1"));
        assert_eq!(said(&["printf", "%s", "$(id) ; sk-2"]).await, key("$(id) ; sk-2"));
        assert_eq!(said(&["echo secret >&2; printf sk-3"]).await, key("sk-3"));
    }

    #[tokio::test]
    async fn what_goes_wrong_is_said_without_what_was_printed() {
        let wrong = |text: &str| Err(text.to_owned());
        assert_eq!(said(&["true"]).await, wrong("printed nothing"));
        assert_eq!(said(&["printf 'a\\nb'"]).await, wrong("printed more than one line"));
        let failed = "failed (exit status: 3); run it by hand to see why";
        assert_eq!(said(&["echo sk-4; echo sk-4 >&2; exit 3"]).await, wrong(failed));
        let absent = said(&["/nowhere/vault", "x"]).await;
        assert!(absent.is_err_and(|text| text.starts_with("cannot run: ")));
    }

    #[tokio::test]
    async fn its_error_names_the_provider() {
        let command = OneOrMore::One("exit 1".into());
        let source = KeyCommand { provider: "work".into(), command };
        assert_eq!(
            source.fresh().await.map(|_| ()),
            Err("the key_command of provider \"work\" failed (exit status: 1); run it by hand to \
                 see why"
                .into())
        );
    }
}
