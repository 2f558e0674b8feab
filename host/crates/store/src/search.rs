//! Finding messages: which ones match, which of them are best, and what is told of each.
//!
//! FTS5 ranks only the newest matches of a query, and none by weight if they are very many: its
//! bm25 goes through all messages with a word to learn how rare the word is. A word found that
//! often says little, and then the newest are the best there are.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use hermes_core::message::Role;
use hermes_core::search::{SearchHit, SearchOrder, SearchQuery, StoredMessage};
use rusqlite::{Connection, params};

use crate::fault::{Fault, Result};
use crate::query::Query;
use crate::row::MessageRow;
use crate::snippet::snippet;
use crate::{index, int, session};

/// How many of the newest matches are ranked. It takes about 2 µs for each.
const WINDOW: usize = 1000;

/// From how many matches on they are not weighed. Learning how rare a word is takes about 40 ns
/// for each message that has it.
const MANY: usize = 20_000;

/// How many of the best are looked at when the rest of an answer is full, to tell how many more a
/// line has and to put exact matches first.
const LOOKED_AT: usize = 200;

/// A message that matches.
#[derive(Clone, Copy)]
struct Match {
    key: i64,
    score: f64,
    session: i64,
}

/// What is told of the session of a match.
struct Home {
    id: String,
    root: String,
    title: Option<String>,
    source: String,
    /// All that is looked for is in the title.
    titled: bool,
}

/// A match and where it stands.
struct Candidate {
    matched: Match,
    home: Rc<Home>,
    /// What was typed stands in it sign by sign.
    literal: bool,
}

/// The hits of a query.
pub(crate) fn search(conn: &Connection, asked: &SearchQuery) -> Result<Vec<SearchHit>> {
    // One transaction, so that the index and the messages are of the same moment.
    let conn = conn.unchecked_transaction()?;
    let facets = facets(&conn, asked)?;
    let Some(query) = Query::parse(&asked.text).filter(|_| asked.limit > 0) else {
        return Ok(Vec::new());
    };
    let mut best: HashMap<i64, Match> = HashMap::new();
    for expression in query.expressions() {
        let expression = facets.around(&expression);
        for matched in matches(&conn, &expression, asked.order)? {
            let known = best.entry(matched.key).or_insert(matched);
            known.score = known.score.max(matched.score);
        }
    }
    let mut matches: Vec<Match> = best.into_values().collect();
    matches.sort_by(|a, b| order(asked.order, a, b));
    let grouped = asked.session.is_none();
    let candidates = look_at(&conn, &query, &matches, asked, grouped)?;
    group(candidates, asked.limit, grouped)
        .into_iter()
        .map(|(candidate, more)| hit(&conn, &query, candidate, more))
        .collect()
}

/// Best first.
fn order(order: SearchOrder, a: &Match, b: &Match) -> Ordering {
    match order {
        SearchOrder::Rank => b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)),
        SearchOrder::Newest => b.key.cmp(&a.key),
        SearchOrder::Oldest => a.key.cmp(&b.key),
    }
}

/// Where to look, as it is said to FTS5.
struct Facets {
    columns: String,
    only: Vec<String>,
    without: Option<String>,
}

fn facets(conn: &Connection, asked: &SearchQuery) -> Result<Facets> {
    let all = [Role::User, Role::Assistant, Role::Tool];
    let roles = if asked.roles.is_empty() { all.as_slice() } else { asked.roles.as_slice() };
    let columns: Vec<&str> = roles.iter().map(|role| index::column(*role)).collect();
    let mut only = Vec::new();
    if let Some(id) = &asked.session {
        only.push(index::session_facet(session::key(conn, id)?));
    }
    only.extend(asked.source.as_deref().map(index::source_facet));
    let root = |id: &String| session::root(conn, id);
    let without = asked.without.as_ref().map(root).transpose()?;
    let without = without.as_deref().map(index::root_facet);
    Ok(Facets { columns: columns.join(" "), only, without })
}

impl Facets {
    /// `words` there and nowhere else.
    fn around(&self, words: &str) -> String {
        let mut expression = format!("({{{}}} : ({words}))", self.columns);
        for facet in &self.only {
            expression.push_str(&format!(" AND facets : \"{facet}\""));
        }
        if let Some(facet) = &self.without {
            expression = format!("({expression}) NOT facets : \"{facet}\"");
        }
        expression
    }
}

/// The newest matches of an FTS5 expression, or the oldest if those are asked for.
fn matches(conn: &Connection, expression: &str, order: SearchOrder) -> Result<Vec<Match>> {
    // What the model or the person says weighs more than what a tool printed.
    const WEIGHED: &str = "-bm25(message_words, 1.0, 1.0, 0.6, 0.0)";
    let weighed = order == SearchOrder::Rank && !are_many(conn, expression)?;
    let score = if weighed { WEIGHED } else { "0.0" };
    let direction = if order == SearchOrder::Oldest { "ASC" } else { "DESC" };
    let mut statement = conn.prepare_cached(&format!(
        "SELECT m.key, {score}, m.session
         FROM message_words CROSS JOIN messages m ON m.key = message_words.rowid
         WHERE message_words MATCH ?1 ORDER BY message_words.rowid {direction} LIMIT ?2"
    ))?;
    let found = statement.query_map(params![expression, int::len_to_sql(WINDOW)], |row| {
        Ok(Match { key: row.get(0)?, score: row.get(1)?, session: row.get(2)? })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn are_many(conn: &Connection, expression: &str) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM message_words WHERE message_words MATCH ?1 LIMIT ?2)",
    )?;
    let many = int::len_to_sql(MANY);
    Ok(statement.query_row(params![expression, many], |row| row.get::<_, i64>(0))? == many)
}

/// The best matches with all that is told of them, in their final order: enough for the answer.
fn look_at(
    conn: &Connection,
    query: &Query,
    matches: &[Match],
    asked: &SearchQuery,
    grouped: bool,
) -> Result<Vec<Candidate>> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut homes: HashMap<i64, Rc<Home>> = HashMap::new();
    let mut lines = HashSet::new();
    for matched in matches {
        let found = if grouped { lines.len() } else { candidates.len() };
        if found >= asked.limit && candidates.len() >= LOOKED_AT {
            break;
        }
        let home = match homes.entry(matched.session) {
            Entry::Occupied(known) => Rc::clone(known.get()),
            Entry::Vacant(new) => Rc::clone(new.insert(Rc::new(home(conn, query, matched)?))),
        };
        let literal = candidates.len() < LOOKED_AT
            && query.has_signs()
            && query.is_literal_in(&index::searchable(&message(conn, matched.key)?.message));
        lines.insert(home.root.clone());
        candidates.push(Candidate { matched: *matched, home, literal });
    }
    if asked.order == SearchOrder::Rank {
        candidates.sort_by(|a, b| {
            let first = b.literal.cmp(&a.literal).then(b.home.titled.cmp(&a.home.titled));
            first.then(order(asked.order, &a.matched, &b.matched))
        });
    }
    Ok(candidates)
}

fn home(conn: &Connection, query: &Query, matched: &Match) -> Result<Home> {
    let mut statement =
        conn.prepare_cached("SELECT id, root, title, source FROM sessions WHERE key = ?1")?;
    Ok(statement.query_row([matched.session], |row| {
        let title: Option<String> = row.get(2)?;
        let titled = title.as_ref().is_some_and(|title| query.is_all_in(title));
        Ok(Home { id: row.get(0)?, root: row.get(1)?, title, source: row.get(3)?, titled })
    })?)
}

/// The best candidate of each line and how many more the line has; all, if they are not `grouped`.
fn group(candidates: Vec<Candidate>, limit: usize, grouped: bool) -> Vec<(Candidate, usize)> {
    let mut groups: Vec<(Candidate, usize)> = Vec::new();
    let mut places: HashMap<String, Option<usize>> = HashMap::new();
    for candidate in candidates {
        if !grouped {
            groups.push((candidate, 0));
            continue;
        }
        match places.get(&candidate.home.root) {
            Some(place) => {
                if let Some(place) = *place {
                    groups[place].1 += 1;
                }
            }
            None => {
                let room = groups.len() < limit;
                places.insert(candidate.home.root.clone(), room.then_some(groups.len()));
                if room {
                    groups.push((candidate, 0));
                }
            }
        }
    }
    groups.truncate(limit);
    groups
}

fn hit(conn: &Connection, query: &Query, found: Candidate, more: usize) -> Result<SearchHit> {
    let stored = message(conn, found.matched.key)?;
    let text = index::searchable(&stored.message);
    let (snippet, marks) = snippet(&text, &query.places(&text));
    Ok(SearchHit {
        session_id: found.home.id.clone(),
        root: found.home.root.clone(),
        title: found.home.title.clone(),
        source: found.home.source.clone(),
        message_id: stored.message.id.clone(),
        role: stored.message.role,
        snippet,
        marks,
        rank: found.matched.score,
        created_ms: stored.message.created_ms,
        archived: stored.archived,
        more,
    })
}

fn message(conn: &Connection, key: i64) -> Result<StoredMessage> {
    let mut statement =
        conn.prepare_cached("SELECT body, archived FROM messages WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let body = row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?;
    let message = MessageRow::parse(body)
        .map_err(|error| Fault::Refused(format!("a stored message cannot be read: {error}")))?;
    Ok(StoredMessage { message: Arc::new(message), archived: row.get(1)? })
}
