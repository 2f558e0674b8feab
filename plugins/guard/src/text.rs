//! The texts among a call's arguments.

use std::borrow::Cow;

use serde_json::Value;

/// The longest text a hook sees uncut without the power `full`, in bytes. The host puts `…` where it
/// cut.
const CUT: std::ops::RangeInclusive<usize> = 253..=256;

/// Arguments whose text is a program or a command line.
const COMMANDS: &[&str] = &["command", "commands", "cmd", "script", "code", "argv", "args"];

/// A text and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    /// The argument it stands under, the innermost.
    pub(crate) name: &'a str,
    /// The text; numbers, true and false as they are written.
    pub(crate) text: Cow<'a, str>,
    /// Whether it is itself a name, as in `{"src/a.rs": "…"}`. Such a name can be a path.
    pub(crate) is_name: bool,
}

impl Text<'_> {
    /// Whether the host seems to have cut it, so that a rule would judge half of it.
    pub(crate) fn is_cut(&self) -> bool {
        CUT.contains(&self.text.len()) && self.text.ends_with('…')
    }
}

/// Whether an argument of this name is a command.
pub(crate) fn is_command(name: &str) -> bool {
    COMMANDS.contains(&name)
}

/// The texts of the argument `wanted` (`a` or `a.b`; through lists), or all of them.
pub(crate) fn texts<'a>(arguments: &'a Value, wanted: Option<&'a str>) -> Vec<Text<'a>> {
    let mut found = Vec::new();
    match wanted {
        None => collect("", arguments, &mut found),
        Some(name) => select(name, arguments, &mut found),
    }
    found
}

fn select<'a>(name: &'a str, value: &'a Value, found: &mut Vec<Text<'a>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| select(name, item, found)),
        Value::Object(fields) => {
            if let Some(value) = fields.get(name) {
                collect(name.rsplit('.').next().unwrap_or(name), value, found);
            } else if let Some((first, rest)) = name.split_once('.')
                && let Some(value) = fields.get(first)
            {
                select(rest, value, found);
            }
        }
        _ => {}
    }
}

fn collect<'a>(name: &'a str, value: &'a Value, found: &mut Vec<Text<'a>>) {
    let mut push = |text, is_name| found.push(Text { name, text, is_name });
    match value {
        Value::Null => {}
        Value::String(text) => push(Cow::Borrowed(text.as_str()), false),
        Value::Bool(_) | Value::Number(_) => push(Cow::Owned(value.to_string()), false),
        Value::Array(items) => match command_line(name, items) {
            Some(line) => push(Cow::Owned(line), false),
            None => items.iter().for_each(|item| collect(name, item, found)),
        },
        Value::Object(fields) => {
            for (key, item) in fields {
                // The names at the top are the tool's own and no paths.
                if !name.is_empty() {
                    found.push(Text { name, text: Cow::Borrowed(key.as_str()), is_name: true });
                }
                collect(key, item, found);
            }
        }
    }
}

/// The words of a command given as a list, as one line, so that a rule need not care which it was.
fn command_line(name: &str, words: &[Value]) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    words.filter(|_| is_command(name)).map(|words| words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_found_at_every_depth_and_by_name() {
        let arguments = json!({"path": "a", "force": true, "none": null,
            "files": [{"path": "b", "line": 3}, {"path": "c"}], "by": {"d": "e"}, "x.y": "z",
            "argv": ["rm", "-rf", "x"]});
        let shown = |wanted| -> Vec<String> {
            let found = texts(&arguments, wanted);
            let mark = |text: &Text<'_>| if text.is_name { "#" } else { "=" };
            found.iter().map(|text| format!("{}{}{}", text.name, mark(text), text.text)).collect()
        };
        assert_eq!(
            shown(None),
            [
                "path=a",
                "force=true",
                "files#path",
                "path=b",
                "files#line",
                "line=3",
                "files#path",
                "path=c",
                "by#d",
                "d=e",
                "x.y=z",
                "argv=rm -rf x"
            ]
        );
        assert_eq!(shown(Some("path")), ["path=a"]);
        assert_eq!(shown(Some("files.path")), ["path=b", "path=c"]);
        assert_eq!(shown(Some("by")), ["by#d", "d=e"]);
        assert_eq!(shown(Some("x.y")), ["y=z"]);
        assert_eq!(shown(Some("path.z")), [""; 0]);
        assert_eq!(shown(Some("absent")), [""; 0]);
    }

    #[test]
    fn a_text_the_host_cut_is_noticed() {
        let cut = |text: String| Text { name: "a", text: text.into(), is_name: false }.is_cut();
        assert!(cut(format!("{}…", "x".repeat(253))));
        assert!(!cut("x".repeat(256)));
        assert!(!cut("a sentence that goes on…".into()));
    }
}
