//! The little of WASI that a standard library needs to start, to print and to draw random numbers;
//! everything else traps, by name, when it is called.
//!
//! A guest that needs none of it is faster: it should be built without a standard library, or with
//! the guest SDK.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentType, Linker, LinkerInstance, Lower, Resource, ResourceType, WasmList};
use wasmtime::{AsContext, Engine, StoreContextMut};
use wedflow_contract::WASI_PREFIX;

use crate::log::Stream;
use crate::state::{State, Stop, charge, count_call};

/// The version of WASI that is served, up to its last number.
const VERSION: &str = "@0.2.";

/// Bytes that one call may print.
const PRINT_BYTES: u64 = 64 << 10;

/// Random bytes that one call may draw.
const RANDOM_BYTES: u64 = 64 << 10;

/// The number of a [`Pollable`] that need not be waited for.
const READY: u32 = 0;

/// A stream of output; its number says which ([`Stream`]).
struct Output;
struct Input;
struct IoError;
/// Timer to wait for; its number is its end, in milliseconds since the call began.
struct Pollable;
struct Terminal;
struct Descriptor;

#[derive(ComponentType, Lower)]
#[component(variant)]
#[expect(dead_code, reason = "the type must be that of WASI, but only success is answered")]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Datetime {
    #[component(name = "seconds")]
    seconds: u64,
    #[component(name = "nanoseconds")]
    nanoseconds: u32,
}

type Store<'a> = StoreContextMut<'a, State>;
type Done<T> = (Result<T, StreamError>,);

/// Defines every `wasi:` interface that the component imports.
pub(crate) fn define(linker: &mut Linker<State>, component: &Component, engine: &Engine) -> wasmtime::Result<()> {
    for (interface, import) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = import.ty else {
            continue;
        };
        if !interface.starts_with(WASI_PREFIX) {
            continue;
        }
        let served = interface.split_once(VERSION).map(|(name, _)| name);
        let mut target = linker.instance(interface)?;
        for (name, export) in instance.exports(engine) {
            match export.ty {
                ComponentItem::ComponentFunc(_) => {
                    let served = serve(&mut target, served.unwrap_or_default(), name)?;
                    if served {
                        continue;
                    }
                    let full = format!("{interface}#{name}").into_boxed_str();
                    target.func_new(name, move |_, _, _, _| Err(Stop::Unserved(full.clone()).into()))?;
                }
                ComponentItem::Resource(_) => {
                    target.resource(name, resource(name), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns one type for each name, so that interfaces agree on what they pass to each other.
fn resource(name: &str) -> ResourceType {
    match name {
        "output-stream" => ResourceType::host::<Output>(),
        "input-stream" => ResourceType::host::<Input>(),
        "error" => ResourceType::host::<IoError>(),
        "pollable" => ResourceType::host::<Pollable>(),
        "terminal-input" | "terminal-output" => ResourceType::host::<Terminal>(),
        "descriptor" => ResourceType::host::<Descriptor>(),
        _ => ResourceType::host::<()>(),
    }
}

/// Defines one function if it is served.
fn serve(target: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> wasmtime::Result<bool> {
    match interface.split_once('/').map(|(package, _)| package) {
        Some("wasi:cli" | "wasi:filesystem") => serve_program(target, interface, name),
        Some("wasi:io") => serve_streams(target, interface, name),
        Some("wasi:clocks") => serve_clocks(target, interface, name),
        Some("wasi:random") => serve_random(target, interface, name),
        _ => Ok(false),
    }
}

/// Defines a function of a program's surroundings: environment, arguments, standard streams, folders.
fn serve_program(target: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> wasmtime::Result<bool> {
    match (interface, name) {
        ("wasi:cli/environment", "get-environment") => answer(target, name, || (Vec::<(String, String)>::new(),)),
        ("wasi:cli/environment", "get-arguments") => answer(target, name, || (Vec::<String>::new(),)),
        ("wasi:cli/environment", "initial-cwd") => answer(target, name, || (None::<String>,)),
        // No directory is open, so that every path is reported as not found.
        ("wasi:filesystem/preopens", "get-directories") => {
            answer(target, name, || (Vec::<(Resource<Descriptor>, String)>::new(),))
        }
        ("wasi:cli/stdin", "get-stdin") => answer(target, name, || (Resource::<Input>::new_own(0),)),
        ("wasi:cli/stdout", "get-stdout") => {
            answer(target, name, || (Resource::<Output>::new_own(Stream::Out as u32),))
        }
        ("wasi:cli/stderr", "get-stderr") => {
            answer(target, name, || (Resource::<Output>::new_own(Stream::Error as u32),))
        }
        (
            "wasi:cli/terminal-stdin" | "wasi:cli/terminal-stdout" | "wasi:cli/terminal-stderr",
            "get-terminal-stdin" | "get-terminal-stdout" | "get-terminal-stderr",
        ) => answer(target, name, || (None::<Resource<Terminal>>,)),
        _ => return Ok(false),
    }?;
    Ok(true)
}

/// Defines a function of streams or of waiting.
fn serve_streams(target: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> wasmtime::Result<bool> {
    match (interface, name) {
        ("wasi:io/streams", "[method]output-stream.check-write") => {
            target.func_wrap(name, |mut store: Store<'_>, (_,): (Resource<Output>,)| -> wasmtime::Result<Done<u64>> {
                count_call(&mut store)?;
                Ok((Ok(PRINT_BYTES),))
            })
        }
        ("wasi:io/streams", "[method]output-stream.write" | "[method]output-stream.blocking-write-and-flush") => {
            target.func_wrap(name, print)
        }
        ("wasi:io/streams", "[method]output-stream.flush" | "[method]output-stream.blocking-flush") => target
            .func_wrap(name, |mut store: Store<'_>, (_,): (Resource<Output>,)| -> wasmtime::Result<Done<()>> {
                count_call(&mut store)?;
                Ok((Ok(()),))
            }),
        // A stream is always ready.
        ("wasi:io/streams", "[method]output-stream.subscribe") => {
            target.func_wrap(name, |mut store: Store<'_>, (_,): (Resource<Output>,)| {
                count_call(&mut store)?;
                Ok((Resource::<Pollable>::new_own(READY),))
            })
        }
        ("wasi:io/poll", "[method]pollable.block") => target.func_wrap_async(name, block),
        _ => return Ok(false),
    }?;
    Ok(true)
}

/// Defines a function of clocks.
fn serve_clocks(target: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> wasmtime::Result<bool> {
    match (interface, name) {
        ("wasi:clocks/monotonic-clock", "subscribe-duration") => {
            target.func_wrap(name, |mut store: Store<'_>, (nanoseconds,): (u64,)| {
                count_call(&mut store)?;
                let state = store.data_mut();
                let at = state.answers.since_begun().saturating_add(nanoseconds).div_ceil(1_000_000);
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                Ok((Resource::<Pollable>::new_own(at),))
            })
        }
        ("wasi:clocks/monotonic-clock", "now") => target.func_wrap(name, |mut store: Store<'_>, (): ()| {
            count_call(&mut store)?;
            let state = store.data_mut();
            Ok((state.answers.elapsed(),))
        }),
        ("wasi:clocks/monotonic-clock", "resolution") => answer(target, name, || (1_000_u64,)),
        ("wasi:clocks/wall-clock", "now") => {
            target.func_wrap(name, |mut store: Store<'_>, (): ()| {
                count_call(&mut store)?;
                let state = store.data_mut();
                let now = state.answers.now();
                Ok((Datetime {
                    seconds: u64::try_from(now.div_euclid(1_000_000)).unwrap_or(0),
                    // Less than 10^9 by the division.
                    nanoseconds: now.rem_euclid(1_000_000) as u32 * 1_000,
                },))
            })
        }
        ("wasi:clocks/wall-clock", "resolution") => {
            answer(target, name, || (Datetime { seconds: 0, nanoseconds: 1_000 },))
        }
        _ => return Ok(false),
    }?;
    Ok(true)
}

/// Defines a function of randomness.
fn serve_random(target: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> wasmtime::Result<bool> {
    match (interface, name) {
        ("wasi:random/random" | "wasi:random/insecure", "get-random-u64" | "get-insecure-random-u64") => target
            .func_wrap(name, |mut store: Store<'_>, (): ()| {
                count_call(&mut store)?;
                let state = store.data_mut();
                Ok((state.answers.random(),))
            }),
        ("wasi:random/random" | "wasi:random/insecure", "get-random-bytes" | "get-insecure-random-bytes") => {
            target.func_wrap(name, random_bytes)
        }
        ("wasi:random/insecure-seed", "insecure-seed") => target.func_wrap(name, |mut store: Store<'_>, (): ()| {
            count_call(&mut store)?;
            let state = store.data_mut();
            Ok(((state.answers.random(), state.answers.random()),))
        }),
        _ => return Ok(false),
    }?;
    Ok(true)
}

/// Defines a function without parameters that always answers the same.
fn answer<R>(
    target: &mut LinkerInstance<'_, State>,
    name: &str,
    make: impl Fn() -> R + Send + Sync + 'static,
) -> wasmtime::Result<()>
where
    R: wasmtime::component::ComponentNamedList + Lower + 'static,
{
    target.func_wrap(name, move |mut store: Store<'_>, (): ()| {
        count_call(&mut store)?;
        Ok(make())
    })
}

/// Waits for a pollable, as the contract's own `sleep` does.
fn block(
    mut store: Store<'_>,
    (pollable,): (Resource<Pollable>,),
) -> Box<dyn Future<Output = wasmtime::Result<()>> + Send + '_> {
    Box::new(async move {
        count_call(&mut store)?;
        let state = store.data_mut();
        let at = u64::from(pollable.rep()).saturating_mul(1_000);
        let left = at.saturating_sub(state.answers.since_begun() / 1_000);
        if left > 0 {
            state.sleep(left).await?;
        }
        Ok(())
    })
}

fn print(mut store: Store<'_>, (stream, bytes): (Resource<Output>, WasmList<u8>)) -> wasmtime::Result<Done<()>> {
    count_call(&mut store)?;
    let stream = if stream.rep() == Stream::Error as u32 { Stream::Error } else { Stream::Out };
    let bytes = bytes.as_le_slice(store.as_context());
    let bytes = bytes[..bytes.len().min(PRINT_BYTES as usize)].to_vec();
    let passes = store.data().log.passes();
    charge(&mut store, bytes.len().saturating_mul(passes))?;
    store.data_mut().log.print(stream, &bytes);
    Ok((Ok(()),))
}

fn random_bytes(mut store: Store<'_>, (count,): (u64,)) -> wasmtime::Result<(Vec<u8>,)> {
    count_call(&mut store)?;
    if count > RANDOM_BYTES {
        return Err(Stop::Unserved(format!("wasi:random for {count} bytes at once").into_boxed_str()).into());
    }
    charge(&mut store, count as usize)?;
    let state = store.data_mut();
    let mut bytes = vec![0; count as usize];
    for chunk in bytes.chunks_mut(8) {
        let drawn = state.answers.random().to_le_bytes();
        chunk.copy_from_slice(&drawn[..chunk.len()]);
    }
    Ok((bytes,))
}
