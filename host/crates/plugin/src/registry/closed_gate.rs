//! The hook that stands where a guard should: a plugin that was to look at tool calls and cannot
//! denies them, so that breaking a guard opens nothing.

use async_trait::async_trait;
use globset::{Glob, GlobSet, GlobSetBuilder};
use hermes_core::hook::{Hook, HookCall, HookFailure, PreToolCall, PreVerdict};

/// Before every plugin's own hooks: what it denies need not be asked about.
const FIRST: i32 = i32::MIN;

/// Denies the tools of a guard that is not there.
pub(super) struct ClosedGate {
    plugin: String,
    tools: GlobSet,
    /// What happened, after "the hook", in words of the host's own.
    problem: &'static str,
    /// The whole story, for the user.
    detail: String,
}

impl ClosedGate {
    pub(super) fn new(
        plugin: &str,
        globs: &[String],
        problem: &'static str,
        detail: String,
    ) -> Self {
        Self { plugin: plugin.to_owned(), tools: glob_set(globs), problem, detail }
    }
}

/// Globs as one matcher. Globs that cannot be read match everything: they come from a guard.
pub(super) fn glob_set(globs: &[String]) -> GlobSet {
    let build = |globs: &[String]| {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(Glob::new(glob)?);
        }
        set.build()
    };
    build(globs).or_else(|_| build(&["*".to_owned()])).unwrap_or_else(|_| GlobSet::empty())
}

impl Hook for ClosedGate {
    fn name(&self) -> &str {
        &self.plugin
    }

    fn priority(&self) -> i32 {
        FIRST
    }

    fn matches(&self, tool: &str) -> bool {
        self.tools.is_match(tool)
    }

    fn trusted(&self) -> bool {
        false
    }
}

#[async_trait]
impl PreToolCall for ClosedGate {
    async fn check(&self, _: &HookCall) -> Result<PreVerdict, HookFailure> {
        Err(HookFailure { reason: self.problem.into(), detail: self.detail.clone() })
    }
}
