//! The stand-in for the server under `cargo test`: the functions of the contract, answered from a thread's own state.

extern crate std;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::time::Duration;
use std::thread_local;

use crate::bindings::wed::flow::http::{FetchError, Request, Response};

/// 2000-01-01T00:00:00Z in microseconds: the time at first.
const START: i64 = 946_684_800_000_000;

/// State of the stand-in on one thread.
#[derive(Debug)]
pub(crate) struct Stand {
    pub(crate) now: i64,
    pub(crate) scripted: VecDeque<u64>,
    pub(crate) seed: u64,
    pub(crate) logs: Vec<String>,
    pub(crate) slept: Duration,
    pub(crate) attributes: Vec<String>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) secrets: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) answers: VecDeque<Result<Response, FetchError>>,
    pub(crate) requests: Vec<Request>,
}

impl Stand {
    pub(crate) fn new() -> Self {
        Stand {
            now: START,
            scripted: VecDeque::new(),
            seed: 0,
            logs: Vec::new(),
            slept: Duration::ZERO,
            attributes: Vec::new(),
            settings: BTreeMap::new(),
            secrets: BTreeMap::new(),
            files: BTreeMap::new(),
            answers: VecDeque::new(),
            requests: Vec::new(),
        }
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, span: Duration) {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        self.now = self.now.saturating_add(micros);
    }
}

thread_local! {
    pub(crate) static STAND: RefCell<Rc<RefCell<Stand>>> = RefCell::new(Rc::new(RefCell::new(Stand::new())));
}

pub(crate) fn with_stand<T>(act: impl FnOnce(&mut Stand) -> T) -> T {
    let stand = STAND.with(|current| Rc::clone(&current.borrow()));
    let mut stand = stand.borrow_mut();
    act(&mut stand)
}

/// The functions of the contract's interface `host`.
pub(crate) mod host {
    use super::*;
    use crate::bindings::wed::flow::host::{Field, Severity};

    pub(crate) fn log(severity: Severity, message: &str, fields: &[Field]) {
        let level = match severity {
            Severity::Debug => "debug",
            Severity::Info => "info",
            Severity::Warn => "warn",
            Severity::Error => "error",
        };
        let mut line = format!("{level}: {message}");
        for field in fields {
            line.push_str(&format!(" {}={}", field.key, field.value));
        }
        with_stand(|stand| stand.logs.push(line));
    }

    pub(crate) fn now() -> i64 {
        with_stand(|stand| stand.now)
    }

    pub(crate) fn random() -> u64 {
        with_stand(|stand| {
            stand.scripted.pop_front().unwrap_or_else(|| {
                // splitmix64
                stand.seed = stand.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = stand.seed;
                mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ mixed >> 31
            })
        })
    }

    pub(crate) fn sleep(microseconds: u64) {
        let span = Duration::from_micros(microseconds);
        with_stand(|stand| {
            stand.slept += span;
            stand.pass(span);
        });
    }

    pub(crate) fn config(key: &str) -> Option<String> {
        with_stand(|stand| stand.settings.get(key).cloned())
    }

    pub(crate) fn secret(name: &str) -> Option<String> {
        with_stand(|stand| stand.secrets.get(name).cloned())
    }

    pub(crate) fn attributes() -> Vec<String> {
        with_stand(|stand| stand.attributes.clone())
    }
}

/// The functions of the contract's interface `files`.
pub(crate) mod files {
    use super::*;
    use crate::bindings::wed::flow::files::{File, FileError};

    pub(crate) fn read(name: &str) -> Result<Option<Vec<u8>>, FileError> {
        Ok(with_stand(|stand| stand.files.get(name).cloned()))
    }

    pub(crate) fn write(name: &str, content: &[u8]) -> Result<(), FileError> {
        let (name, content) = (name.to_owned(), content.to_vec());
        with_stand(|stand| stand.files.insert(name, content));
        Ok(())
    }

    pub(crate) fn append(name: &str, content: &[u8]) -> Result<(), FileError> {
        with_stand(|stand| {
            let file = stand.files.entry(name.to_owned()).or_default();
            file.extend_from_slice(content);
        });
        Ok(())
    }

    pub(crate) fn remove(name: &str) -> Result<bool, FileError> {
        Ok(with_stand(|stand| stand.files.remove(name).is_some()))
    }

    pub(crate) fn all() -> Result<Vec<File>, FileError> {
        Ok(with_stand(|stand| {
            let files = stand.files.iter();
            files.map(|(name, content)| File { name: name.clone(), size: content.len() as u64 }).collect()
        }))
    }
}

/// The functions of the contract's interface `http`.
pub(crate) mod http {
    use super::*;
    use crate::bindings::wed::flow::http::FetchErrorKind;

    pub(crate) fn fetch(request: &Request) -> Result<Response, FetchError> {
        with_stand(|stand| {
            stand.requests.push(request.clone());
            stand.answers.pop_front().unwrap_or_else(|| {
                Err(FetchError {
                    kind: FetchErrorKind::Denied,
                    message: format!("the test has no answer to {} {}", request.method, request.url),
                })
            })
        })
    }

    pub(crate) fn key() -> String {
        "test-1-test".to_owned()
    }
}
