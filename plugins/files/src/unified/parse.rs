//! Reading a unified diff, as `diff -u` and git write it.

use super::name::names;

/// The lines of a patch, numbered from 0.
type Lines<'a> = std::iter::Enumerate<std::str::Lines<'a>>;

/// What a diff does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The file before; nothing if the patch creates it.
    pub(super) old: Option<String>,
    /// The file after; nothing if the patch deletes it.
    pub(super) new: Option<String>,
    pub(super) hunks: Vec<Hunk>,
}

/// One place that changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    /// First line of the old side, from 1; 0 for an empty file.
    pub(super) line: usize,
    pub(super) lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Whether the file ends right behind it, without a line end.
    pub(super) unended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Context,
    Removed,
    Added,
}

impl FilePatch {
    /// The file on disk it is about.
    pub(super) fn path(&self) -> &str {
        self.old.as_deref().or(self.new.as_deref()).unwrap_or_default()
    }

    /// The patch, about another file.
    pub(super) fn retarget(&mut self, path: String) {
        self.old = self.old.take().map(|_| path.clone());
        self.new = self.new.take().map(|_| path.clone());
        if self.old.is_none() && self.new.is_none() {
            (self.old, self.new) = (Some(path.clone()), Some(path));
        }
    }
}

/// The files of a diff.
///
/// # Errors
/// It is no unified diff; the text says at which line of it and why.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut lines = patch.lines().enumerate().peekable();
    // A git header whose file has not come yet: where it stands.
    let mut announced = None;
    while let Some((at, line)) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next().and_then(|(_, line)| line.strip_prefix("+++ "));
            let new =
                new.ok_or_else(|| wrong(at + 1, "a --- line must be followed by a +++ line"))?;
            let (old, new) = names(old, new);
            files.push(FilePatch { old, new, hunks: Vec::new() });
            announced = None;
        } else if line.starts_with("@@") {
            let counts = Counts::of(line)
                .ok_or_else(|| wrong(at, "a hunk must begin like @@ -12,7 +12,8 @@"))?;
            let hunk = hunk(counts, &mut lines)?;
            if files.is_empty() {
                // A patch of one file whose path is given apart.
                files.push(FilePatch {
                    old: Some(String::new()),
                    new: Some(String::new()),
                    hunks: Vec::new(),
                });
            }
            if let Some(file) = files.last_mut() {
                file.hunks.push(hunk);
            }
        } else if line.starts_with("diff --git ") {
            without_hunks(announced.replace(at))?;
        } else if UNABLE.iter().any(|start| line.starts_with(start)) {
            return Err(wrong(at, &format!("{line:?} cannot be done here; only text changes")));
        }
        // Everything else between files (index lines, prose) says nothing we need.
    }
    without_hunks(announced)?;
    check(files)
}

/// What git says beyond lines of text. To pass over it in silence would leave half a patch undone.
const UNABLE: [&str; 7] = [
    "rename from ",
    "copy from ",
    "old mode ",
    "new file mode 120000",
    "GIT binary patch",
    "Binary files ",
    "Subproject commit ",
];

/// Refuses a file that was announced and did not come.
fn without_hunks(announced: Option<usize>) -> Result<(), String> {
    let what =
        "this file has no --- and +++ lines with hunks; an empty file is made with write_file";
    announced.map_or(Ok(()), |at| Err(wrong(at, what)))
}

fn check(files: Vec<FilePatch>) -> Result<Vec<FilePatch>, String> {
    if files.is_empty() {
        return Err("there is no hunk in the patch; it must be a unified diff with @@ lines".into());
    }
    for file in &files {
        if file.hunks.is_empty() {
            return Err(format!("the patch names {} but has no hunk for it", file.path()));
        }
        if file.old.is_none() && file.new.is_none() {
            return Err("the patch names /dev/null on both sides".into());
        }
    }
    Ok(files)
}

fn wrong(at: usize, what: &str) -> String {
    format!("line {} of the patch: {what}", at + 1)
}

/// What the header of a hunk says: `@@ -line[,count] +line[,count] @@`.
struct Counts {
    /// First line of the old side.
    line: usize,
    /// Lines of both sides.
    old: usize,
    new: usize,
}

impl Counts {
    fn of(header: &str) -> Option<Self> {
        let mut words = header.strip_prefix("@@")?.split("@@").next()?.split_whitespace();
        let (line, old) = range(words.next()?.strip_prefix('-')?)?;
        let (_, new) = range(words.next()?.strip_prefix('+')?)?;
        Some(Self { line, old, new })
    }

    /// Whether the lines read so far are as many as the header says, or more.
    fn are_met(&self, lines: &[Line]) -> bool {
        let count = |other| lines.iter().filter(|line| line.kind != other).count();
        count(Kind::Added) >= self.old && count(Kind::Removed) >= self.new
    }
}

/// `12,7`, or `12` for one line.
fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((line, count)) => Some((line.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The lines of a hunk, up to the next hunk or file. What its header counts is a help and no law:
/// models miscount, and every context and removed line must match the file in any case. But a line
/// that cannot be read is an error where the header promises more, lest half a hunk be applied.
fn hunk<'a>(counts: Counts, lines: &mut std::iter::Peekable<Lines<'a>>) -> Result<Hunk, String> {
    let mut hunk = Hunk { line: counts.line, lines: Vec::new() };
    // Empty lines at the end of a hunk belong to it only if more of it follows.
    let mut blanks = 0;
    while let Some(&(at, text)) = lines.peek() {
        let kind = match text.as_bytes().first() {
            Some(b'\\') => {
                lines.next();
                if let Some(last) = hunk.lines.last_mut() {
                    last.unended = true;
                }
                continue;
            }
            // An empty context line whose blank was lost on the way.
            None => {
                lines.next();
                blanks += 1;
                continue;
            }
            Some(b'-') if begins_file(lines) || is_signature(text, &counts, &hunk) => break,
            Some(b'-') => Kind::Removed,
            Some(b'+') => Kind::Added,
            Some(b' ') => Kind::Context,
            _ if text.starts_with("@@") || text.starts_with("diff ") => break,
            _ if counts.are_met(&hunk.lines) => break,
            _ => return Err(wrong(at, "a line of a hunk must begin with a blank, - or +")),
        };
        lines.next();
        let blank = || Line { kind: Kind::Context, text: String::new(), unended: false };
        hunk.lines.extend((0..std::mem::take(&mut blanks)).map(|_| blank()));
        hunk.lines.push(Line { kind, text: text[1..].to_owned(), unended: false });
    }
    Ok(hunk)
}

/// Whether a line is what git puts below a patch in a mail, not a removed line that looks like it.
fn is_signature(text: &str, counts: &Counts, hunk: &Hunk) -> bool {
    text.trim_end() == "--" && counts.are_met(&hunk.lines)
}

/// Whether the next lines are the header of another file, not a removed line that looks like one.
fn begins_file(lines: &std::iter::Peekable<Lines<'_>>) -> bool {
    let mut ahead = lines.clone().map(|(_, line)| line);
    ahead.next().is_some_and(|line| line.starts_with("--- "))
        && ahead.next().is_some_and(|line| line.starts_with("+++ "))
        && ahead.next().is_some_and(|line| line.starts_with("@@"))
}
