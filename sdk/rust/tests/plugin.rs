//! `plugin!` with everything at once: the exports a host would call, reached the way the generated
//! code reaches them.

use hermes_plugin_sdk::__private::{Entry, call_tool, list_tools};
use hermes_plugin_sdk::prelude::*;

mod tools {
    use super::*;

    /// Arguments of `echo`.
    #[arguments]
    pub(crate) struct Echo {
        /// What to say.
        text: String,
        #[serde(flatten)]
        rest: std::collections::BTreeMap<String, u32>,
    }

    /// Says it back.
    #[tool(read_only)]
    pub(crate) fn echo(arguments: Echo) -> String {
        format!("{} and {} more", arguments.text, arguments.rest.len())
    }

    /// Says nothing.
    #[tool]
    pub(crate) fn hush() -> String {
        String::new()
    }
}
use tools::echo;

fn check(call: PendingCall) -> Result<PreVerdict, String> {
    call.arguments_json().map(|arguments| PreVerdict::Rewrite(arguments["inner"].to_string()))
}

fn review(call: FinishedCall) -> Result<PostVerdict, String> {
    Ok(match call.outcome {
        Ok(parts) => PostVerdict::Replace(parts),
        Err(failure) => PostVerdict::Note(failure.to_string()),
    })
}

fn notify(point: &str, fields: &[Attribute]) {
    log::info(format_args!("{point}: {}", fields.len()));
}

hermes_plugin_sdk::plugin! {
    observer: notify,
    post_tool_call: review,
    pre_tool_call: check,
    tools: [echo, tools::hush],
}

const TABLE: &[Entry] = &[Entry::of::<echo>(), Entry::of::<tools::hush>()];

#[test]
fn tools_are_listed_in_order() {
    let names = list_tools(TABLE).map(|specs| specs.into_iter().map(|s| s.name).collect());
    assert_eq!(names, Ok(vec!["echo".to_owned(), "hush".to_owned()]));
}

#[test]
fn a_call_reaches_its_tool() {
    let info = CallInfo::default();
    let answer = call_tool(TABLE, "echo", r#"{"text": "hi", "n": 1}"#, &info);
    assert_eq!(answer, Ok(vec![Part::text("hi and 1 more")]));
    let unknown = Failure::not_found("there is no tool `ech` here, only echo, hush");
    assert_eq!(call_tool(TABLE, "ech", "{}", &info), Err(unknown));
}

#[test]
fn hooks_are_plain_functions() {
    let pending = |arguments: &str| PendingCall {
        tool: "echo".to_owned(),
        source: "native".to_owned(),
        arguments: arguments.to_owned(),
        info: CallInfo::default(),
    };
    assert_eq!(
        check(pending(r#"{"inner": {"b": 1, "a": 2}}"#)),
        Ok(PreVerdict::Rewrite(r#"{"b":1,"a":2}"#.to_owned()))
    );
    assert_eq!(
        check(pending("x")),
        Err("the arguments are not JSON: expected value at line 1 column 1".to_owned())
    );
    let finished = |outcome| FinishedCall {
        tool: "echo".to_owned(),
        source: "native".to_owned(),
        arguments: "{}".to_owned(),
        outcome,
        duration_ms: 3,
        info: CallInfo::default(),
    };
    assert_eq!(
        review(finished(Ok(vec![Part::text("a")]))),
        Ok(PostVerdict::Replace(vec![Part::text("a")]))
    );
    assert_eq!(
        review(finished(Err(Failure::timeout("too slow")))),
        Ok(PostVerdict::Note("timeout: too slow".to_owned()))
    );
}
