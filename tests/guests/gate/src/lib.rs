//! Hooks that do what their settings say: `check` and `review` name a behaviour each.

use hermes_plugin_sdk::prelude::*;

fn behaviour(point: &str) -> Result<String, String> {
    let set = config::get_as::<String>(point).map_err(|failure| failure.to_string())?;
    Ok(set.unwrap_or_default())
}

fn misbehave(how: &str) -> Result<(), String> {
    match how {
        "trap" => panic!("the gate fell"),
        "loop" => loop {
            std::hint::black_box(0);
        },
        "memory" => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(vec![1; 1 << 20]);
            }
        }
        "error" => Err("words of the guest's own".into()),
        _ => Ok(()),
    }
}

fn check(call: PendingCall) -> Result<PreVerdict, String> {
    let how = behaviour("check")?;
    misbehave(&how)?;
    Ok(match how.as_str() {
        "deny" => PreVerdict::Deny("words of the guest's own".into()),
        "ask" => PreVerdict::Ask("is this all right?".into()),
        "rewrite" => PreVerdict::Rewrite("{\"text\":\"rewritten\"}".into()),
        "show" => PreVerdict::Deny(call.arguments),
        _ => PreVerdict::Proceed,
    })
}

fn review(call: FinishedCall) -> Result<PostVerdict, String> {
    let how = behaviour("review")?;
    misbehave(&how)?;
    Ok(match how.as_str() {
        "replace" => PostVerdict::Replace(vec![Part::text("replaced")]),
        "note" => PostVerdict::Note("a note".into()),
        "withhold" => PostVerdict::Withhold(format!("{} took {} ms", call.tool, call.duration_ms)),
        _ => PostVerdict::Keep,
    })
}

hermes_plugin_sdk::plugin! { pre_tool_call: check, post_tool_call: review }
