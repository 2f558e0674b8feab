//! Where a plugin's hooks speak: the `[[hooks]]` tables of a manifest. They stand here and not in
//! the component, so that a hook whose globs do not match costs nothing.

use std::time::Duration;

use globset::Glob;
use serde::Serialize;

use crate::document::{DocumentError, Reader};
use crate::manifest::request::unsigned;

/// One `[[hooks]]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookEntry {
    /// Where it speaks.
    pub point: HookPoint,
    /// Globs: of tool names, or of an observer's points.
    #[serde(rename = "tools")]
    pub globs: Vec<String>,
    /// Lower speaks first; ties go by name.
    pub priority: i32,
    /// How long it may take; the host's default if absent.
    #[serde(skip)]
    pub timeout: Option<Duration>,
}

/// A place where plugins may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookPoint {
    /// Before a tool call: may stop it.
    PreToolCall,
    /// After a tool call: may change or withhold its result.
    PostToolCall,
    /// Listens only.
    Observer,
}

impl HookPoint {
    /// As it is written in a manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            HookPoint::PreToolCall => "pre_tool_call",
            HookPoint::PostToolCall => "post_tool_call",
            HookPoint::Observer => "observer",
        }
    }
}

/// Where a hook stands that does not say: in the middle, so that others can go before and after.
const DEFAULT_PRIORITY: i32 = 50;

/// Most time a hook may ask for, in milliseconds: it stands in the way of every matching call.
const MAX_TIMEOUT_MS: i64 = 250;

impl HookEntry {
    pub(super) fn read(table: Reader<'_>) -> Result<Self, DocumentError> {
        let point = table.text("point", |text| match text {
            "pre_tool_call" => Ok(HookPoint::PreToolCall),
            "post_tool_call" => Ok(HookPoint::PostToolCall),
            "observer" => Ok(HookPoint::Observer),
            _ => Err("must be \"pre_tool_call\", \"post_tool_call\" or \"observer\"".to_owned()),
        })?;
        let point = table.required("point", point, "point = \"pre_tool_call\"")?;
        // The other kind's key stays unknown, so that a hook cannot wait for what never comes.
        let globs = match point {
            HookPoint::Observer => {
                let points = table.texts("points", glob)?;
                table.required("points", points, "points = [\"turn_start\", \"turn_end\"]")?
            }
            _ => {
                let tools = table.texts("tools", glob)?;
                table.required("tools", tools, "tools = [\"*\"] for every tool")?
            }
        };
        let priority = table.integer("priority", -1000..=1000)?;
        let timeout = table.integer("timeout_ms", 1..=MAX_TIMEOUT_MS)?;
        table.finish()?;
        Ok(Self {
            point,
            globs,
            priority: priority
                .and_then(|number| i32::try_from(number).ok())
                .unwrap_or(DEFAULT_PRIORITY),
            timeout: timeout.map(|ms| Duration::from_millis(unsigned(ms))),
        })
    }
}

/// A glob over names; one that no name could ever match is refused, since a gate that guards
/// nothing looks like one that guards.
pub(super) fn glob(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-*?[]{},!".contains(c);
    if text.is_empty() || !text.chars().all(legal) {
        return Err("must be a glob over names of a-z, A-Z, 0-9, _ and -, as \"write_*\"".into());
    }
    Glob::new(text)
        .map_err(|error| format!("is no glob ({}); write e.g. \"write_*\"", error.kind()))?;
    Ok(text.to_owned())
}
