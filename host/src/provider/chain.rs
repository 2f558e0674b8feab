//! Who is asked: the primary, those that take over from it, and those for side tasks.

use hermes_core::router::{ModelRouter, Route};

use super::choice::ModelChoice;
use super::found;
use super::key::{Lookup, Role};
use super::route::{self, NoRoute};
use super::spec::Spec;
use crate::UsageError;
use crate::config::{Config, TaskConfig};

/// Who is asked, and what the user should know about it.
pub(crate) struct Models {
    pub(crate) router: ModelRouter,
    /// One line each, for standard error.
    pub(crate) notices: Vec<String>,
}

/// Decides all routes from what was said, the configuration and the environment.
///
/// # Errors
/// Nothing says which model to ask, what is said cannot be used, or nobody has a key.
pub(crate) fn models(
    choice: &ModelChoice,
    config: &Config,
    lookup: Lookup<'_>,
) -> Result<Models, UsageError> {
    let mut chain = Chain { choice, config, lookup, notices: Vec::new() };
    let primary = chain.primary();
    let mut fallbacks = chain.others(&config.fallback_providers, None, "fallback")?;
    let primary = match primary {
        Ok(route) => route,
        Err(NoRoute::Key(error)) if !fallbacks.is_empty() => {
            let first = fallbacks.remove(0);
            chain.notices.push(format!("{error}; beginning with {}", named(&first)));
            first
        }
        Err(error) => return Err(error.into()),
    };
    fallbacks.retain(|fallback| named(fallback) != named(&primary));
    let mut router = ModelRouter::new(primary).with_fallbacks(fallbacks);
    for (task, said) in config.auxiliary.tasks() {
        let routes = chain.task(task, said, router.primary())?;
        router = router.with_auxiliary(task, routes);
    }
    Ok(Models { router, notices: chain.notices })
}

/// Tokens the primary can hold, where that is known. Nothing is opened or run.
pub(crate) fn context_window(
    choice: &ModelChoice,
    config: &Config,
    lookup: Lookup<'_>,
) -> Option<u64> {
    let mut chain = Chain { choice, config, lookup, notices: Vec::new() };
    chain.spec().ok()?.context_window
}

fn named(route: &Route) -> String {
    format!("{}/{}", route.provider, route.model)
}

struct Chain<'a> {
    choice: &'a ModelChoice,
    config: &'a Config,
    lookup: Lookup<'a>,
    notices: Vec<String>,
}

impl Chain<'_> {
    fn primary(&mut self) -> Result<Route, NoRoute> {
        let stream = !self.choice.no_stream;
        route::open(self.spec()?, stream, self.lookup)
    }

    /// The primary as it is meant, or else as it was found.
    fn spec(&mut self) -> Result<Spec, NoRoute> {
        let found = match (self.meant(), &self.choice.base_url) {
            (Some(name), _) => Some(name.to_owned()),
            (None, Some(_)) => None,
            (None, None) => Some(self.found()?),
        };
        let spec = Spec::new(found.as_deref(), self.choice, self.config, Role::Primary);
        spec.map_err(NoRoute::Mistake)
    }

    /// The provider the user names as the primary. An address on the command line replaces the
    /// configured one, unless a provider is named beside it.
    fn meant(&self) -> Option<&str> {
        let Self { choice, config, .. } = self;
        if choice.provider.is_some() || choice.base_url.is_some() {
            return choice.provider.as_deref();
        }
        config.provider.as_deref().or_else(|| {
            // The only one that is configured and has no other work.
            let mut free = config.providers.keys().filter(|name| !config.employs(name));
            free.next().filter(|_| free.next().is_none()).map(String::as_str)
        })
    }

    /// The provider that is taken where nobody names one.
    fn found(&mut self) -> Result<String, NoRoute> {
        let Some((row, variable)) = found::in_environment(self.lookup) else {
            return Err(NoRoute::Key(UsageError::new(NOTHING_CONFIGURED)));
        };
        let model = self.choice.model.as_ref().or(row.model.as_ref());
        let model = model.map(|model| format!("/{model}")).unwrap_or_default();
        self.notices.push(format!("asking {}{model} with the key in {variable}", row.name));
        Ok(row.name.clone())
    }

    /// The routes of providers that are not the primary; one without a key is passed over.
    fn others(
        &mut self,
        names: &[String],
        model: Option<&String>,
        what: &str,
    ) -> Result<Vec<Route>, UsageError> {
        let mut routes = Vec::new();
        for (at, name) in names.iter().enumerate() {
            // The model of another provider than the first is that provider's own.
            let model = model.filter(|_| at == 0).cloned();
            let said = ModelChoice { model, ..ModelChoice::default() };
            let spec = Spec::new(Some(name), &said, self.config, Role::Other)?;
            match route::open(spec, !self.choice.no_stream, self.lookup) {
                Ok(route) => routes.push(route),
                Err(NoRoute::Key(error)) => {
                    self.notices.push(format!("{what} {name:?} is passed over: {error}"));
                }
                Err(NoRoute::Mistake(error)) => return Err(error),
            }
        }
        Ok(routes)
    }

    /// The routes of a side task. A model without a provider is the primary's.
    fn task(
        &mut self,
        task: &str,
        said: &TaskConfig,
        primary: &Route,
    ) -> Result<Vec<Route>, UsageError> {
        match (&said.provider, &said.model) {
            (Some(names), model) => {
                let what = format!("auxiliary.{task}'s provider");
                self.others(names.all(), model.as_ref(), &what)
            }
            (None, Some(model)) => {
                let model = model.clone();
                Ok(vec![Route { model, prices: None, ..primary.clone() }])
            }
            (None, None) => Ok(Vec::new()),
        }
    }
}

const NOTHING_CONFIGURED: &str = "no model is configured. Set the key of a provider, for example
  export OPENAI_API_KEY=…
(hermes-host providers lists all), or say where a model is:
  hermes-host --base-url http://localhost:11434/v1 --model llama3.2 -q \"hello\"
or put it into config.toml in the home folder:
  [providers.work]
  base_url = \"https://llm.example/v1\"
  model = \"some-model\"
  key_env = \"WORK_LLM_KEY\"
Without any model: hermes-host demo";
