//! What the user lets a plugin touch: the grammar of grants, the file they are kept in, and where
//! they meet what the plugin asked for.
//!
//! A grant is bound to the bytes, the manifest and the tool descriptions it was given for. When
//! one of them changes the plugin still loads, without grants, until its user has seen the
//! difference and approved it.

mod approval;
mod edit;
mod effective;
mod file;
mod folder;

use std::fmt;
use std::path::PathBuf;

pub use approval::{Approval, Identity};
pub use effective::{HostPolicy, effective, narrow};
pub use file::{GrantsFile, Standing, StoredGrant};
pub use folder::Places;

use crate::document::printable;
use crate::http_rule::HttpRule;
use crate::name;
use crate::pattern::Words;
use crate::policy::HookPowers;
use crate::powers;

/// Why a grant cannot be read, found or given: the whole sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GrantError(pub(crate) String);

/// One grant: `NAME:KIND:REST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The plugin's name.
    pub plugin: String,
    /// What it may do.
    pub power: Power,
}

/// One thing a plugin may do: `KIND:REST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Power {
    /// `fs:PATH:ro|rw`: use a folder and everything below it.
    Fs {
        /// As written; absolute and without links once it is resolved.
        path: PathBuf,
        /// Whether it may change anything there.
        writable: bool,
    },
    /// `http:URL-PATTERN` or `http-private:URL-PATTERN`: reach a place on the network.
    Http(HttpRule),
    /// `secret:NAME`: have a secret put into its requests.
    Secret(String),
    /// `process:ARGV-PATTERN`: run a program.
    Process(Words),
    /// `env:VARIABLE`: see an environment variable.
    Env(String),
    /// `hook:full,rewrite,replace`: what its hooks may do beyond objecting.
    Hook(HookPowers),
}

impl Grant {
    /// Reads `NAME:KIND:REST`. Nothing is looked up: a folder may still be missing.
    ///
    /// # Errors
    /// Names the grant and what to write instead.
    pub fn parse(text: &str) -> Result<Self, GrantError> {
        let wrong = |what: String| GrantError(format!("grant \"{}\": {what}", printable(text)));
        let (plugin, power) = text
            .split_once(':')
            .ok_or_else(|| wrong("must be NAME:KIND:REST, as files:fs:.:ro".into()))?;
        Ok(Self {
            plugin: name::plugin(plugin)
                .map_err(|what| wrong(format!("its plugin name {what}")))?,
            power: Power::parse(power).map_err(wrong)?,
        })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.plugin, self.power)
    }
}

impl Power {
    /// Reads `KIND:REST`.
    ///
    /// # Errors
    /// The text says what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((kind, rest)) => Self::of(kind, rest),
            None => Err("must be NAME:KIND:REST, as files:fs:.:ro".into()),
        }
    }

    fn of(kind: &str, rest: &str) -> Result<Self, String> {
        match kind {
            "fs" => folder(rest),
            "http" | "http-private" => HttpRule::parse(rest, kind == "http-private")
                .map(Power::Http)
                .map_err(|what| format!("the URL pattern of {kind} {what}")),
            "secret" => name::secret(rest)
                .map(Power::Secret)
                .map_err(|what| format!("the name of a secret {what}")),
            "process" => Words::from_argv(rest.split(' '))
                .map(Power::Process)
                .map_err(|what| format!("each argument of process {what}")),
            "env" => name::variable(rest).map(Power::Env).map_err(|what| format!("env {what}")),
            "hook" => powers::parse_list(rest)
                .map(Power::Hook)
                .map_err(|what| format!("each power of hook {what}")),
            _ => Err(format!(
                "unknown kind \"{}\"; write fs, http, http-private, secret, process, env or hook",
                printable(kind)
            )),
        }
    }

    /// `fs`, `http`, `http-private`, `secret`, `process`, `env` or `hook`.
    pub fn kind(&self) -> &'static str {
        match self {
            Power::Fs { .. } => "fs",
            Power::Http(rule) if rule.private => "http-private",
            Power::Http(_) => "http",
            Power::Secret(_) => "secret",
            Power::Process(_) => "process",
            Power::Env(_) => "env",
            Power::Hook(_) => "hook",
        }
    }

    /// What stands after the kind.
    pub fn value(&self) -> String {
        match self {
            Power::Fs { path, writable } => {
                format!("{}:{}", path.display(), if *writable { "rw" } else { "ro" })
            }
            Power::Http(rule) => rule.to_string(),
            Power::Secret(name) | Power::Env(name) => name.clone(),
            Power::Process(argv) => argv.to_argv(),
            Power::Hook(powers) => powers::to_text(*powers),
        }
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind(), self.value())
    }
}

/// `PATH:ro|rw`; the path may hold colons, so the mode stands after the last.
fn folder(rest: &str) -> Result<Power, String> {
    let (path, mode) = rest.rsplit_once(':').unwrap_or((rest, ""));
    let writable = match mode {
        "ro" => false,
        "rw" => true,
        _ => {
            return Err(
                "a folder needs its mode after the last colon: fs:PATH:ro or fs:PATH:rw".into()
            );
        }
    };
    if path.is_empty() || path.contains(char::is_control) {
        return Err("a folder needs its path: fs:PATH:ro or fs:PATH:rw".into());
    }
    Ok(Power::Fs { path: PathBuf::from(path), writable })
}

#[cfg(test)]
mod tests;
