//! Changes to `grants.toml` that keep its user's comments and order: under a lock, into a new file
//! only its owner can read, renamed over the old one when it is whole.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::grant::file::{GrantsFile, path_in, read_text};
use crate::grant::{Approval, Grant, GrantError, Power};

/// What a new file opens with.
const HEADER: &str = "\
# What plugins may touch. `hermes-host plugins grant`, `revoke` and `approve` change this file and
# keep what you write into it. A grant holds only for the plugin it was given to: `component`,
# `manifest` and `fingerprint` are the digests of its bytes, its plugin.toml and its tools' texts.
";

impl GrantsFile {
    /// Records plugins that were not recorded yet, as they are now.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn record(home: &Path, seen: &[Approval]) -> Result<(), GrantError> {
        edit(home, |document, before| {
            for approval in seen {
                if before.approval(&approval.plugin).is_none() {
                    tables(document, "approved")?.push(approval_table(approval));
                }
            }
            Ok(())
        })
    }

    /// Records a plugin as it is now in place of what it was, and binds its grants to it; those in
    /// `dropped` are removed.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn approve(home: &Path, now: &Approval, dropped: &[Power]) -> Result<(), GrantError> {
        edit(home, |document, _| {
            let approved = tables(document, "approved")?;
            let at = approved.iter().position(|table| is_of(table, &now.plugin));
            match at.and_then(|at| approved.get_mut(at)) {
                Some(table) => refresh(table, &approval_table(now)),
                None => approved.push(approval_table(now)),
            }
            let grants = tables(document, "grant")?;
            grants.retain(|table| {
                !is_of(table, &now.plugin) || !dropped.iter().any(|power| gives(table, power))
            });
            for table in grants.iter_mut().filter(|table| is_of(table, &now.plugin)) {
                put_identity(table, now);
            }
            Ok(())
        })
    }

    /// Adds a grant for a plugin as it is now, and records the plugin if it was not yet. Contract:
    /// the power is resolved and requested, and the plugin has not changed since it was approved.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn grant(home: &Path, now: &Approval, power: &Power) -> Result<(), GrantError> {
        edit(home, |document, before| {
            if before.approval(&now.plugin).is_none() {
                tables(document, "approved")?.push(approval_table(now));
            }
            let grants = tables(document, "grant")?;
            let same = |table: &Table| is_of(table, &now.plugin) && gives(table, power);
            let at = grants.iter().position(same);
            match at.and_then(|at| grants.get_mut(at)) {
                Some(table) => put_identity(table, now),
                None => grants.push(grant_table(now, power)),
            }
            Ok(())
        })
    }

    /// Removes a grant; whether it was there.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn revoke(home: &Path, grant: &Grant) -> Result<bool, GrantError> {
        let mut found = false;
        edit(home, |document, _| {
            let grants = tables(document, "grant")?;
            let before = grants.len();
            grants.retain(|table| !is_of(table, &grant.plugin) || !gives(table, &grant.power));
            found = grants.len() < before;
            Ok(())
        })?;
        Ok(found)
    }
}

/// Reads, changes and writes the file while no other writer can. `change` sees what was read.
fn edit(
    home: &Path,
    change: impl FnOnce(&mut DocumentMut, &GrantsFile) -> Result<(), GrantError>,
) -> Result<(), GrantError> {
    let path = path_in(home);
    let failed = |what: &str| {
        let what = format!("cannot {what} {}: ", path.display());
        move |error: std::io::Error| GrantError(format!("{what}{error}"))
    };
    make_private(home).map_err(failed("make the folder of"))?;
    // The lock has a file of its own, since the other one is replaced. It is let go on drop.
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.with_extension("lock"))
        .map_err(failed("lock"))?;
    lock.lock().map_err(failed("lock"))?;
    let text = read_text(&path)?.unwrap_or_else(|| HEADER.to_owned());
    let before = GrantsFile::parse(&path, &text).map_err(|error| GrantError(error.0))?;
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error| GrantError(format!("{}: not TOML: {error}", path.display())))?;
    let was_empty = document.is_empty();
    change(&mut document, &before)?;
    if was_empty {
        put_comments_first(&mut document);
    }
    let after = document.to_string();
    if after == text {
        return Ok(());
    }
    // A link stays a link: the file it leads to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.clone());
    replace(&target, &after).map_err(failed("write"))
}

/// Comments of a file without tables count as its end; they stay above the first table made.
fn put_comments_first(document: &mut DocumentMut) {
    let comments = document.trailing().as_str().unwrap_or_default().to_owned();
    for key in ["approved", "grant"] {
        let tables = document.get_mut(key).and_then(Item::as_array_of_tables_mut);
        if let Some(first) = tables.and_then(|tables| tables.get_mut(0)) {
            first.decor_mut().set_prefix(format!("{comments}\n"));
            return document.set_trailing("");
        }
    }
}

/// Writes a whole file, readable by its owner only, in place of another.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn tables<'a>(
    document: &'a mut DocumentMut,
    key: &str,
) -> Result<&'a mut ArrayOfTables, GrantError> {
    let item = document.entry(key).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let wrong = || GrantError(format!("{key} in grants.toml must be written as [[{key}]] tables"));
    item.as_array_of_tables_mut().ok_or_else(wrong)
}

fn text_of<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Item::as_str)
}

fn is_of(table: &Table, plugin: &str) -> bool {
    text_of(table, "plugin") == Some(plugin)
}

fn gives(table: &Table, power: &Power) -> bool {
    text_of(table, "kind") == Some(power.kind())
        && text_of(table, "value") == Some(power.value().as_str())
}

fn put_identity(table: &mut Table, now: &Approval) {
    set(table, "component", &now.identity.component);
    set(table, "manifest", now.identity.manifest.as_deref().unwrap_or("none"));
    set(table, "fingerprint", &now.identity.tools);
    set(table, "date", &now.date);
}

/// Changes a value and keeps the comment behind it.
fn set(table: &mut Table, key: &str, text: &str) {
    let mut item = value(text);
    if let (Some(new), Some(old)) = (item.as_value_mut(), table.get(key).and_then(Item::as_value)) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, item);
}

fn approval_table(approval: &Approval) -> Table {
    let mut table = Table::new();
    set(&mut table, "plugin", &approval.plugin);
    set(&mut table, "version", &approval.version);
    set(&mut table, "path", &approval.path);
    for (key, list) in [
        ("gates", &approval.gates),
        ("hooks", &approval.hooks),
        ("requests", &approval.requests),
        ("tools", &approval.tools),
    ] {
        if !list.is_empty() {
            table.insert(key, value(list.iter().collect::<toml_edit::Array>()));
        }
    }
    put_identity(&mut table, approval);
    table
}

/// Puts new values into a table, takes away what the new one lacks, and keeps its comments.
fn refresh(table: &mut Table, new: &Table) {
    let gone: Vec<String> =
        table.iter().map(|(key, _)| key.to_owned()).filter(|key| !new.contains_key(key)).collect();
    for key in gone {
        table.remove(&key);
    }
    for (key, item) in new {
        match item.as_str() {
            Some(text) => set(table, key, text),
            None => {
                table.insert(key, item.clone());
            }
        }
    }
}

fn grant_table(now: &Approval, power: &Power) -> Table {
    let mut table = Table::new();
    set(&mut table, "plugin", &now.plugin);
    set(&mut table, "kind", power.kind());
    set(&mut table, "value", &power.value());
    set(&mut table, "scope", "always");
    put_identity(&mut table, now);
    table
}
