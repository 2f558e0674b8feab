//! The port that remembers which models are better left alone for a while, and until when.
//!
//! It only saves time: the loop asks a model that is said to be blocked if there is no other, and a
//! memory that is wrong, lost or shared with other processes can never keep a turn from going on.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a model is left alone where its provider did not say.
pub const COOL_DOWN: Duration = Duration::from_secs(60);

/// Longest time a model is left alone, whatever was said.
pub const MAX_COOL_DOWN: Duration = Duration::from_secs(3600);

/// Remembers models that failed. Contract: answers at once and never fails.
pub trait Health: Send + Sync {
    /// Whether `model`, as `provider/model`, is to be left alone now.
    fn is_blocked(&self, model: &str) -> bool;

    /// `model` failed in a way that lasts; it is left alone for `pause`, and not longer than
    /// [`MAX_COOL_DOWN`].
    fn failed(&self, model: &str, pause: Duration);

    /// `model` answered.
    fn answered(&self, model: &str);
}

/// Remembers for as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryHealth(Mutex<HashMap<String, Instant>>);

impl MemoryHealth {
    fn blocked(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Health for MemoryHealth {
    fn is_blocked(&self, model: &str) -> bool {
        self.blocked().get(model).is_some_and(|until| Instant::now() < *until)
    }

    fn failed(&self, model: &str, pause: Duration) {
        let until = Instant::now() + pause.min(MAX_COOL_DOWN);
        self.blocked().insert(model.to_owned(), until);
    }

    fn answered(&self, model: &str) {
        self.blocked().remove(model);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_model_is_left_alone_for_a_while_or_until_it_answers() {
        let health = MemoryHealth::default();
        health.failed("a/m", Duration::from_secs(5));
        health.failed("b/m", Duration::from_secs(1_000_000));
        assert!(health.is_blocked("a/m") && health.is_blocked("b/m") && !health.is_blocked("c/m"));
        tokio::time::advance(Duration::from_secs(6)).await;
        assert!(!health.is_blocked("a/m"));
        tokio::time::advance(MAX_COOL_DOWN).await;
        assert!(!health.is_blocked("b/m"));
        health.failed("a/m", COOL_DOWN);
        health.answered("a/m");
        assert!(!health.is_blocked("a/m"));
    }
}
