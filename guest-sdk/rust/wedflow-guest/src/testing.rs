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

use crate::bindings::Payload;
use crate::bindings::wed::flow::http::FetchError;
pub use crate::bindings::wed::flow::types::{Declaration, Outcome, Postponement};
use crate::http::{FetchErrorKind, Response};
use crate::stand::{STAND, Stand, with_stand};
use crate::state::Values;
use crate::transition::{self, Transition};
use crate::{Attribute, Change, Declared, Failure, Job, State, Value};
use alloc::borrow::ToOwned;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use core::marker::PhantomData;
use core::time::Duration;

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
        let response = Response { status, headers: Vec::new(), body: body.into() };
        self.stand.borrow_mut().answers.push_back(Ok(response));
        self
    }

    /// The next request comes to no answer.
    #[must_use]
    pub fn answer_error(self, kind: FetchErrorKind, message: &str) -> Self {
        let error = FetchError { kind, message: message.to_owned() };
        self.stand.borrow_mut().answers.push_back(Err(error));
        self
    }

    /// The requests sent so far.
    pub fn requests(&self) -> Vec<crate::http::Request> {
        let requests = self.stand.borrow().requests.clone();
        requests.into_iter().map(crate::http::Request::from).collect()
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
        stand.pass(span);
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
    Call { job: job(T::NAME), state: Vec::new(), transition: PhantomData }
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
            self.state.iter().find(|(name, _)| name == declared.name).map_or(Value::NULL, |(_, value)| value.clone())
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
