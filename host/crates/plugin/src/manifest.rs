//! `plugin.toml`: what a plugin is called, which file it is, where its hooks speak, what it asks
//! to touch, and how it may be set up.
//!
//! A manifest is data somebody else wrote. Reading one decides nothing: the user's grants do. A
//! key this version does not know is refused, since a newer restriction must not be ignored.

mod hook;
mod http;
mod limits;
mod remains;
mod request;
mod secret;
mod settings;

use std::path::Path;

pub use hook::{HookEntry, HookPoint};
pub use http::HttpRequest;
pub use limits::LimitSettings;
pub use remains::Remains;
pub use request::{FsPath, FsRequest, Request};
pub use settings::Settings;

use crate::digest;
use crate::document::{DocumentError, Reader, Source};
use crate::name;

/// The file's name.
pub const FILE_NAME: &str = "plugin.toml";

/// Largest manifest read, in bytes; a long settings schema takes some tens of kilobytes.
pub(crate) const MAX_BYTES: u64 = 256 << 10;

/// A whole manifest, checked.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// `[a-z0-9-]{1,40}`, unique among the plugins of a host.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// The author's version.
    pub version: String,
    /// What it is for, in a line.
    pub description: String,
    /// An SPDX expression.
    pub license: Option<String>,
    /// The component's file name; it lies beside the manifest.
    pub component: String,
    /// Where its hooks speak.
    pub hooks: Vec<HookEntry>,
    /// What it asks to touch.
    pub request: Request,
    /// Limits it was written for.
    pub limits: LimitSettings,
    /// How it may be set up.
    pub settings: Settings,
    /// SHA-256 of the file, hex.
    pub digest: String,
}

impl Manifest {
    /// Reads the text of a manifest; `file` is only for complaints.
    ///
    /// # Errors
    /// The first thing wrong, with file, line, key, value and what to write instead.
    pub fn parse(file: &Path, text: &str) -> Result<Self, DocumentError> {
        let source = Source::new(file, text);
        let document = source.parse()?;
        let root = Reader::root(source, &document);
        let plugin = root.table("plugin")?;
        let plugin = root.required("plugin", plugin, "[plugin] with name and component")?;
        let name = plugin.text("name", name::plugin)?;
        let component = plugin.text("component", component)?;
        plugin.text("wit", wit)?;
        let mut hooks = Vec::new();
        for table in root.tables("hooks")? {
            hooks.push(HookEntry::read(table)?);
        }
        let request = match root.table("request")? {
            Some(table) => {
                let request = Request::read(&table)?;
                table.finish()?;
                request
            }
            None => Request::default(),
        };
        let manifest = Self {
            name: plugin.required("name", name, "name = \"my-plugin\"")?,
            title: plugin.text("title", name::one_line)?,
            version: plugin.text("version", version)?.unwrap_or_else(|| "0.0.0".into()),
            description: plugin.text("description", name::one_line)?.unwrap_or_default(),
            license: plugin.text("license", name::one_line)?,
            component: plugin.required("component", component, "component = \"my-plugin.wasm\"")?,
            hooks,
            request,
            limits: root
                .table("limits")?
                .map_or(Ok(LimitSettings::default()), LimitSettings::read)?,
            settings: Settings::read(&root)?,
            digest: digest::sha256(text.as_bytes()),
        };
        plugin.finish()?;
        root.finish()?;
        Ok(manifest)
    }

    /// The tool globs of its hooks before tool calls: what it would guard.
    pub fn gates(&self) -> Vec<String> {
        let before = |hook: &&HookEntry| hook.point == HookPoint::PreToolCall;
        self.hooks.iter().filter(before).flat_map(|hook| hook.globs.clone()).collect()
    }
}

/// The version of the package `hermes:plugin` this host speaks, without the patch: types never
/// change within it, so that any plugin built for it loads.
pub const WIT_VERSION: &str = "0.1";

fn wit(text: &str) -> Result<(), String> {
    let patch = text
        .strip_prefix(WIT_VERSION)
        .and_then(|rest| rest.strip_prefix('.').or_else(|| rest.is_empty().then_some("0")));
    match patch {
        Some(patch) if patch.parse::<u16>().is_ok() => Ok(()),
        _ => Err(format!(
            "this host speaks hermes:plugin {WIT_VERSION}; build the plugin for that version and \
             write wit = \"{WIT_VERSION}\", or use a host that speaks the other"
        )),
    }
}

fn component(text: &str) -> Result<String, String> {
    if text.ends_with(".cwasm") {
        return Err("precompiled code is not loaded; name the .wasm it was compiled from".into());
    }
    let plain = !text.contains(['/', '\\']) && !text.contains(char::is_control);
    if plain && text.ends_with(".wasm") && text.len() > ".wasm".len() {
        return Ok(text.to_owned());
    }
    Err("must be the name of a .wasm file beside plugin.toml, without a folder".into())
}

fn version(text: &str) -> Result<String, String> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b".-+".contains(&b);
    if (1..=64).contains(&text.len()) && text.bytes().all(legal) {
        return Ok(text.to_owned());
    }
    Err("must be a version, as \"0.1.0\"".into())
}

#[cfg(test)]
mod tests;
