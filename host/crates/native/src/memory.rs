//! `memory`: what the model wants to know in later sessions, in two small files a person can edit.
//!
//! Writes are durable at once, but a session's prompt keeps the memory it was born with, so that
//! its prefix stays the same. Reading is not a tool: the prompt shows everything.

mod entries;
mod file;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use hermes_core::failure::{Failure, code};
use hermes_core::message::Effect;
use hermes_core::tool::{Outcome, Part, Tool, ToolInvocation, ToolResult, ToolSpec, ToolTraits};
use serde::Deserialize;
use serde_json::value::RawValue;

pub use entries::Entries;
use entries::{Edit, Refusal};
use file::FileError;

const PARAMETERS: &str = r#"{"type":"object","additionalProperties":false,"required":["target"],"properties":{"target":{"type":"string","enum":["memory","user"],"description":"memory: facts about the work, the environment, lessons. user: who the person is and what they prefer."},"action":{"type":"string","enum":["add","replace","remove"]},"content":{"type":"string","description":"The new entry, for add and replace."},"old_text":{"type":"string","description":"A piece of one entry, enough to tell it from the others, for replace and remove. The whole entry is replaced or removed."},"operations":{"type":"array","minItems":1,"maxItems":50,"description":"Several changes at once, all or none, instead of action. Only the outcome must fit the limit.","items":{"type":"object","additionalProperties":false,"required":["action"],"properties":{"action":{"type":"string","enum":["add","replace","remove"]},"content":{"type":"string"},"old_text":{"type":"string"}}}}}}"#;

/// Which of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryFile {
    /// Facts about the work.
    Memory,
    /// Facts about the person.
    User,
}

impl MemoryFile {
    /// Its name in the folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY.md",
            Self::User => "USER.md",
        }
    }

    /// Most characters it may hold: some 550 and 350 tokens, since every request carries both.
    pub fn limit(self) -> usize {
        match self {
            Self::Memory => 2200,
            Self::User => 1375,
        }
    }

    /// What it holds now, in the folder `dir`.
    ///
    /// # Errors
    /// The file is there and cannot be read; the text says why.
    pub fn read(self, dir: &Path) -> Result<Entries, String> {
        file::read(&dir.join(self.name())).map(|text| Entries::parse(&text))
    }
}

/// The tool.
pub struct Memory {
    spec: ToolSpec,
    dir: PathBuf,
}

#[derive(Deserialize)]
struct Arguments {
    target: MemoryFile,
    #[serde(flatten)]
    single: Operation,
    operations: Option<Vec<Operation>>,
}

#[derive(Deserialize)]
struct Operation {
    action: Option<Action>,
    content: Option<String>,
    old_text: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Replace,
    Remove,
}

impl Memory {
    /// The tool's name.
    pub const NAME: &str = "memory";

    /// The memory in the folder `dir`, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        let parameters = RawValue::from_string(PARAMETERS.into());
        let spec = ToolSpec {
            name: Self::NAME.into(),
            title: Some("Remember".into()),
            description: "Keeps short facts for later sessions: what the person prefers, how this environment works, what was learnt. Changes are kept at once and are in the prompt from the next session on. Not for progress of the task, nor for what is easily found again."
                .into(),
            parameters: parameters.expect("the schema above is JSON").into(),
            source: "native".into(),
            traits: ToolTraits::default(),
        };
        Self { spec, dir: dir.into() }
    }

    fn change(dir: &Path, arguments: &str) -> Outcome {
        let arguments: Arguments = serde_json::from_str(arguments)
            .map_err(|error| Failure::new(code::INVALID_ARGUMENTS, error.to_string()))?;
        let target = arguments.target;
        let edits = arguments.edits()?;
        let changed = file::update(&dir.join(target.name()), |text| {
            let before = Entries::parse(text);
            let (after, told) = before.apply(&edits, target.limit())?;
            // A file in which nothing changes keeps its bytes, however they were typed.
            let text = if after == before { text.to_owned() } else { after.render() };
            Ok((text, (after, told)))
        });
        let (after, told) = changed.map_err(failure)?;
        Ok(vec![Part::text(format!("{}\n{}", told.join("\n"), usage(target, &after)))])
    }
}

impl Arguments {
    fn edits(self) -> Result<Vec<Edit>, Failure> {
        let Some(operations) = self.operations else {
            return Ok(vec![self.single.edit().map_err(invalid)?]);
        };
        let Operation { action: None, content: None, old_text: None } = self.single else {
            return Err(invalid(
                "give either operations or action with its texts, not both".into(),
            ));
        };
        let edits = operations.into_iter().enumerate().map(|(index, operation)| {
            operation.edit().map_err(|problem| invalid(format!("operations[{index}]: {problem}")))
        });
        edits.collect()
    }
}

impl Operation {
    fn edit(self) -> Result<Edit, String> {
        let Some(action) = self.action else {
            return Err("action is missing; it is add, replace or remove".into());
        };
        let content = self.content.ok_or("content is missing; it is the new entry");
        let old =
            self.old_text.ok_or("old_text is missing; it is a piece of the entry that is meant");
        Ok(match action {
            Action::Add => Edit::Add(content?),
            Action::Replace => Edit::Replace { old: old?, new: content? },
            Action::Remove => Edit::Remove { old: old? },
        })
    }
}

fn invalid(problem: String) -> Failure {
    Failure::new(code::INVALID_ARGUMENTS, problem)
}

fn failure(error: FileError<Refusal>) -> Failure {
    let code = match &error {
        FileError::Broken(_) => code::UNAVAILABLE,
        FileError::Refused(Refusal::Unusable(_)) => code::INVALID_ARGUMENTS,
        FileError::Refused(Refusal::Missing(_)) => code::NOT_FOUND,
        FileError::Refused(Refusal::Ambiguous(_)) => code::CONFLICT,
        FileError::Refused(Refusal::TooLong(_)) => code::TOO_LARGE,
    };
    Failure::new(code, error.to_string())
}

fn usage(target: MemoryFile, entries: &Entries) -> String {
    let (used, limit) = (entries.chars(), target.limit());
    let percent = used * 100 / limit;
    let count = entries.len();
    let entries = if count == 1 { "entry" } else { "entries" };
    format!("[{}: {count} {entries}, {used} of {limit} characters, {percent} %]", target.name())
}

#[async_trait]
impl Tool for Memory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: ToolInvocation) -> ToolResult {
        let dir = self.dir.clone();
        // Waits for disks and locks, so not on a thread of the runtime's own.
        let changed =
            tokio::task::spawn_blocking(move || Self::change(&dir, &invocation.arguments));
        let outcome = changed
            .await
            .unwrap_or_else(|error| Err(Failure::new(code::INTERNAL, error.to_string())));
        let effect = if outcome.is_ok() { Effect::Applied } else { Effect::None };
        ToolResult::new(outcome, effect)
    }
}

#[cfg(test)]
#[path = "memory/tests.rs"]
mod tests;
