//! Which model answers: the main one, those that take over from it, and those for side tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::transport::{Sampling, Transport};
use crate::usage::Prices;

/// A configured place to call: one model of one provider.
#[derive(Clone)]
pub struct Route {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's name, as the provider knows it.
    pub model: String,
    /// Tokens the model can hold, where known.
    pub context_window: Option<u64>,
    /// What its tokens cost, where known.
    pub prices: Option<Prices>,
    /// How to sample.
    pub sampling: Sampling,
    /// Whether to stream.
    pub stream: bool,
    /// How it is spoken to; the credential is inside and stays there.
    pub transport: Arc<dyn Transport>,
}

/// Picks the route of each model call.
#[derive(Clone)]
pub struct ModelRouter {
    primary: Route,
    fallbacks: Vec<Route>,
    auxiliary: BTreeMap<String, Vec<Route>>,
}

impl ModelRouter {
    /// One route for everything.
    pub fn new(primary: Route) -> Self {
        Self { primary, fallbacks: Vec::new(), auxiliary: BTreeMap::new() }
    }

    /// Routes that take over from the primary, in order.
    #[must_use]
    pub fn with_fallbacks(mut self, fallbacks: Vec<Route>) -> Self {
        self.fallbacks = fallbacks;
        self
    }

    /// Routes for a side task (`compression`, `title`, …), in order.
    #[must_use]
    pub fn with_auxiliary(mut self, task: impl Into<String>, routes: Vec<Route>) -> Self {
        self.auxiliary.insert(task.into(), routes);
        self
    }

    /// The main model's routes: the primary, then its fallbacks.
    pub fn main(&self) -> impl Iterator<Item = &Route> {
        std::iter::once(&self.primary).chain(&self.fallbacks)
    }

    /// The primary.
    pub fn primary(&self) -> &Route {
        &self.primary
    }

    /// Whether a side task has routes of its own.
    pub fn has_auxiliary(&self, task: &str) -> bool {
        self.auxiliary.get(task).is_some_and(|routes| !routes.is_empty())
    }

    /// The routes of a side task: its own, then those of the main ones that are not among them.
    pub fn auxiliary(&self, task: &str) -> impl Iterator<Item = &Route> {
        let own = self.auxiliary.get(task).map(Vec::as_slice).unwrap_or_default();
        let same = |a: &Route, b: &Route| a.provider == b.provider && a.model == b.model;
        let others = self.main().filter(move |route| !own.iter().any(|known| same(known, route)));
        own.iter().chain(others)
    }
}
