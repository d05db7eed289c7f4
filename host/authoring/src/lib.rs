//! Tools of a transition's author on their own machine: begin a project, drive its language's tool,
//! run fixtures, make one call. No server and no database: the sandbox, its limits and the guard are
//! those of a host.
//!
//! - [`new_project`], [`Project`], [`build`](build()), [`encode`](encode()): from nothing to a component
//! - [`Workbench`]: one call in the sandbox, judged as the server would judge it
//! - [`Fixture`], [`run_fixture`]: a call written down with its expected result
//! - [`search`]: random states that should do no harm
//! - [`Watch`]: waits for a change

mod attributes;
mod build;
mod call;
mod encode;
mod expectation;
mod fixture;
mod native;
mod project;
mod property;
mod segments;
mod sources;
mod template;
mod trial;
mod values;
mod watch;

pub use attributes::{StateError, attributes_of, read_types};
pub use build::{BuildError, Built, build, check_tools};
pub use call::{Call, CallError, Called, DEFAULT_TIMEOUT, Subject, Verdict, Workbench, sql_of};
pub use encode::{EncodeError, encode};
pub use expectation::{Budget, Difference, Expectation, differences_between};
pub use fixture::{DEFAULT_NOW, Fixture, FixtureError, write_fixture};
pub use native::{NativeTests, test_native};
pub use project::{Language, Project, ProjectError};
pub use property::{Counterexample, Searched, search};
pub use template::{contract_is_current, languages, new_project};
pub use trial::{Trial, run_fixture};
pub use values::{read_duration, read_time};
pub use watch::Watch;
pub use wedflow_guard::CheckedValue;
pub use wedflow_sandbox::{Answer, AnswersFrom, Provided, user_cache};
