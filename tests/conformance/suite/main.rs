//! The same guest in five languages with the same behaviours: see `tests/guests/conformance/BEHAVIOURS.md`.
//!
//! Each guest is built by its language's own tool and kept until one of its files changes. A language
//! whose tool is not on this machine is ignored, with a word; with `WEDFLOW_ALL_LANGUAGES=1` it fails.
//! With `WEDFLOW_MEASURE=FILE` it measures instead, and writes its table into the file; with
//! `WEDFLOW_COMPARE=A.wasm,B.wasm` it measures conformance guests that are there already against each other.

mod behaviours;
mod call;
mod equal;
mod measure;
mod outside;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use behaviours::{BEHAVIOURS, flow_of_ten};
use wedflow_loader::languages::{self as guests, Language, Which};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let asked = [
        ("WEDFLOW_MEASURE", measure::measure as fn(&str) -> Result<(), String>),
        ("WEDFLOW_COMPARE", measure::compare),
    ];
    for (variable, act) in asked {
        let Some(files) = std::env::var_os(variable) else {
            continue;
        };
        return match act(&files.to_string_lossy()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let demanded = std::env::var_os("WEDFLOW_ALL_LANGUAGES").is_some_and(|value| value == "1");
    let mut tests = Vec::new();
    for language in Language::ALL {
        let missing = guests::missing(language);
        if let Some(what) = &missing
            && !arguments.list
        {
            eprintln!(
                "{language}: {what} is missing; its behaviours are {}",
                if demanded { "failures" } else { "ignored" }
            );
        }
        let ignored = missing.is_some() && !demanded;
        for (name, behaviour) in BEHAVIOURS {
            let test = Trial::test(format!("{language}::{name}"), move || {
                let guest = call::ready(language, Which::Conformance)?;
                behaviour(&guest, language).map_err(Failed::from)
            });
            tests.push(test.with_ignored_flag(ignored));
        }
        for (name, behaviour) in outside::BEHAVIOURS {
            let test = Trial::test(format!("{language}::outside::{name}"), move || {
                let guest = call::ready(language, Which::Outside)?;
                behaviour(&guest, language).map_err(Failed::from)
            });
            tests.push(test.with_ignored_flag(ignored));
        }
        let test = Trial::test(format!("{language}::clause_of_ten"), move || {
            let guest = call::ready(language, Which::Conformance)?;
            let bound = guest.bound("clause_of_ten", &flow_of_ten())?;
            let state: String = (1..=10).map(|n| format!(r#""t{n}": "it's {n}","#)).collect();
            let state = format!("{{{}}}", state.trim_end_matches(','));
            let attempt = guest.attempt(&bound, &call::Call::of("clause_of_ten").on(&state));
            match attempt.outcome {
                wedflow_model::Outcome::Clause(clause) if clause.replace([' ', '"'], "") == "t1='it''s1',t2='done'" => {
                    Ok(())
                }
                other => Err(format!("{other:?}").into()),
            }
        });
        tests.push(test.with_ignored_flag(ignored));
    }
    libtest_mimic::run(&arguments, tests).exit_code()
}
