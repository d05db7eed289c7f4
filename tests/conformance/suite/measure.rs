//! What each language costs: the table of `docs/guests.md`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use wedflow_model::{Limits, Outcome};
use wedflow_sandbox::{Invocation, Sandbox, Settings};

use crate::behaviours::flow_of_ten;
use crate::guests::{Absent, Language, Which, guest, tool};

/// How long each language is called.
const TIME: Duration = Duration::from_secs(5);

const BEGIN: &str = "<!-- made by make bench-guests: begin -->";
const END: &str = "<!-- made by make bench-guests: end -->";

const STATE: &str = r#"{"t1": "ready", "t2": "new", "t3": "Ana Souza", "t4": "Rua Augusta 1500", "t5": "BR",
 "t6": "10.00", "t7": "2026-11-21", "t8": "card", "t9": "none", "t10": "x"}"#;

/// Measures every language and writes the table between the two marks of a file.
///
/// # Errors
/// What cannot be built, run, read or written.
pub(crate) fn measure(file: &str) -> Result<(), String> {
    let file = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (before, rest) = text
        .split_once(BEGIN)
        .ok_or("the file has no mark for the table")?;
    let (_, after) = rest
        .split_once(END)
        .ok_or("the file has no mark for the table's end")?;
    let mut table = String::from(
        "| language | built with | component | build | compile | call p50 | p99 | memory | fuel |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for language in Language::ALL {
        let row = match guest(language, Which::Conformance) {
            Ok(guest) => row(language, &guest.bytes, guest.built)?,
            Err(Absent::Tool(what)) => {
                format!("| {language} | not measured: {what} was missing | | | | | | | |")
            }
            Err(Absent::Broken(why)) => return Err(format!("{language}: {why}")),
        };
        println!("{row}");
        let _ = writeln!(table, "{row}");
    }
    std::fs::write(&file, format!("{before}{BEGIN}\n{table}{END}{after}"))
        .map_err(|error| error.to_string())
}

fn row(language: Language, bytes: &[u8], built: Duration) -> Result<String, String> {
    let limits = Limits::default();
    let sandbox = Sandbox::new(Settings {
        concurrent: 50,
        ..Settings::fast()
    })
    .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let component = sandbox
        .compile(bytes, &limits)
        .map_err(|error| error.to_string())?;
    let compiled = begun.elapsed();
    let runtime = wedflow_sandbox::runtime()
        .worker_threads(1)
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let manifest = sandbox
            .describe(&component)
            .await
            .map_err(|error| error.to_string())?;
        let declared = manifest
            .transitions
            .iter()
            .find(|one| one.transition == "clause_of_ten")
            .ok_or("no clause_of_ten")?;
        let bound = component
            .bind(declared, &flow_of_ten())
            .map_err(|error| error.to_string())?;
        let mut times = Vec::new();
        let end = Instant::now() + TIME;
        loop {
            let invocation = Invocation {
                flow: "f",
                wid: 1,
                trigger: "t",
                attempt: 1,
                deadline: 0,
                payload: STATE,
                key: "",
            };
            let begun = Instant::now();
            let attempt = sandbox
                .run(&bound, invocation, Duration::from_secs(5), &limits)
                .await;
            times.push(begun.elapsed().as_nanos());
            let Outcome::Clause(_) = attempt.outcome else {
                return Err(format!("{language}: {:?}", attempt.outcome));
            };
            if begun > end {
                times.sort_unstable();
                let percentile =
                    |percent: usize| times[(times.len() - 1) * percent / 100] as f64 / 1_000.0;
                return Ok(format!(
                    "| {language} | {} | {} | {:.1} s | {:.2} s | {:.1} µs | {:.1} µs | {} | {} |",
                    tool(language),
                    size(bytes.len() as u64),
                    built.as_secs_f64(),
                    compiled.as_secs_f64(),
                    percentile(50),
                    percentile(99),
                    size(attempt.measure.memory_bytes),
                    attempt.measure.fuel,
                ));
            }
        }
    })
}

fn size(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes / 1_000)
    } else {
        format!("{:.1} MB", bytes as f64 / 1e6)
    }
}
