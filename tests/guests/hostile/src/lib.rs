//! Transitions that misbehave, one each, selected by their names, and small ones that do not.
//!
//! Without the standard library, so that the component imports nothing but the host.
#![no_std]

extern crate alloc;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

mod heap;

wit_bindgen::generate!({ path: "../../../wit", world: "transition" });

use wed::flow::types::{Assignment, Attribute, Declaration, Failure, Postponement};
use wed::flow::values::{Scalar, Value};
use wed::flow::{files, host, http};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Transitions;

/// The attributes that the transitions `…-of-ten` read.
const TEN: [&str; 10] = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10"];

fn any(names: &[&str]) -> Vec<Attribute> {
    names.iter().map(|name| Attribute { name: (*name).to_string(), kind: "any".to_string() }).collect()
}

/// The transitions.
const TRANSITIONS: [&str; 40] = [
    "abort",
    "abort-after",
    "abort-never",
    "ask-long",
    "ask-settings",
    "leak",
    "frugal",
    "frugal-memory",
    "assign-of-ten",
    "assignments",
    "bad-position",
    "clause",
    "clause-of-ten",
    "date-extreme",
    "echo",
    "fail",
    "fetch",
    "files",
    "ask-host",
    "host-flood",
    "invalid-utf8",
    "list-bomb",
    "log-flood",
    "log-huge",
    "log-line",
    "loop",
    "memory-bomb",
    "moody",
    "nap",
    "naps",
    "recursion",
    "shadow-stack",
    "sleep-forever",
    "sleep-wid",
    "string-huge",
    "trap",
    "work",
    "wrong-type",
    "zero-abort",
    "zero-fail",
];

impl Guest for Transitions {
    fn describe() -> Manifest {
        let transitions = TRANSITIONS
            .iter()
            .map(|name| Declaration {
                transition: (*name).to_string(),
                description: String::new(),
                reads: name.ends_with("of-ten").then(|| any(&TEN)),
                writes: match *name {
                    "clause" | "clause-of-ten" => None,
                    "assign-of-ten" => Some(any(&["a1"])),
                    "date-extreme" => Some(any(&["day"])),
                    _ => Some(any(&["a1", "n", "tags"])),
                },
                condition: (*name == "frugal").then(|| "a1 = 'ready' AND other > 1".to_string()),
                timeout: (*name == "frugal").then_some(5_000),
                fuel: (*name == "frugal").then_some(1_000_000),
                memory: (*name == "frugal-memory").then_some(2 << 20),
            })
            .collect();
        Manifest { name: "hostile".to_string(), sdk: String::new(), transitions }
    }

    fn run(payload: Payload) -> Outcome {
        answer(&payload)
            .or_else(|| call_host(&payload))
            .or_else(|| exhaust(&payload))
            .unwrap_or_else(|| abort(&format!("no transition {}", payload.transition)))
    }
}

/// Performs the transitions that answer at once, rightly or wrongly.
fn answer(payload: &Payload) -> Option<Outcome> {
    Some(match payload.transition.as_str() {
        "abort" => abort("not yet"),
        "abort-after" => {
            Outcome::Abort(Postponement { reason: "the shop is closed".to_string(), after: Some(90_000_000) })
        }
        "abort-never" => Outcome::Abort(Postponement { reason: "in all eternity".to_string(), after: Some(u64::MAX) }),
        "assignments" => Outcome::Assignments(vec![
            set(0, Scalar::Text("done".to_string())),
            set(1, Scalar::Integer(payload.wid)),
            Assignment { attribute: 2, value: Value::List(vec![Scalar::Text("x".to_string()), Scalar::Null]) },
        ]),
        "bad-position" => Outcome::Assignments(vec![set(7, Scalar::Null)]),
        "assign-of-ten" => Outcome::Assignments(vec![set(0, first_text(payload))]),
        "clause-of-ten" => match first_text(payload) {
            Scalar::Text(text) => Outcome::SetClause(format!("a1='{text}', a2='done'")),
            _ => abort(""),
        },
        "clause" => Outcome::SetClause("a1='done', n=n+1".to_string()),
        "date-extreme" => Outcome::Assignments(vec![set(0, Scalar::Date(i32::MAX - 1))]),
        "echo" => Outcome::SetClause(describe_state(payload)),
        "fail" => Outcome::Fail(Failure { message: "no stock".to_string(), retry: false }),
        "invalid-utf8" => {
            // SAFETY: none; this guest lies, and the host must notice.
            let text = unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe]) };
            Outcome::SetClause(text)
        }
        "wrong-type" => Outcome::Assignments(vec![set(1, Scalar::Boolean(true))]),
        "zero-abort" => abort("a\0b"),
        "zero-fail" => Outcome::Fail(Failure { message: "a\0b".to_string(), retry: false }),
        _ => return None,
    })
}

/// Performs the transitions that call the host.
fn call_host(payload: &Payload) -> Option<Outcome> {
    Some(match payload.transition.as_str() {
        "ask-long" => {
            let key = "x".repeat(1 << 20);
            Outcome::SetClause(format!("n={}", host::config(&key).is_some()))
        }
        "ask-settings" => Outcome::SetClause(format!(
            "url={:?} none={:?} key={:?} other={:?}",
            host::config("url"),
            host::config("none"),
            host::secret("key"),
            host::secret("other")
        )),
        "leak" => leak(payload),
        "fetch" => fetch(payload),
        "files" => on_files(payload),
        "ask-host" => Outcome::SetClause(format!(
            "now={} random={} names={}",
            host::now() > 0,
            host::random() != host::random(),
            host::attributes().join(",")
        )),
        "host-flood" => loop {
            black_box(host::now());
        },
        "log-flood" => {
            for n in 0..10_000 {
                host::log(host::Severity::Info, &format!("line {n}"), &[]);
            }
            Outcome::SetClause("a1='logged'".to_string())
        }
        "log-huge" => {
            host::log(host::Severity::Info, &"x".repeat(20 << 20), &[]);
            Outcome::SetClause("a1='logged'".to_string())
        }
        "log-line" => {
            host::log(
                host::Severity::Warn,
                "careful",
                &[host::Field { key: "wid".to_string(), value: payload.wid.to_string() }],
            );
            Outcome::SetClause("a1='logged'".to_string())
        }
        "nap" => {
            host::sleep(20_000);
            Outcome::SetClause("a1='rested'".to_string())
        }
        "naps" => loop {
            host::sleep(5_000);
        },
        "sleep-forever" => {
            host::sleep(u64::MAX);
            Outcome::SetClause(String::new())
        }
        "sleep-wid" => {
            host::sleep(payload.wid as u64 * 1_000_000);
            Outcome::SetClause("a1='rested'".to_string())
        }
        _ => return None,
    })
}

/// Performs the transitions that use up a limit, or trap.
fn exhaust(payload: &Payload) -> Option<Outcome> {
    Some(match payload.transition.as_str() {
        "frugal" => loop {
            black_box(());
        },
        "frugal-memory" => {
            let held: Vec<u8> = vec![1; 4 << 20];
            Outcome::SetClause(format!("n={}", black_box(held).len()))
        }
        "loop" => loop {
            black_box(());
        },
        "memory-bomb" => {
            let mut held: Vec<Vec<u8>> = Vec::new();
            loop {
                held.push(vec![1; 1 << 20]);
            }
        }
        "recursion" => Outcome::SetClause(format!("n={}", recurse(payload.wid as u64))),
        "shadow-stack" => Outcome::SetClause(format!("n={}", shadow(payload.wid as u64))),
        "trap" => core::arch::wasm32::unreachable(),
        "work" => {
            let mut sum = 0_u64;
            for n in 0..black_box(200_000_000_u64) {
                sum = black_box(sum.wrapping_add(n));
            }
            Outcome::SetClause(format!("n={}", sum % 1000))
        }
        "moody" => match payload.state.get(1) {
            Some(Value::Scalar(Scalar::Integer(0))) => Outcome::SetClause("a1='done'".to_string()),
            _ => core::arch::wasm32::unreachable(),
        },
        "string-huge" => Outcome::SetClause("x".repeat(200 << 20)),
        "list-bomb" => {
            // A list whose elements all share one long text: small here, huge when copied.
            let text = "x".repeat(1 << 20);
            let list = (0..1000)
                // SAFETY: none; the copies are never freed, the call ends first.
                .map(|_| Scalar::Text(unsafe { core::ptr::read(&text) }))
                .collect();
            core::mem::forget(text);
            Outcome::Assignments(vec![Assignment { attribute: 2, value: Value::List(list) }])
        }
        _ => return None,
    })
}

fn abort(reason: &str) -> Outcome {
    Outcome::Abort(Postponement { reason: reason.to_string(), after: None })
}

/// Tells its secret in the way that the first attribute says.
fn leak(payload: &Payload) -> Outcome {
    let key = host::secret("key").unwrap_or_default();
    match first_text(payload) {
        Scalar::Text(way) if way == "log" => {
            let field = host::Field { key: "key".to_string(), value: key.clone() };
            host::log(host::Severity::Info, &format!("the key is {key}!"), &[field]);
            Outcome::SetClause("a1='logged'".to_string())
        }
        Scalar::Text(way) if way == "abort" => abort(&key),
        Scalar::Text(way) if way == "clause" => Outcome::SetClause(format!("nothing = '{key}'")),
        Scalar::Text(way) if way == "value" => Outcome::SetClause(format!("n = '{key}'")),
        _ => Outcome::Fail(Failure { message: format!("401 with {key}"), retry: false }),
    }
}

/// Sends what `tags` says (method, URL, body, then header, value and secret), and answers with the result of
/// it in `a1`; where the body says so, it fails instead.
fn fetch(payload: &Payload) -> Outcome {
    let words = tags(payload);
    let word = |at: usize| words.get(at).cloned().unwrap_or_default();
    let mut headers = vec![http::Header { name: "idempotency-key".to_string(), value: http::key(), secret: None }];
    if words.len() > 3 {
        headers.push(http::Header {
            name: word(3),
            value: word(4),
            secret: Some(word(5)).filter(|name| !name.is_empty()),
        });
    }
    let answer = http::fetch(&http::Request { method: word(0), url: word(1), headers, body: word(2).into_bytes() });
    let told = match answer {
        Ok(response) => {
            format!("{} {} {}", response.status, response.headers.len(), String::from_utf8_lossy(&response.body))
        }
        Err(error) => format!("{:?}: {}", error.kind, error.message),
    };
    if word(2) == "and fail" && payload.attempt < 2 {
        return Outcome::Fail(Failure { message: told, retry: true });
    }
    Outcome::Assignments(vec![set(0, Scalar::Text(told))])
}

/// Does with the files what `tags` says, in order: `read a`, `write a text`, `append a text`, `remove a`,
/// `all`, `fail`; answers with the result of each.
fn on_files(payload: &Payload) -> Outcome {
    let mut told = Vec::new();
    for line in tags(payload) {
        let mut words = line.splitn(3, ' ');
        let (what, name, text) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let wrong = |error: files::FileError| format!("{:?}: {}", error.kind, error.message);
        told.push(match what {
            "read" => match files::read(name) {
                Ok(Some(content)) => String::from_utf8_lossy(&content).to_string(),
                Ok(None) => "none".to_string(),
                Err(error) => wrong(error),
            },
            "write" => files::write(name, text.as_bytes()).map_or_else(wrong, |()| "written".to_string()),
            "append" => files::append(name, text.as_bytes()).map_or_else(wrong, |()| "appended".to_string()),
            "remove" => files::remove(name).map_or_else(wrong, |was| was.to_string()),
            "fill" => {
                let content = vec![b'x'; 1 << 20];
                let mut count = 0;
                loop {
                    if let Err(error) = files::write(&format!("{name}{count}"), &content) {
                        break format!("{count} {}", wrong(error));
                    }
                    count += 1;
                }
            }
            "all" => match files::all() {
                Ok(all) => all.iter().map(|file| format!("{}={}", file.name, file.size)).collect::<Vec<_>>().join(" "),
                Err(error) => wrong(error),
            },
            _ => {
                return Outcome::Fail(Failure { message: told.join("|"), retry: false });
            }
        });
    }
    Outcome::Assignments(vec![set(0, Scalar::Text(told.join("|")))])
}

/// The texts in the third attribute.
fn tags(payload: &Payload) -> Vec<String> {
    match payload.state.get(2) {
        Some(Value::List(list)) => list
            .iter()
            .map(|one| match one {
                Scalar::Text(text) => text.clone(),
                _ => String::new(),
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn first_text(payload: &Payload) -> Scalar {
    match payload.state.first() {
        Some(Value::Scalar(scalar)) => scalar.clone(),
        _ => Scalar::Null,
    }
}

fn set(attribute: u32, value: Scalar) -> Assignment {
    Assignment { attribute, value: Value::Scalar(value) }
}

/// Uses the stack of WebAssembly alone: no variable has an address.
#[inline(never)]
fn recurse(n: u64) -> u64 {
    if n == u64::MAX {
        return 0;
    }
    // Not something that a compiler can turn into a loop.
    recurse(n + 1).rotate_left(3) ^ n
}

/// Uses the stack that the compiler keeps in linear memory.
#[inline(never)]
fn shadow(n: u64) -> u64 {
    let mut room = [n; 8192];
    black_box(&mut room);
    if n == u64::MAX {
        return room[0];
    }
    shadow(n + 1).wrapping_add(room[(n % 8192) as usize])
}

/// Every value that arrived, as text: its type, `=`, its content.
fn describe_state(payload: &Payload) -> String {
    let mut texts: Vec<String> = payload
        .state
        .iter()
        .map(|value| match value {
            Value::Scalar(scalar) => describe_scalar(scalar),
            Value::List(list) => format!("[{}]", list.iter().map(describe_scalar).collect::<Vec<_>>().join(" ")),
        })
        .collect();
    texts.push(format!(
        "{} {} {} {} {}",
        payload.flow,
        payload.wid,
        payload.trigger,
        payload.attempt,
        payload.deadline > 0
    ));
    texts.join("|")
}

fn describe_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "null".to_string(),
        Scalar::Text(text) => format!("text={text}"),
        Scalar::Integer(n) => format!("integer={n}"),
        Scalar::Bigint(n) => format!("bigint={n}"),
        Scalar::Numeric(text) => format!("numeric={text}"),
        Scalar::Float(n) => format!("float={n}"),
        Scalar::Boolean(b) => format!("boolean={b}"),
        Scalar::Timestamptz(us) => format!("timestamptz={us}"),
        Scalar::Date(days) => format!("date={days}"),
        Scalar::Interval(text) => format!("interval={text}"),
        Scalar::Uuid(text) => format!("uuid={text}"),
        Scalar::Jsonb(text) => format!("jsonb={text}"),
    }
}

export!(Transitions);
