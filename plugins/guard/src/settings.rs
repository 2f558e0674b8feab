//! From the settings to rules. Whatever cannot be understood is an error that names the rule and the
//! field; only regular expressions wait until their rule is needed, since reading them costs most.

use serde_json::{Map, Value};

use crate::glob::problem;
use crate::rule::{Action, Change, Rule};

/// The fields a rule may have.
const FIELDS: &[&str] = &[
    "name", "tool", "argument", "path", "contains", "matches", "not", "action", "reason",
    "rewrite", "remove",
];

/// The fields of one rule, and how to speak of it.
struct Fields<'a> {
    fields: &'a Map<String, Value>,
    rule: String,
}

/// Reads the setting `rules`.
///
/// # Errors
/// The first thing that is wrong, with rule and field.
pub(crate) fn parse(rules: &Value) -> Result<Vec<Rule<'_>>, String> {
    let list = rules.as_array().ok_or("the setting \"rules\" must be a list of rules")?;
    list.iter().enumerate().map(|(at, rule)| one(at + 1, rule)).collect()
}

fn one(number: usize, value: &Value) -> Result<Rule<'_>, String> {
    let fields =
        value.as_object().ok_or_else(|| format!("rule {number} must be a table of fields"))?;
    let fields = Fields { fields, rule: number.to_string() };
    let name = fields.required("name")?;
    let fields = Fields { rule: format!("{number} ({name})"), ..fields };
    if let Some(unknown) = fields.fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(fields
            .wrong(unknown, &format!("there is no such field; there are {}", FIELDS.join(", "))));
    }
    let tool = fields.globs("tool")?;
    if tool.is_empty() {
        return Err(fields.wrong("tool", "it is missing; \"*\" stands for every tool"));
    }
    Ok(Rule {
        name,
        tool,
        argument: fields.text("argument")?.filter(|argument| *argument != "*"),
        path: fields.globs("path")?,
        contains: fields.text("contains")?,
        matches: fields.text("matches")?,
        not: fields.flag("not")?,
        action: fields.action()?,
        reason: fields.text("reason")?.unwrap_or_default(),
    })
}

impl<'a> Fields<'a> {
    fn wrong(&self, field: &str, what: &str) -> String {
        format!("rule {}, field {field:?}: {what}", self.rule)
    }

    fn must_be(&self, field: &str, wanted: &str, value: &Value) -> String {
        self.wrong(field, &format!("it must be {wanted}, but is {value}"))
    }

    fn text(&self, field: &str) -> Result<Option<&'a str>, String> {
        let Some(value) = self.fields.get(field) else { return Ok(None) };
        match value.as_str() {
            Some("") if field != "reason" => Err(self.wrong(field, "it must not be empty")),
            Some(text) => Ok(Some(text)),
            None => Err(self.must_be(field, "a text", value)),
        }
    }

    fn required(&self, field: &str) -> Result<&'a str, String> {
        self.text(field)?.ok_or_else(|| self.wrong(field, "it is missing"))
    }

    fn flag(&self, field: &str) -> Result<bool, String> {
        let Some(value) = self.fields.get(field) else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.must_be(field, "true or false", value))
    }

    /// One text or a list of them; empty only where the field is absent.
    fn list(&self, field: &str, wanted: &str) -> Result<Vec<&'a str>, String> {
        let Some(value) = self.fields.get(field) else { return Ok(Vec::new()) };
        let texts: Option<Vec<&str>> = match value {
            Value::String(one) => Some(vec![one]),
            Value::Array(many) => many.iter().map(Value::as_str).collect(),
            _ => None,
        };
        match texts {
            Some(texts) if !texts.is_empty() => Ok(texts),
            _ => Err(self.must_be(field, wanted, value)),
        }
    }

    fn globs(&self, field: &str) -> Result<Vec<&'a str>, String> {
        let globs = self.list(field, "a glob or a list of globs")?;
        if let Some(problem) = globs.iter().find_map(|glob| problem(glob)) {
            return Err(self.wrong(field, &problem));
        }
        if !globs.is_empty() && globs.iter().all(|glob| glob.starts_with('!')) {
            return Err(
                self.wrong(field, "it holds only exceptions; name what they are exceptions from")
            );
        }
        Ok(globs)
    }

    fn action(&self) -> Result<Action<'a>, String> {
        let changes = self.changes()?;
        let action = match (self.required("action")?, changes.is_empty()) {
            ("deny", true) => Action::Deny,
            ("ask", true) => Action::Ask,
            ("allow", true) => Action::Allow,
            ("rewrite", false) => Action::Rewrite(changes),
            ("rewrite", true) => {
                return Err(self.wrong(
                    "rewrite",
                    "it is missing; it holds the new values, \"remove\" what is to go",
                ));
            }
            ("deny" | "ask" | "allow", false) => {
                return Err(self.wrong(
                    "action",
                    "only \"rewrite\" goes with the fields \"rewrite\" and \"remove\"",
                ));
            }
            (other, _) => {
                let what = format!("it must be deny, ask, rewrite or allow, but is {other:?}");
                return Err(self.wrong("action", &what));
            }
        };
        Ok(action)
    }

    fn changes(&self) -> Result<Vec<Change<'a>>, String> {
        let mut changes = Vec::new();
        if let Some(value) = self.fields.get("rewrite") {
            let new = value
                .as_object()
                .ok_or_else(|| self.must_be("rewrite", "a table of new values", value))?;
            let value = |value: &'a Value| Some(value).filter(|value| !value.is_null());
            changes
                .extend(new.iter().map(|(name, new)| Change { argument: name, value: value(new) }));
        }
        let gone = self.list("remove", "an argument's name or a list of them")?;
        changes.extend(gone.into_iter().map(|argument| Change { argument, value: None }));
        match changes.iter().any(|change| change.argument.is_empty()) {
            true => Err(self.wrong("rewrite", "an argument without a name")),
            false => Ok(changes),
        }
    }
}
