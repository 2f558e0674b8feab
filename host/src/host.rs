//! Putting it together: configuration, store, plugins and model become agents.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::agent::{Agent, Limits};
use hermes_core::approver::{Approver, Unattended};
use hermes_core::event::Event;
use hermes_core::notice::PromptNotice;
use hermes_core::prompt::context_budget;
use hermes_core::router::{ModelRouter, Route};
use hermes_core::tool::Tool;
use hermes_core::transport::{Sampling, Transport};
use hermes_native::ReadResult;
use hermes_plugin::registry::{Loaded, PluginSummary};
use hermes_store::SqliteStore;

use crate::breaker::Breaker;
use crate::checkpoint::FolderCheckpoints;
use crate::config::Config;
use crate::extensions::Extensions;
use crate::home::Home;
use crate::prompt::{PromptSource, ReadPrompt};
use crate::provider::{self, ModelChoice, Models};
use crate::{UsageError, tokenizer};

/// Describes a host.
pub struct HostBuilder {
    home: Home,
    model: ModelChoice,
    plugins: Option<Vec<PathBuf>>,
    grants: Vec<String>,
    dev: bool,
    max_turns: Option<u32>,
    system: Option<String>,
    folder: Option<PathBuf>,
    source: String,
    tools: Vec<Arc<dyn Tool>>,
    route: Option<Route>,
}

impl HostBuilder {
    /// A host that keeps everything in `home`.
    pub fn new(home: Home) -> Self {
        Self {
            home,
            model: ModelChoice::default(),
            plugins: None,
            grants: Vec::new(),
            dev: false,
            max_turns: None,
            system: None,
            folder: None,
            source: "library".into(),
            tools: Vec::new(),
            route: None,
        }
    }

    /// Which model to ask; what is left out comes from the configuration.
    #[must_use]
    pub fn model(mut self, model: ModelChoice) -> Self {
        self.model = model;
        self
    }

    /// A route of the program's own, with its own transport, instead of a configured one.
    #[must_use]
    pub fn route(mut self, route: Route) -> Self {
        self.route = Some(route);
        self
    }

    /// A transport of the program's own, instead of a configured provider: `provider` and `model`
    /// are the names under which it appears in results.
    #[must_use]
    pub fn transport(
        self,
        provider: impl Into<String>,
        model: impl Into<String>,
        transport: Arc<dyn Transport>,
    ) -> Self {
        self.route(Route {
            provider: provider.into(),
            model: model.into(),
            context_window: None,
            prices: None,
            sampling: Sampling::default(),
            stream: true,
            transport,
        })
    }

    /// Folders to load plugins from, instead of `plugins/` in the home folder.
    #[must_use]
    pub fn plugins(mut self, dirs: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.plugins = Some(dirs.into_iter().map(Into::into).collect());
        self
    }

    /// Grants for this process, such as `files:fs:.:rw`.
    #[must_use]
    pub fn grants(mut self, grants: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.grants.extend(grants.into_iter().map(Into::into));
        self
    }

    /// Trusts the plugin folders by path, whatever their bytes are.
    #[must_use]
    pub fn dev(mut self, dev: bool) -> Self {
        self.dev = dev;
        self
    }

    /// Most model calls of a turn.
    #[must_use]
    pub fn max_turns(mut self, max: u32) -> Self {
        self.max_turns = Some(max);
        self
    }

    /// The whole system prompt of new sessions, instead of the one made of identity, memory, context
    /// files and environment.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// The folder the agent works in: the prompt names it and holds its context files (`AGENTS.md`
    /// and the like). Without it, no file outside of the home folder is read for the prompt.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The front end new sessions come from.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Adds a tool of the program's own.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Reads the configuration, opens the store and loads the plugins.
    ///
    /// # Errors
    /// Something the user said or configured cannot be used.
    pub fn open(self) -> Result<Host, UsageError> {
        let config = Config::load(&self.home.config())?;
        let Models { router, notices } = match &self.route {
            Some(route) => Models { router: ModelRouter::new(route.clone()), notices: Vec::new() },
            None => provider::models(&self.model, &config, &variable)?,
        };
        let max_turns = self.max_turns.or(config.agent.max_turns);
        if max_turns == Some(0) {
            return Err(UsageError::new(
                "max_turns is 0, so no turn could do anything; give it at least 1",
            ));
        }
        self.home.create()?;
        let store = open_store(&self.home)?;
        let (tools, loaded) = self.load(&config, &store)?;
        let prompt = self.prompt_source(&config, &loaded, router.primary().context_window);
        let defaults = Limits::default();
        let limits = Limits {
            max_turns: max_turns.unwrap_or(defaults.max_turns),
            result_bytes: config.agent.result_bytes.unwrap_or(defaults.result_bytes),
            result_reader: Some(ReadResult::NAME.into()),
            budget: config.budget.limits()?,
            compression: config.compression.settings()?,
            ..defaults
        };
        let health = Arc::new(Breaker::new(self.home.cache()));
        let checkpoints = FolderCheckpoints::new(&self.home, &config.checkpoints)?.map(Arc::new);
        Ok(Host {
            store,
            router,
            health,
            checkpoints,
            notices,
            prompt_notices: config.agent.notices.iter().map(|kind| kind.port()).collect(),
            tools,
            loaded,
            limits,
            prompt,
            source: self.source,
        })
    }

    /// The system prompt a session that begins now would get. No model need be configured.
    ///
    /// # Errors
    /// Something the user said or configured cannot be used.
    pub fn prompt(self) -> Result<ReadPrompt, UsageError> {
        let config = Config::load(&self.home.config())?;
        let window = match &self.route {
            Some(route) => route.context_window,
            None => provider::context_window(&self.model, &config, &variable),
        };
        let (_, loaded) = self.load(&config, &open_store(&self.home)?)?;
        Ok(self.prompt_source(&config, &loaded, window).read())
    }

    /// The tools that are not plugins', and the plugins.
    fn load(
        &self,
        config: &Config,
        store: &Arc<SqliteStore>,
    ) -> Result<(Vec<Arc<dyn Tool>>, Loaded), UsageError> {
        let mut tools = hermes_native::tools(store, self.home.memories());
        tools.extend(self.tools.iter().cloned());
        let reserved = tools.iter().map(|tool| tool.spec().name.clone()).collect();
        let extensions = Extensions {
            home: &self.home,
            config,
            dirs: self.plugins.clone(),
            grants: &self.grants,
            dev: self.dev,
            reserved,
        };
        Ok((tools, extensions.load(store.clone())?))
    }

    fn prompt_source(&self, config: &Config, loaded: &Loaded, window: Option<u64>) -> PromptSource {
        let plugins = loaded.plugins.iter().filter(|plugin| plugin.is_loaded());
        PromptSource {
            whole: self.system.clone(),
            identity: config.agent.system.clone(),
            home: self.home.clone(),
            folder: self.folder.clone(),
            context_files: config.agent.context_files.unwrap_or(true),
            context_chars: context_budget(window),
            plugins: plugins
                .map(|plugin| (plugin.name.clone(), plugin.description.clone()))
                .collect(),
        }
    }
}

/// Everything agents share: the store, the model and the loaded plugins.
pub struct Host {
    store: Arc<SqliteStore>,
    router: ModelRouter,
    health: Arc<Breaker>,
    checkpoints: Option<Arc<FolderCheckpoints>>,
    notices: Vec<String>,
    prompt_notices: Vec<Arc<dyn PromptNotice>>,
    tools: Vec<Arc<dyn Tool>>,
    loaded: Loaded,
    limits: Limits,
    prompt: PromptSource,
    source: String,
}

impl Host {
    /// An agent for a new session, or for a stored one.
    ///
    /// # Errors
    /// Two tools have one name.
    pub fn agent(
        &self,
        session: Option<String>,
        approver: Arc<dyn Approver>,
        events: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Agent, UsageError> {
        let prompt = self.prompt.read();
        if session.is_none() {
            for note in prompt.notes() {
                tracing::warn!("system prompt: {note}");
            }
        }
        let mut builder = Agent::builder(self.router.clone(), Arc::clone(&self.store))
            .tools(self.tools.iter().cloned())
            .tools(self.loaded.tools.iter().cloned())
            .limits(self.limits.clone())
            .token_counter(tokenizer::for_model(&self.router.primary().model))
            .system(prompt.prompt.text())
            .source(self.source.clone())
            .approver(approver)
            .health(self.health.clone())
            .events(events);
        if let Some(checkpoints) = &self.checkpoints {
            builder = builder.checkpoints(checkpoints.clone());
        }
        for notice in &self.prompt_notices {
            builder = builder.notice(Arc::clone(notice));
        }
        for hook in &self.loaded.pre {
            builder = builder.pre_tool_call(Arc::clone(hook));
        }
        for hook in &self.loaded.post {
            builder = builder.post_tool_call(Arc::clone(hook));
        }
        for observer in &self.loaded.observers {
            builder = builder.observer(Arc::clone(observer));
        }
        if let Some(session) = session {
            builder = builder.resume(session);
        }
        builder.build().map_err(|error| UsageError::new(error.to_string()))
    }

    /// An agent nobody watches: it asks nobody and tells nobody.
    ///
    /// # Errors
    /// As [`Host::agent`].
    pub fn agent_for(&self, session: Option<String>) -> Result<Agent, UsageError> {
        self.agent(session, Arc::new(Unattended), |_| {})
    }

    /// What became of every plugin.
    pub fn plugins(&self) -> &[PluginSummary] {
        &self.loaded.plugins
    }

    /// Everything the plugins brought.
    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The model, as `provider/model`.
    pub fn model(&self) -> String {
        let primary = self.router.primary();
        format!("{}/{}", primary.provider, primary.model)
    }

    /// What the user should know about the choice of models: which was found where nobody named
    /// one, and which providers are passed over.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The store.
    pub fn store(&self) -> &Arc<SqliteStore> {
        &self.store
    }

    /// The session whose id is `given` or starts with it.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub async fn find_session(&self, given: &str) -> Result<String, UsageError> {
        find_session(&self.store, given).await
    }

    /// The session used last.
    ///
    /// # Errors
    /// There is none.
    pub async fn latest_session(&self) -> Result<String, UsageError> {
        let latest = self.store.latest_session_id().await;
        let latest = latest.map_err(|error| UsageError::new(error.to_string()))?;
        latest.ok_or_else(|| {
            UsageError::new("there is no session to continue; leave --continue out to begin one")
        })
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Opens the store of a home that may be new.
pub(crate) fn open_store(home: &Home) -> Result<Arc<SqliteStore>, UsageError> {
    home.create()?;
    let store = SqliteStore::open(home.database());
    store.map(Arc::new).map_err(|error| UsageError::new(error.to_string()))
}

/// The session whose id is `given` or starts with it.
pub(crate) async fn find_session(store: &SqliteStore, given: &str) -> Result<String, UsageError> {
    store.find_session(given).await.map_err(|error| {
        UsageError::new(format!("{error}; hermes-host sessions list shows what is stored"))
    })
}
