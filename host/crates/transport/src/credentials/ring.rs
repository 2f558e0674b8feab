//! The keys of one transport at run time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_core::transport::{ErrorKind, TransportError};
use tokio::time::Instant;

use super::{Credentials, KeySource};
use crate::secret::{Mask, Secret};

/// How long a key is left alone that was refused as such. A key that was just made may take a
/// minute or two to be known everywhere.
const REFUSED: Duration = Duration::from_secs(5 * 60);

/// How long a key is left alone whose account cannot pay.
const UNPAID: Duration = Duration::from_secs(60 * 60);

/// The least time a refused key is left alone, whatever its provider asks for. Within a turn no
/// key is tried twice in vain, so that asking for another one comes to an end.
const LEAST: Duration = Duration::from_secs(60);

/// The longest time, so that a broken answer cannot put a key away for good.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// All keys of one transport.
pub(crate) struct Ring {
    source: Option<Arc<dyn KeySource>>,
    state: Mutex<State>,
    /// Held while a fresh key is fetched: calls that were refused together fetch one together.
    fetching: tokio::sync::Mutex<()>,
}

/// A key to send.
#[derive(Clone)]
pub(crate) struct Chosen {
    /// Its number; every key of a ring has its own.
    pub(crate) number: u64,
    /// The key.
    pub(crate) secret: Secret,
}

struct State {
    keys: Vec<Key>,
    current: usize,
    next_number: u64,
    /// When the source may be asked again, after a key of it that never worked.
    source_rests_until: Option<Instant>,
    mask: Arc<Mask>,
}

struct Key {
    chosen: Chosen,
    fetched: bool,
    rests_until: Option<Instant>,
}

impl Key {
    fn rests(&self, now: Instant) -> bool {
        self.rests_until.is_some_and(|until| until > now)
    }
}

impl Ring {
    /// A ring of `credentials`. `mask` hides whatever else is secret.
    pub(crate) fn new(credentials: &Credentials, mask: Mask) -> Self {
        let mut state = State {
            keys: Vec::new(),
            current: 0,
            next_number: 0,
            source_rests_until: None,
            mask: Arc::new(mask),
        };
        for key in &credentials.keys {
            state.add(key.clone(), false);
        }
        Self {
            source: credentials.source.clone(),
            state: Mutex::new(state),
            fetching: tokio::sync::Mutex::new(()),
        }
    }

    /// What hides every key there ever was.
    pub(crate) fn mask(&self) -> Arc<Mask> {
        Arc::clone(&self.state().mask)
    }

    /// The key to send now; none if the provider wants none.
    ///
    /// # Errors
    ///
    /// The only key is one the source cannot give.
    pub(crate) async fn choose(&self) -> Result<Option<Chosen>, TransportError> {
        if let Some(chosen) = self.state().best() {
            return Ok(Some(chosen));
        }
        let Some(source) = &self.source else { return Ok(None) };
        let _one_at_a_time = self.fetching.lock().await;
        if let Some(chosen) = self.state().best() {
            return Ok(Some(chosen));
        }
        match source.fresh().await {
            Ok(key) => {
                let mut state = self.state();
                state.add(key, true);
                Ok(state.best())
            }
            Err(reason) => {
                let message = format!("there is no key: {reason}");
                Err(TransportError::new(ErrorKind::Auth, self.mask().text(&message)))
            }
        }
    }

    /// The key with this number works.
    pub(crate) fn worked(&self, number: u64) {
        let mut state = self.state();
        state.source_rests_until = None;
        if let Some(key) = state.keys.iter_mut().find(|key| key.chosen.number == number) {
            key.rests_until = None;
        }
    }

    /// Changes the key after `refused`; see the port. Whether another one is in use now.
    pub(crate) async fn renew(&self, refused: &TransportError) -> bool {
        let rest = match refused.kind {
            ErrorKind::Auth => REFUSED,
            ErrorKind::Billing => UNPAID,
            ErrorKind::RateLimited => refused.retry_after.unwrap_or(LEAST),
            _ => return false,
        };
        let Some(number) = refused.credential else { return false };
        let _one_at_a_time = self.fetching.lock().await;
        let now = Instant::now();
        let rest = rest.clamp(LEAST, LONGEST);
        let first = self.state().put_away(number, now + rest);
        if !first && self.state().has_awake(now) {
            return true; // another call has changed it in the meantime
        }
        if refused.kind == ErrorKind::Auth && self.fetch(number, now).await {
            return true;
        }
        self.state().turn(now)
    }

    /// Fetches a fresh key in place of the one with this number. Whether there is a new one.
    async fn fetch(&self, number: u64, now: Instant) -> bool {
        let Some(source) = &self.source else { return false };
        if self.state().source_rests_until.is_some_and(|until| until > now) {
            return false;
        }
        let fresh = source.fresh().await;
        let mut state = self.state();
        state.source_rests_until = Some(Instant::now() + LEAST);
        // A failing source is no reason not to try the other keys; what was refused is told.
        let Ok(key) = fresh else { return false };
        if key.expose().is_empty() || state.keys.iter().any(|known| known.chosen.secret == key) {
            return false;
        }
        state.keys.retain(|known| !(known.fetched && known.chosen.number == number));
        state.add(key, true);
        state.current = state.keys.len() - 1;
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, secret: Secret, fetched: bool) {
        let mut mask = Mask::clone(&self.mask);
        mask.add(secret.expose());
        self.mask = Arc::new(mask);
        let chosen = Chosen { number: self.next_number, secret };
        self.next_number += 1;
        self.keys.push(Key { chosen, fetched, rests_until: None });
    }

    /// The key in use, or another one while it rests, or the one that rests the shortest.
    fn best(&mut self) -> Option<Chosen> {
        let now = Instant::now();
        let current = self.keys.get(self.current)?;
        if current.rests(now) && !self.turn(now) {
            let soonest = self.keys.iter().enumerate().min_by_key(|(_, key)| key.rests_until);
            self.current = soonest.map_or(self.current, |(at, _)| at);
        }
        self.keys.get(self.current).map(|key| key.chosen.clone())
    }

    /// Lets the key with this number rest. False if it rests already or is gone.
    fn put_away(&mut self, number: u64, until: Instant) -> bool {
        let now = Instant::now();
        let Some(key) = self.keys.iter_mut().find(|key| key.chosen.number == number) else {
            return false;
        };
        let rested = key.rests(now);
        key.rests_until = Some(until.max(key.rests_until.unwrap_or(until)));
        !rested
    }

    fn has_awake(&self, now: Instant) -> bool {
        self.keys.iter().any(|key| !key.rests(now))
    }

    /// Goes on to the next key that does not rest. False if all do.
    fn turn(&mut self, now: Instant) -> bool {
        let count = self.keys.len();
        let next = (1..=count).map(|step| (self.current + step) % count);
        let awake = next.into_iter().find(|&at| !self.keys[at].rests(now));
        if let Some(at) = awake {
            self.current = at;
        }
        awake.is_some()
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("keys", &self.state().keys.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
