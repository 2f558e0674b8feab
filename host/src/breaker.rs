//! Which models are better left alone for a while, shared between the processes of one home through
//! a small file. It only saves time, so nothing about the file can stop anybody: one that is
//! missing, broken, too large or cannot be written counts as empty, and what cannot be shared is
//! remembered by this process alone.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_core::health::{Health, MAX_COOL_DOWN};
use hermes_core::id::now_ms;

use crate::provider::spec::CUSTOM;

/// Most bytes of the file; a larger one is not ours.
const FILE_BYTES: u64 = 64 * 1024;

/// Most models remembered: far more than anybody configures, little enough for [`FILE_BYTES`].
const MODELS: usize = 128;

/// Longest name of a model that is shared, in bytes.
const NAME_BYTES: usize = 256;

/// How long what was read is good for: all the questions at the beginning of a turn are answered
/// from one reading.
const FRESH: Duration = Duration::from_millis(500);

/// Longest wait for another process that holds the lock; it holds it for less than a millisecond.
const PATIENCE: Duration = Duration::from_millis(500);

/// Models, as `provider/model`, with the time until which they are left alone, in milliseconds
/// since 1970.
type Blocked = BTreeMap<String, u64>;

/// The memory of one process, over the file all share.
#[derive(Debug)]
pub(crate) struct Breaker {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// As the file said when it was last read.
    shared: Blocked,
    read: Option<Instant>,
    /// What could not be put into the file, or does not belong there.
    own: Blocked,
}

impl Breaker {
    /// A breaker whose file is in `folder`, which need not exist.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state with a recent reading of the file in it.
    fn recent(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if state.read.is_none_or(|read| read.elapsed() >= FRESH) {
            state.shared = read(&self.file(), now_ms());
            state.read = Some(Instant::now());
        }
        state
    }

    fn file(&self) -> PathBuf {
        self.folder.join("breaker.json")
    }

    /// Changes the file while no other process does.
    fn change(&self, change: impl FnOnce(&mut Blocked)) -> io::Result<Blocked> {
        fs::create_dir_all(&self.folder)?;
        let _lock = lock(&self.folder.join("breaker.lock"))?;
        let mut blocked = read(&self.file(), now_ms());
        change(&mut blocked);
        while blocked.len() > MODELS {
            let soonest = blocked.iter().min_by_key(|(_, until)| **until);
            let Some(soonest) = soonest.map(|(model, _)| model.clone()) else { break };
            blocked.remove(&soonest);
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(&blocked)?)?;
        file.persist(self.file()).map_err(|error| error.error)?;
        Ok(blocked)
    }

    /// Changes the file and remembers what it then holds; `false` if that could not be done.
    fn share(&self, change: impl FnOnce(&mut Blocked)) -> bool {
        match self.change(change) {
            Ok(shared) => {
                let mut state = self.state();
                state.shared = shared;
                state.read = Some(Instant::now());
                true
            }
            Err(error) => {
                tracing::debug!("the breaker file cannot be written: {error}");
                false
            }
        }
    }
}

impl Health for Breaker {
    fn is_blocked(&self, model: &str) -> bool {
        let state = self.recent();
        let until = |blocked: &Blocked| blocked.get(model).is_some_and(|until| now_ms() < *until);
        until(&state.own) || until(&state.shared)
    }

    fn failed(&self, model: &str, pause: Duration) {
        let pause = u64::try_from(pause.min(MAX_COOL_DOWN).as_millis()).unwrap_or(u64::MAX);
        let until = now_ms().saturating_add(pause);
        let shared = is_shared(model)
            && self.share(|blocked| {
                blocked.insert(model.to_owned(), until);
            });
        if !shared {
            let mut state = self.state();
            state.own.retain(|_, until| now_ms() < *until);
            state.own.insert(model.to_owned(), until);
        }
    }

    fn answered(&self, model: &str) {
        let mut state = self.recent();
        state.own.remove(model);
        // Hardly ever true, so an answer writes nothing.
        if state.shared.remove(model).is_some() {
            drop(state);
            self.share(|blocked| {
                blocked.remove(model);
            });
        }
    }
}

/// Whether others mean the same place by this name: what exists only on a command line may be
/// anywhere.
fn is_shared(model: &str) -> bool {
    let provider = model.split('/').next().unwrap_or_default();
    provider != CUSTOM && model.len() <= NAME_BYTES
}

/// What the file says, as far as it can be true at `now`.
fn read(file: &Path, now: u64) -> Blocked {
    let mut bytes = Vec::new();
    let size = File::open(file)
        .and_then(|file| file.take(FILE_BYTES + 1).read_to_end(&mut bytes))
        .unwrap_or_default();
    if u64::try_from(size).unwrap_or(u64::MAX) > FILE_BYTES {
        return Blocked::new();
    }
    let latest = now.saturating_add(u64::try_from(MAX_COOL_DOWN.as_millis()).unwrap_or(u64::MAX));
    let mut blocked: Blocked = serde_json::from_slice(&bytes).unwrap_or_default();
    blocked.retain(|_, until| (now..=latest).contains(until));
    blocked
}

/// The lock, held until it is dropped.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
