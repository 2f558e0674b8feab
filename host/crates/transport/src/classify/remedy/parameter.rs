//! Request parameters a server does not know or does not take for this model.

use hermes_core::transport::Remedy;

/// Where in a sentence a parameter is named.
#[derive(Clone, Copy)]
enum Named {
    /// Right before the phrase.
    Before,
    /// Right after it.
    After,
    /// Not at all; it is this one.
    As(&'static str),
}

use Named::{After, As, Before};

/// How servers say it, in lower case.
const PHRASES: &[(&str, Named)] = &[
    ("unsupported parameter: ", After),
    ("unsupported value: ", After),
    ("unknown parameter: ", After),
    ("unrecognized request argument supplied: ", After),
    ("unrecognized request arguments supplied: ", After),
    ("argument not supported on this model: ", After),
    ("does not support parameter ", After),
    ("does not support the parameter ", After),
    ("received. unknown name ", After),
    ("unexpected keyword argument ", After),
    ("cannot specify both 'thinking' and ", After),
    (": extra inputs are not permitted", Before),
    (" is not supported with this model", Before),
    (" is not supported by this model", Before),
    (" is not supported for this model", Before),
    (" is deprecated for this model", Before),
    (" is unsupported", Before),
    (" may only be set to", Before),
    (": only 1 is allowed", Before),
    (" cannot both be specified", Before),
    ("parallel tool calls are not supported", As("parallel_tool_calls")),
    ("a final `assistant` message must start with a thinking block", As("thinking")),
];

/// Codes that, beside a `param`, say that the parameter or its value is not taken.
const CODES: &[&str] = &["unsupported_parameter", "unknown_parameter", "unsupported_value"];

/// Parameters whose names are plain words, and so count only where they are known.
const PLAIN: &[&str] = &[
    "temperature",
    "reasoning",
    "thinking",
    "stop",
    "seed",
    "logprobs",
    "store",
    "user",
    "metadata",
    "verbosity",
    "include",
    "truncation",
    "n",
];

/// Without these there is no request.
const ESSENTIAL: &[&str] =
    &["model", "messages", "input", "contents", "tools", "system", "instructions", "stream"];

/// Fields of a message that carry what a provider once sent.
const REPLAYED: &[&str] = &[
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "thinking",
    "signature",
    "extra_content",
];

/// The remedy for a sentence (in lower case) about a parameter. `code` and `param` are the
/// provider's own fields, which go first.
pub(super) fn of(code: &str, param: &str, text: &str) -> Option<Remedy> {
    if CODES.contains(&code)
        && let Some(remedy) = without(param)
    {
        return Some(remedy);
    }
    // Gemini words a tool's schema that it does not understand the same way.
    if text.contains("function_declarations") {
        return None;
    }
    let found = |(phrase, named): &(&str, Named)| {
        let at = text.find(phrase)?;
        let word = match named {
            Before => text[..at].split_whitespace().next_back()?,
            After => text[at + phrase.len()..].split_whitespace().next()?,
            As(name) => name,
        };
        without(word)
    };
    PHRASES.iter().find_map(found)
}

/// The remedy for what `word` names: a parameter, perhaps quoted or in camel case, or the path of
/// a field.
fn without(word: &str) -> Option<Remedy> {
    let word = word.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || c == ']'));
    let mut path = word.split(['.', '[', ']']).filter(|part| !part.is_empty() && *part != "body");
    let first = path.next()?;
    let field = path.next_back().unwrap_or(first);
    if REPLAYED.contains(&field) && (first == "messages" || field.contains('_')) {
        return Some(Remedy::WithoutReplay);
    }
    let name = known_spelling(first);
    let plausible = name.contains('_') || PLAIN.contains(&&*name);
    let legal = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (plausible && legal && !ESSENTIAL.contains(&&*name)).then_some(Remedy::WithoutParameter(name))
}

/// The name as a request spells it: xAI answers in camel case, which is lower case by now.
fn known_spelling(name: &str) -> String {
    const CAMEL: [&str; 6] = [
        "presence_penalty",
        "frequency_penalty",
        "reasoning_effort",
        "parallel_tool_calls",
        "tool_choice",
        "stream_options",
    ];
    let squeezed = |known: &&&str| known.replace('_', "") == name;
    CAMEL.iter().find(squeezed).map_or(name, |known| known).to_owned()
}
