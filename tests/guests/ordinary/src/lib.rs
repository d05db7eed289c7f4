//! A transition that uses the standard library as an application would: strings, formatting, hash
//! maps, standard output, clocks, and a panic with a message.

use std::collections::HashMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

wit_bindgen::generate!({ path: "../../../wit", world: "transition" });

use wed::flow::types::{Assignment, Attribute, Declaration, Failure, Postponement};
use wed::flow::values::{Scalar, Value};

struct Transitions;

fn declaration(transition: &str, writes: &[(&str, &str)]) -> Declaration {
    Declaration {
        transition: transition.into(),
        description: format!("The ordinary transition `{transition}`"),
        reads: None,
        writes: Some(
            writes.iter().map(|(name, kind)| Attribute { name: (*name).into(), kind: (*kind).into() }).collect(),
        ),
        condition: None,
        timeout: None,
        fuel: None,
        memory: None,
    }
}

fn abort(reason: String) -> Outcome {
    Outcome::Abort(Postponement { reason, after: None })
}

impl Guest for Transitions {
    fn describe() -> Manifest {
        let transitions = vec![
            declaration("words", &[("n", "integer"), ("a1", "text")]),
            declaration("clause", &[]),
            declaration("print", &[]),
            declaration("clocks", &[("n", "integer")]),
            declaration("panic", &[]),
            declaration("files", &[]),
            declaration("exit", &[]),
        ];
        Manifest { name: "ordinary".into(), sdk: String::new(), transitions }
    }

    fn run(payload: Payload) -> Outcome {
        match payload.transition.as_str() {
            "words" => words(&payload),
            "clause" => match payload.state.first() {
                Some(Value::Scalar(Scalar::Text(text))) => Outcome::SetClause(format!("a1='{text}', a2='done'")),
                _ => abort(String::new()),
            },
            "print" => {
                println!("to standard output, {}", payload.wid);
                eprintln!("to standard error");
                print!("without an end");
                Outcome::SetClause("a1='printed'".into())
            }
            "clocks" => {
                let begun = Instant::now();
                std::thread::sleep(std::time::Duration::from_millis(20));
                let year =
                    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 31_556_952 + 1970);
                let forwards = begun.elapsed().as_millis() >= 20;
                Outcome::SetClause(format!("n={}", if forwards { year } else { 0 }))
            }
            "panic" => {
                let values: Vec<u32> = Vec::new();
                let at = payload.wid as usize;
                Outcome::SetClause(format!("n={}", values[at]))
            }
            "files" => match std::fs::read_to_string("/etc/passwd") {
                Ok(text) => Outcome::SetClause(format!("a1='{}'", text.len())),
                Err(error) => Outcome::Fail(Failure { message: error.to_string(), retry: false }),
            },
            "exit" => std::process::exit(payload.wid),
            other => abort(format!("no transition {other}")),
        }
    }
}

fn words(payload: &Payload) -> Outcome {
    let mut count: HashMap<String, usize> = HashMap::new();
    for value in &payload.state {
        if let Value::Scalar(Scalar::Text(text)) = value {
            for word in text.split_whitespace() {
                *count.entry(word.to_lowercase()).or_default() += 1;
            }
        }
    }
    let mut words: Vec<_> = count.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let text = words.iter().map(|(word, times)| format!("{word}:{times}")).collect::<Vec<_>>().join(" ");
    let total = words.iter().map(|(_, times)| times).sum::<usize>();
    Outcome::Assignments(vec![
        Assignment { attribute: 0, value: Value::Scalar(Scalar::Integer(total as i32)) },
        Assignment { attribute: 1, value: Value::Scalar(Scalar::Text(text)) },
    ])
}

export!(Transitions);
