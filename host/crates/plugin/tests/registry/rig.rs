//! What these tests share: plugin folders made of built guests, a home, and one-line questions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hermes_core::hook::{HookCall, HookFailure, PreToolCall, PreVerdict};
use hermes_core::keep::{PluginState, StateEntry, StateError, StateQuota};
use hermes_plugin::builder;
use hermes_plugin::grant::{HostPolicy, Places};
use hermes_plugin::registry::{LoadError, LoadOptions, Loaded, PluginSettings, Registry};
use hermes_plugin::secret::NoSecrets;
use hermes_plugin::{Sandbox, SandboxOptions};
use serde_json::Value;

/// A component, built once a run by what `plugins build` runs.
pub(super) fn component(folder: &str) -> Vec<u8> {
    static BUILT: LazyLock<BTreeMap<String, PathBuf>> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let folders = ["tests/guests/hostile", "tests/guests/gate", "plugins/files"];
        let folders = folders.map(|folder| root.join(folder));
        let built = builder::build(&folders, |_| {}).unwrap();
        built.into_iter().map(|built| (built.name, built.component)).collect()
    });
    std::fs::read(&BUILT[folder]).unwrap()
}

/// The component with a section of its own more: other bytes, the same behaviour.
pub(super) fn changed(mut component: Vec<u8>) -> Vec<u8> {
    // A custom section: its id, its size, the length of its name, its name.
    component.extend([0, 2, 1, b'x']);
    component
}

/// A user with a working directory, plugins and a home.
pub(super) struct User {
    keep: tempfile::TempDir,
    pub(super) settings: BTreeMap<String, PluginSettings>,
    pub(super) grants: Vec<String>,
    pub(super) dev: bool,
    pub(super) reserved: Vec<String>,
}

impl User {
    pub(super) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        for folder in ["plugins", "work", "other"] {
            std::fs::create_dir(keep.path().join(folder)).unwrap();
        }
        let settings = BTreeMap::new();
        Self { keep, settings, grants: Vec::new(), dev: false, reserved: Vec::new() }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.keep.path().canonicalize().unwrap()
    }

    pub(super) fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// A plugin in a folder of its name. `tables` follow its `[plugin]`.
    pub(super) fn plugin(&self, name: &str, component: &[u8], tables: &str) -> &Self {
        let manifest = format!(
            "[plugin]\nname = \"{name}\"\nversion = \"1.0.0\"\ncomponent = \"p.wasm\"\n{tables}"
        );
        self.file(&format!("plugins/{name}/plugin.toml"), manifest);
        self.file(&format!("plugins/{name}/p.wasm"), component)
    }

    pub(super) fn grant(&mut self, grants: &[&str]) -> &Self {
        self.grants = grants.iter().map(ToString::to_string).collect();
        self
    }

    /// What `config.toml` says of a plugin.
    pub(super) fn configure(&mut self, name: &str, settings: Value) -> &Self {
        self.settings.insert(name.into(), serde_json::from_value(settings).unwrap());
        self
    }

    fn options(&self) -> LoadOptions {
        LoadOptions {
            dirs: vec![self.root().join("plugins")],
            places: Places {
                cwd: self.root().join("work"),
                home: self.root().join("home"),
                user_home: Some(self.root()),
            },
            grants: self.grants.clone(),
            settings: self.settings.clone(),
            dev: self.dev,
            reserved_tools: self.reserved.clone(),
            policy: HostPolicy::default(),
            sandbox: sandbox(),
        }
    }

    pub(super) fn registry(&self) -> Registry {
        Registry::open(self.options()).unwrap()
    }

    pub(super) fn try_load(&self) -> Result<Loaded, LoadError> {
        Registry::load(self.options())
    }

    pub(super) fn load(&self) -> Loaded {
        self.try_load().unwrap()
    }

    /// Why loading failed as a whole.
    pub(super) fn load_error(&self) -> String {
        self.short(&self.try_load().err().unwrap().to_string())
    }

    /// `NAME STATE [grants]: reason` of every plugin, warnings after it.
    pub(super) fn states(&self) -> Vec<String> {
        states(&self.load()).iter().map(|line| self.short(line)).collect()
    }

    pub(super) fn short(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "ME")
    }
}

pub(super) fn states(loaded: &Loaded) -> Vec<String> {
    let line = |plugin: &hermes_plugin::registry::PluginSummary| {
        let state = serde_json::to_value(plugin.state).unwrap();
        let reason = plugin.reason.iter().chain(&plugin.warnings).cloned().collect::<Vec<_>>();
        let reason =
            if reason.is_empty() { String::new() } else { format!(": {}", reason.join(" | ")) };
        let grants = plugin.grants.join(" ");
        format!("{} {} [{grants}]{reason}", plugin.name, state.as_str().unwrap())
    };
    loaded.plugins.iter().map(line).collect()
}

/// What the first hook that wants a call of `tool` says; `None` if none does.
pub(super) fn ask(loaded: &Loaded, tool: &str) -> Option<Result<PreVerdict, HookFailure>> {
    let mut hooks: Vec<&Arc<dyn PreToolCall>> =
        loaded.pre.iter().filter(|hook| hook.matches(tool)).collect();
    hooks.sort_by_key(|hook| hook.priority());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = HookCall {
        call_id: "c1".into(),
        session_id: "s1".into(),
        turn: 1,
        tool: tool.into(),
        source: "native".into(),
        arguments: "{}".into(),
        cancel: Default::default(),
    };
    hooks.first().map(|hook| runtime.block_on(hook.check(&call)))
}

/// Compiled code is kept for all tests of this run.
fn sandbox() -> Arc<Sandbox> {
    static SHARED: LazyLock<(tempfile::TempDir, Arc<Sandbox>)> = LazyLock::new(|| {
        let cache = tempfile::tempdir().unwrap();
        let options = SandboxOptions {
            cache_dir: Some(cache.path().to_owned()),
            state: Arc::new(NoState),
            secrets: Arc::new(NoSecrets),
        };
        (cache, Sandbox::new(options).unwrap())
    });
    Arc::clone(&SHARED.1)
}

/// Nothing here keeps state.
struct NoState;

#[async_trait::async_trait]
impl PluginState for NoState {
    async fn get(&self, _: &str, _: &str) -> Result<Option<StateEntry>, StateError> {
        Ok(None)
    }

    async fn put(
        &self,
        _: &str,
        _: &str,
        _: &[u8],
        _: Option<u64>,
        _: Option<u32>,
        _: StateQuota,
    ) -> Result<Option<u64>, StateError> {
        Ok(None)
    }

    async fn delete(&self, _: &str, _: &str) -> Result<bool, StateError> {
        Ok(false)
    }

    async fn list_keys(
        &self,
        _: &str,
        _: &str,
        _: Option<&str>,
        _: u32,
    ) -> Result<Vec<String>, StateError> {
        Ok(Vec::new())
    }
}
