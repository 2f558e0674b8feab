//! The binary under test: a fresh home and working folder each, one command, and what came of it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A home, a working folder, and the arguments all commands of a test share.
pub(crate) struct Host {
    home: tempfile::TempDir,
    pub(crate) work: tempfile::TempDir,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            work: tempfile::tempdir().unwrap(),
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    /// A host that asks the model at `base_url`.
    pub(crate) fn asking(base_url: &str) -> Self {
        Self::new().args(["--base-url", base_url, "--model", "fake"])
    }

    pub(crate) fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// With the guests that misbehave on purpose; `settings` goes into config.toml.
    pub(crate) fn with_guests(self, settings: &str) -> Self {
        std::fs::write(self.home.path().join("config.toml"), settings).unwrap();
        let guests = guests().display().to_string();
        self.args(["--plugins", &guests])
    }

    /// With this in its config.toml.
    pub(crate) fn configure(&self, config: &Value) {
        let text = toml::to_string(config).unwrap();
        std::fs::write(self.home.path().join("config.toml"), text).unwrap();
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.work.path().join(name), content).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes-host"));
        command
            .args(&self.args)
            .args(args)
            .current_dir(self.work.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HERMES_HOST_HOME", self.home.path())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        finish(self.spawn(args))
    }

    /// Runs with this on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        finish(child)
    }

    /// Asks and returns the whole result.
    pub(crate) fn ask(&self, prompt: &str) -> Value {
        let output = self.run(&["--output", "json", "-q", prompt]);
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// Asks and returns all events.
    pub(crate) fn events(&self, prompt: &str) -> Vec<Value> {
        let output = self.run(&["--output", "stream-json", "-q", prompt]);
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn finish(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn build(workspace: &str) {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip2"])
        .current_dir(root().join(workspace))
        .env_remove("RUSTFLAGS")
        // A workspace of its own builds into its own folder, wherever the suite was built.
        .env_remove("CARGO_TARGET_DIR")
        .status()
        .unwrap();
    assert!(status.success(), "{workspace} does not build");
}

/// A folder of the guests that misbehave, each as a plugin.
pub(crate) fn guests() -> &'static Path {
    static BUILT: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        build("tests/guests");
        let folder = tempfile::tempdir().unwrap();
        for name in ["hostile", "gate"] {
            let source = root().join("tests/guests").join(name);
            let plugin = folder.path().join(name);
            std::fs::create_dir(&plugin).unwrap();
            std::fs::copy(source.join("plugin.toml"), plugin.join("plugin.toml")).unwrap();
            let component = root()
                .join("tests/guests/target/wasm32-wasip2/release")
                .join(format!("guest_{name}.wasm"));
            std::fs::copy(component, plugin.join(format!("{name}.wasm"))).unwrap();
        }
        folder
    });
    BUILT.path()
}

/// The shipped plugins, built with the command their users use.
pub(crate) fn shipped() -> PathBuf {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let plugins = root().join("plugins");
        let output = Host::new().run(&["plugins", "build", plugins.to_str().unwrap()]);
        assert_eq!(output.code, Some(0), "{output:?}");
        plugins
    });
    BUILT.clone()
}
