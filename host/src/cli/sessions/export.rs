//! `sessions export`: a session as JSON lines or as Markdown, read and written piece by piece, so
//! that its length costs no memory.

use hermes_core::message::{Message, Role};
use hermes_core::search::{SessionSearch, SessionSummary, StoredMessage};
use hermes_store::{Cursor, SqliteStore};
use serde::Serialize;

use super::{Format, broken};
use crate::UsageError;
use crate::render::{Out, printable};

/// Messages read at once.
const PIECE: usize = 64;

/// One line of the JSON form.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Session(&'a SessionSummary),
    Message(&'a StoredMessage),
}

/// Writes a session to standard output.
pub(super) async fn export(
    store: &SqliteStore,
    id: &str,
    format: Format,
    out: &Out,
) -> Result<(), UsageError> {
    let session = SessionSearch::read(store, id, None, 0, 0).await.map_err(broken)?.session;
    match format {
        Format::Jsonl => out.json(&Line::Session(&session)),
        Format::Markdown => out.write(&heading(&session)),
    }
    let mut from = Some(Cursor::START);
    while let Some(place) = from
        && !out.is_broken()
    {
        let (messages, next) = store.walk(id, place, PIECE).await.map_err(broken)?;
        for stored in &messages {
            match format {
                Format::Jsonl => out.json(&Line::Message(stored)),
                Format::Markdown if stored.archived => {}
                Format::Markdown => out.write(&markdown(&stored.message)),
            }
        }
        from = next;
    }
    Ok(())
}

fn heading(session: &SessionSummary) -> String {
    let title = session.title.as_deref().unwrap_or("Session");
    let title = printable(title).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("# {title}\n\nSession {}, model {}\n", session.session_id, session.model)
}

/// A message as a section: what is said as it is, what is called and what comes back in a fence.
fn markdown(message: &Message) -> String {
    let text = message.content.text();
    let who = match message.role {
        Role::User => "User".to_owned(),
        Role::Assistant => "Assistant".to_owned(),
        Role::System => "System".to_owned(),
        Role::Tool => format!("Result of {}", message.name.as_deref().unwrap_or("a call")),
    };
    let mut section = format!("\n## {who}\n");
    if message.role == Role::Tool {
        section.push_str(&fenced(&text, ""));
    } else if !text.is_empty() {
        section.push_str(&format!("\n{}\n", text.trim_end()));
    }
    for call in &message.tool_calls {
        section.push_str(&format!("\nCalls `{}`:\n", call.name));
        section.push_str(&fenced(&call.arguments, "json"));
    }
    section
}

/// `text` in a fence longer than any in it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use hermes_core::message::ToolCall;

    use super::*;

    #[test]
    fn markdown_fences_what_tools_take_and_give() {
        let call = ToolCall {
            id: "c1".into(),
            name: "read_file".into(),
            arguments: r#"{"path":"a.md"}"#.into(),
        };
        let asks = Message { tool_calls: vec![call.clone()], ..Message::assistant("Looking.") };
        assert_eq!(
            markdown(&asks),
            "\n## Assistant\n\nLooking.\n\nCalls `read_file`:\n\n```json\n{\"path\":\"a.md\"}\n```\n"
        );
        assert_eq!(
            markdown(&Message::tool(&call, "```\ncode\n```\n")),
            "\n## Result of read_file\n\n````\n```\ncode\n```\n````\n"
        );
    }
}
