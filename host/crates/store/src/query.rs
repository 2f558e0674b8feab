//! What a person or a model types, understood: alternatives of terms that must all be there.
//!
//! Nothing typed ever reaches FTS5 as syntax: [`Query::expression`] is made of folded words in
//! quotes only. Meaning stands at [`SearchQuery`](hermes_core::search::SearchQuery). Pure.

use std::ops::Range;

use crate::words;

/// Most characters of a query that count. A longer one is a pasted text.
const MAX_CHARS: usize = 2048;

/// Most terms of a query that count.
const MAX_TERMS: usize = 64;

/// A query: at least one alternative, each of at least one term.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Query {
    alternatives: Vec<Vec<Term>>,
}

/// Something that must be there.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    /// These words, one after the other.
    words: Vec<String>,
    /// Of the last one only the beginning is given.
    open: bool,
    /// These parts of an identifier, one after the other, do as well.
    parts: Option<Vec<String>>,
    /// It has no words: these symbols, as they are indexed.
    symbols: Option<String>,
    /// What was typed, in lower case, if it is more than words can tell (`C++`, `#12`).
    literal: Option<String>,
}

impl Query {
    /// The query of `text`; `None` if there is nothing to look for in it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
        let pieces = pieces(&text[..end]);
        let mut alternatives = vec![Vec::new()];
        let mut terms = 0;
        for (n, piece) in pieces.iter().enumerate() {
            let between = n > 0 && n + 1 < pieces.len();
            match piece {
                Piece::Bare("OR") if between => alternatives.push(Vec::new()),
                Piece::Bare("AND") if between => {}
                _ if terms == MAX_TERMS => break,
                piece => {
                    let term = piece.term();
                    if let (Some(term), Some(last)) = (term, alternatives.last_mut())
                        && !last.contains(&term)
                    {
                        last.push(term);
                        terms += 1;
                    }
                }
            }
        }
        alternatives.retain(|terms| !terms.is_empty());
        (!alternatives.is_empty()).then_some(Self { alternatives })
    }

    /// One FTS5 expression for each alternative.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = String> {
        self.alternatives
            .iter()
            .map(|terms| terms.iter().map(Term::expression).collect::<Vec<_>>().join(" AND "))
    }

    /// Where what is looked for stands in `text`: places in bytes, in order, without overlap, and
    /// for each the number of its term.
    pub(crate) fn places(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let words = words::all(text);
        let mut places = Vec::new();
        for (n, term) in self.alternatives.iter().flatten().enumerate() {
            term.places(text, &words, |place| places.push((n, place)));
        }
        places.sort_by_key(|(_, place)| (place.start, usize::MAX - place.end));
        let mut end = 0;
        places.retain(|(_, place)| {
            let free = place.start >= end;
            end = end.max(place.end);
            free
        });
        places
    }

    /// Whether `text` has all terms of one alternative.
    pub(crate) fn is_all_in(&self, text: &str) -> bool {
        let words = words::all(text);
        let is_in = |term: &Term| {
            let mut found = false;
            term.places(text, &words, |_| found = true);
            found
        };
        self.alternatives.iter().any(|terms| terms.iter().all(is_in))
    }

    /// Whether something was typed that is more than words can tell.
    pub(crate) fn has_signs(&self) -> bool {
        self.alternatives.iter().flatten().any(|term| term.literal.is_some())
    }

    /// Whether `text` has all of what was typed in one alternative with signs, sign by sign.
    pub(crate) fn is_literal_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let literals = self.alternatives.iter().map(|terms| {
            terms.iter().filter_map(|term| term.literal.as_deref()).collect::<Vec<_>>()
        });
        literals
            .filter(|literals| !literals.is_empty())
            .any(|literals| literals.iter().all(|literal| text.contains(literal)))
    }
}

impl Term {
    fn expression(&self) -> String {
        if let Some(symbols) = &self.symbols {
            return format!("\"{symbols}\"");
        }
        let open = if self.open { " *" } else { "" };
        let words = format!("\"{}\"{open}", self.words.join(" "));
        match &self.parts {
            Some(parts) => format!("({words} OR \"{}\")", parts.join(" ")),
            None => words,
        }
    }

    fn places(&self, text: &str, words: &[Word], mut at: impl FnMut(Range<usize>)) {
        if let Some(symbols) = &self.symbols {
            for chunk in text.split_whitespace() {
                if words::symbol_runs(chunk).contains(symbols) {
                    let start = chunk.as_ptr().addr() - text.as_ptr().addr();
                    at(start..start + chunk.len());
                }
            }
            return;
        }
        for (n, (word, place)) in words.iter().enumerate() {
            let sequences = [Some(&self.words), self.parts.as_ref()].into_iter().flatten();
            let ends = sequences.filter_map(|wanted| self.end_of(wanted, &words[n..]));
            if let Some(end) = ends.max() {
                at(place.start..end);
            } else if self.begins_pair(word) {
                let first = text[place.start..].chars().next();
                at(place.start..place.start + first.map_or(0, char::len_utf8));
            } else if self.is_part_of(&text[place.clone()]) {
                at(place.clone());
            }
        }
    }

    /// Where `wanted` ends, if `words` begin with it.
    fn end_of(&self, wanted: &[String], words: &[Word]) -> Option<usize> {
        let (last, first) = wanted.split_last()?;
        let ends = words.get(first.len())?;
        let last_fits = ends.0 == *last || (self.open && ends.0.starts_with(last.as_str()));
        let fits = last_fits && words.iter().zip(first).all(|(word, wanted)| word.0 == *wanted);
        fits.then_some(ends.1.end)
    }

    /// Whether it is one character of a dense script and `pair` begins with it.
    fn begins_pair(&self, pair: &str) -> bool {
        let [wanted] = self.words.as_slice() else { return false };
        !wanted.is_ascii()
            && wanted.chars().count() == 1
            && pair.starts_with(wanted.as_str())
            && words::all(pair).len() == 2
    }

    /// Whether a word that is not the term's own has it as a part.
    fn is_part_of(&self, word: &str) -> bool {
        let wanted = self.parts.as_ref().unwrap_or(&self.words);
        words::identifier_parts(word)
            .is_some_and(|parts| parts.windows(wanted.len()).any(|some| some == wanted))
    }
}

/// A word, folded, and its place.
type Word = (String, Range<usize>);

/// A stretch of what was typed.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    /// Between spaces.
    Bare(&'a str),
    /// Between quotes.
    Quoted(&'a str),
}

/// Cuts at spaces, but not between two quotes. A quote without a partner is a sign like any other,
/// and so is one inside a word (`5"`).
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|inside| inside.split_once('"'));
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = if let Some((inside, behind)) = quoted {
            pieces.push(Piece::Quoted(inside));
            behind
        } else {
            pieces.push(Piece::Bare(&rest[..end]));
            &rest[end..]
        };
        rest = rest.trim_start();
    }
    pieces
}

impl Piece<'_> {
    fn term(&self) -> Option<Term> {
        let (Self::Bare(text) | Self::Quoted(text)) = self;
        let mut found = words::all(text);
        let literal = (!text.chars().all(char::is_alphanumeric)).then(|| text.to_lowercase());
        if found.is_empty() {
            let chunk = text.split_whitespace().next()?;
            let symbols = words::symbol_runs(chunk).into_iter().next();
            return symbols.map(|symbols| Term {
                words: Vec::new(),
                open: false,
                parts: None,
                symbols: Some(symbols),
                literal,
            });
        }
        let open = close_run(&mut found);
        let parts = match found.as_slice() {
            [(_, place)] => words::identifier_parts(&text[place.clone()]),
            _ => None,
        };
        let words = found.into_iter().map(|(word, _)| word).collect();
        Some(Term { words, open, parts, symbols: None, literal })
    }
}

/// What is looked for may go on in the text where it ends here in a dense script. So a last
/// character that is there as the end of a pair is dropped, and one that stands alone is the
/// beginning of a pair; whether it is that.
fn close_run(found: &mut Vec<Word>) -> bool {
    let [.., (_, before), (last, place)] = found.as_slice() else { return false };
    let one = last.chars().count() == 1 && !last.is_ascii();
    if one && before.end == place.end {
        found.pop();
        return false;
    }
    one && before.end == place.start
}

#[cfg(test)]
mod tests;
