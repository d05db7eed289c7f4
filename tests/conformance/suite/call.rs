//! Calls of a guest in the real sandbox.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use wedflow_contract::{Declaration, Manifest};
use wedflow_model::{AttributeType, Limits, Wid};
use wedflow_sandbox::{
    AnswersFrom, Attempt, AttemptContext, Bound, Component, Granted, Invocation, Provided, Sandbox, Settings,
};

use wedflow_loader::languages::{Absent, Language, Which, conformance_attributes, guest};

/// The time that a call has that should not need it.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// 64 bits that the sandbox draws always.
pub(crate) const RANDOM: u64 = 0xFEDC_BA98_7654_3210;

/// End of the guests' time, as they see it.
pub(crate) const DEADLINE: i64 = 1_800_000_000_123_456;

/// A guest, compiled and described.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) component: Component,
    pub(crate) manifest: Manifest,
}

pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        Sandbox::new(Settings { concurrent: 50, random: || RANDOM, ..Settings::fast() }).expect("a sandbox")
    })
}

/// The key of what fired the transitions.
pub(crate) const KEY: &str = "0f1e-7-3";

/// A language's guest, compiled once.
pub(crate) fn ready(language: Language, which: Which) -> Result<Ready, String> {
    type Loaded = Mutex<Vec<((Language, Which), Result<Ready, String>)>>;
    static READY: OnceLock<Loaded> = OnceLock::new();
    let mut all = READY.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = all.iter().find(|(one, _)| *one == (language, which)) {
        return known.clone();
    }
    let made = guest(language, which)
        .map_err(|absent| match absent {
            Absent::Tool(what) => format!("{what} is missing"),
            Absent::Broken(why) => why,
        })
        .and_then(|guest| {
            let component = sandbox().compile(&guest.bytes, &Limits::default()).map_err(|error| error.to_string())?;
            let manifest = on_runtime(sandbox().describe(&component)).map_err(|error| error.to_string())?;
            Ok(Ready { component, manifest })
        });
    all.push(((language, which), made.clone()));
    made
}

/// Runs a future on a runtime of its own.
pub(crate) fn on_runtime<T>(work: impl Future<Output = T>) -> T {
    wedflow_sandbox::runtime().worker_threads(1).build().expect("a runtime").block_on(work)
}

/// The flow's attributes: one of each type, and an array of each.
pub(crate) fn flow() -> Vec<(String, AttributeType)> {
    let all = conformance_attributes().into_iter();
    all.map(|(name, kind)| (name, kind.parse().expect("a type"))).collect()
}

/// A call.
pub(crate) struct Call<'a> {
    pub(crate) transition: &'a str,
    pub(crate) state: &'a str,
    pub(crate) timeout: Duration,
    pub(crate) limits: Limits,
}

impl<'a> Call<'a> {
    pub(crate) fn of(transition: &'a str) -> Self {
        Call { transition, state: "{}", timeout: LONG, limits: Limits::default() }
    }

    pub(crate) fn on(self, state: &'a str) -> Self {
        Call { state, ..self }
    }
}

impl Ready {
    pub(crate) fn declaration(&self, transition: &str) -> Result<&Declaration, String> {
        self.manifest
            .transitions
            .iter()
            .find(|one| one.transition == transition)
            .ok_or_else(|| format!("it declares no transition `{transition}`"))
    }

    pub(crate) fn bound(&self, transition: &str, flow: &[(String, AttributeType)]) -> Result<Bound, String> {
        self.component.bind(self.declaration(transition)?, flow).map_err(|error| error.to_string())
    }

    /// A call that may reach beyond itself.
    pub(crate) fn outside(&self, transition: &str, granted: Granted) -> Result<Attempt, String> {
        let bound = self.bound(transition, &flow())?.granted_with(granted);
        Ok(self.attempt(&bound, &Call::of(transition)))
    }

    pub(crate) fn call(&self, call: &Call<'_>) -> Result<Attempt, String> {
        Ok(self.attempt(&self.bound(call.transition, &flow())?, call))
    }

    /// A call on nothing, with answers that need not be the host's.
    pub(crate) fn answered(&self, transition: &str, from: AnswersFrom) -> Result<Attempt, String> {
        let bound = self.bound(transition, &flow())?;
        let invocation = Invocation {
            flow: "conformance",
            wid: Wid::new(7),
            trigger: "fired",
            attempt: 1,
            deadline: DEADLINE,
            payload: "{}",
            key: "",
        };
        let limits = Limits::default();
        let context = AttemptContext { answers: from, ..AttemptContext::default() };
        let call = sandbox().run_in_context(&bound, invocation, LONG, &limits, context);
        Ok(on_runtime(call))
    }

    pub(crate) fn attempt(&self, bound: &Bound, call: &Call<'_>) -> Attempt {
        let given = |key: &str, value: &str| HashMap::from([(key.to_owned(), value.to_owned())]);
        let bound =
            bound.clone().provided_with(Arc::new(Provided::new(given("region", "eu"), given("api_key", "s3cret"))));
        let invocation = Invocation {
            flow: "conformance",
            wid: Wid::new(7),
            trigger: "fired",
            attempt: 2,
            deadline: DEADLINE,
            payload: call.state,
            key: KEY,
        };
        on_runtime(sandbox().run(&bound, invocation, call.timeout, &call.limits))
    }
}
