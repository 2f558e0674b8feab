//! Why a text is not found: the place that comes closest, and what is different there.

/// Likeness from which a line counts as the one that was meant.
const NEAR: f64 = 0.6;

/// Longest quotation, in characters.
const QUOTED_CHARS: usize = 160;

/// One sentence or two on why `old` does not occur in `text`.
pub(super) fn no_match(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    if let Some((at, differs)) = same_but_for(&lines, &wanted, squeezed) {
        return differing("blanks or indentation", at, differs, &lines, &wanted);
    }
    if let Some((at, differs)) = same_but_for(&lines, &wanted, folded) {
        return differing("look-alike characters", at, differs, &lines, &wanted);
    }
    if let Some((at, differs)) = same_but_for(&lines, &wanted, str::to_lowercase) {
        return differing("upper and lower case", at, differs, &lines, &wanted);
    }
    nearest(&lines, &wanted)
}

/// Where the wanted lines stand if both are seen through `view`: the first line of the place, and
/// which of the wanted lines is the first that really differs.
fn same_but_for(
    lines: &[&str],
    wanted: &[&str],
    view: impl Fn(&str) -> String,
) -> Option<(usize, usize)> {
    let seen: Vec<String> = wanted.iter().map(|line| view(line)).collect();
    if seen.iter().all(String::is_empty) {
        return None;
    }
    let lines_seen: Vec<String> = lines.iter().map(|line| view(line)).collect();
    let at = lines_seen.windows(seen.len()).position(|window| window == seen.as_slice())?;
    let differs = (0..wanted.len()).find(|&n| lines[at + n] != wanted[n]).unwrap_or(0);
    Some((at, differs))
}

/// Without blanks.
fn squeezed(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// With typographic characters as the plain ones they look like, and without blanks.
fn folded(line: &str) -> String {
    let plain = |c: char| match c {
        '‘' | '’' | '‚' | '′' => '\'',
        '“' | '”' | '„' | '″' => '"',
        '‐'..='―' | '−' => '-',
        '\u{200b}' | '\u{feff}' => ' ',
        other => other,
    };
    squeezed(&line.chars().map(plain).collect::<String>())
}

fn differing(what: &str, at: usize, differs: usize, lines: &[&str], wanted: &[&str]) -> String {
    format!(
        "old_string is there at line {} but for {what}. Line {} of the file is {}, old_string has {}",
        at + 1,
        at + differs + 1,
        quoted(lines[at + differs]),
        quoted(wanted[differs])
    )
}

/// The line most like the first wanted one that says something.
fn nearest(lines: &[&str], wanted: &[&str]) -> String {
    let key =
        wanted.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default();
    let best = lines
        .iter()
        .enumerate()
        .map(|(at, line)| (strsim::normalized_damerau_levenshtein(key, line.trim()), at))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, _)| *likeness >= NEAR);
    match best {
        Some((_, at)) => format!(
            "old_string does not occur. The nearest is line {}: {}; old_string has {}. Read the file again and copy it \
             exactly",
            at + 1,
            quoted(lines[at]),
            quoted(key)
        ),
        None => "old_string does not occur, and nothing like it; read the file again".to_owned(),
    }
}

/// A line with its blanks visible.
fn quoted(line: &str) -> String {
    let cut: String = line.chars().take(QUOTED_CHARS).collect();
    format!("{cut:?}")
}
