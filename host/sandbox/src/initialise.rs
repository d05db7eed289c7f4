//! A module's start, performed once when it is built: what it left in its memory becomes the memory that
//! every instance begins with.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wasmtime::{
    Caller, Config, Engine, ExternType, Instance, Linker, Memory, Module, OptLevel, Store, StoreLimits,
    StoreLimitsBuilder, Val,
};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

/// The module that WASI preview 1 is imported from.
const WASI: &str = "wasi_snapshot_preview1";

/// The function that starts a module.
const START: &str = "_initialize";

/// Maximum fuel of a start function.
const FUEL: u64 = 50_000_000_000;

/// Bytes that a start may make of its memory.
const MEMORY: usize = 256 << 20;

/// Bytes of what a start prints that are kept for an error.
const PRINTED: usize = 16 << 10;

/// WASI's numbers for what went wrong.
const SUCCESS: i32 = 0;
const BADF: i32 = 8;
const FAULT: i32 = 21;

/// Why a module has no memory to begin with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InitialiseError {
    /// The module has no start function, or holds something that cannot be kept.
    #[error("its state cannot be kept: {0}")]
    Unfit(String),
    /// The start function failed.
    #[error("its start failed: {reason}{}", after_colon(.printed))]
    Failed {
        /// Reason of the failure.
        reason: String,
        /// Output of the start function.
        printed: String,
    },
}

fn after_colon(printed: &str) -> String {
    match printed.trim() {
        "" => String::new(),
        text => format!("; it printed:\n{text}"),
    }
}

/// World that a start function sees: a clock that only counts, random numbers that are always the same.
struct World {
    limits: StoreLimits,
    tick: u64,
    seed: u64,
    printed: Vec<u8>,
}

impl World {
    fn nanoseconds(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    /// Marsaglia's xorshift.
    fn chance(&mut self) -> u8 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 32) as u8
    }
}

/// Runs a module's `_initialize` with no host beneath it and answers with the module as it was left, which
/// needs no start any more. The same module gives the same bytes.
///
/// # Errors
/// [`InitialiseError`]: it has no start, that failed, or called the contract's host.
pub fn initialised(module: &[u8]) -> Result<Vec<u8>, InitialiseError> {
    let unfit = |error: wasmtime::Error| InitialiseError::Unfit(crate::backtrace::message(&error));
    let mut wizer = Wizer::new();
    wizer.init_func(START);
    let (context, instrumented) = wizer.instrument(module).map_err(unfit)?;
    let mut config = Config::new();
    // It runs once: what compiling saves is more than what running costs.
    config.cranelift_opt_level(OptLevel::None).consume_fuel(true);
    let engine = Engine::new(&config).map_err(unfit)?;
    let module = Module::new(&engine, instrumented).map_err(unfit)?;
    let mut store = Store::new(
        &engine,
        World {
            limits: StoreLimitsBuilder::new().memory_size(MEMORY).build(),
            tick: 0,
            seed: 0x9e37_79b9_7f4a_7c15,
            printed: Vec::new(),
        },
    );
    store.limiter(|world| &mut world.limits);
    store.set_fuel(FUEL).map_err(unfit)?;
    let linker = world(&engine, &module).map_err(unfit)?;
    let started = linker.instantiate(&mut store, &module).and_then(|instance| {
        instance.get_typed_func::<(), ()>(&mut store, START)?.call(&mut store, ())?;
        Ok(instance)
    });
    let instance = started.map_err(|error| InitialiseError::Failed {
        reason: error.root_cause().to_string(),
        printed: String::from_utf8_lossy(&store.data().printed).into_owned(),
    })?;
    let mut state = Left { store: &mut store, instance };
    at_once(wizer.snapshot(&context, &mut state)).map_err(unfit)
}

/// The functions that a module imports.
fn world(engine: &Engine, module: &Module) -> wasmtime::Result<Linker<World>> {
    let mut linker = Linker::new(engine);
    // Go imports some functions twice.
    linker.allow_shadowing(true);
    for import in module.imports() {
        let (from, name) = (import.module().to_owned(), import.name().to_owned());
        let ExternType::Func(kind) = import.ty() else {
            continue;
        };
        linker.func_new(&from.clone(), &name.clone(), kind, move |mut caller, given, answer| {
            if from != WASI {
                return Err(wasmtime::Error::msg(format!(
                    "it called `{name}` of the server, which is there for transitions only"
                )));
            }
            let errno = wasi(&mut caller, &name, given)?;
            if let Some(answer) = answer.first_mut() {
                *answer = Val::I32(errno);
            }
            Ok(())
        })?;
    }
    Ok(linker)
}

/// WASI, where there is nothing: no files, no arguments, no environment.
fn wasi(caller: &mut Caller<'_, World>, name: &str, given: &[Val]) -> wasmtime::Result<i32> {
    let memory = caller
        .get_export("memory")
        .and_then(|export| export.into_memory())
        .ok_or_else(|| wasmtime::Error::msg("it exports no memory"))?;
    let number = |at: usize| given.get(at).map_or(0, number_of);
    let done = match name {
        "args_get" | "environ_get" | "sched_yield" => Some(()),
        "args_sizes_get" | "environ_sizes_get" => {
            put(&memory, caller, number(0), &[0; 4]).and_then(|()| put(&memory, caller, number(1), &[0; 4]))
        }
        "clock_time_get" => {
            let now = caller.data_mut().nanoseconds();
            put(&memory, caller, number(2), &now.to_le_bytes())
        }
        "clock_res_get" => put(&memory, caller, number(1), &1000_u64.to_le_bytes()),
        "random_get" => {
            let count = number(1).min(MEMORY);
            let drawn: Vec<u8> = (0..count).map(|_| caller.data_mut().chance()).collect();
            put(&memory, caller, number(0), &drawn)
        }
        "fd_write" => return Ok(print(&memory, caller, given).map_or(FAULT, |()| SUCCESS)),
        "poll_oneoff" => wait(&memory, caller, given),
        "proc_exit" => {
            return Err(wasmtime::Error::msg(format!("it ended with {}", number(0))));
        }
        _ => return Ok(BADF),
    };
    Ok(done.map_or(FAULT, |()| SUCCESS))
}

fn number_of(value: &Val) -> usize {
    match value {
        Val::I32(n) => *n as u32 as usize,
        Val::I64(n) => *n as usize,
        _ => 0,
    }
}

fn put(memory: &Memory, caller: &mut Caller<'_, World>, at: usize, bytes: &[u8]) -> Option<()> {
    memory.write(caller, at, bytes).ok()
}

fn bytes_at<const N: usize>(memory: &Memory, caller: &Caller<'_, World>, at: usize) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    memory.read(caller, at, &mut bytes).ok()?;
    Some(bytes)
}

fn print(memory: &Memory, caller: &mut Caller<'_, World>, given: &[Val]) -> Option<()> {
    let number = |at: usize| given.get(at).map_or(0, number_of);
    let mut written = 0_u32;
    for n in 0..number(2) {
        let at = number(1).checked_add(n.checked_mul(8)?)?;
        let start = u32::from_le_bytes(bytes_at(memory, caller, at)?) as usize;
        let length = u32::from_le_bytes(bytes_at(memory, caller, at + 4)?);
        let text = memory.data(&*caller).get(start..start.checked_add(length as usize)?)?;
        let text = text.to_vec();
        let room = PRINTED.saturating_sub(caller.data().printed.len());
        caller.data_mut().printed.extend(text.into_iter().take(room));
        written = written.wrapping_add(length);
    }
    put(memory, caller, number(3), &written.to_le_bytes())
}

/// A wait for a clock takes no time: the clock is moved instead.
fn wait(memory: &Memory, caller: &mut Caller<'_, World>, given: &[Val]) -> Option<()> {
    let number = |at: usize| given.get(at).map_or(0, number_of);
    let wanted: [u8; 48] = bytes_at(memory, caller, number(0))?;
    let for_nanoseconds = u64::from_le_bytes(wanted[24..32].try_into().ok()?);
    let absolute = wanted[40] & 1 == 1;
    let world = caller.data_mut();
    world.tick = if absolute { world.tick.max(for_nanoseconds) } else { world.tick.saturating_add(for_nanoseconds) };
    let mut event = [0; 32];
    event[..8].copy_from_slice(&wanted[..8]);
    put(memory, caller, number(1), &event)?;
    put(memory, caller, number(3), &1_u32.to_le_bytes())
}

/// An instance after its start.
struct Left<'a> {
    store: &'a mut Store<World>,
    instance: Instance,
}

impl InstanceState for Left<'_> {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let value = self.instance.get_global(&mut *self.store, name).map(|global| global.get(&mut *self.store));
        match value {
            Some(Val::I64(n)) => SnapshotVal::I64(n),
            Some(Val::F32(n)) => SnapshotVal::F32(n),
            Some(Val::F64(n)) => SnapshotVal::F64(n),
            Some(Val::V128(n)) => SnapshotVal::V128(n.as_u128()),
            Some(Val::I32(n)) => SnapshotVal::I32(n),
            // The instrumented module exports all of them, and has numbers only.
            _ => SnapshotVal::I32(0),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        if let Some(memory) = self.instance.get_memory(&mut *self.store, name) {
            contents(memory.data(&*self.store));
        }
    }
}

/// A future that waits for nothing.
fn at_once<T>(future: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => Err(wasmtime::Error::msg("its state could not be read")),
    }
}
