//! Reading a unified diff, as `diff -u` and git write it.

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
    while let Some((at, line)) = lines.next() {
        if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next().and_then(|(_, line)| line.strip_prefix("+++ "));
            let new =
                new.ok_or_else(|| wrong(at + 1, "a --- line must be followed by a +++ line"))?;
            files.push(FilePatch { old: name(old, "a/"), new: name(new, "b/"), hunks: Vec::new() });
        } else if line.starts_with("@@") {
            let line = header(line)
                .ok_or_else(|| wrong(at, "a hunk must begin like @@ -12,7 +12,8 @@"))?;
            let hunk = hunk(line, &mut lines);
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
        }
        // Everything else between files (diff, index, mode lines, prose) says nothing we need.
    }
    check(files)
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

/// A path of a header line: without git's prefix, time stamp and quotes; nothing for /dev/null.
fn name(text: &str, prefix: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or_default().trim().trim_matches('"');
    (path != "/dev/null").then(|| path.strip_prefix(prefix).unwrap_or(path).to_owned())
}

/// The first old line of `@@ -line[,count] +line[,count] @@`.
fn header(line: &str) -> Option<usize> {
    let mut words = line.strip_prefix("@@")?.split("@@").next()?.split_whitespace();
    let old = words.next()?.strip_prefix('-')?;
    words.next()?.strip_prefix('+')?;
    old.split(',').next()?.parse().ok()
}

/// The lines of a hunk, up to the next hunk or file. What its header counts is not relied on:
/// models miscount, and every context and removed line must match the file in any case.
fn hunk<'a>(line: usize, lines: &mut std::iter::Peekable<Lines<'a>>) -> Hunk {
    let mut hunk = Hunk { line, lines: Vec::new() };
    // Empty lines at the end of a hunk belong to it only if more of it follows.
    let mut blanks = 0;
    while let Some(&(_, text)) = lines.peek() {
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
            Some(b'-') if begins_file(lines) => break,
            Some(b'-') => Kind::Removed,
            Some(b'+') => Kind::Added,
            Some(b' ') => Kind::Context,
            _ => break,
        };
        lines.next();
        let blank = || Line { kind: Kind::Context, text: String::new(), unended: false };
        hunk.lines.extend((0..std::mem::take(&mut blanks)).map(|_| blank()));
        hunk.lines.push(Line { kind, text: text[1..].to_owned(), unended: false });
    }
    hunk
}

/// Whether the next lines are the header of another file, not a removed line that looks like one.
fn begins_file(lines: &std::iter::Peekable<Lines<'_>>) -> bool {
    let mut ahead = lines.clone().map(|(_, line)| line);
    ahead.next().is_some_and(|line| line.starts_with("--- "))
        && ahead.next().is_some_and(|line| line.starts_with("+++ "))
        && ahead.next().is_some_and(|line| line.starts_with("@@"))
}
