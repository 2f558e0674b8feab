//! `grants.toml` in the home folder: what the user has agreed to.
//!
//! It is read once for a run, and never half understood: a line this version does not know stops
//! the run, since it might take something away. Writing is in `grant/edit.rs`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::digest::is_sha256;
use crate::document::{DocumentError, Reader, Source};
use crate::grant::{Approval, Grant, GrantError, Identity, Power};
use crate::name;

/// The file's name.
pub(super) const FILE_NAME: &str = "grants.toml";

/// What the user has agreed to.
#[derive(Debug, Clone, Default)]
pub struct GrantsFile {
    /// Plugins as they were when they were first seen or last approved.
    pub approvals: Vec<Approval>,
    /// What they may do.
    pub grants: Vec<StoredGrant>,
}

/// One grant of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// The grant.
    pub grant: Grant,
    /// What it was given to.
    pub identity: Identity,
}

/// How a plugin on disk stands to what its user has agreed to.
#[derive(Debug, Clone, Copy)]
pub enum Standing<'a> {
    /// Never seen.
    New,
    /// As it was.
    Approved,
    /// Changed since.
    Changed(&'a Approval),
}

impl GrantsFile {
    /// The file of a home folder; an absent one is empty.
    ///
    /// # Errors
    /// It cannot be read, or holds something this version does not understand.
    pub fn read(home: &Path) -> Result<Self, GrantError> {
        let path = path_in(home);
        match read_text(&path)? {
            Some(text) => Self::parse(&path, &text).map_err(|error| GrantError(error.0)),
            None => Ok(Self::default()),
        }
    }

    /// Reads the text of the file; `file` is only for complaints.
    ///
    /// # Errors
    /// The first thing wrong, with file, line, key, value and what to write instead.
    pub fn parse(file: &Path, text: &str) -> Result<Self, DocumentError> {
        let source = Source::new(file, text);
        let document = source.parse()?;
        let root = Reader::root(source, &document);
        let mut read = Self::default();
        for table in root.tables("approved")? {
            let approval = read_approval(table)?;
            read.approvals.push(approval);
        }
        for table in root.tables("grant")? {
            read.grants.push(read_grant(table)?);
        }
        root.finish()?;
        Ok(read)
    }

    /// How a plugin stands.
    pub fn standing(&self, now: &Approval) -> Standing<'_> {
        match self.approval(&now.plugin) {
            None => Standing::New,
            Some(approved) if approved.identity == now.identity => Standing::Approved,
            Some(approved) => Standing::Changed(approved),
        }
    }

    /// The plugin as it was approved.
    pub fn approval(&self, plugin: &str) -> Option<&Approval> {
        self.approvals.iter().find(|approval| approval.plugin == plugin)
    }

    /// The plugin that was approved at a place on disk, for when its manifest cannot be read.
    pub fn approval_at(&self, path: &str) -> Option<&Approval> {
        self.approvals.iter().find(|approval| approval.path == path)
    }

    /// What a plugin may do as it is now: grants given to other bytes are not among them.
    pub fn powers<'a>(&'a self, now: &'a Approval) -> impl Iterator<Item = &'a Power> {
        self.grants
            .iter()
            .filter(|stored| stored.grant.plugin == now.plugin && stored.identity == now.identity)
            .map(|stored| &stored.grant.power)
    }

    /// What a plugin was granted whatever it was then: for a developer who trusts a folder by its
    /// path.
    pub fn powers_by_name<'a>(&'a self, plugin: &'a str) -> impl Iterator<Item = &'a Power> {
        let of = move |stored: &&StoredGrant| stored.grant.plugin == plugin;
        self.grants.iter().filter(of).map(|stored| &stored.grant.power)
    }
}

pub(super) fn path_in(home: &Path) -> PathBuf {
    home.join(FILE_NAME)
}

/// The file's text, `None` if there is no file.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, GrantError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(GrantError(format!("cannot read {}: {error}", path.display()))),
    }
}

fn read_approval(table: Reader<'_>) -> Result<Approval, DocumentError> {
    let text = |text: &str| Ok(text.to_owned());
    let list = |key| Ok(table.texts(key, text)?.unwrap_or_default());
    let plugin = table.text("plugin", name::plugin)?;
    let approval = Approval {
        plugin: table.required("plugin", plugin, "plugin = \"NAME\"")?,
        version: table.text("version", text)?.unwrap_or_default(),
        path: table.text("path", text)?.unwrap_or_default(),
        identity: read_identity(&table)?,
        gates: list("gates")?,
        hooks: list("hooks")?,
        requests: list("requests")?,
        tools: list("tools")?,
        date: table.text("date", text)?.unwrap_or_default(),
    };
    table.finish()?;
    Ok(approval)
}

fn read_grant(table: Reader<'_>) -> Result<StoredGrant, DocumentError> {
    let text = |text: &str| Ok(text.to_owned());
    let plugin = table.text("plugin", name::plugin)?;
    let plugin = table.required("plugin", plugin, "plugin = \"NAME\"")?;
    let kind = table.text("kind", text)?;
    let kind = table.required("kind", kind, "kind = \"fs\"")?;
    let power = table.text("value", |value| Power::parse(&format!("{kind}:{value}")))?;
    let power = table.required("value", power, "value = \"/a/folder:ro\"")?;
    table.text("scope", |scope| match scope {
        "always" => Ok(()),
        _ => Err("must be \"always\"".into()),
    })?;
    table.text("date", text)?;
    let identity = read_identity(&table)?;
    table.finish()?;
    Ok(StoredGrant { grant: Grant { plugin, power }, identity })
}

fn read_identity(table: &Reader<'_>) -> Result<Identity, DocumentError> {
    let digest = |text: &str| match is_sha256(text) {
        true => Ok(text.to_owned()),
        false => Err("must be a SHA-256 digest, 64 of the characters 0-9 and a-f".to_owned()),
    };
    let component = table.text("component", digest)?;
    let manifest = table.text("manifest", |text| match text {
        "none" => Ok(None),
        _ => digest(text).map(Some),
    })?;
    let fingerprint = table.text("fingerprint", digest)?;
    let example = "the digest, or remove this table and grant again";
    Ok(Identity {
        component: table.required("component", component, example)?,
        manifest: table.required("manifest", manifest, example)?,
        tools: table.required("fingerprint", fingerprint, example)?,
    })
}
