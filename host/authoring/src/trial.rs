//! A fixture, run: what it came to, held against what was expected and what it may use.

use wedflow_model::Outcome;

use crate::call::{CallError, Called, Subject, Workbench};
use crate::expectation::{Difference, beyond};
use crate::fixture::Fixture;

/// What running a fixture showed.
#[derive(Debug)]
pub struct Trial {
    /// What the call came to; none when it could not be made.
    pub called: Option<Called>,
    /// Everything that is not as it should be; nothing when the fixture passes.
    pub differences: Vec<Difference>,
    /// What is odd but fails nothing.
    pub warnings: Vec<String>,
    /// Nobody has said yet what is expected.
    pub unsaid: bool,
}

impl Trial {
    /// Whether all is as expected.
    pub fn passed(&self) -> bool {
        self.differences.is_empty() && !self.unsaid
    }
}

/// Runs a fixture.
///
/// # Errors
/// [`CallError::Setup`] alone: whatever else keeps the call from being made is the fixture's failure.
pub async fn run_fixture(
    workbench: &Workbench,
    subject: &Subject,
    fixture: &Fixture,
) -> Result<Trial, CallError> {
    let called = match workbench.call(subject, &fixture.call).await {
        Ok(called) => called,
        Err(error @ CallError::Setup(_)) => return Err(error),
        Err(error) => {
            return Ok(Trial {
                called: None,
                differences: vec![Difference::new("call", None, Some(error.to_string()))],
                warnings: Vec::new(),
                unsaid: false,
            });
        }
    };
    let mut differences = fixture
        .expectation
        .as_ref()
        .map(|expectation| expectation.differences(&called))
        .unwrap_or_default();
    let (over, mut warnings) = beyond(&fixture.budget, &called);
    differences.extend(over);
    if called.beyond_recording {
        warnings.push("it asked the host for more than was recorded".to_owned());
    }
    if matches!(called.outcome, Outcome::OutOfFuel) && fixture.budget.fuel.is_none() {
        warnings.push("the fuel limit is the server's; a call should need far less".to_owned());
    }
    Ok(Trial {
        called: Some(called),
        differences,
        warnings,
        unsaid: fixture.expectation.is_none(),
    })
}
