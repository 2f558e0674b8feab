//! One plugin on its way in: set up as its user says, its component looked at, and its standing
//! known. Everything that can refuse it alone is here.

use serde_json::{Map, Value};

use crate::discover::Candidate;
use crate::grant::{Approval, GrantsFile, Standing};
use crate::inspect::{Exports, Inspected};
use crate::manifest::{HookPoint, LimitSettings, Request};
use crate::policy::Limits;
use crate::registry::options::{LoadOptions, PluginSettings};

/// A plugin that can be loaded, if nothing outside it is against it.
pub(super) struct Prepared {
    pub(super) candidate: Candidate,
    pub(super) inspected: Inspected,
    /// As it is now.
    pub(super) now: Approval,
    /// How it differs from what was approved; `None` if it does not.
    pub(super) change: Option<Change>,
    /// Whether it was never seen before.
    pub(super) new: bool,
    pub(super) limits: Limits,
    pub(super) config: Map<String, Value>,
}

/// What became different since a plugin was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// One difference a line.
    pub(super) lines: Vec<String>,
    /// Tool globs it guarded then and does not name now.
    pub(super) unguarded: Vec<String>,
}

impl Prepared {
    /// Looks at a candidate.
    ///
    /// # Errors
    /// Why it is refused, and what to do.
    pub(super) fn new(
        candidate: Candidate,
        options: &LoadOptions,
        file: &GrantsFile,
    ) -> Result<Self, (Candidate, String)> {
        let usual = PluginSettings::default();
        let settings = options.settings.get(&candidate.name).unwrap_or(&usual);
        let looked = check_settings(&candidate, settings)
            .and_then(|()| {
                let inspected = options.sandbox.inspect(&candidate.component);
                inspected.map_err(|refusal| refusal.to_string())
            })
            .and_then(|inspected| check_exports(&candidate, inspected.exports).map(|()| inspected));
        let inspected = match looked {
            Ok(inspected) => inspected,
            Err(reason) => return Err((candidate, reason)),
        };
        let manifest = candidate.manifest.as_ref();
        let path = candidate.path.canonicalize().unwrap_or_else(|_| candidate.path.clone());
        let place = (candidate.name.as_str(), &*path.to_string_lossy());
        let now = Approval::new(place, &inspected.digest, manifest, &inspected.specs);
        let (new, change) = match file.standing(&now) {
            Standing::New => (true, None),
            Standing::Approved => (false, None),
            Standing::Changed(before) => {
                let lines = before.differences(&now, &inspected.specs);
                let gone = before.gates.iter().filter(|glob| !now.gates.contains(glob));
                (false, Some(Change { lines, unguarded: gone.cloned().collect() }))
            }
        };
        let own = manifest.map(|manifest| manifest.limits).unwrap_or_default();
        let limits = LimitSettings::resolve(own, settings.limits);
        let config = settings.config.clone();
        Ok(Self { candidate, inspected, now, change, new, limits, config })
    }

    pub(super) fn name(&self) -> &str {
        &self.candidate.name
    }

    /// What it asks for: nothing, if it has no manifest.
    pub(super) fn request(&self) -> Request {
        self.candidate
            .manifest
            .as_ref()
            .map(|manifest| manifest.request.clone())
            .unwrap_or_default()
    }
}

fn check_settings(candidate: &Candidate, settings: &PluginSettings) -> Result<(), String> {
    let checked = settings.limits.check().and_then(|()| match &candidate.manifest {
        Some(manifest) => manifest.settings.check(&settings.config),
        // Nobody says what a bare component takes.
        None => Ok(()),
    });
    checked.map_err(|what| format!("in config.toml, [plugins.{}]: {what}", candidate.name))
}

/// A hook that one side has and the other has not is a guard somebody counts on and nobody asks.
fn check_exports(candidate: &Candidate, exports: Exports) -> Result<(), String> {
    let path = candidate.component.display();
    let hooks = candidate.manifest.as_ref().map(|manifest| &manifest.hooks[..]).unwrap_or_default();
    let has = |point| match point {
        HookPoint::PreToolCall => (exports.pre_tool_call, "pre-tool-call"),
        HookPoint::PostToolCall => (exports.post_tool_call, "post-tool-call"),
        HookPoint::Observer => (exports.observer, "observer"),
    };
    for hook in hooks {
        if let (false, interface) = has(hook.point) {
            let point = hook.point.as_str();
            return Err(format!(
                "plugin.toml has a hook at {point}, but {path} does not export {interface}; build \
                 the component with it, or remove the hook"
            ));
        }
    }
    if exports.tools || !hooks.is_empty() {
        return Ok(());
    }
    let what = match candidate.manifest {
        Some(_) => "plugin.toml has no [[hooks]]",
        None => "there is no plugin.toml beside it",
    };
    Err(format!(
        "{path} exports only hooks, and {what} to say for which tools; write [[hooks]] with point \
         and tools"
    ))
}
