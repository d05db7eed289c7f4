//! A shadow run: a component that is not in use, over recorded attempts of the one that was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Attempts of a shadow run.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ShadowFilter {
    /// Transition; needed.
    pub transition: Option<String>,
    /// Number of its last attempts, 1 to 50; 20 when absent.
    #[param(minimum = 1, maximum = 50)]
    pub last: Option<i64>,
}

/// Comparison of a component with the recorded attempts at a transition. Nothing was changed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ShadowRun {
    /// Transition.
    pub transition: String,
    /// Number of attempts that were looked at.
    pub attempts: usize,
    /// Number of those that come to the same with the component.
    pub same: usize,
    /// Number of those that come to something else.
    pub different: usize,
    /// Number of those that were not run again, by reason.
    pub not_replayable: BTreeMap<String, usize>,
    /// Number of differences by the thing that differs: an attribute, `outcome`, `answer`.
    pub by: BTreeMap<String, usize>,
    /// Attempts that end otherwise with the component.
    pub outcomes: Vec<ShadowOutcome>,
    /// Differing attempts.
    pub differences: Vec<ShadowDifference>,
}

/// Number of attempts that end otherwise, by their end before and with the component.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ShadowOutcome {
    /// Outcome of the component that ran then.
    pub before: String,
    /// Outcome with the other one.
    pub with: String,
    /// Number of attempts.
    pub attempts: usize,
}

/// An attempt that comes to something else.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ShadowDifference {
    /// Name of the attempt, as `wed replay` takes it.
    pub id: String,
    /// Differences.
    pub differences: Vec<ThingThatDiffers>,
}

/// Thing that differs between two answers.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ThingThatDiffers {
    /// Attribute, `outcome`, `answer` or a resource.
    pub what: String,
    /// Value before; none where there was none.
    pub expected: Option<String>,
    /// Value with the other component; none where there is none.
    pub actual: Option<String>,
}

impl ShadowRun {
    /// Counts an attempt that ended as `before`, and as `with` now.
    pub fn add(&mut self, id: String, ends: [&str; 2], differences: Vec<ThingThatDiffers>) {
        let [before, with] = ends;
        if before != with {
            let known = (self.outcomes.iter_mut()).find(|one| one.before == before && one.with == with);
            match known {
                Some(outcome) => outcome.attempts += 1,
                None => {
                    self.outcomes.push(ShadowOutcome { before: before.to_owned(), with: with.to_owned(), attempts: 1 })
                }
            }
            (self.outcomes).sort_by(|a, b| (&a.before, &a.with).cmp(&(&b.before, &b.with)));
        }
        if differences.is_empty() {
            self.same += 1;
            return;
        }
        self.different += 1;
        for one in &differences {
            *self.by.entry(one.what.clone()).or_default() += 1;
        }
        self.differences.push(ShadowDifference { id, differences });
    }
}
