//! The one wasmtime engine: its configuration, the clock that lets it interrupt guests, and the
//! threads guests run on. Compiled code is tied to the configuration, so there is only this one.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often a running guest is interrupted to let others run and to look at its clock.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Address space of one linear memory slot. 4 GiB lets compiled code leave out bounds checks.
const RESERVATION: u64 = 4 << 30;

/// Calls that can be under way at once: eight of a reply, each with hooks, for a few sessions.
const SLOTS: u32 = 64;

/// Threads of guests: one a call, and some that hang for good in a file operation.
const THREADS: usize = 96;

/// Memory of a slot that stays mapped between calls: what a JavaScript engine touches anyway; more
/// is slower because it is zeroed each time.
const KEEP_RESIDENT: usize = 2 << 20;

/// Stack of a guest. Wasmtime's default is 512 KiB; interpreters want more.
const WASM_STACK: usize = 1 << 20;

/// The engine and what keeps it going.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    /// Guests run here, so that streaming and the terminal never wait for one.
    pub(crate) handle: tokio::runtime::Handle,
    /// Given back without waiting: a guest's file operation may be stuck for good.
    owned: Option<tokio::runtime::Runtime>,
}

impl Runtime {
    /// Starts the engine.
    pub(crate) fn start() -> wasmtime::Result<Arc<Self>> {
        let engine = engine()?;
        tick(&engine)?;
        let owned = tokio::runtime::Builder::new_multi_thread()
            // It only drives clocks: each call runs on a blocking thread of its own.
            .worker_threads(1)
            .max_blocking_threads(THREADS)
            .thread_name("hermes-guest")
            .enable_time()
            .enable_io()
            .build()?;
        let handle = owned.handle().clone();
        Ok(Arc::new(Self { engine, handle, owned: Some(owned) }))
    }

    /// A sleep by this runtime's clock, whoever awaits it: the caller's runtime need not have one,
    /// and may have one that jumps.
    pub(crate) fn sleep(&self, duration: Duration) -> tokio::time::Sleep {
        let _here = self.handle.enter();
        tokio::time::sleep(duration)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.owned.take() {
            runtime.shutdown_background();
        }
    }
}

/// With pooled slots where there is address space for them, else on demand. Both give the same
/// compiled code: the tunables that reach it are equal.
fn engine() -> wasmtime::Result<Engine> {
    let mut pooling = config();
    pooling.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
    Engine::new(&pooling).or_else(|error| {
        tracing::debug!("no pooling allocation: {error:#}");
        Engine::new(&config())
    })
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(2 * WASM_STACK)
        .memory_reservation(RESERVATION)
        .memory_init_cow(true)
        // Multi-memory and tail calls stay on: composed components and JavaScript engines need
        // them. Memories of 64 bits are of no use to a guest; threads, garbage collection, stack
        // switching and asynchronous components are not compiled in.
        .wasm_memory64(false);
    config
}

fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS * 8)
        .total_memories(SLOTS * 2)
        .total_tables(SLOTS * 8)
        .total_stacks(SLOTS)
        .max_memory_size(usize::try_from(RESERVATION).unwrap_or(usize::MAX))
        // Python and JavaScript components are large in every way.
        .max_core_instances_per_component(64)
        .max_memories_per_component(8)
        .max_memories_per_module(8)
        .max_tables_per_component(64)
        .max_tables_per_module(16)
        .table_elements(100_000)
        .max_core_instance_size(4 << 20)
        .max_component_instance_size(4 << 20)
        .max_unused_warm_slots(8)
        // Where the kernel can tell which pages a guest wrote (Linux since 6.7), only those are
        // cleaned between calls: zeroing all that stays mapped costs 60 us a call.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(64 << 10);
    pool
}

/// A thread of its own moves the epoch: no guest and no runtime can keep it from running. It ends
/// with the engine.
fn tick(engine: &Engine) -> wasmtime::Result<()> {
    let engine = engine.weak();
    std::thread::Builder::new().name("hermes-epoch".into()).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    })?;
    Ok(())
}
