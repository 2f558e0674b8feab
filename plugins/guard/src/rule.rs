//! One rule: which calls it is about, what must hold of their arguments, and what follows.

use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::glob::{PathGlobs, Reach, is_tool};
use crate::target::{is_content, is_patch, paths};
use crate::text::{Text, texts};

/// A rule, as it is written.
#[derive(Debug, PartialEq)]
pub(crate) struct Rule<'a> {
    /// What it is called in denials and questions.
    pub(crate) name: &'a str,
    /// Globs of tool names.
    pub(crate) tool: Vec<&'a str>,
    /// The argument it looks at; every text where absent.
    pub(crate) argument: Option<&'a str>,
    /// Globs of paths; none are no condition.
    pub(crate) path: Vec<&'a str>,
    /// Text to look for.
    pub(crate) contains: Option<&'a str>,
    /// A regular expression to look for.
    pub(crate) matches: Option<&'a str>,
    /// Whether it is about calls of which the conditions do not hold.
    pub(crate) not: bool,
    /// What follows.
    pub(crate) action: Action<'a>,
    /// Why; may be empty.
    pub(crate) reason: &'a str,
}

/// What follows from a rule.
#[derive(Debug, PartialEq)]
pub(crate) enum Action<'a> {
    /// The call does not run.
    Deny,
    /// The user is asked.
    Ask,
    /// The call runs with other arguments.
    Rewrite(Vec<Change<'a>>),
    /// Later rules do not count.
    Allow,
}

/// A new value of an argument.
#[derive(Debug, PartialEq)]
pub(crate) struct Change<'a> {
    /// Its name, `a` or `a.b`.
    pub(crate) argument: &'a str,
    /// The value; none removes it.
    pub(crate) value: Option<&'a Value>,
}

/// A rule with its globs and its regular expression ready. Made only of rules about the tool at hand,
/// since every call makes its own.
pub(crate) struct Ready<'a> {
    pub(crate) rule: &'a Rule<'a>,
    globs: Option<PathGlobs>,
    regex: Option<Regex>,
}

impl<'a> Rule<'a> {
    /// Whether it is about calls of this tool.
    pub(crate) fn is_about(&self, tool: &str) -> bool {
        is_tool(&self.tool, tool)
    }

    /// Makes it ready.
    ///
    /// # Errors
    /// Its regular expression is none.
    pub(crate) fn ready(&'a self) -> Result<Ready<'a>, String> {
        let regex = self.matches.map(Regex::new).transpose().map_err(|error| {
            format!("rule {:?}, field \"matches\": it is no regular expression: {error}", self.name)
        })?;
        let globs = (!self.path.is_empty()).then(|| PathGlobs::new(&self.path));
        Ok(Ready { rule: self, globs, regex })
    }

    /// The rule's name and reason, for the user.
    pub(crate) fn why(&self) -> String {
        if self.reason.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}: {}", self.name, self.reason)
        }
    }
}

impl Ready<'_> {
    /// Whether the rule holds of these arguments. A rule that restricts holds if any text that it
    /// looks at meets a condition; one that permits, only if there is one and all of them do.
    ///
    /// # Errors
    /// A text it has to judge was cut on its way here.
    pub(crate) fn holds(&self, arguments: &Value) -> Result<bool, String> {
        let permits = self.rule.action == Action::Allow;
        // What a rule turns around must be read the other way to stay on the safe side.
        let reach = if permits == self.rule.not { Reach::Wide } else { Reach::Narrow };
        let texts = texts(arguments, self.rule.argument);
        let met = self.meets_path(arguments, &texts, reach)? && self.meets_words(&texts, reach)?;
        Ok(met != self.rule.not)
    }

    fn meets_path(
        &self,
        arguments: &Value,
        looked_at: &[Text<'_>],
        reach: Reach,
    ) -> Result<bool, String> {
        let Some(globs) = &self.globs else { return Ok(true) };
        // The files a patch touches count, whatever argument the rule is about.
        let elsewhere = match self.rule.argument {
            Some(_) => texts(arguments, None),
            None => Vec::new(),
        };
        let patches = elsewhere.iter().filter(|text| is_patch(text) && !is_content(text));
        let named = self.rule.argument.is_some();
        let own = looked_at.iter().filter(|text| named || !is_content(text));
        let mut all = Vec::new();
        for text in own.chain(patches) {
            self.check_whole(text)?;
            all.extend(paths(text, reach));
        }
        Ok(quantify(reach, all.iter(), |path| globs.hold(path, reach)))
    }

    fn meets_words(&self, texts: &[Text<'_>], reach: Reach) -> Result<bool, String> {
        if self.rule.contains.is_none() && self.regex.is_none() {
            return Ok(true);
        }
        let texts: Vec<&Text<'_>> = texts.iter().filter(|text| !text.is_name).collect();
        for text in &texts {
            self.check_whole(text)?;
        }
        let contains = self
            .rule
            .contains
            .is_none_or(|part| quantify(reach, texts.iter(), |text| text.text.contains(part)));
        let matches = self
            .regex
            .as_ref()
            .is_none_or(|regex| quantify(reach, texts.iter(), |text| regex.is_match(&text.text)));
        Ok(contains && matches)
    }

    fn check_whole(&self, text: &Text<'_>) -> Result<(), String> {
        if text.is_cut() {
            return Err(format!(
                "rule {:?} has to judge the argument {:?}, which arrived cut; grant guard:hook:full",
                self.rule.name, text.name
            ));
        }
        Ok(())
    }

    /// Applies the changes of a rule that rewrites.
    ///
    /// # Errors
    /// A change leads through something that is no object.
    pub(crate) fn apply(
        &self,
        changes: &[Change<'_>],
        arguments: &mut Value,
    ) -> Result<(), String> {
        for change in changes {
            apply(change.argument, change.value, arguments).ok_or_else(|| {
                let (rule, argument) = (self.rule.name, change.argument);
                format!("rule {rule:?} cannot rewrite {argument:?}: it leads through something that is no object")
            })?;
        }
        Ok(())
    }
}

/// Any of them, reaching wide; all of them and at least one, reaching narrow.
fn quantify<T>(
    reach: Reach,
    mut all: impl ExactSizeIterator<Item = T>,
    is: impl FnMut(T) -> bool,
) -> bool {
    match reach {
        Reach::Wide => all.any(is),
        Reach::Narrow => all.len() > 0 && all.all(is),
    }
}

fn apply(argument: &str, new: Option<&Value>, value: &mut Value) -> Option<()> {
    let fields = value.as_object_mut()?;
    match argument.split_once('.') {
        Some((first, rest)) if !fields.contains_key(argument) => {
            if new.is_none() && !fields.contains_key(first) {
                return Some(());
            }
            let inner = fields.entry(first).or_insert_with(|| Value::Object(Map::new()));
            apply(rest, new, inner)
        }
        _ => {
            match new {
                Some(new) => fields.insert(argument.to_owned(), new.clone()),
                None => fields.shift_remove(argument),
            };
            Some(())
        }
    }
}
