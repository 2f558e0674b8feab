//! Text as a sequence of words: the same for what is stored and for what is looked for.
//!
//! Writing with spaces is cut at whatever is no letter and no digit. Chinese, Japanese, Korean and
//! the scripts of South-East Asia have no spaces a search could rely on, so each of their
//! characters makes a word with its successor, and the last one of a run a word of its own: any
//! piece of a run is then a phrase. Case, width and accents do not matter. Pure; nothing here
//! knows SQL or the syntax of a query.

use std::collections::BTreeSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest word in bytes; the rest of a longer one does not count. Names are shorter; what is
/// longer is data, such as Base64.
const MAX_WORD: usize = 96;

/// Longest run of symbols that can be found, in characters. Operators are shorter; what is longer
/// is a line drawn between paragraphs.
const MAX_SYMBOLS: usize = 16;

/// Calls `found` with every word of `text`, folded, and its place in bytes, in order.
pub(crate) fn each(text: &str, mut found: impl FnMut(&str, Range<usize>)) {
    let mut folded = String::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let end = run_end(text, at, c);
        match class(c) {
            Class::Dense => pairs(text, at..end, &mut found),
            Class::Spaced => {
                fold_into(&mut folded, &text[at..end]);
                if !folded.is_empty() {
                    found(cut(&folded), at..end);
                }
            }
            Class::Joining | Class::Other => {}
        }
        at = end;
    }
}

/// The words of `text` with their places.
pub(crate) fn all(text: &str) -> Vec<(String, Range<usize>)> {
    let mut words = Vec::new();
    each(text, |word, place| words.push((word.to_owned(), place)));
    words
}

/// What is indexed of a text: its words in order, and after them, each once, what else it can be
/// found by: parts of identifiers, single characters of dense scripts, symbols. A dash, which is
/// no word, keeps phrases from reaching across.
pub(crate) fn indexed(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let (mut identifiers, mut singles) = (BTreeSet::new(), BTreeSet::new());
    each(text, |word, place| {
        push(&mut words, word);
        let whole = &text[place];
        let first = word.chars().next();
        if let Some(first) = first.filter(|c| class(*c) == Class::Dense) {
            singles.insert(String::from(first));
        } else if let Some(parts) = identifier_parts(whole) {
            identifiers.insert(parts.join(" "));
        }
    });
    for chunk in text.split_whitespace() {
        singles.extend(symbol_runs(chunk));
    }
    for identifier in identifiers {
        push(&mut words, "-");
        push(&mut words, &identifier);
    }
    if !singles.is_empty() {
        push(&mut words, "-");
        singles.iter().for_each(|single| push(&mut words, single));
    }
    words
}

fn push(list: &mut String, word: &str) {
    if !list.is_empty() {
        list.push(' ');
    }
    list.push_str(word);
}

/// The parts of an identifier in camel case, folded; `None` if it has but one.
pub(crate) fn identifier_parts(word: &str) -> Option<Vec<String>> {
    if !word.chars().skip(1).any(char::is_uppercase) || word.len() > MAX_WORD {
        return None;
    }
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut cuts = vec![0];
    for at in 1..chars.len() {
        let [before, here] = [chars[at - 1].1, chars[at].1];
        let ends_acronym =
            before.is_uppercase() && chars.get(at + 1).is_some_and(|(_, next)| next.is_lowercase());
        if here.is_uppercase() && (!before.is_uppercase() || ends_acronym) {
            cuts.push(chars[at].0);
        }
    }
    cuts.push(word.len());
    let mut folded = String::new();
    let parts = cuts.windows(2).map(|cut| {
        fold_into(&mut folded, &word[cut[0]..cut[1]]);
        folded.clone()
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    (parts.len() > 1).then_some(parts)
}

/// The symbols of a piece of text without spaces: the whole of it if it has no words, and each run
/// of those outside ASCII, such as an emoji.
pub(crate) fn symbol_runs(chunk: &str) -> Vec<String> {
    if chunk.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Vec::new();
    }
    let wordless = chunk.chars().all(|c| matches!(class(c), Class::Other | Class::Joining));
    let spelled = |run: &str| spelled(&run.chars().take(MAX_SYMBOLS).collect::<String>());
    let mut runs = Vec::new();
    if wordless {
        runs.push(spelled(chunk));
    }
    if !chunk.is_ascii() {
        let symbols = chunk.split(|c: char| c.is_ascii() || class(c) != Class::Other);
        runs.extend(symbols.filter(|run| !run.is_empty() && *run != chunk).map(spelled));
    }
    runs
}

/// `text` as one word no word of a text is like: whatever ASCII has beside letters and digits
/// becomes a dash and its number.
pub(crate) fn spelled(text: &str) -> String {
    let mut word = String::new();
    for c in text.chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() {
            word.push_str(&format!("-{:02x}", u32::from(c)));
        } else {
            word.push(c);
        }
    }
    word
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Written without spaces between words.
    Dense,
    /// Part of a word between spaces.
    Spaced,
    /// Goes on with what stands before it: accents, invisible joiners.
    Joining,
    /// Neither.
    Other,
}

fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Spaced } else { Class::Other };
    }
    match c {
        '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' => Class::Joining,
        // Thai, Lao, Burmese, Khmer.
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        // Hangul, kana, bopomofo, ideographs.
        | '\u{1100}'..='\u{11FF}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{318F}' | '\u{31A0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FFDC}'
        | '\u{20000}'..='\u{3FFFF}' => Class::Dense,
        _ if is_combining_mark(c) => Class::Joining,
        _ if c.is_alphanumeric() => Class::Spaced,
        _ => Class::Other,
    }
}

/// Where the run of `text` ends that begins at `start` with `first`.
fn run_end(text: &str, start: usize, first: char) -> usize {
    let run = class(first);
    let rest = &text[start + first.len_utf8()..];
    let goes_on = |c: char| {
        let class = class(c);
        match run {
            Class::Dense | Class::Spaced => class == run || class == Class::Joining,
            Class::Joining | Class::Other => class == Class::Joining || class == Class::Other,
        }
    };
    rest.find(|c| !goes_on(c)).map_or(text.len(), |length| start + first.len_utf8() + length)
}

/// Calls `found` with each character of a dense run together with its successor.
fn pairs(text: &str, run: Range<usize>, found: &mut impl FnMut(&str, Range<usize>)) {
    let whole = &text[run.clone()];
    let mut folded = String::new();
    fold_into(&mut folded, whole);
    let mut places: Vec<usize> = whole.char_indices().map(|(at, _)| run.start + at).collect();
    let count = folded.chars().count();
    let exact = places.len() == count;
    places.push(run.end);
    let starts: Vec<usize> = folded.char_indices().map(|(at, _)| at).collect();
    for n in 0..count {
        let end = starts.get(n + 2).copied().unwrap_or(folded.len());
        let place = if exact { places[n]..places[(n + 2).min(count)] } else { run.clone() };
        found(&folded[starts[n]..end], place);
    }
}

/// Writes `word` in the form in which words are compared.
fn fold_into(folded: &mut String, word: &str) {
    folded.clear();
    if word.is_ascii() {
        folded.push_str(word);
        folded.make_ascii_lowercase();
        return;
    }
    let accents = |c: &char| !matches!(c, '\u{300}'..='\u{36F}');
    let same = |c: char| if c == 'ς' { 'σ' } else { c };
    let plain = word.nfkd().filter(accents).flat_map(char::to_lowercase).filter(accents).map(same);
    // Some characters come apart into others with spaces or signs between them.
    folded.extend(plain.nfc().filter(|c| c.is_alphanumeric() || is_combining_mark(*c)));
}

fn cut(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_WORD)]
}

#[cfg(test)]
mod tests;
