//! Hits, sessions and messages as the model reads them. Pure; sizes are capped here, and what is
//! left out is named with the call that shows it.

use chrono::DateTime;
use hermes_core::message::{Message, Role};
use hermes_core::search::{SearchHit, SessionPage, SessionSummary, StoredMessage};
use hermes_core::text;

/// Most bytes of message text in one answer; some 5 000 tokens.
const ANSWER_BYTES: usize = 20_000;

/// Bytes each message gets at least, however many there are.
const LEAST_BYTES: usize = 300;

/// Bytes of a message shown beside a hit, and of the arguments of a call.
const BESIDE_BYTES: usize = 300;
const ARGUMENTS_BYTES: usize = 200;

pub(super) fn nothing_found(query: &str) -> String {
    format!(
        "Nothing was found for {:?}. All words must be in one message: give fewer or other words, OR between alternatives, or roles with \"tool\" to search tool results too.",
        text::ellipsis(query, BESIDE_BYTES)
    )
}

/// Hits, each with the messages around it.
pub(super) fn hits(found: &[(SearchHit, SessionPage)], limit: usize) -> String {
    let mut blocks: Vec<String> = found.iter().map(|(hit, page)| block(hit, page)).collect();
    blocks.push(if found.len() < limit {
        "[these are all; read on with session_id and around_message_id]".into()
    } else {
        "[there may be more: raise limit or give more words; read on with session_id and around_message_id]".into()
    });
    blocks.join("\n\n")
}

fn block(hit: &SearchHit, page: &SessionPage) -> String {
    let mut lines = vec![heading(&page.session)];
    let snippet = marked(hit);
    let beside = |message: &StoredMessage| said(message, BESIDE_BYTES);
    for message in &page.messages {
        if message.message.id == hit.message_id {
            lines.push(format!("{} {snippet}", speaker(message)));
        } else {
            lines.push(beside(message));
        }
    }
    lines.push(format!(
        "session_id {}, around_message_id {}, {} messages before and {} after",
        page.session.session_id, hit.message_id, page.before, page.after
    ));
    if hit.more > 0 {
        lines.push(format!("{} more hits in this session and those it continues", hit.more));
    }
    lines.join("\n")
}

/// The snippet with the words that were found between `>>>` and `<<<`.
fn marked(hit: &SearchHit) -> String {
    let mut out = String::with_capacity(hit.snippet.len() + 6 * hit.marks.len());
    let mut copied = 0;
    for mark in &hit.marks {
        let (Some(before), Some(word)) =
            (hit.snippet.get(copied..mark.start), hit.snippet.get(mark.clone()))
        else {
            continue;
        };
        out.push_str(before);
        out.push_str(">>>");
        out.push_str(word);
        out.push_str("<<<");
        copied = mark.end;
    }
    out.push_str(hit.snippet.get(copied..).unwrap_or_default());
    out
}

/// Messages of a session, and how to read on.
pub(super) fn page(page: &SessionPage) -> String {
    let mut lines = vec![heading(&page.session)];
    let id = &page.session.session_id;
    let more = |count: usize, place: &str, message: Option<&StoredMessage>| {
        let around = message.map(|message| message.message.id.as_str()).unwrap_or_default();
        format!(
            "[{count} messages {place}; read them with session_id {id}, around_message_id {around}]"
        )
    };
    if page.before > 0 {
        lines.push(more(page.before, "before", page.messages.first()));
    }
    let most = (ANSWER_BYTES / page.messages.len().max(1)).max(LEAST_BYTES);
    for (index, message) in page.messages.iter().enumerate() {
        if let Some((at, count)) = page.gap
            && at == index
        {
            lines.push(more(
                count,
                "left out here",
                index.checked_sub(1).and_then(|last| page.messages.get(last)),
            ));
        }
        lines.push(said(message, most));
    }
    if page.after > 0 {
        lines.push(more(page.after, "after", page.messages.last()));
    } else {
        lines.push("[end of the session]".into());
    }
    lines.join("\n")
}

/// Sessions, newest first.
pub(super) fn sessions(sessions: &[SessionSummary]) -> String {
    if sessions.is_empty() {
        return "There are no earlier sessions.".into();
    }
    let mut lines: Vec<String> = sessions
        .iter()
        .map(|session| format!("{}\n  session_id {}", heading(session), session.session_id))
        .collect();
    lines.push("[read one with session_id, or search all with query]".into());
    lines.join("\n")
}

fn heading(session: &SessionSummary) -> String {
    let title = session.title.as_deref().unwrap_or("(untitled)").split_whitespace();
    let title = title.collect::<Vec<_>>().join(" ");
    let title = text::ellipsis(&title, 100);
    let (messages, source) = (session.messages, &session.source);
    format!("# {title} ({source}, {}, {messages} messages)", time(session.updated))
}

/// Who speaks in a message, when, and its id.
fn speaker(stored: &StoredMessage) -> String {
    let StoredMessage { message, archived } = stored;
    let who = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => message.name.as_deref().unwrap_or("tool"),
    };
    let archived = if *archived { ", compressed away" } else { "" };
    format!("{who} [{}, {}{archived}]:", message.id, time(message.created_ms))
}

fn said(stored: &StoredMessage, most: usize) -> String {
    let message: &Message = &stored.message;
    let mut line = format!("{} {}", speaker(stored), cut(message.content.text().trim(), most));
    for call in &message.tool_calls {
        line.push_str(&format!(
            "\n  calls {} {}",
            call.name,
            cut(&call.arguments, ARGUMENTS_BYTES)
        ));
    }
    line
}

/// `text`, or its beginning and how much follows.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = text::prefix(text, most);
    format!("{head}… ({} bytes more)", text.len() - head.len())
}

/// A time to the minute, in UTC.
fn time(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(DateTime::from_timestamp_millis);
    time.map_or_else(|| "?".into(), |time| time.format("%Y-%m-%d %H:%M").to_string())
}
