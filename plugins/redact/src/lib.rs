//! `redact`: masks keys, tokens and passwords in tool results before the model sees them.
//!
//! It knows secrets by their shape: issuers' prefixes, private-key blocks, web tokens, bearer
//! headers, passwords in addresses, and assignments to names that say what they hold. What has no
//! shape it cannot know; it is a net, not a wall.

mod mask;
mod shape;

use hermes_plugin_sdk::prelude::*;

use mask::{Masked, Settings};

fn review(call: FinishedCall) -> Result<PostVerdict, String> {
    let settings = Settings { prefixes: list("prefixes")?, allow: list("allow")? };
    Ok(match call.outcome {
        Ok(parts) => parts_verdict(parts, &settings),
        Err(failure) => match mask::mask(&failure.message, &settings) {
            Some(Masked { text, .. }) => PostVerdict::Replace(vec![Part::text(text)]),
            None => PostVerdict::Keep,
        },
    })
}

fn list(key: &str) -> Result<Vec<String>, String> {
    let list = config::get_as(key).map_err(|failure| failure.message)?;
    Ok(list.unwrap_or_default())
}

/// Replaces the parts only where something was masked.
fn parts_verdict(mut parts: Vec<Part>, settings: &Settings) -> PostVerdict {
    let mut changed = false;
    for part in &mut parts {
        let Body::Text(text) = &part.body else { continue };
        if let Some(Masked { text, count }) = mask::mask(text, settings) {
            part.body = Body::Text(text);
            part.attributes.push(Attribute { name: "masked".into(), value: count.to_string() });
            changed = true;
        }
    }
    if changed { PostVerdict::Replace(parts) } else { PostVerdict::Keep }
}

hermes_plugin_sdk::plugin! { post_tool_call: review }

#[cfg(test)]
mod tests;
