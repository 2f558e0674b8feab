//! Regular expressions in jq's shape. jaq's own functions panic when a group matched before an
//! earlier one did, as in `(?:(a)|(b))*` on `ba`.

use jaq_core::{Cv, Error};
use jaq_json::{Map, Val};
use regex_bites::{Captures, Regex, RegexBuilder};

use super::engine::Kind;

/// jq's flags.
#[derive(Default)]
struct Flags {
    global: bool,
    skip_empty: bool,
}

/// Searches the input for the pattern and answers in order: `between` the texts around the matches,
/// `matches` an array of the groups of each match.
pub(super) fn search<'a>(
    mut cv: Cv<'a, Kind>,
    between: bool,
    matches: bool,
) -> Result<Val, Error<Val>> {
    let flags = cv.0.pop_var();
    let pattern = cv.0.pop_var();
    let (flags, regex) = compile(&text(&pattern)?, &flags)?;
    let subject = text(&cv.1)?;
    let mut answer = Vec::new();
    let (mut end, mut counter) = (0, Counter::default());
    for captures in regex.captures_iter(&subject) {
        let Some(whole) = captures.get(0) else { continue };
        if flags.skip_empty && whole.is_empty() {
            continue;
        }
        if between {
            answer.push(slice(&subject, end, whole.start()));
            end = whole.end();
        }
        if matches {
            let before = counter.up_to(&subject, whole.start());
            answer.push(groups(&regex, &captures, &subject, before));
        }
        if !flags.global {
            break;
        }
    }
    if between {
        answer.push(slice(&subject, end, subject.len()));
    }
    Ok(answer.into_iter().collect())
}

fn text(value: &Val) -> Result<String, Error<Val>> {
    match value {
        Val::TStr(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        other => Err(Error::typ(other.clone(), "string")),
    }
}

fn compile(pattern: &str, flags: &Val) -> Result<(Flags, Regex), Error<Val>> {
    let mut builder = RegexBuilder::new(pattern);
    let mut known = Flags::default();
    // jq takes null for no flags.
    let letters = if matches!(flags, Val::Null) { String::new() } else { text(flags)? };
    for letter in letters.chars() {
        match letter {
            'g' => known.global = true,
            'n' => known.skip_empty = true,
            'i' => drop(builder.case_insensitive(true)),
            'x' => drop(builder.ignore_whitespace(true)),
            's' => drop(builder.dot_matches_new_line(true)),
            'p' => drop(builder.dot_matches_new_line(true).multi_line(true)),
            'l' => drop(builder.swap_greed(true)),
            other => {
                return Err(Error::str(format!(
                    "`{other}` is none of the flags g, n, i, x, s, p, l"
                )));
            }
        }
    }
    let regex = builder.build().map_err(|error| {
        Error::str(format!("`{pattern}` is not a regular expression understood here: {error}"))
    })?;
    Ok((known, regex))
}

/// The groups of one match, the whole match first; a group that took no part is left out.
fn groups(regex: &Regex, captures: &Captures<'_>, subject: &str, before: usize) -> Val {
    let start = captures.get(0).map_or(0, |whole| whole.start());
    let named = captures.iter().zip(regex.capture_names());
    named
        .filter_map(|(group, name)| group.map(|group| (group, name)))
        .map(|(group, name)| {
            // A group lies within its match, so counting from there costs little.
            let offset = before + count(subject, start, group.start());
            let length = count(subject, group.start(), group.end());
            let mut fields = Map::default();
            let mut set = |key: &str, value: Val| fields.insert(key.to_owned().into(), value);
            set("offset", Val::from(offset));
            set("length", Val::from(length));
            set("string", Val::from(group.as_str().to_owned()));
            if let Some(name) = name {
                set("name", Val::from(name.to_owned()));
            }
            Val::obj(fields)
        })
        .collect()
}

/// Counts characters once over a text instead of from its start for each match.
#[derive(Default)]
struct Counter {
    byte: usize,
    characters: usize,
}

impl Counter {
    fn up_to(&mut self, text: &str, byte: usize) -> usize {
        self.characters += count(text, self.byte, byte);
        self.byte = byte;
        self.characters
    }
}

fn count(text: &str, from: usize, to: usize) -> usize {
    text.get(from..to).map_or(0, |part| part.chars().count())
}

fn slice(text: &str, from: usize, to: usize) -> Val {
    Val::from(text.get(from..to).unwrap_or("").to_owned())
}
