//! What a plugin asks to touch: the `request` tables of a manifest.
//!
//! A request gives nothing. What holds is where it meets the user's grants.

use std::collections::BTreeSet;

use hermes_core::keep::StateQuota;

use crate::document::{DocumentError, Reader};
use crate::manifest::http::HttpRequest;
use crate::name;
use crate::pattern::Words;
use crate::policy::{Effective, HookPowers};
use crate::powers;
use crate::secret::SecretRule;

/// Everything one plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Places on the network.
    pub http: Vec<HttpRequest>,
    /// Folders.
    pub fs: Vec<FsRequest>,
    /// Secrets.
    pub secrets: Vec<SecretRule>,
    /// Programs, as patterns of their arguments.
    pub process: Vec<Words>,
    /// Environment variables.
    pub env: BTreeSet<String>,
    /// What its hooks may do beyond objecting.
    pub hook: HookPowers,
    /// How much it may keep. Given without a grant, since it touches nothing of the user's.
    pub state: StateQuota,
}

/// One `[[request.fs]]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsRequest {
    /// Which folder.
    pub path: FsPath,
    /// Where the guest also finds it, beside the folder's own path.
    pub guest: Option<String>,
    /// Whether it wants to write.
    pub writable: bool,
}

/// The folder of an [`FsRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FsPath {
    /// `*`: whichever the user chooses.
    UserChosen,
    /// This folder, or one below it: an absolute path, or one that starts with `~/`.
    Within(String),
}

impl Default for Request {
    fn default() -> Self {
        Self {
            http: Vec::new(),
            fs: Vec::new(),
            secrets: Vec::new(),
            process: Vec::new(),
            env: BTreeSet::new(),
            hook: HookPowers::default(),
            state: Effective::default().state,
        }
    }
}

impl Request {
    pub(super) fn read(request: &Reader<'_>) -> Result<Self, DocumentError> {
        let mut all = Self::default();
        for table in request.tables("http")? {
            all.http.push(HttpRequest::read(table)?);
        }
        for table in request.tables("fs")? {
            all.fs.push(FsRequest::read(table)?);
        }
        for table in request.tables("secret")? {
            all.secrets.push(SecretRule::read(table)?);
        }
        for table in request.tables("process")? {
            all.process.push(read_process(table)?);
        }
        for table in request.tables("env")? {
            all.env.extend(read_env(table)?);
        }
        for table in request.tables("hook")? {
            read_hook(table, &mut all.hook)?;
        }
        if let Some(table) = request.table("state")? {
            all.state = read_state(table)?;
        }
        Ok(all)
    }

    /// One line for each thing asked for, in the grammar of grants (`fs:*:ro`, `env:LANG`).
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for rule in self.http.iter().flat_map(|request| &request.rules) {
            lines.push(format!("http{}:{rule}", if rule.private { "-private" } else { "" }));
        }
        lines.extend(self.fs.iter().map(FsRequest::line));
        lines.extend(self.secrets.iter().map(|secret| format!("secret:{}", secret.name)));
        lines.extend(self.process.iter().map(|argv| format!("process:{}", argv.to_argv())));
        lines.extend(self.env.iter().map(|variable| format!("env:{variable}")));
        let powers = powers::to_text(self.hook);
        if !powers.is_empty() {
            lines.push(format!("hook:{powers}"));
        }
        lines
    }
}

impl FsRequest {
    fn read(table: Reader<'_>) -> Result<Self, DocumentError> {
        let path = table.text("path", |text| match text {
            "*" => Ok(FsPath::UserChosen),
            _ if is_plain_path(text.strip_prefix('~').unwrap_or(text)) => {
                Ok(FsPath::Within(text.to_owned()))
            }
            _ => Err("must be \"*\" (the user chooses) or a path that starts with / or ~/, \
                      without . and .."
                .into()),
        })?;
        let read = Self {
            path: table.required("path", path, "path = \"*\" for a folder the user chooses")?,
            guest: table.text("guest", |text| {
                if is_plain_path(text) && text != "/" {
                    return Ok(text.to_owned());
                }
                Err("must be an absolute path in the guest, as \"/data\"".into())
            })?,
            writable: table
                .text("mode", |text| match text {
                    "ro" => Ok(false),
                    "rw" => Ok(true),
                    _ => Err("must be \"ro\" or \"rw\"".into()),
                })?
                .unwrap_or(false),
        };
        table.finish()?;
        Ok(read)
    }

    fn line(&self) -> String {
        let path = match &self.path {
            FsPath::UserChosen => "*",
            FsPath::Within(path) => path,
        };
        format!("fs:{path}:{}", if self.writable { "rw" } else { "ro" })
    }
}

/// Whether a path is absolute and has nothing to resolve in it.
fn is_plain_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.contains(char::is_control)
        && !path.split('/').any(|part| part == "." || part == "..")
}

fn read_process(table: Reader<'_>) -> Result<Words, DocumentError> {
    let argv = table.texts("argv", |text| Ok(text.to_owned()))?;
    let argv = table.required("argv", argv, "argv = [\"git\", \"status|diff\", \"*\"]")?;
    let pattern = Words::from_argv(argv.iter().map(String::as_str))
        .map_err(|what| table.complain_of("argv", &what))?;
    table.finish()?;
    Ok(pattern)
}

fn read_env(table: Reader<'_>) -> Result<Vec<String>, DocumentError> {
    let variables = table.texts("variables", name::variable)?;
    let variables = table.required("variables", variables, "variables = [\"LANG\"]")?;
    table.finish()?;
    Ok(variables)
}

fn read_hook(table: Reader<'_>, all: &mut HookPowers) -> Result<(), DocumentError> {
    let asked = table.texts("powers", powers::parse)?;
    for asked in table.required("powers", asked, "powers = [\"rewrite\"]")? {
        *all = powers::union(*all, asked);
    }
    table.finish()
}

fn read_state(table: Reader<'_>) -> Result<StateQuota, DocumentError> {
    // The maxima are the host's: state shares one database with the sessions.
    let max_bytes = table.integer("max_bytes", 0..=64 << 20)?.map(unsigned);
    let max_keys = table.integer("max_keys", 0..=100_000)?.map(unsigned);
    table.finish()?;
    let usual = Effective::default().state;
    Ok(StateQuota {
        max_bytes: max_bytes.unwrap_or(usual.max_bytes),
        max_keys: max_keys.unwrap_or(usual.max_keys),
    })
}

/// A number that was checked to be none below zero.
pub(super) fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}
