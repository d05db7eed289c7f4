//! Transitions under `cargo test`: a stand-in for the server, and a way to invoke a transition as
//! the server does.
//!
//! ```
//! use wedflow_guest::prelude::*;
//! use wedflow_guest::testing;
//!
//! /// Doubles `n`.
//! #[transition(writes = [n: integer])]
//! fn double(state: Number) -> Change {
//!     info!("doubling"; n = state.n);
//!     set! { n = state.n * 2 }
//! }
//!
//! #[derive(State)]
//! struct Number {
//!     n: i32,
//! }
//!
//! let server = testing::Server::new();
//! let answer = testing::call::<double>().with("n", 21).run();
//! assert_eq!(answer, Ok(set! { n = 42 }));
//! assert_eq!(server.logs(), ["info: doubling n=21"]);
//! ```

extern crate std;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::marker::PhantomData;
use core::time::Duration;
use std::thread_local;

use crate::bindings::Payload;
use crate::bindings::wed::flow::http;
use crate::bindings::wed::flow::http::FetchError;
pub use crate::bindings::wed::flow::types::{Declaration, Outcome, Postponement};
use crate::http::{FetchErrorKind, Response};
use crate::state::Values;
use crate::transition::{self, Transition};
use crate::{Attribute, Change, Declared, Failure, Job, State, Timestamp, Value};

/// 2000-01-01T00:00:00Z, the stand-in's time at first.
const START: i64 = 946_684_800_000_000;

#[derive(Debug)]
struct Stand {
    now: i64,
    scripted: VecDeque<u64>,
    seed: u64,
    logs: Vec<String>,
    slept: Duration,
    attributes: Vec<String>,
    settings: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    files: BTreeMap<String, Vec<u8>>,
    answers: VecDeque<Result<Response, FetchError>>,
    requests: Vec<http::Request>,
}

impl Stand {
    fn new() -> Self {
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
}

thread_local! {
    static STAND: RefCell<Rc<RefCell<Stand>>> = RefCell::new(Rc::new(RefCell::new(Stand::new())));
}

fn with_stand<T>(act: impl FnOnce(&mut Stand) -> T) -> T {
    let stand = STAND.with(|current| Rc::clone(&current.borrow()));
    let mut stand = stand.borrow_mut();
    act(&mut stand)
}

/// A stand-in for the server on this thread, until it is dropped. Without one, calls to the host
/// work too, with a default of the same kind.
///
/// Its clock starts at 2000-01-01T00:00:00Z and advances only by [`sleep`](crate::sleep) and
/// [`Server::advance`]; its random numbers are the same in every run.
#[derive(Debug)]
pub struct Server {
    stand: Rc<RefCell<Stand>>,
    before: Rc<RefCell<Stand>>,
}

impl Server {
    /// Puts a fresh one in place.
    #[must_use]
    pub fn new() -> Self {
        let stand = Rc::new(RefCell::new(Stand::new()));
        let before = STAND.with(|current| current.replace(Rc::clone(&stand)));
        Server { stand, before }
    }

    /// The numbers that [`random`](crate::random) returns next; after them, made-up ones again.
    #[must_use]
    pub fn random(self, numbers: impl IntoIterator<Item = u64>) -> Self {
        self.stand.borrow_mut().scripted.extend(numbers);
        self
    }

    /// A setting of the flow, for [`config`](crate::config).
    #[must_use]
    pub fn config(self, key: &str, value: &str) -> Self {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.stand.borrow_mut().settings.insert(key, value);
        self
    }

    /// A secret that is granted, for [`secret`](crate::secret).
    #[must_use]
    pub fn secret(self, name: &str, value: &str) -> Self {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.stand.borrow_mut().secrets.insert(name, value);
        self
    }

    /// A file that the instance has, for [`files`](crate::files).
    #[must_use]
    pub fn file(self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        let (name, content) = (name.to_owned(), content.into());
        self.stand.borrow_mut().files.insert(name, content);
        self
    }

    /// Returns what the next request, after those answered before, is answered.
    #[must_use]
    pub fn answer(self, status: u16, body: impl Into<Vec<u8>>) -> Self {
        let response = Response {
            status,
            headers: Vec::new(),
            body: body.into(),
        };
        self.stand.borrow_mut().answers.push_back(Ok(response));
        self
    }

    /// The next request comes to no answer.
    #[must_use]
    pub fn answer_error(self, kind: FetchErrorKind, message: &str) -> Self {
        let error = FetchError {
            kind,
            message: message.to_owned(),
        };
        self.stand.borrow_mut().answers.push_back(Err(error));
        self
    }

    /// The requests sent so far.
    pub fn requests(&self) -> Vec<crate::http::Request> {
        let requests = self.stand.borrow().requests.clone();
        requests
            .into_iter()
            .map(crate::http::Request::from)
            .collect()
    }

    /// A file as it is now.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        self.stand.borrow().files.get(name).cloned()
    }

    /// Another sequence of made-up random numbers.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.stand.borrow_mut().seed = seed;
        self
    }

    /// Lets time pass.
    pub fn advance(&self, span: Duration) {
        let mut stand = self.stand.borrow_mut();
        stand.now = (Timestamp::from_micros(stand.now) + span).as_micros();
    }

    /// The lines logged so far, written like `info: moved from=3 to=4`.
    pub fn logs(&self) -> Vec<String> {
        self.stand.borrow().logs.clone()
    }

    /// For how long the transitions slept in all.
    pub fn slept(&self) -> Duration {
        self.stand.borrow().slept
    }
}

impl Default for Server {
    fn default() -> Self {
        Server::new()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        STAND.with(|current| *current.borrow_mut() = Rc::clone(&self.before));
    }
}

/// The functions of the contract's interface `host`.
pub(crate) mod fake {
    use super::*;
    use crate::host::{Field, Severity};

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
            stand.now = (Timestamp::from_micros(stand.now) + span).as_micros();
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
pub(crate) mod fake_files {
    use super::*;
    use crate::bindings::wed::flow::files::FileError;
    use crate::files::File;

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
            files
                .map(|(name, content)| File {
                    name: name.clone(),
                    size: content.len() as u64,
                })
                .collect()
        }))
    }
}

/// The functions of the contract's interface `http`.
pub(crate) mod fake_http {
    use super::*;

    pub(crate) fn fetch(request: &http::Request) -> Result<Response, FetchError> {
        with_stand(|stand| {
            stand.requests.push(request.clone());
            stand.answers.pop_front().unwrap_or_else(|| {
                Err(FetchError {
                    kind: FetchErrorKind::Denied,
                    message: format!(
                        "the test has no answer to {} {}",
                        request.method, request.url
                    ),
                })
            })
        })
    }

    pub(crate) fn key() -> String {
        "test-1-test".to_owned()
    }
}

/// A job as a test wants it: attempt 1 of instance 1, with a minute to go.
pub fn job(transition: &str) -> Job {
    Job {
        flow: "test".to_owned(),
        wid: 1,
        trigger: "test".to_owned(),
        transition: transition.to_owned(),
        attempt: 1,
        deadline: crate::now() + Duration::from_secs(60),
    }
}

/// Invokes a transition as the server does, its state being read from values by name.
pub fn call<T: Transition>() -> Call<T> {
    Call {
        job: job(T::NAME),
        state: Vec::new(),
        transition: PhantomData,
    }
}

/// An invocation in the making; see [`call`].
#[derive(Debug)]
#[must_use]
pub struct Call<T> {
    job: Job,
    state: Vec<(String, Value)>,
    transition: PhantomData<T>,
}

impl<T: Transition> Call<T> {
    /// The value of an attribute; those that are not given are null.
    ///
    /// # Panics
    /// When the transition does not read that attribute.
    pub fn with(self, attribute: &str, value: impl Attribute) -> Self {
        self.with_value(attribute, value.into_value())
    }

    /// Like [`Call::with`], for text.
    ///
    /// # Panics
    /// When the transition does not read that attribute.
    pub fn with_text(self, attribute: &str, text: &str) -> Self {
        self.with(attribute, text.to_string())
    }

    fn with_value(mut self, attribute: &str, value: Value) -> Self {
        if let Some(reads) = T::State::READS {
            assert!(
                reads.iter().any(|declared| declared.name == attribute),
                "{} does not read attribute `{attribute}`",
                T::NAME
            );
        }
        self.state.push((attribute.to_owned(), value));
        self
    }

    /// Sets the attempt's number.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.job.attempt = attempt;
        self
    }

    /// The trigger that fired.
    pub fn trigger(mut self, trigger: &str) -> Self {
        self.job.trigger = trigger.to_owned();
        self
    }

    /// Performs the transition.
    ///
    /// # Errors
    /// The failure that it returned, or that reading the state or checking the change against the
    /// declared writes came to.
    pub fn run(self) -> Result<Change, Failure> {
        let (job, values) = self.prepared();
        let change = T::perform(T::State::read(Values::new(values))?, &job)?;
        change.clone().into_outcome(T::WRITES)?;
        Ok(change)
    }

    /// Performs the transition and gives what the server would get.
    pub fn outcome(self) -> Outcome {
        let (job, state) = self.prepared();
        transition::perform::<T>(Payload {
            flow: job.flow,
            wid: job.wid,
            trigger: job.trigger,
            transition: job.transition,
            attempt: job.attempt,
            deadline: job.deadline.as_micros(),
            state,
        })
    }

    fn prepared(self) -> (Job, Vec<Value>) {
        let given = |declared: &Declared| {
            self.state
                .iter()
                .find(|(name, _)| name == declared.name)
                .map_or(Value::NULL, |(_, value)| value.clone())
        };
        let values = match T::State::READS {
            Some(reads) => reads.iter().map(given).collect(),
            None => {
                let (names, values) = self.state.iter().cloned().unzip();
                with_stand(|stand| stand.attributes = names);
                values
            }
        };
        (self.job, values)
    }
}

/// Returns what a component says of a transition when it is uploaded.
pub fn describe<T: Transition>() -> Declaration {
    transition::declare::<T>()
}
