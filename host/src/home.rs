//! The home folder: where configuration, grants, sessions and caches live.

use std::path::{Path, PathBuf};

use crate::UsageError;

/// The variable that names another home.
pub(crate) const VARIABLE: &str = "HERMES_HOST_HOME";

/// The home folder and the names of everything in it.
#[derive(Debug, Clone)]
pub struct Home(PathBuf);

impl Home {
    /// A home at `path`, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// `$HERMES_HOST_HOME`, or `.hermes-host` in the user's home directory.
    ///
    /// # Errors
    /// Neither is known.
    pub fn from_env() -> Result<Self, UsageError> {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            return Ok(Self(std::path::absolute(&path).unwrap_or_else(|_| path.into())));
        }
        let user = std::env::home_dir().filter(|path| path.is_absolute());
        user.map(|path| Self(path.join(".hermes-host"))).ok_or_else(|| {
            UsageError::new(format!(
                "no home directory is known; set {VARIABLE} to a folder of your own"
            ))
        })
    }

    /// Makes the folder, readable by nobody else.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(&self) -> Result<(), UsageError> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.0).map_err(|error| {
            let path = self.0.display();
            UsageError::new(format!("cannot make the home folder {path}: {error}; set {VARIABLE} to a folder that can be written"))
        })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `config.toml`.
    pub fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// `state.db`.
    pub fn database(&self) -> PathBuf {
        self.0.join("state.db")
    }

    /// `secrets.toml`: credentials for plugins.
    pub fn secrets(&self) -> PathBuf {
        self.0.join("secrets.toml")
    }

    /// `cache/`: compiled plugins.
    pub fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// `checkpoints/`: what folders held before turns changed them.
    pub fn checkpoints(&self) -> PathBuf {
        self.0.join("checkpoints")
    }

    /// `memories/`: what the model remembers.
    pub fn memories(&self) -> PathBuf {
        self.0.join("memories")
    }

    /// `SOUL.md`: who the model is, if the user says so.
    pub fn soul(&self) -> PathBuf {
        self.0.join("SOUL.md")
    }

    /// `plugins/`: what is loaded where `--plugins` is not given.
    pub fn plugins(&self) -> PathBuf {
        self.0.join("plugins")
    }
}
