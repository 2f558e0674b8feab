#![allow(clippy::unwrap_used)]
use std::sync::Mutex;

use hermes_core::approver::Unattended;
use hermes_core::message::{Message, ToolCall};
use hermes_core::schema::Validator;
use hermes_core::search::{SearchHit, SessionPage, SessionSummary, StoredMessage};
use hermes_core::tool::Body;

use super::*;

/// Answers from a script and remembers what it was asked.
#[derive(Default)]
struct Scripted {
    hits: Vec<SearchHit>,
    sessions: Vec<SessionSummary>,
    page: Option<SessionPage>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Port for Scripted {
    async fn search(&self, query: &SearchQuery) -> Result<Vec<SearchHit>, StoreError> {
        self.asked.lock().unwrap().push(format!(
            "search {:?} in {:?} without {:?} {:?} {:?} {}",
            query.text, query.session, query.without, query.roles, query.order, query.limit
        ));
        Ok(self.hits.clone())
    }

    async fn recent(&self, limit: usize) -> Result<Vec<SessionSummary>, StoreError> {
        self.asked.lock().unwrap().push(format!("recent {limit}"));
        Ok(self.sessions.clone())
    }

    async fn read(
        &self,
        session_id: &str,
        around: Option<&str>,
        before: usize,
        after: usize,
    ) -> Result<SessionPage, StoreError> {
        self.asked.lock().unwrap().push(format!("read {session_id} {around:?} {before} {after}"));
        self.page.clone().ok_or_else(|| StoreError::NoSession(session_id.into()))
    }
}

fn session(id: &str, root: &str) -> SessionSummary {
    SessionSummary {
        session_id: id.into(),
        title: Some(format!("About\n{id}")),
        started: 0,
        updated: 1_767_225_600_000,
        messages: 4,
        model: "m".into(),
        parent: None,
        root: root.into(),
        source: "cli".into(),
        turns: 1,
        tokens: 0,
        cost_usd: None,
    }
}

fn message(id: &str, role: Role, text: &str) -> StoredMessage {
    let message = Message { id: id.into(), created_ms: 60_000, ..Message::new(role, text) };
    StoredMessage { message: Arc::new(message), archived: false }
}

fn page(messages: Vec<StoredMessage>) -> SessionPage {
    SessionPage { session: session("s1", "s1"), messages, before: 0, gap: None, after: 0 }
}

/// What the tool answers, and what it asked for.
async fn call(port: Scripted, arguments: &str) -> (Result<String, String>, Vec<String>) {
    let port = Arc::new(port);
    let tool = SessionSearch::new(port.clone());
    let schema = serde_json::from_str(tool.spec().parameters.get()).unwrap();
    let parsed = serde_json::from_str(arguments).unwrap();
    assert_eq!(Validator::new(&schema).unwrap().check(&parsed), Ok(()));
    let invocation = ToolInvocation {
        call_id: "c1".into(),
        session_id: "now".into(),
        turn: 1,
        arguments: arguments.into(),
        cancel: Default::default(),
        deadline: None,
        progress: Arc::new(|_| {}),
        approver: Arc::new(Unattended),
    };
    let outcome = tool.call(invocation).await.outcome;
    let text = outcome.map_err(|failure| failure.to_string()).map(|parts| match &parts[0].body {
        Body::Text(text) => text.clone(),
        Body::Bytes(_) => String::new(),
    });
    let asked = port.asked.lock().unwrap().clone();
    (text, asked)
}

#[tokio::test]
async fn a_query_shows_hits_with_what_was_said_around_them() {
    let hit = SearchHit {
        session_id: "s1".into(),
        root: "s1".into(),
        title: None,
        source: "cli".into(),
        message_id: "m2".into(),
        role: Role::Assistant,
        snippet: "…the red lamp is 世 red".into(),
        marks: vec![7..10, 23..26],
        rank: 1.0,
        created_ms: 0,
        archived: true,
        more: 2,
    };
    let mut found = message("m2", Role::Assistant, "long text");
    found.archived = true;
    let messages = vec![message("m1", Role::User, &"a".repeat(400)), found];
    let port = Scripted {
        hits: vec![hit],
        page: Some(SessionPage { before: 7, after: 3, ..page(messages) }),
        ..Scripted::default()
    };
    let (text, asked) = call(port, r#"{"query":"red","session_id":" "}"#).await;
    let cut = "a".repeat(300);
    assert_eq!(
        text.unwrap(),
        format!(
            "# About s1 (cli, 2026-01-01 00:00, 4 messages)\n\
             user [m1, 1970-01-01 00:01]: {cut}… (100 bytes more)\n\
             assistant [m2, 1970-01-01 00:01, compressed away]: …the >>>red<<< lamp is 世 >>>red<<<\n\
             session_id s1, around_message_id m2, 7 messages before and 3 after\n\
             2 more hits in this session and those it continues\n\n\
             [these are all; read on with session_id and around_message_id]"
        )
    );
    assert_eq!(
        asked,
        [
            "search \"red\" in None without Some(\"now\") [User, Assistant] Rank 3",
            "read s1 Some(\"m2\") 1 1"
        ]
    );
}

#[tokio::test]
async fn the_current_session_is_searched_when_it_is_asked_for() {
    let arguments =
        r#"{"query":"a b","session_id":"current","sort":"newest","roles":["tool"],"limit":9}"#;
    let (text, asked) = call(Scripted::default(), arguments).await;
    assert_eq!(
        text.unwrap(),
        "Nothing was found for \"a b\". All words must be in one message: give fewer or other words, OR between alternatives, or roles with \"tool\" to search tool results too."
    );
    assert_eq!(asked, ["search \"a b\" in Some(\"now\") without None [Tool] Newest 9"]);
}

#[tokio::test]
async fn a_session_is_read_from_both_ends_and_says_what_lies_between() {
    let mut calling = Message { id: "m3".into(), ..Message::new(Role::Assistant, "") };
    calling.created_ms = 0;
    let (id, name, arguments) = ("c1".into(), "read_file".into(), r#"{"path":"a"}"#.into());
    calling.tool_calls.push(ToolCall { id, name, arguments });
    let calling = StoredMessage { message: Arc::new(calling), archived: false };
    let messages = vec![message("m1", Role::User, "hello"), calling];
    let port = Scripted {
        page: Some(SessionPage { gap: Some((1, 5)), ..page(messages) }),
        ..Scripted::default()
    };
    let (text, asked) = call(port, r#"{"session_id":"s1"}"#).await;
    assert_eq!(
        text.unwrap(),
        "# About s1 (cli, 2026-01-01 00:00, 4 messages)\n\
         user [m1, 1970-01-01 00:01]: hello\n\
         [5 messages left out here; read them with session_id s1, around_message_id m1]\n\
         assistant [m3, 1970-01-01 00:00]: \n  calls read_file {\"path\":\"a\"}\n\
         [end of the session]"
    );
    assert_eq!(asked, ["read s1 None 20 10"]);
}

#[tokio::test]
async fn a_message_is_read_with_its_surroundings() {
    let around = SessionPage { before: 1, after: 2, ..page(vec![message("m2", Role::User, "x")]) };
    let port = Scripted { page: Some(around), ..Scripted::default() };
    let (text, asked) =
        call(port, r#"{"session_id":"s1","around_message_id":"m2","window":0}"#).await;
    assert_eq!(
        text.unwrap(),
        "# About s1 (cli, 2026-01-01 00:00, 4 messages)\n\
         [1 messages before; read them with session_id s1, around_message_id m2]\n\
         user [m2, 1970-01-01 00:01]: x\n\
         [2 messages after; read them with session_id s1, around_message_id m2]"
    );
    assert_eq!(asked, ["read s1 Some(\"m2\") 0 0"]);
}

#[tokio::test]
async fn recent_sessions_are_listed_once_a_line_without_the_current_one() {
    let sessions = vec![
        session("now", "r1"),
        session("before-now", "r1"),
        session("b2", "r2"),
        session("b1", "r2"),
        session("c", "c"),
        session("d", "d"),
    ];
    let port = Scripted { sessions, ..Scripted::default() };
    let (text, asked) = call(port, r#"{"limit":2}"#).await;
    assert_eq!(
        text.unwrap(),
        "# About b2 (cli, 2026-01-01 00:00, 4 messages)\n  session_id b2\n\
         # About c (cli, 2026-01-01 00:00, 4 messages)\n  session_id c\n\
         [read one with session_id, or search all with query]"
    );
    assert_eq!(asked, ["recent 15"]);
}

#[tokio::test]
async fn what_cannot_be_answered_is_said_with_what_to_do() {
    let (text, _) = call(Scripted::default(), r#"{"session_id":"zz"}"#).await;
    assert_eq!(
        text.unwrap_err(),
        "not-found: no session \"zz\"; take session_id from a hit, or list sessions by giving no arguments"
    );
    let (text, _) = call(Scripted::default(), r#"{"around_message_id":"m"}"#).await;
    assert_eq!(
        text.unwrap_err(),
        "invalid-arguments: around_message_id needs the session_id that stands beside it in a hit"
    );
    let (text, _) = call(Scripted::default(), "{}").await;
    assert_eq!(text.unwrap(), "There are no earlier sessions.");
}
