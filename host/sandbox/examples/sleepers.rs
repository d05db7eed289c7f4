//! Counts the guests that can wait at once, and the cost of each: `cargo run --release -p wedflow-sandbox --example
//! sleepers [-- fast|waiting [COUNT]]`.
//!
//! Suspends 10 000 guests in the host call `sleep` on two worker threads, and prints what that takes
//! of memory, page tables, and the kernel's limit on memory maps. Without arguments, for both kinds
//! of sandbox, each in a process of its own.

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::Command;
use std::time::{Duration, Instant};

use wedflow_model::{Limits, Outcome, Wid};
use wedflow_sandbox::{Invocation, Sandbox, Settings};

/// Sleep of each guest in seconds.
const SLEEP: i32 = 8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count = |text: Option<String>| match text.map(|text| text.parse()) {
        None => 10_000,
        Some(Ok(count)) => count,
        Some(Err(_)) => usage(),
    };
    match arguments.next().as_deref() {
        Some("fast") => sleep(Settings::fast(), count(arguments.next())),
        Some("waiting") => sleep(Settings::waiting(), count(arguments.next())),
        None => {
            let program = std::env::current_exe().expect("its own path");
            for kind in ["fast", "waiting"] {
                println!("# the {kind} sandbox");
                let status = Command::new(&program).arg(kind).status().expect("itself");
                assert!(status.success(), "{kind}: {status}");
            }
        }
        Some(_) => usage(),
    }
}

fn usage() -> ! {
    eprintln!("usage: sleepers [fast|waiting [COUNT]]");
    std::process::exit(2);
}

/// Makes a sandbox with room for this many guests; ends the program when there is none.
fn sandbox_of(settings: Settings, count: u32) -> Sandbox {
    let settings = Settings { concurrent: count, ..settings };
    match Sandbox::new(settings) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

fn sleep(settings: Settings, count: u32) {
    let bytes = support::guest("hostile");
    let bare = Memory::now();
    let sandbox = sandbox_of(settings, count);
    let limits = Limits::default();
    let component = sandbox.compile(&bytes, &limits).expect("accepted");
    let runtime = wedflow_sandbox::runtime().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async {
        let manifest = sandbox.describe(&component).await.expect("described");
        let declaration = manifest.transition("sleep-wid").expect("declared");
        let bound = component.bind(declaration, &support::usual_flow()).expect("fits");
        let ready = Memory::now();
        println!("a sandbox with room for {count}, empty: {}", ready.since(&bare));

        let sandbox: &'static Sandbox = Box::leak(Box::new(sandbox));
        let begun = Instant::now();
        let guests: Vec<_> = (0..count)
            .map(|_| {
                let bound = bound.clone();
                tokio::spawn(async move {
                    let invocation =
                        Invocation { key: "", wid: Wid::new(SLEEP), ..support::invocation(support::PAYLOAD) };
                    let timeout = Duration::from_secs(60);
                    sandbox.run(&bound, invocation, timeout, &Limits::default()).await
                })
            })
            .collect();
        // By then all are asleep, and none is awake yet.
        tokio::time::sleep(Duration::from_secs(SLEEP as u64) / 2).await;
        let asleep = Memory::now();
        let (mut rested, mut others) = (0, Vec::new());
        for guest in guests {
            match guest.await.expect("no panic").outcome {
                Outcome::Clause(_) => rested += 1,
                other => others.push(other),
            }
        }
        let all = begun.elapsed();
        let used = asleep.since(&ready);
        let each = |bytes: i64| bytes as f64 / f64::from(count) / 1024.0;
        println!("{count} asleep: {used}");
        println!(
            "each: {:.1} KiB resident and {:.1} KiB of page tables, {:.2} memory maps (of which {:.2} \
             from the start)",
            each(used.resident),
            each(used.tables),
            (asleep.maps - bare.maps) as f64 / f64::from(count),
            (ready.maps - bare.maps) as f64 / f64::from(count),
        );
        println!("{rested} of {count} rested for {SLEEP} s, all within {:.2} s", all.as_secs_f64());
        if let Some(other) = others.first() {
            println!("{} did not, the first one: {other}", others.len());
        }
        report_maps(count, &bare, &asleep);
    });
}

/// Reports how many such guests the kernel's limit on memory maps leaves room for.
fn report_maps(count: u32, bare: &Memory, asleep: &Memory) {
    if let Some(limit) = map_limit() {
        let each = (asleep.maps - bare.maps) as f64 / f64::from(count);
        println!(
            "the kernel allows {limit} maps a process (vm.max_map_count): {} in use, room for \
                 about {:.0} such guests\n",
            asleep.maps,
            (limit - bare.maps) as f64 / each
        );
    }
}

/// Memory of the process, as the kernel counts it.
struct Memory {
    resident: i64,
    tables: i64,
    maps: i64,
}

impl Memory {
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kib = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.trim_matches([':', ' ', '\t']).split(' ').next())
                .and_then(|number| number.parse::<i64>().ok())
                .unwrap_or(0)
        };
        let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
        Memory {
            resident: kib("VmRSS") * 1024,
            tables: kib("VmPTE") * 1024,
            maps: maps.iter().filter(|byte| **byte == b'\n').count() as i64,
        }
    }

    fn since(&self, before: &Memory) -> Memory {
        Memory {
            resident: self.resident - before.resident,
            tables: self.tables - before.tables,
            maps: self.maps - before.maps,
        }
    }
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.1} MiB resident, {:.1} MiB of page tables, {} memory maps",
            self.resident as f64 / 1_048_576.0,
            self.tables as f64 / 1_048_576.0,
            self.maps
        )
    }
}

fn map_limit() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?;
    text.trim().parse().ok()
}
