//! Store data of one call: limits, and how much of them was used.

use std::sync::Arc;

use tokio::time::{Duration, Instant};
use wasmtime::{ResourceLimiterAsync, StoreContextMut, UpdateDeadline};
use wedflow_model::Limits;

use crate::answers::Answers;
use crate::asker::Asker;
use crate::log::Log;
use crate::outside::Outside;
use crate::provided::Provided;
use crate::share::Held;
use crate::ticker::Ticking;
use crate::time_slice::{GuestSlices, TimeSlices};
use crate::wire::{Question, Reply};

/// Why the host ended a guest. Travels through the runtime as the error of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    #[error("the time is over")]
    TimedOut,
    #[error("asked for {asked} bytes or elements where {limit} are allowed")]
    OverMemory { limit: u64, asked: u64 },
    #[error(
        "the guests of this tenant have as much memory together as the host can give them now \
         ({0} bytes are for all tenants)"
    )]
    HostFull(u64),
    #[error("called the host more than {limit} times")]
    HostCallLimit { limit: u64 },
    #[error("called `{0}`, which this host does not serve")]
    Unserved(Box<str>),
    #[error("called `{0}` in `describe`, which must not call the host")]
    HostInDescribe(&'static str),
}

/// The store of one call, as functions of the host get it.
pub(crate) type Store<'a> = StoreContextMut<'a, State>;
/// The answer of a function of the host that waits.
pub(crate) type Answered<'a, T> = Box<dyn Future<Output = wasmtime::Result<T>> + Send + 'a>;

/// The data of a store.
pub(crate) struct State {
    pub(crate) room: Room,
    pub(crate) log: Log,
    pub(crate) slices: GuestSlices,
    /// The names of the attributes that the guest was handed; none while it describes itself.
    pub(crate) names: Option<Arc<[String]>>,
    /// The settings and secrets that it may ask for.
    pub(crate) provided: Option<Arc<Provided>>,
    /// Answers to questions for the time, random numbers and settings.
    pub(crate) answers: Answers,
    /// Access outside the call.
    pub(crate) outside: Outside,
    /// Has epochs counted as long as this call lasts.
    pub(crate) ticking: Option<Ticking>,
    deadline: Instant,
    /// The call's time, from its beginning.
    timeout: Duration,
    calls_left: u64,
    call_limit: u64,
}

impl State {
    pub(crate) fn new(
        limits: &Limits,
        room: Room,
        deadline: Instant,
        slices: TimeSlices,
        names: Option<Arc<[String]>>,
        answers: Answers,
    ) -> Self {
        State {
            room,
            log: Log::new(limits.log_bytes),
            slices: GuestSlices::new(slices),
            names,
            provided: None,
            answers,
            outside: Outside::default(),
            ticking: None,
            deadline,
            timeout: deadline.saturating_duration_since(Instant::now()),
            calls_left: limits.host_calls,
            call_limit: limits.host_calls,
        }
    }

    fn count_call(&mut self) -> Result<(), Stop> {
        match self.calls_left.checked_sub(1) {
            Some(left) => {
                self.calls_left = left;
                Ok(())
            }
            None => Err(Stop::HostCallLimit { limit: self.call_limit }),
        }
    }

    /// Waits, with its time slice handed on meanwhile. A wait beyond the call's time never
    /// ends: the time ends the call. Where waiting takes no time, it does so at once.
    pub(crate) async fn sleep(&mut self, microseconds: u64) -> Result<(), Stop> {
        if let Some(slept) = self.answers.slept(microseconds) {
            return if Duration::from_micros(slept) < self.timeout { Ok(()) } else { Err(Stop::TimedOut) };
        }
        self.slices.release();
        let at = Instant::now().checked_add(Duration::from_micros(microseconds)).filter(|at| *at < self.deadline);
        match at {
            _ if microseconds == 0 => tokio::task::yield_now().await,
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
        Ok(())
    }

    /// Decides at the end of an epoch whether a computing guest continues.
    pub(crate) fn tick(&mut self) -> Result<UpdateDeadline, Stop> {
        if Instant::now() >= self.deadline {
            return Err(Stop::TimedOut);
        }
        Ok(self.slices.tick())
    }
}

/// The fuel that a byte costs which the host copies, masks or digests for a guest.
const FUEL_PER_BYTE: u64 = 8;

/// The fuel that a call into the host costs, whatever it does.
const FUEL_PER_CALL: u64 = 500;

/// The fuel that an operation with a file costs: it goes over a thread that may block.
pub(crate) const FUEL_PER_FILE_OPERATION: u64 = 100_000;

/// The fuel that a request over HTTP costs.
pub(crate) const FUEL_PER_FETCH: u64 = 500_000;

/// Counts a call into the host, and charges for it.
pub(crate) fn count_call(store: &mut Store<'_>) -> wasmtime::Result<()> {
    store.data_mut().count_call()?;
    charge_fuel(store, FUEL_PER_CALL)
}

/// Counts a call of one of the contract's own functions, which `describe` must not call.
pub(crate) fn count_host_call(store: &mut Store<'_>, function: &'static str) -> wasmtime::Result<()> {
    match store.data().names {
        None => Err(Stop::HostInDescribe(function).into()),
        Some(_) => count_call(store),
    }
}

/// Charges a guest for what the host does for it, by bytes.
pub(crate) fn charge(store: &mut Store<'_>, bytes: usize) -> wasmtime::Result<()> {
    charge_fuel(store, (bytes as u64).saturating_mul(FUEL_PER_BYTE))
}

/// Charges a guest for what the host does for it.
pub(crate) fn charge_fuel(store: &mut Store<'_>, cost: u64) -> wasmtime::Result<()> {
    match store.get_fuel()?.checked_sub(cost) {
        Some(left) => store.set_fuel(left),
        None => {
            store.set_fuel(0)?;
            Err(wasmtime::Trap::OutOfFuel.into())
        }
    }
}

/// The memory, tables and instances of one call.
pub(crate) struct Room {
    memory_limit: u64,
    memory: u64,
    /// The most memory held at once.
    pub(crate) memory_peak: u64,
    table_limit: u64,
    table: u64,
    instances: usize,
    /// The last growth that was allowed, for when it fails after all.
    asked: u64,
    /// Memory that the call holds of what all guests share.
    held: Held,
    /// Host that is asked for memory beyond [`ALLOTTED_BYTES`], in a guest process.
    asker: Option<Asker>,
}

/// Bytes of memory that a call in a guest process has from its beginning.
pub(crate) const ALLOTTED_BYTES: u64 = 2 << 20;

impl Room {
    pub(crate) fn new(limits: &Limits, held: Held, memory_ceiling: u64, table_ceiling: u64) -> Self {
        Room {
            memory_limit: limits.memory_bytes.min(memory_ceiling),
            memory: 0,
            memory_peak: 0,
            table_limit: limits.table_elements.min(table_ceiling),
            table: 0,
            instances: limits.instances as usize,
            asked: 0,
            held,
            asker: None,
        }
    }

    /// Has the host asked for memory.
    pub(crate) fn asks(&mut self, asker: Option<Asker>) {
        self.asker = asker;
    }

    /// Asks the host of this guest process for memory, if the call has not so much already.
    async fn is_granted(&self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.memory.max(ALLOTTED_BYTES));
        match &self.asker {
            Some(asker) if more > 0 => {
                matches!(asker.ask(Question::Memory(more)).await, Some(Reply::Memory(true)))
            }
            _ => true,
        }
    }
}

#[async_trait::async_trait]
impl ResourceLimiterAsync for Room {
    async fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let grown = (desired as u64).saturating_sub(current as u64);
        let asked = self.memory.saturating_add(grown);
        // Typed, since a guest that is merely told no answers with a trap that says nothing.
        if asked > self.memory_limit {
            return Err(Stop::OverMemory { limit: self.memory_limit, asked }.into());
        }
        // The guest's own maximum: it expects to be told no.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        if !self.is_granted(asked).await || !self.held.grow(grown) {
            return Err(Stop::HostFull(self.held.total()).into());
        }
        self.memory = asked;
        self.memory_peak = self.memory_peak.max(asked);
        self.asked = asked;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        tracing::warn!(%error, "a guest's memory could not grow within its limit; this machine is short of memory");
        Err(Stop::OverMemory { limit: self.memory_limit, asked: self.asked }.into())
    }

    async fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let grown = (desired as u64).saturating_sub(current as u64);
        let asked = self.table.saturating_add(grown);
        if asked > self.table_limit {
            return Err(Stop::OverMemory { limit: self.table_limit, asked }.into());
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.table = asked;
        self.asked = asked;
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        tracing::warn!(%error, "a guest's table could not grow within its limit; this machine is short of memory");
        Err(Stop::OverMemory { limit: self.table_limit, asked: self.asked }.into())
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.instances
    }

    fn memories(&self) -> usize {
        self.instances
    }
}
