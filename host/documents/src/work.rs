//! People's work: worklists, reports, calendars.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// The order and length of a worklist.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Listing {
    /// `arrival`, `priority`, `deadline`, `size` or `own`; `arrival` by default.
    pub order: Option<String>,
    /// Maximum number of entries, up to 1000; default 100.
    pub limit: Option<i32>,
}

/// Number of messages.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Newest {
    /// Maximum number of entries, up to 1000; default 100.
    pub limit: Option<i32>,
}

/// A part of the list of people.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Behind {
    /// Only names behind this one.
    pub after: Option<String>,
    /// Maximum number of entries, up to 1000; default 100.
    pub limit: Option<i32>,
}

/// A task that is taken away together with an item.
#[derive(Debug, Clone, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Along {
    /// The task, which the item's holder reserved; the item's own when absent.
    pub task: Option<String>,
}

/// Whom an item is given to.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    /// The other person.
    pub to: String,
}

/// The result of an item.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// False: it failed.
    #[serde(default = "yes")]
    pub success: bool,
    /// Attributes and their values.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub values: Map<String, Value>,
    /// Why, or what else is to be said.
    pub reason: Option<String>,
    /// The claim it was done under.
    pub claim: Option<i32>,
    /// `base` of the item as it was fetched: values that somebody else changed since are not overwritten, and 409
    /// shows them.
    pub base: Option<i32>,
    /// Time at which it was done, by the person's clock; stored in addition to that of the report.
    pub done_at: Option<String>,
}

/// The claim under which an item was seen.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// `claim` of the item: a request that comes late, behind another claim, is refused. Any when absent.
    pub claim: Option<i32>,
}

/// A worklist.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Worklist {
    /// All items that are held, and the first of those that are offered.
    pub items: Vec<Value>,
    /// True if more may be offered than is listed.
    pub cut: bool,
    /// The person of the worklist.
    pub r#for: Whose,
}

/// The person whose token it is.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Whose {
    /// The person.
    pub person: String,
    /// The tenant.
    pub tenant: String,
    /// The mark of the installation, whatever address it is reached by.
    pub server: String,
}

/// A person's connection.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Connection {
    /// True: work is offered.
    pub active: bool,
    /// Number of messages that were delivered now.
    pub delivered: i64,
    /// The person who is connected.
    pub r#for: Whose,
}

impl Default for Report {
    fn default() -> Self {
        Report { success: true, values: Map::new(), reason: None, claim: None, base: None, done_at: None }
    }
}

/// A comment on an item.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// Text, at most 16 KiB.
    pub text: String,
}

/// A process to start.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// The flow.
    pub flow: String,
    /// The person in charge; the caller when absent.
    pub in_charge: Option<String>,
    /// Values of attributes.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub values: Map<String, Value>,
    /// The notification policy, 1 to 4; 1 when absent.
    pub policy: Option<i32>,
    /// Number of people that policies 2 to 4 choose; 1 when absent.
    pub count: Option<i32>,
    /// Hours before a deadline at which people are warned.
    #[serde(default)]
    pub warnings: Vec<i32>,
    /// The one of them at which an item passes to the person in charge.
    pub transfer: Option<i32>,
}

/// A person's roles.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// Added to those that the person has.
    pub roles: Vec<String>,
}

fn yes() -> bool {
    true
}

/// Values that the person gives to an item's component.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Values seen in the place of the item's.
    #[serde(default)]
    pub values: Map<String, Value>,
}

/// A task that follows.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Following {
    /// A task of the same flow that allows disconnected work.
    pub task: String,
}

/// A place in the caller's own order.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The item before which it is put; last when absent.
    pub before: Option<i64>,
}

/// A decision about an item whose deadline has passed.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// False: the item stops, which is a failure.
    #[serde(rename = "continue")]
    pub proceed: bool,
    /// Time from now to another deadline, as an interval: `12 hours`.
    pub extend: Option<String>,
}

/// A decision about an instance that is an exception.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// `retry`: what its state satisfies is fired again; `set`: attributes are set first; `cancel`: it ends.
    pub decision: String,
    /// Attributes and their values, for `set`.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub values: Map<String, Value>,
    /// Kept in the trace.
    pub reason: String,
}

/// A change of how an instance notifies people.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Notification {
    /// The policy, 1 to 4.
    pub policy: Option<i32>,
    /// Number of people that policies 2 to 4 choose.
    pub count: Option<i32>,
    /// The pause between two rounds of offers, in seconds; 1 at least.
    pub renotify_seconds: Option<f64>,
    /// Hours before a deadline at which people get a message.
    pub warnings: Option<Vec<i32>>,
    /// The one of them at which an item passes to the person in charge.
    pub transfer: Option<i32>,
}

/// People who get the items.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Successor {
    /// The other person.
    pub to: String,
}

/// Working hours.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Calendar {
    /// A zone of the IANA database; UTC when absent.
    pub zone: Option<String>,
    /// ISO days of the week, 1 is Monday; Monday to Friday when absent.
    pub weekdays: Option<Vec<i32>>,
    /// The time at which work begins; 09:00 when absent.
    pub opens: Option<String>,
    /// The time at which work ends; 17:00 when absent.
    pub closes: Option<String>,
    /// Days without work, as 2026-12-25.
    #[serde(default)]
    pub holidays: Vec<String>,
}

/// A role of people.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct PeopleRole {
    /// Name of the role.
    pub role: String,
    /// Number of people who have it.
    pub people: i64,
}
