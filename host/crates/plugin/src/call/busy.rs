//! How long a guest itself was busy. Each call has a thread of its own, so the processor time of
//! that thread is the guest's: what a busy machine takes away from it does not count.

use std::time::Duration;

/// Counts from its making, on the thread that made it.
pub(super) struct Busy(Meter);

impl Busy {
    pub(super) fn begin() -> Self {
        Self(Meter::begin())
    }

    /// Notes that a tick of the epoch met the guest running; how long it has been busy.
    pub(super) fn tick(&mut self) -> Duration {
        self.0.tick()
    }
}

#[cfg(unix)]
struct Meter {
    began: Duration,
}

#[cfg(unix)]
impl Meter {
    fn begin() -> Self {
        Self { began: processor_time() }
    }

    fn tick(&mut self) -> Duration {
        processor_time().saturating_sub(self.began)
    }
}

#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// Where threads have no clock of their own, the ticks that met the guest: one that waits for the
/// processor is met once, however long it waits.
#[cfg(not(unix))]
struct Meter {
    ticks: u32,
}

#[cfg(not(unix))]
impl Meter {
    fn begin() -> Self {
        Self { ticks: 0 }
    }

    fn tick(&mut self) -> Duration {
        // The first tick may have been about to come when the guest began.
        let full = self.ticks;
        self.ticks = self.ticks.saturating_add(1);
        crate::engine::TICK * full
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn spin(busy: &mut Busy, until: Duration) {
        while busy.tick() < until {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn the_time_of_other_threads_is_not_this_ones() {
        let mut busy = Busy::begin();
        let others = std::thread::spawn(|| spin(&mut Busy::begin(), Duration::from_millis(50)));
        assert!(others.join().is_ok());
        let waited = busy.tick();
        assert!(waited < Duration::from_millis(25), "{waited:?}");
        spin(&mut busy, waited + Duration::from_millis(1));
    }
}
