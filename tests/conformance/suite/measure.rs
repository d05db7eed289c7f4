//! The cost of a call in each language: the table of `docs/guide/guests.md`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use wedflow_contract::Declaration;
use wedflow_model::{Limits, Outcome, Wid};
use wedflow_sandbox::{Bound, Invocation, Sandbox, Settings};

use crate::behaviours::flow_of_ten;
use wedflow_loader::languages::{Absent, Language, Which, guest, tool};

/// Total time for which each guest is called.
const TIME: Duration = Duration::from_secs(5);

/// Time for which each guest is called before the next: what the machine does besides hits all alike.
const TURN: Duration = Duration::from_millis(50);

/// Calls of each turn that are not counted: the processor's caches hold another guest yet.
const WARM_UP: usize = 3;

const BEGIN: &str = "<!-- made by make bench-guests: begin -->";
const END: &str = "<!-- made by make bench-guests: end -->";

const STATE: &str = r#"{"t1": "ready", "t2": "new", "t3": "Ana Souza", "t4": "Rua Augusta 1500", "t5": "BR",
 "t6": "10.00", "t7": "2026-11-21", "t8": "card", "t9": "none", "t10": "x"}"#;

/// The least that a guest can be: it imports nothing and answers the same clause always. What a call of it
/// costs is the host's, and says how fast the machine was.
const NOTHING: &str = r#"(module
  (memory (export "memory") 1)
  (data (i32.const 72) "\80\00\00\00\15\00\00\00")
  (data (i32.const 128) "t1='ready', t2='done'")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 4096)
  (func (export "describe") (result i32) i32.const 0)
  (func (export "run") (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32) i32.const 64))"#;

/// A guest that is measured.
struct Measured {
    name: String,
    tool: String,
    size: u64,
    built: Duration,
    compiled: Duration,
    sandbox: Sandbox,
    bound: Bound,
    nanos: Vec<u128>,
    memory: u64,
    fuel: u64,
}

/// Measures every language and writes the table between the two marks of a file.
///
/// # Errors
/// What cannot be built, run, read or written.
pub(crate) fn measure(file: &str) -> Result<(), String> {
    let file = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (before, rest) = text.split_once(BEGIN).ok_or("the file has no mark for the table")?;
    let (_, after) = rest.split_once(END).ok_or("the file has no mark for the table's end")?;
    let mut table = String::from(
        "| language | built with | component | build | compile | call p50 | p99 | memory | fuel |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut all = vec![nothing()?];
    let mut absent = String::new();
    for language in Language::ALL {
        match guest(language, Which::Conformance) {
            Ok(guest) => {
                let made = ready(language.name(), &guest.bytes)?;
                all.push(Measured { tool: tool(language), built: guest.built, ..made });
            }
            Err(Absent::Tool(what)) => {
                let _ = writeln!(absent, "| {language} | not measured: {what} was missing | | | | | | | |");
            }
            Err(Absent::Broken(why)) => return Err(format!("{language}: {why}")),
        }
    }
    in_turns(&mut all)?;
    for one in &all {
        let row = row(one);
        println!("{row}");
        let _ = writeln!(table, "{row}");
    }
    table.push_str(&absent);
    std::fs::write(&file, format!("{before}{BEGIN}\n{table}{END}{after}")).map_err(|error| error.to_string())
}

/// Measures components with the transition `clause_of_ten` against each other, and prints the rows.
///
/// # Errors
/// What cannot be read or run.
pub(crate) fn compare(files: &str) -> Result<(), String> {
    let mut all = vec![nothing()?];
    for file in files.split(',') {
        let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        all.push(ready(file, &bytes)?);
    }
    in_turns(&mut all)?;
    for one in &all {
        println!("{}", row(one));
    }
    Ok(())
}

fn nothing() -> Result<Measured, String> {
    let module = wat::parse_str(NOTHING).map_err(|error| error.to_string())?;
    let bytes = wedflow_authoring::encode(&module).map_err(|error| error.to_string())?;
    let declared = Declaration { transition: "nothing".to_owned(), ..Declaration::default() };
    let (sandbox, component, compiled) = compiled(&bytes)?;
    let bound = component.bind(&declared, &flow_of_ten()).map_err(|error| error.to_string())?;
    Ok(Measured {
        name: "(nothing)".to_owned(),
        tool: "by hand: imports nothing, answers a constant".to_owned(),
        size: bytes.len() as u64,
        built: Duration::ZERO,
        compiled,
        sandbox,
        bound,
        nanos: Vec::new(),
        memory: 0,
        fuel: 0,
    })
}

fn compiled(bytes: &[u8]) -> Result<(Sandbox, wedflow_sandbox::Component, Duration), String> {
    let sandbox = Sandbox::new(Settings { concurrent: 50, ..Settings::fast() }).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let component = sandbox.compile(bytes, &Limits::default()).map_err(|error| error.to_string())?;
    let took = begun.elapsed();
    Ok((sandbox, component, took))
}

fn ready(name: &str, bytes: &[u8]) -> Result<Measured, String> {
    let (sandbox, component, compiled) = compiled(bytes)?;
    let manifest = crate::call::on_runtime(sandbox.describe(&component)).map_err(|error| format!("{name}: {error}"))?;
    let declared = manifest.transition("clause_of_ten").ok_or_else(|| format!("{name} has no clause_of_ten"))?;
    let bound = component.bind(declared, &flow_of_ten()).map_err(|error| error.to_string())?;
    Ok(Measured {
        name: name.to_owned(),
        tool: manifest.sdk.clone(),
        size: bytes.len() as u64,
        built: Duration::ZERO,
        compiled,
        sandbox,
        bound,
        nanos: Vec::new(),
        memory: 0,
        fuel: 0,
    })
}

/// Calls all of them, a turn each, until the time is over.
fn in_turns(all: &mut [Measured]) -> Result<(), String> {
    let limits = Limits::default();
    let end = Instant::now() + TIME * u32::try_from(all.len()).unwrap_or(1);
    crate::call::on_runtime(async {
        while Instant::now() < end {
            for one in &mut *all {
                let turn = Instant::now() + TURN;
                for call in 0.. {
                    let invocation = Invocation {
                        flow: "f",
                        wid: Wid::new(1),
                        trigger: "t",
                        attempt: 1,
                        deadline: 0,
                        payload: STATE,
                        key: "",
                    };
                    let begun = Instant::now();
                    let attempt = one.sandbox.run(&one.bound, invocation, Duration::from_secs(5), &limits).await;
                    let took = begun.elapsed().as_nanos();
                    let Outcome::Clause(_) = attempt.outcome else {
                        return Err(format!("{}: {:?}", one.name, attempt.outcome));
                    };
                    (one.memory, one.fuel) = (attempt.measure.memory_bytes, attempt.measure.fuel);
                    if call >= WARM_UP {
                        one.nanos.push(took);
                        if begun > turn {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    })?;
    for one in all {
        one.nanos.sort_unstable();
    }
    Ok(())
}

fn row(one: &Measured) -> String {
    let percentile = |percent: usize| one.nanos[(one.nanos.len() - 1) * percent / 100] as f64 / 1_000.0;
    let built = if one.built.is_zero() { String::new() } else { format!("{:.1} s", one.built.as_secs_f64()) };
    format!(
        "| {} | {} | {} | {built} | {:.2} s | {:.1} µs | {:.1} µs | {} | {} |",
        one.name,
        one.tool,
        size(one.size),
        one.compiled.as_secs_f64(),
        percentile(50),
        percentile(99),
        size(one.memory),
        one.fuel,
    )
}

fn size(bytes: u64) -> String {
    if bytes < 1_000_000 { format!("{} kB", bytes / 1_000) } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}
