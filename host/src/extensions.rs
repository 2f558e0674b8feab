//! Loading plugins: what the command line and the configuration say, put to the registry.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_plugin::grant::{HostPolicy, Places};
use hermes_plugin::registry::{LoadOptions, Loaded, Registry};
use hermes_plugin::{Sandbox, SandboxOptions};
use hermes_store::SqliteStore;

use crate::UsageError;
use crate::config::Config;
use crate::home::Home;
use crate::provider;
use crate::secrets::Sources;

/// What decides which plugins are loaded and what they may do.
pub(crate) struct Extensions<'a> {
    pub(crate) home: &'a Home,
    pub(crate) config: &'a Config,
    /// Folders named by the user; without them the home's own, if it is there.
    pub(crate) dirs: Option<Vec<PathBuf>>,
    pub(crate) grants: &'a [String],
    pub(crate) dev: bool,
    /// Names of tools that are not plugins'.
    pub(crate) reserved: Vec<String>,
}

impl Extensions<'_> {
    /// Loads everything. Without any plugin folder the engine is not even started.
    ///
    /// # Errors
    /// Something the user said cannot be done.
    pub(crate) fn load(self, store: Arc<SqliteStore>) -> Result<Loaded, UsageError> {
        if self.folders().is_empty() && self.grants.is_empty() {
            return Ok(Loaded::default());
        }
        Registry::load(self.options(store)?).map_err(|error| UsageError::new(error.to_string()))
    }

    /// Looks into the folders without loading.
    ///
    /// # Errors
    /// As [`Extensions::load`].
    pub(crate) fn open(self, store: Arc<SqliteStore>) -> Result<Registry, UsageError> {
        Registry::open(self.options(store)?).map_err(|error| UsageError::new(error.to_string()))
    }

    fn folders(&self) -> Vec<PathBuf> {
        match &self.dirs {
            Some(dirs) => dirs.clone(),
            None => Some(self.home.plugins()).filter(|dir| dir.is_dir()).into_iter().collect(),
        }
    }

    fn options(&self, store: Arc<SqliteStore>) -> Result<LoadOptions, UsageError> {
        let cwd = std::env::current_dir().map_err(|error| {
            UsageError::new(format!("the working directory cannot be used: {error}"))
        })?;
        let sandbox = Sandbox::new(SandboxOptions {
            cache_dir: Some(self.home.cache()),
            state: store,
            secrets: Arc::new(Sources::new(self.home)),
        });
        Ok(LoadOptions {
            dirs: self.folders(),
            places: Places {
                cwd,
                home: self.home.path().to_owned(),
                user_home: std::env::home_dir(),
            },
            grants: self.grants.to_vec(),
            settings: self.config.plugins.clone(),
            dev: self.dev,
            reserved_tools: self.reserved.clone(),
            policy: HostPolicy { reserved_env: provider::key_variables(self.config) },
            sandbox: sandbox.map_err(|error| UsageError::new(error.to_string()))?,
        })
    }
}
