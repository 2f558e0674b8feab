//! What one query may take. jaq runs any program it is given, so the filter is rewritten to pass by
//! here at every step that can repeat (see `guard`).

use std::cell::Cell;
use std::time::{Duration, Instant};

use jaq_json::Val;

/// Far beyond any sensible query of a few megabytes, well within the host's own limit.
pub(super) const TIME: Duration = Duration::from_secs(5);

/// Looking at the clock is a call to the host, so only every so many steps do it.
const STEPS_PER_LOOK: u32 = 1 << 10;

/// Bytes of linear memory. The host's limit is 256 MiB, and a step may nearly triple what it holds.
const MEMORY: usize = 96 << 20;

/// Bytes of stack below the start of the run; a component has 1 MiB, of which other frames need some.
const STACK: usize = 640 << 10;

/// Levels of arrays and objects: values are compared, written and dropped recursively.
pub(super) const MAX_NESTING: usize = 1_000;

/// Why a query was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// It ran for too long.
    Time,
    /// It built too much.
    Memory,
    /// It called itself too deeply.
    Recursion,
    /// It built a value too deep.
    Nesting,
}

impl Excess {
    /// For the model.
    pub(super) fn message(self) -> String {
        match self {
            Self::Time => format!("the filter was stopped after {} seconds", TIME.as_secs()),
            Self::Memory => format!("the filter needs more than {} MiB of memory", MEMORY >> 20),
            Self::Recursion => "the filter nests or calls itself too deeply; make a call the last \
                thing its function does, or use reduce, foreach, until or limit"
                .to_owned(),
            Self::Nesting => {
                format!("the filter builds a value of more than {MAX_NESTING} levels")
            }
        }
    }
}

/// Counts what a query takes.
pub(super) struct Meter {
    begun: Instant,
    time: Duration,
    stack: usize,
    steps: Cell<u32>,
    excess: Cell<Option<Excess>>,
}

impl Meter {
    /// Starts a clock that runs for this long; the stack is measured from the caller.
    pub(super) fn start(time: Duration) -> Self {
        Self {
            begun: Instant::now(),
            time,
            stack: stack_position(),
            steps: Cell::new(0),
            excess: Cell::new(None),
        }
    }

    /// Why the query was stopped, if it was.
    pub(super) fn excess(&self) -> Option<Excess> {
        self.excess.get()
    }

    /// Passes one step on the value `current`. Once it refused it refuses forever, so that a `try`
    /// in the filter cannot go on.
    pub(super) fn step(&self, current: &Val) -> Result<(), Excess> {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        let excess = self.excess.get().or_else(|| {
            if steps.is_multiple_of(STEPS_PER_LOOK) && self.begun.elapsed() > self.time {
                Some(Excess::Time)
            } else if self.stack.abs_diff(stack_position()) > STACK {
                Some(Excess::Recursion)
            } else if memory() > MEMORY {
                Some(Excess::Memory)
            } else if nests_deeply(current) {
                Some(Excess::Nesting)
            } else {
                None
            }
        });
        self.excess.set(excess);
        excess.map_or(Ok(()), Err)
    }
}

/// Where the stack stands, as an address.
#[inline(never)]
fn stack_position() -> usize {
    let here = 0_u8;
    std::hint::black_box(&raw const here).addr()
}

/// Bytes of linear memory in use. Natively nothing is bounded; those builds are for tests.
fn memory() -> usize {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size(0) << 16;
    #[cfg(not(target_arch = "wasm32"))]
    return 0;
}

/// Follows the first and the last element down, which finds what a loop of `[.]` or `{a: .}` builds
/// without visiting the whole value.
fn nests_deeply(value: &Val) -> bool {
    let first: fn(&Val) -> Option<&Val> = |value| match value {
        Val::Arr(items) => items.first(),
        Val::Obj(fields) => fields.first().map(|(_, value)| value),
        _ => None,
    };
    let last: fn(&Val) -> Option<&Val> = |value| match value {
        Val::Arr(items) => items.last(),
        Val::Obj(fields) => fields.last().map(|(_, value)| value),
        _ => None,
    };
    [first, last].into_iter().any(|child| {
        std::iter::successors(Some(value), |value| child(value)).nth(MAX_NESTING).is_some()
    })
}
