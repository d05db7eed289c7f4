//! A fixture, run: what it came to, held against what was expected and what it may use.

use wedflow_model::Outcome;

use crate::call::{CallError, Called, Subject, Workbench};
use crate::expectation::{Difference, beyond};
use crate::fixture::Fixture;

/// The result of running a fixture.
#[derive(Debug)]
pub struct Trial {
    /// The result of the call; none when it could not be made.
    pub called: Option<Called>,
    /// Results that differ from the expected ones.
    pub differences: Vec<Difference>,
    /// Resources used beyond the budget.
    pub over: Vec<Difference>,
    /// Oddities that fail nothing.
    pub warnings: Vec<String>,
    /// True if the fixture does not say yet what is expected.
    pub unsaid: bool,
}

impl Trial {
    /// Returns whether all is as expected.
    pub fn passed(&self) -> bool {
        !self.differs() && self.over.is_empty()
    }

    /// Returns whether the result differs from the expected one: an update takes it for right. It never does
    /// so with a budget.
    pub fn differs(&self) -> bool {
        !self.differences.is_empty() || self.unsaid
    }
}

/// Runs a fixture.
///
/// # Errors
/// [`CallError::Setup`] alone: whatever else keeps the call from being made is the fixture's failure.
pub async fn run_fixture(workbench: &Workbench, subject: &Subject, fixture: &Fixture) -> Result<Trial, CallError> {
    let called = match workbench.call(subject, &fixture.call).await {
        Ok(called) => called,
        Err(error @ CallError::Setup(_)) => return Err(error),
        Err(error) => {
            return Ok(Trial {
                called: None,
                differences: vec![Difference::new("call", None, Some(error.to_string()))],
                over: Vec::new(),
                warnings: Vec::new(),
                unsaid: false,
            });
        }
    };
    let differences =
        fixture.expectation.as_ref().map(|expectation| expectation.differences(&called)).unwrap_or_default();
    let (over, mut warnings) = beyond(&fixture.budget, &called);
    if called.beyond_recording {
        warnings.push("it asked the host for more than was recorded".to_owned());
    }
    if matches!(called.outcome, Outcome::OutOfFuel) && fixture.budget.fuel.is_none() {
        warnings.push("the fuel limit is the server's; a call should need far less".to_owned());
    }
    Ok(Trial { called: Some(called), differences, over, warnings, unsaid: fixture.expectation.is_none() })
}
