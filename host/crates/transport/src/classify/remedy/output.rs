//! Asking for too many output tokens: how many there may be, from what the answer says.
//!
//! Two kinds: more than the model ever writes (`supports at most 16384 completion tokens`), and
//! more than the window has left beside the input (`178959 + 64000 > 200000`).

use hermes_core::transport::Remedy;

/// What the parameter is called, in lower case.
const NAMES: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "maxoutputtokens",
    "max tokens",
];

/// How an answer says that the number is beyond what the model writes.
const BEYOND: &[&str] = &[
    "too large",
    "too high",
    "too big",
    "exceed",
    "less than or equal",
    "at most",
    "at least",
    "<=",
    ">=",
    " > ",
    "range",
    "maximum",
    "above",
    "greater than",
    "between",
];

/// What stands before the number that is the limit.
const LIMIT: &[&str] = &[
    "at most",
    "less than or equal to",
    "less than",
    "<=",
    "<",
    " >",
    "limit",
    "limit is",
    "limit of",
    "maximum of",
    "maximum is",
    "maximum",
    "max is",
    "max",
    "up to",
    "exceed",
];

/// What stands before the number that is the window.
const WINDOW: &[&str] = &[
    "context length is",
    "context length of",
    "context limit",
    "context window of",
    "context window is",
    "context",
    "must be <=",
];

/// Left free of a window that is counted out, since counts differ a little between requests.
const MARGIN: u64 = 64;

/// Fewer tokens than this hardly hold a tool call with its arguments. With so little room left it
/// is the input that is too long.
const LEAST_ROOM: u64 = 256;

/// A number of a text, with the words around it up to the numbers beside it.
struct Number<'a> {
    before: &'a str,
    value: u64,
    after: &'a str,
}

/// The remedy for a sentence, in lower case, about output tokens.
pub(super) fn of(param: &str, text: &str) -> Option<Remedy> {
    let numbers = numbers(text);
    let named = NAMES.iter().any(|name| text.contains(name) || param == *name);
    if let Some(room) = room(&numbers, named) {
        return room;
    }
    let beyond = BEYOND.iter().any(|phrase| text.contains(phrase));
    // A sentence about the window counts only with numbers that leave room.
    let windowed = text.contains("context length") || text.contains("context limit");
    (named && beyond && !windowed).then(|| Remedy::MaxTokens(limit(text, &numbers)))
}

/// What an account can still pay for: `requested up to 65536 tokens, but can only afford 8000`.
pub(super) fn affordable(text: &str) -> Option<Remedy> {
    let afford = |number: &Number<'_>| number.before.trim_end().ends_with("can only afford");
    let value = numbers(text).into_iter().find(afford)?.value;
    (value >= LEAST_ROOM).then_some(Remedy::MaxTokens(Some(value)))
}

/// What the window leaves beside the input. The outer answer is none where the text is not about
/// that, the inner one where too little is left for it to help.
fn room(numbers: &[Number<'_>], named: bool) -> Option<Option<Remedy>> {
    let (window, input, exact) = sum(numbers).or_else(|| told(numbers, named))?;
    let room = window.saturating_sub(input);
    if !exact && room > 0 {
        return Some(Some(Remedy::MaxTokens(None)));
    }
    Some((room >= LEAST_ROOM).then(|| Remedy::MaxTokens(Some(room - MARGIN))))
}

/// `input + output > window`.
fn sum(numbers: &[Number<'_>]) -> Option<(u64, u64, bool)> {
    let sum = numbers.windows(3).find(|three| {
        let (plus, than) = (three[0].after, three[1].after);
        plus.contains('+') && than.contains('>') && !than.contains('<')
    })?;
    Some((sum[2].value, sum[0].value, true))
}

/// Window, input and output each with a word for it. Whether the input is exact comes last: one
/// that is told as a lower bound says nothing about the room.
fn told(numbers: &[Number<'_>], named: bool) -> Option<(u64, u64, bool)> {
    let window = numbers.iter().find(|number| ends_with_any(number.before, WINDOW))?.value;
    let (mut input, mut exact, mut output) = (None, true, named);
    for number in numbers {
        let label = number.after.split(['.', ',', ';', '(', ')']).next().unwrap_or_default();
        let says = |words: &[&str]| words.iter().any(|word| label.contains(word));
        if says(&["output", "completion", "max_new_tokens"]) {
            output = true;
        } else if says(&["input", "in the messages", "in the functions", "in your prompt"]) {
            input = Some(input.unwrap_or(0) + number.value);
            exact &= !number.before.trim_end().ends_with("at least");
        }
    }
    Some((window, input.filter(|_| output)?, exact))
}

/// The most output tokens there may be, if the text says.
fn limit(text: &str, numbers: &[Number<'_>]) -> Option<u64> {
    let told = numbers.iter().find(|number| ends_with_any(number.before, LIMIT));
    let limit = match (told, text.contains("range") || text.contains("between")) {
        (Some(told), false) => told,
        (_, true) => {
            // `[1, 8192]`, `from 1 (inclusive) to 65537 (exclusive)`: the end of the range.
            let start = numbers.iter().position(|number| number.value <= 1)?;
            numbers.get(start + 1)?
        }
        (None, false) => return None,
    };
    let exclusive = limit.after.trim_start().starts_with("(exclusive");
    let limit = if exclusive { limit.value.checked_sub(1)? } else { limit.value };
    (limit > 0).then_some(limit)
}

/// Whether `text`, without the marks and blanks at its end, ends with one of `phrases`.
fn ends_with_any(text: &str, phrases: &[&str]) -> bool {
    let text = text.trim_end_matches([' ', '`', '\'', '"', '(', '[', ':']);
    phrases.iter().any(|phrase| text.ends_with(phrase))
}

/// All whole numbers of a text that are words of their own: those in a model's name
/// (`llama-3.1-8b`) are none.
fn numbers(text: &str) -> Vec<Number<'_>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | ',');
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(is_part) {
        let start = at + found;
        let rest = &text[start..];
        let word = &rest[..rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())];
        let (length, value) = whole(word);
        spans.extend(value.map(|value| (start, start + length, value)));
        at = start + length.max(1);
    }
    let befores = std::iter::once(0).chain(spans.iter().map(|span| span.1));
    let afters = spans.iter().skip(1).map(|span| span.0).chain([text.len()]);
    let numbers = spans.iter().zip(befores.zip(afters)).map(|(span, (before, after))| Number {
        before: &text[before..span.0],
        value: span.2,
        after: &text[span.1..after],
    });
    numbers.collect()
}

/// How much of `word` belongs together, and its value if that is a whole number. Commas part
/// thousands, or else words.
fn whole(word: &str) -> (usize, Option<u64>) {
    let mut groups = word.trim_end_matches(['.', ',']).split(',');
    let first = groups.next().unwrap_or_default();
    let thousands = |group: &str| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit());
    let rest: Vec<&str> = groups.collect();
    let digits = match rest.iter().all(|group| thousands(group)) {
        true => format!("{first}{}", rest.concat()),
        false => return (first.len(), first.parse().ok()),
    };
    (first.len() + rest.iter().map(|group| group.len() + 1).sum::<usize>(), digits.parse().ok())
}
