//! Turns a TOML error into one line: where, what, and the nearest right key.

/// Likeness below which a known key is no help.
const NEAR: f64 = 0.75;

/// `line N: …`, with a suggestion where the error is an unknown key.
pub(super) fn explain(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start].lines().count().max(1));
    // A span that starts a line belongs to that line, not to the one before it.
    let line = line.map(|line| {
        let start = error.span().map_or(0, |span| span.start);
        if text[..start].ends_with('\n') { line + 1 } else { line }
    });
    let message = error.message().trim_end();
    let what = unknown(message).unwrap_or_else(|| message.to_owned());
    line.map_or_else(|| what.clone(), |line| format!("line {line}: {what}"))
}

/// serde names the unknown key and then the known ones, each between backticks.
fn unknown(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let key = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(key, known), known))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Some(match nearest {
        Some((_, nearest)) => format!("unknown key {key:?}; did you mean {nearest:?}?"),
        None => format!("unknown key {key:?}; known keys here: {}", known.join(", ")),
    })
}
