//! A plugin of hooks alone: it keeps a tool's calls inside a budget a person set, masks a word in
//! results and logs turns. Built for wasm32-wasip2 it exports three interfaces and no tools.

use hermes_plugin_sdk::prelude::*;

/// Asks before the fourth call of one tool in a turn. Three are a retry; more are a loop.
const CALLS_A_TURN: usize = 3;

fn check(call: PendingCall) -> Result<PreVerdict, String> {
    let prefix = format!("{}/{}/{}/", call.info.session_id, call.info.turn, call.tool);
    let calls = state::list_keys(&prefix, None, u32::MAX).map_err(|failure| failure.to_string())?;
    if calls.len() >= CALLS_A_TURN {
        return Ok(PreVerdict::Ask(format!(
            "`{}` ran {} times in this turn. Once more?",
            call.tool,
            calls.len()
        )));
    }
    let key = format!("{prefix}{}", call.info.call_id);
    state::set(&key, b"", Some(3600)).map_err(|failure| failure.to_string())?;
    Ok(PreVerdict::Proceed)
}

fn review(call: FinishedCall) -> Result<PostVerdict, String> {
    let Some(word) = config::get_as::<String>("word").map_err(|failure| failure.to_string())?
    else {
        return Ok(PostVerdict::Keep);
    };
    let Ok(mut parts) = call.outcome else {
        return Ok(PostVerdict::Keep);
    };
    for part in &mut parts {
        if let Body::Text(text) = &mut part.body {
            *text = text.replace(&word, "***");
        }
    }
    Ok(PostVerdict::Replace(parts))
}

fn notify(point: &str, fields: &[Attribute]) {
    let fields: Vec<String> =
        fields.iter().map(|field| format!("{}={}", field.name, field.value)).collect();
    log::info(format_args!("{point} {}", fields.join(" ")));
}

hermes_plugin_sdk::plugin! {
    pre_tool_call: check,
    post_tool_call: review,
    observer: notify,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> PendingCall {
        PendingCall {
            tool: "read_file".to_owned(),
            source: "files".to_owned(),
            arguments: "{}".to_owned(),
            info: CallInfo { call_id: id.to_owned(), ..CallInfo::default() },
        }
    }

    #[test]
    fn asks_before_the_fourth_call() {
        let verdicts: Vec<_> = ["a", "b", "c", "d"].map(|id| check(call(id))).into();
        assert_eq!(
            verdicts,
            [
                Ok(PreVerdict::Proceed),
                Ok(PreVerdict::Proceed),
                Ok(PreVerdict::Proceed),
                Ok(PreVerdict::Ask("`read_file` ran 3 times in this turn. Once more?".to_owned())),
            ]
        );
    }
}
