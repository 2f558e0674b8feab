//! `sessions list` and `sessions search`: lines about sessions and about messages in them.

use clap::Args;
use hermes_core::message::Role;
use hermes_core::search::{SearchHit, SearchQuery, SessionSearch};
use hermes_store::{SessionFilter, SqliteStore};

use super::{Output, broken};
use crate::UsageError;
use crate::host::find_session;
use crate::render::{Out, printable};

/// Which sessions to list.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Most sessions to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Only those of this front end, such as cli
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only those with this in their title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// What to look for.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchArgs {
    /// Words, "phrases", OR between alternatives
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Most hits; of sessions that continue each other the best is told
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Only in this session, and then every hit
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what this one said: user, assistant or tool
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<Role>,
    /// Only in sessions of this front end, such as cli
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
}

fn role(text: &str) -> Result<Role, String> {
    match text {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "tool" => Ok(Role::Tool),
        _ => Err("say user, assistant or tool".into()),
    }
}

/// Lists sessions.
pub(super) async fn list(
    which: &ListArgs,
    output: Output,
    store: &SqliteStore,
    out: &Out,
) -> Result<(), UsageError> {
    let ListArgs { limit, source, title } = which.clone();
    let filter = SessionFilter { source, title, limit, ..SessionFilter::default() };
    let sessions = store.list_sessions(filter).await.map_err(broken)?;
    if output != Output::Text {
        out.json(&sessions);
        return Ok(());
    }
    for session in sessions {
        let title = session.title.unwrap_or_default();
        let cost = session.cost_usd.map(|usd| format!("  ${usd:.4}")).unwrap_or_default();
        let (id, count) = (session.session_id, session.messages);
        out.line(&format!("{id}  {count:>4} messages{cost}  {}", printable(&title)));
    }
    Ok(())
}

/// Finds messages.
pub(super) async fn search(
    what: &SearchArgs,
    output: Output,
    store: &SqliteStore,
    out: &Out,
) -> Result<(), UsageError> {
    let session = match &what.session {
        Some(given) => Some(find_session(store, given).await?),
        None => None,
    };
    let query = SearchQuery {
        text: what.text.join(" "),
        session,
        roles: what.role.into_iter().collect(),
        source: what.source.clone(),
        limit: what.limit,
        ..SearchQuery::default()
    };
    let hits = store.search(&query).await.map_err(broken)?;
    if output != Output::Text {
        out.json(&hits);
        return Ok(());
    }
    if hits.is_empty() {
        out.note("nothing was found");
    }
    hits.iter().for_each(|hit| out.line(&shown(hit, out.is_terminal())));
    Ok(())
}

/// A hit in two lines: where it is, and what it says.
fn shown(hit: &SearchHit, colors: bool) -> String {
    let title = printable(hit.title.as_deref().unwrap_or_default());
    let more = if hit.more > 0 { format!("  (and {} more)", hit.more) } else { String::new() };
    let [open, close] = if colors { ["\u{1b}[1m", "\u{1b}[0m"] } else { ["[", "]"] };
    let mut text = String::new();
    let mut at = 0;
    for mark in &hit.marks {
        text.push_str(&printable(&hit.snippet[at..mark.start]));
        text.push_str(&format!("{open}{}{close}", printable(&hit.snippet[mark.clone()])));
        at = mark.end;
    }
    text.push_str(&printable(&hit.snippet[at..]));
    format!("{}  {title}{more}\n    {text}", hit.session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_is_told_in_two_lines() {
        let mut hit = SearchHit {
            session_id: "0190".into(),
            root: "0190".into(),
            title: Some("Pets".into()),
            source: "cli".into(),
            message_id: "m".into(),
            role: Role::User,
            snippet: "a cat, a 猫".into(),
            marks: vec![2..5, 9..12],
            rank: 1.0,
            created_ms: 0,
            archived: false,
            more: 2,
        };
        assert_eq!(shown(&hit, false), "0190  Pets  (and 2 more)\n    a [cat], a [猫]");
        (hit.title, hit.more) = (None, 0);
        assert_eq!(
            shown(&hit, true),
            "0190  \n    a \u{1b}[1mcat\u{1b}[0m, a \u{1b}[1m猫\u{1b}[0m"
        );
    }
}
