//! Guests built from source, and calls of them, for the sandbox's tests.
#![allow(dead_code, unreachable_pub, reason = "each test binary has its own copy and uses its part")]

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use wedflow_contract::Declaration;
use wedflow_model::{AttributeType, Limits, Wid};
use wedflow_sandbox::{Attempt, Bound, Component, Invocation, Sandbox, Settings};

pub use wedflow_loader::{built as guest, component as component_of};

/// Makes a component of a core module in text whose exports are those of the contract's world.
pub fn component(core: &str) -> Vec<u8> {
    component_of(&wedflow_loader::contract(), core)
}

/// A core module of the contract's world with the given body of `run`, which leaves the address of
/// an outcome; at 64 there is room for one. `more` are further definitions.
pub fn core(more: &str, run: &str) -> String {
    format!(
        r#"(module
  (memory (export "memory") 2)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
  (func (export "describe") (result i32) (i32.const 0))
  {more}
  (func (export "run") (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i32) (result i32)
    {run})
)"#
    )
}

/// The sandbox that the tests of one binary share.
pub fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(Settings { concurrent: 200, ..Settings::fast() }).expect("a sandbox"))
}

/// The guest full of transitions that misbehave.
pub fn hostile() -> Component {
    static HOSTILE: OnceLock<Component> = OnceLock::new();
    HOSTILE.get_or_init(|| compile(&guest("hostile"))).clone()
}

/// The guest that uses the standard library.
pub fn ordinary() -> Component {
    static ORDINARY: OnceLock<Component> = OnceLock::new();
    ORDINARY.get_or_init(|| compile(&guest("ordinary"))).clone()
}

pub fn compile(bytes: &[u8]) -> Component {
    sandbox().compile(bytes, &Limits::default()).expect("accepted")
}

/// Runs a future on a runtime of two threads, on one of these.
pub fn on_runtime<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    wedflow_sandbox::runtime()
        .worker_threads(2)
        .build()
        .expect("a runtime")
        .block_on(async { tokio::spawn(work).await.expect("no panic") })
}

/// A flow's attributes from names and types.
pub fn flow(attributes: &[(&str, &str)]) -> Vec<(String, AttributeType)> {
    attributes.iter().map(|(name, kind)| ((*name).to_owned(), kind.parse().expect("type"))).collect()
}

/// The flow that most tests use.
pub fn usual_flow() -> Vec<(String, AttributeType)> {
    flow(&[("a1", "text"), ("n", "integer"), ("tags", "text[]")])
}

/// Binds a transition to the usual flow, by the component's own declaration.
pub async fn bound(component: &Component, transition: &str) -> Bound {
    let manifest = sandbox().describe(component).await.expect("described");
    let declaration = manifest.transition(transition).unwrap_or_else(|| panic!("no transition {transition}"));
    component.bind(declaration, &usual_flow()).expect("fits")
}

/// Binds a transition that declares nothing.
pub fn undeclared(component: &Component) -> Bound {
    let declaration = Declaration { transition: "t".to_owned(), ..Declaration::default() };
    component.bind(&declaration, &usual_flow()).expect("fits")
}

pub const PAYLOAD: &str = r#"{"n": 1, "a1": "ready", "tags": ["x", null]}"#;

pub fn invocation(payload: &str) -> Invocation<'_> {
    Invocation {
        flow: "orders",
        wid: Wid::new(7),
        trigger: "t1",
        attempt: 1,
        deadline: 1_800_000_000_000_000,
        payload,
        key: "orders-7-1-1",
    }
}

/// Runs a bound transition on the usual payload.
pub async fn run(bound: &Bound, timeout: Duration, limits: &Limits) -> Attempt {
    sandbox().run(bound, invocation(PAYLOAD), timeout, limits).await
}
