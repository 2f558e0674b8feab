//! Who is asked: the primary, those that take over from it, and those for side tasks.

use hermes_core::router::{ModelRouter, Route};

use super::choice::ModelChoice;
use super::key::{Lookup, Role};
use super::ollama;
use super::route::{self, NoRoute};
use super::spec::Spec;
use super::{found, known, prices};
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
    // Whoever answers samples as the user says.
    let said = ModelChoice { temperature: choice.temperature, ..ModelChoice::default() };
    let mut fallbacks = chain.others(&config.fallback_providers, &said, "fallback")?;
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
    let chain = Chain { choice, config, lookup, notices: Vec::new() };
    chain.said()?.ok()?.context_window
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

    /// The primary as it was said, or else as it is found.
    fn spec(&mut self) -> Result<Spec, NoRoute> {
        let Some(said) = self.said() else { return self.found() };
        let mut spec = said.map_err(NoRoute::Mistake)?;
        if spec.model.is_none() && spec.name == ollama::NAME {
            let offered = ollama::offer(Some(&spec.base_url), self.lookup);
            spec.model = offered.map(|offer| self.accept(offer)).transpose()?;
        }
        Ok(spec)
    }

    /// The primary as the command line or the configuration says, if they do.
    fn said(&self) -> Option<Result<Spec, UsageError>> {
        let name = self.meant();
        if name.is_none() && self.choice.base_url.is_none() {
            return None;
        }
        Some(Spec::new(name, self.choice, self.config, Role::Primary))
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

    /// The primary where nobody names one: whoever's key is in the environment, else an Ollama on
    /// this machine. Configured fallbacks are asked rather than one that happens to run here.
    fn found(&mut self) -> Result<Spec, NoRoute> {
        let nothing = || NoRoute::Key(UsageError::new(NOTHING_CONFIGURED));
        if let Some((row, variable)) = found::in_environment(self.lookup) {
            let spec = Spec::new(Some(&row.name), self.choice, self.config, Role::Primary);
            let spec = spec.map_err(NoRoute::Mistake)?;
            let model = spec.model.as_deref().unwrap_or_default();
            self.notices.push(format!("asking {}/{model} with the key in {variable}", spec.name));
            return Ok(spec);
        }
        if !self.config.fallback_providers.is_empty() {
            return Err(nothing());
        }
        let offer = ollama::offer(None, self.lookup).ok_or_else(nothing)?;
        let base_url = Some(offer.base_url.clone());
        let model = self.accept(offer)?;
        let said = ModelChoice { base_url, model: Some(model), ..self.choice.clone() };
        Spec::new(Some(ollama::NAME), &said, self.config, Role::Primary).map_err(NoRoute::Mistake)
    }

    /// The model named, or else the one an Ollama offers, said to the user.
    fn accept(&mut self, offer: ollama::Offer) -> Result<String, NoRoute> {
        let url = offer.base_url;
        let model = self.choice.model.clone().or(offer.model).ok_or_else(|| {
            NoRoute::Mistake(UsageError::new(format!(
                "the Ollama at {url} has no model that can call tools; get one, for example with \
                 ollama pull qwen3, or name another with --model"
            )))
        })?;
        self.notices.push(format!("asking {}/{model} at {url}", ollama::NAME));
        Ok(model)
    }

    /// The routes of providers that are not the primary; one without a key is passed over.
    fn others(
        &mut self,
        names: &[String],
        said: &ModelChoice,
        what: &str,
    ) -> Result<Vec<Route>, UsageError> {
        let mut routes = Vec::new();
        for (at, name) in names.iter().enumerate() {
            // The model of another provider than the first is that provider's own.
            let model = said.model.clone().filter(|_| at == 0);
            let said = ModelChoice { model, ..said.clone() };
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
                let said = ModelChoice { model: model.clone(), ..ModelChoice::default() };
                self.others(names.all(), &said, &what)
            }
            (None, Some(model)) => {
                let model = model.clone();
                let row = known::named(&primary.provider);
                let prices = row.and_then(|row| prices::of(&row.name, &model));
                Ok(vec![Route { model, prices, ..primary.clone() }])
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
