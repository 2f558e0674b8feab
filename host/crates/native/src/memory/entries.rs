//! The entries of a memory file and the edits they take. Pure: text in, text out.
//!
//! Entries are separated by a line that holds nothing but `§`. What an entry says is never
//! changed, whatever its line ends; only white space around it goes.

use std::fmt;

use hermes_core::injection;
use hermes_core::text;

/// The line between two entries.
const MARK: &str = "§";
const SEPARATOR: &str = "\n§\n";

/// Longest piece of an entry that an error quotes, in bytes.
const QUOTED: usize = 80;

/// What a memory file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries(Vec<String>);

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edit {
    /// A new entry at the end.
    Add(String),
    /// The entry that holds `old` becomes `new`.
    Replace { old: String, new: String },
    /// The entry that holds `old` goes.
    Remove { old: String },
}

/// Why an edit cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Text is missing, or is nothing to remember.
    Unusable(String),
    /// No entry holds the text.
    Missing(String),
    /// More than one different entry holds the text.
    Ambiguous(String),
    /// It would not fit.
    TooLong(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unusable(text)
        | Self::Missing(text)
        | Self::Ambiguous(text)
        | Self::TooLong(text)) = self;
        f.write_str(text)
    }
}

impl Entries {
    /// The entries of a file's text; blank ones are none.
    pub fn parse(text: &str) -> Self {
        let mut entries = vec![String::new()];
        for line in text.split_inclusive('\n') {
            match entries.last_mut() {
                Some(entry) if bare(line) != MARK => entry.push_str(line),
                _ => entries.push(String::new()),
            }
        }
        let trimmed = entries.iter().map(|entry| bare(entry)).filter(|entry| !entry.is_empty());
        Self(trimmed.map(str::to_owned).collect())
    }

    /// The file's text.
    pub fn render(&self) -> String {
        self.0.join(SEPARATOR)
    }

    /// Characters of the file's text; what the limit is about.
    pub fn chars(&self) -> usize {
        let separators = SEPARATOR.chars().count() * self.0.len().saturating_sub(1);
        self.0.iter().map(|entry| entry.chars().count()).sum::<usize>() + separators
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The entries after all `edits`, and a line about each; all or none. Only the outcome must
    /// fit `limit` characters, and an edit that makes a file smaller is never too long.
    pub(super) fn apply(
        &self,
        edits: &[Edit],
        limit: usize,
    ) -> Result<(Self, Vec<String>), Refusal> {
        let mut after = self.clone();
        let mut told = Vec::with_capacity(edits.len());
        for edit in edits {
            told.push(after.edit(edit)?);
        }
        let (before, now) = (self.chars(), after.chars());
        if now > limit && now > before {
            return Err(Refusal::TooLong(format!(
                "this would make {now} characters of at most {limit} ({before} are used); remove or replace entries with shorter ones in the same call (operations), keeping what will still matter.\n{}",
                self.inventory()
            )));
        }
        Ok((after, told))
    }

    fn edit(&mut self, edit: &Edit) -> Result<String, Refusal> {
        match edit {
            Edit::Add(content) => self.add(content),
            Edit::Replace { old, new } => self.replace(old, new),
            Edit::Remove { old } => self.remove(old),
        }
    }

    fn add(&mut self, content: &str) -> Result<String, Refusal> {
        let content = checked(content)?;
        if self.0.contains(&content) {
            return Ok("Already there, so nothing was added.".into());
        }
        self.0.push(content);
        Ok("Added.".into())
    }

    fn replace(&mut self, old: &str, new: &str) -> Result<String, Refusal> {
        let new = checked(new)?;
        let before = self.find(old)?;
        let at = self.0.iter().position(|entry| *entry == before).unwrap_or(self.0.len());
        self.0.retain(|entry| *entry != before);
        if !self.0.contains(&new) {
            self.0.insert(at, new);
        }
        Ok(format!("Replaced the whole entry {before:?}."))
    }

    fn remove(&mut self, old: &str) -> Result<String, Refusal> {
        let before = self.find(old)?;
        self.0.retain(|entry| *entry != before);
        Ok(format!("Removed the entry {before:?}."))
    }

    /// The one entry that is `old`, or else the one that holds it. Copies of it are the same entry.
    fn find(&self, old: &str) -> Result<String, Refusal> {
        let old = bare(old);
        if old.is_empty() {
            return Err(Refusal::Unusable(format!(
                "old_text is empty; give a piece of the entry that is meant.\n{}",
                self.inventory()
            )));
        }
        if self.0.iter().any(|entry| entry == old) {
            return Ok(old.to_owned());
        }
        let mut held: Vec<&String> = self.0.iter().filter(|entry| entry.contains(old)).collect();
        held.sort_unstable();
        held.dedup();
        match held.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(Refusal::Missing(format!(
                "no entry holds {:?}; it is matched to the letter.\n{}",
                text::ellipsis(old, QUOTED),
                self.inventory()
            ))),
            several => Err(Refusal::Ambiguous(format!(
                "{} entries hold {:?}; give more of the one that is meant:\n{}",
                several.len(),
                text::ellipsis(old, QUOTED),
                listed(several.iter().map(|entry| entry.as_str()))
            ))),
        }
    }

    fn inventory(&self) -> String {
        if self.0.is_empty() {
            return "There are no entries.".into();
        }
        format!("The entries are:\n{}", listed(self.iter()))
    }
}

/// `text` without white space and byte order marks around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// A line for each entry, cut where it is long.
fn listed<'a>(entries: impl Iterator<Item = &'a str>) -> String {
    let lines = entries.map(|entry| format!("- {:?}", text::ellipsis(entry, QUOTED)));
    lines.collect::<Vec<_>>().join("\n")
}

/// What may become an entry.
fn checked(content: &str) -> Result<String, Refusal> {
    let content = bare(content);
    if content.is_empty() {
        return Err(Refusal::Unusable("content is empty; say what to remember".into()));
    }
    if content.lines().any(|line| bare(line) == MARK) {
        return Err(Refusal::Unusable(
            "a line of its own with § separates entries; add several entries with operations"
                .into(),
        ));
    }
    let signs = injection::signs(content);
    if !signs.is_empty() {
        return Err(Refusal::Unusable(format!(
            "this reads like orders to the model rather than a fact ({}), and every later session would see it; say it as a plain fact in other words",
            signs.join(", ")
        )));
    }
    Ok(content.to_owned())
}

#[cfg(test)]
#[path = "entries_tests.rs"]
mod tests;
