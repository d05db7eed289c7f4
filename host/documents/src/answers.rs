//! Documents of the API's answers. No number in an answer counts things of other tenants.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wedflow_model::Wid;

/// A part of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    /// The entries.
    pub items: Vec<T>,
    /// The cursor of the next part; none: this is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl<T> List<T> {
    /// All there is.
    pub fn whole(items: Vec<T>) -> Self {
        List { items, next: None }
    }
}

/// A flow, as listed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct FlowSummary {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Raised by every change of the definition.
    pub version: i32,
    /// Instances that are neither final nor exceptions.
    pub regular: i64,
    /// Instances that are final.
    pub r#final: i64,
    /// Instances that are exceptions.
    pub exception: i64,
    /// Pending jobs.
    pub jobs: i64,
    /// True when instances and jobs are more than 10,000, and estimated: by the statistics of the last analysis.
    pub estimated: bool,
}

/// A flow with its definition.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowDetail {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Raised by every change of the definition.
    pub version: i32,
    /// Instances that are neither final nor exceptions.
    pub regular: i64,
    /// Instances that are final.
    pub r#final: i64,
    /// Instances that are exceptions.
    pub exception: i64,
    /// Pending jobs.
    pub jobs: i64,
    /// True when instances and jobs are more than 10,000, and estimated: by the statistics of the last analysis.
    pub estimated: bool,
    /// Attributes, in their order.
    pub attributes: Vec<Attribute>,
    /// Triggers.
    pub triggers: Vec<Trigger>,
    /// The present definition: PUT makes the same flow from it.
    #[schema(schema_with = crate::definition::schema)]
    pub definition: serde_json::Value,
}

impl FlowDetail {
    /// Returns the attributes that a start may set, in their order.
    pub fn startable(&self) -> impl Iterator<Item = &Attribute> {
        let listed = self.definition["start"].as_array();
        let is_listed = move |name: &str| listed.is_none_or(|names| names.iter().any(|one| *one == *name));
        self.attributes.iter().filter(move |one| is_listed(&one.name))
    }
}

/// An attribute.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Type, as in `wed_attr.atype`.
    pub r#type: String,
}

/// A condition, and the transition that it fires.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Trigger {
    /// Name.
    pub name: Option<String>,
    /// False: it fires nothing.
    pub enabled: bool,
    /// The transition; none for the final condition.
    pub transition: Option<String>,
    /// The condition's name.
    pub condition: Option<String>,
    /// The condition.
    pub when: String,
    /// True for the final condition.
    pub r#final: bool,
    /// Time limit of an attempt.
    pub timeout: String,
    /// The component that performs the transition; none: external workers do.
    pub component: Option<String>,
}

/// Effect of applying a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Applied {
    /// True if applying made the flow.
    pub created: bool,
    /// Attributes that are new.
    pub attributes_added: Vec<String>,
    /// Attributes whose default, type, numbering or openness changed.
    pub attributes_changed: Vec<String>,
    /// Attributes that the definition does not name; they are left as they are.
    pub attributes_kept: Vec<String>,
    /// Triggers that are new.
    pub triggers_added: Vec<String>,
    /// Triggers that changed.
    pub triggers_changed: Vec<String>,
    /// Triggers that are gone.
    pub triggers_removed: Vec<String>,
    /// Other settings that changed: `final`, `order`, `description`.
    pub settings_changed: Vec<String>,
    /// Transitions that were left to another component, or to one for the first time.
    pub transitions_bound: Vec<String>,
    /// Transitions that are external workers' from now on.
    pub transitions_unbound: Vec<String>,
    /// Triggers that are disabled, and stay so.
    pub triggers_disabled: Vec<String>,
    /// Components that are bound but not uploaded; their transitions wait until they are.
    pub components_missing: Vec<String>,
    /// Parts of the definition that will not run, for a person.
    pub warnings: Vec<String>,
}

/// An attempt that a host made at a transition, and what it logged.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Attempt {
    /// The row of the trace that it wrote; none: it changed nothing.
    pub seq: Option<i32>,
    /// The number of an attempt that changed nothing.
    pub number: Option<i64>,
    /// The trigger that fired: its name, or its number where it has none.
    pub trigger: String,
    /// Transition.
    pub transition: String,
    /// 1 for the first attempt.
    pub attempt: i32,
    /// `returned`, or the name of a failure.
    pub outcome: String,
    /// The reason of an attempt that changed no state.
    pub message: Option<String>,
    /// Component that performed it.
    pub component: Option<String>,
    /// The component's version.
    pub version: Option<i32>,
    /// Fuel that it used.
    pub fuel: Option<i64>,
    /// Duration in microseconds.
    pub elapsed_us: Option<i64>,
    /// Most memory that it had, in bytes.
    pub memory_bytes: Option<i64>,
    /// Writer: a host, or a database role.
    pub writer: String,
    /// Time.
    pub at: String,
    /// Lines that it logged.
    #[cfg_attr(feature = "sqlx", sqlx(skip))]
    pub logs: Vec<LogLine>,
}

impl Attempt {
    /// Outcome in words, for a person.
    pub fn outcome_in_words(&self) -> &str {
        match (self.seq, self.outcome.as_str()) {
            (Some(_), _) => "committed",
            (None, FINAL_PENDING) => "put off until the others end",
            (None, outcome) => outcome,
        }
    }

    /// Returns true if the attempt failed: it changed nothing, and is not one that runs again when others have ended.
    pub fn has_failed(&self) -> bool {
        self.seq.is_none() && self.outcome != FINAL_PENDING
    }
}

/// Outcome of an attempt whose result would be final while other transitions are pending.
const FINAL_PENDING: &str = "final_pending";

/// Name of an attempt of a flow.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AttemptName {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// The row of the trace that it wrote; none: it changed nothing.
    pub seq: Option<i32>,
    /// The number of an attempt that changed nothing.
    pub number: Option<i64>,
}

/// An attempt with what it takes to run it again: the state that it was handed, the answers of its host.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Recording {
    /// The row of the trace that it wrote; none: it changed nothing.
    pub seq: Option<i32>,
    /// The number of an attempt that changed nothing.
    pub number: Option<i64>,
    /// The trigger that fired: its name, or its number where it has none.
    pub trigger: String,
    /// Transition.
    pub transition: String,
    /// 1 for the first attempt.
    pub attempt: i32,
    /// `returned`, or the name of a failure.
    pub outcome: String,
    /// The reason of an attempt that changed no state.
    pub message: Option<String>,
    /// Duration in microseconds.
    pub elapsed_us: Option<i64>,
    /// Time of the recording, in microseconds since 1970.
    pub at_us: i64,
    /// The trigger's time limit in milliseconds; none when the trigger is gone.
    pub timeout_ms: Option<i64>,
    /// Deadline that the attempt was given, in microseconds since 1970.
    pub deadline: Option<i64>,
    /// The component that ran, as far as is known.
    pub component: Option<String>,
    /// The component's version.
    pub version: Option<i32>,
    /// True if the component is on record; else it is the version that was the newest then.
    pub exact: bool,
    /// The row of the trace whose state it was handed.
    pub from_seq: Option<i32>,
    /// That state as JSON text; none when it is gone.
    pub payload: Option<String>,
    /// The state that it wrote, as JSON text; none when it wrote none, or it is gone.
    pub written: Option<String>,
    /// True if answers of its host were recorded.
    pub recorded: bool,
    /// Answers of its host, in order; none where more was asked than is kept.
    #[schema(value_type = Option<Object>)]
    pub answers: Option<serde_json::Value>,
    /// SHA-256 of what it answered.
    pub digest: Option<String>,
}

/// A line that a transition logged.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct LogLine {
    /// `debug`, `info`, `warn` or `error`.
    pub severity: String,
    /// Text.
    pub message: String,
    /// Named values of the line.
    #[schema(value_type = Object)]
    pub fields: serde_json::Value,
}

/// A setting of a flow, which its transitions may ask for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowSetting {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
}

/// A secret of a flow. Its value is never answered.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct FlowSecret {
    /// Name.
    pub name: String,
    /// The transitions that may ask for it.
    pub transitions: Vec<String>,
    /// The transitions that may send it in a header, and not read it.
    pub senders: Vec<String>,
}

/// Status of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Neither final nor an exception.
    #[serde(alias = "R")]
    Regular,
    /// Ended.
    #[serde(alias = "F")]
    Final,
    /// In need of recovery.
    #[serde(alias = "E")]
    Exception,
}

impl std::fmt::Display for Status {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Status::Regular => "regular",
            Status::Final => "final",
            Status::Exception => "exception",
        })
    }
}

impl Status {
    /// Returns the letter that the database has for it.
    pub fn letter(self) -> char {
        match self {
            Status::Regular => 'R',
            Status::Final => 'F',
            Status::Exception => 'E',
        }
    }

    /// Returns the status of a letter of the database.
    pub fn of(letter: &str) -> Self {
        match letter {
            "F" => Status::Final,
            "E" => Status::Exception,
            _ => Status::Regular,
        }
    }
}

impl From<String> for Status {
    fn from(letter: String) -> Self {
        Status::of(&letter)
    }
}

/// An instance.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Instance {
    /// Number in the flow.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Status.
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "String"))]
    pub status: Status,
    /// Attributes.
    #[schema(value_type = Object)]
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "crate::Readable"))]
    pub state: serde_json::Value,
    /// Time at which it began.
    pub started: String,
    /// Time at which its status last changed.
    pub changed: String,
    /// Pending transitions.
    pub pending: Vec<String>,
    /// Why it is an exception; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Progress of its way back, and the command that continues it; absent where it is on none, and in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "sqlx", sqlx(skip))]
    pub way_back: Option<String>,
    /// Business key, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The instance that started it, then the newest of those that it started; in lists left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "sqlx", sqlx(skip))]
    pub relatives: Vec<Relative>,
}

/// An instance that started another one, or was started by it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Relative {
    /// `parent` or `child`.
    pub role: String,
    /// Flow of the instance.
    pub flow: String,
    /// Number in that flow.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Transition of the parent; absent where it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<String>,
    /// State of the child: `running`, `ended` (the parent is being told), `returned` (it was told), `left` (the child
    /// is being cancelled) or `cancelled`.
    pub state: String,
}

/// An instance that was started.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Started {
    /// Number in the flow.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// True for one that runs under the key already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
}

/// Part of a feed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Feed {
    /// Events, oldest first.
    pub items: Vec<FeedEvent>,
    /// Cursor of what follows, also where nothing does yet.
    pub next: String,
}

/// An event of a feed: a row of an instance's history, without its state.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct FeedEvent {
    /// `instance.started`, `instance.changed`, `instance.final` or `instance.exception`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Flow.
    pub flow: String,
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// Business key of the instance, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Row of the history.
    pub seq: i32,
    /// Status of the instance then.
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "String"))]
    pub status: Status,
    /// The transition that wrote the state; none for the initial one.
    pub transition: Option<String>,
    /// The transitions that it fired.
    pub fired: Vec<String>,
    /// Time.
    pub at: String,
    /// Writer: a host, a token, or a database role.
    pub writer: String,
    /// Why, for rows that no transition wrote.
    pub note: Option<String>,
}

/// A row of an instance's history.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct TraceRow {
    /// 1 for the initial state; in commit order.
    pub seq: i32,
    /// Status.
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "String"))]
    pub status: Status,
    /// The transition that wrote the state; none for the initial one.
    pub transition: Option<String>,
    /// The transitions that the state fired.
    pub fired: Vec<String>,
    /// Attributes.
    #[schema(value_type = Object)]
    #[cfg_attr(feature = "sqlx", sqlx(try_from = "crate::Readable"))]
    pub state: serde_json::Value,
    /// Time.
    pub at: String,
    /// Writer: a host, or a database role.
    pub writer: String,
    /// Why, for rows that no transition wrote.
    pub note: Option<String>,
    /// Number of the attempt.
    pub attempt: Option<i32>,
    /// Fuel that it used.
    pub fuel: Option<i64>,
    /// Duration in microseconds.
    pub elapsed_us: Option<i64>,
    /// Most memory that it had, in bytes.
    pub memory_bytes: Option<i64>,
}

/// A pending job.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Job {
    /// Number of the instance.
    #[schema(value_type = i32)]
    pub wid: Wid,
    /// The trigger that fired it: its name, or its number where it has none.
    pub trigger: String,
    /// Transition.
    pub transition: String,
    /// True if a host runs it.
    pub running: bool,
    /// Attempts begun.
    pub attempt: i32,
    /// Maximum number of attempts.
    pub attempts: i32,
    /// Component that performs it; none: external workers do.
    pub component: Option<String>,
    /// Time from which it may be claimed; none while it waits for something else than time.
    pub due: Option<String>,
    /// Higher first.
    pub priority: i32,
    /// Keys or tasks that it waits for.
    pub waits_for: Option<String>,
}

/// A version of a component.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Component {
    /// Name.
    pub name: String,
    /// Version.
    pub version: i32,
    /// SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// Bytes.
    pub size: i32,
    /// Manifest: name, SDK, transitions.
    #[schema(value_type = Object)]
    pub manifest: serde_json::Value,
    /// Time at which it was made.
    pub created_at: String,
    /// True for the version in use.
    pub active: bool,
    /// `flow/transition` of every binding to the name; none for versions that are not in use.
    pub used_by: Vec<String>,
}

impl Component {
    /// Returns its position in a list: by name, newest first.
    pub fn place(&self) -> String {
        format!("{}\n{:010}", self.name, i32::MAX - self.version)
    }
}

/// Version to put into use.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Activation {
    /// Version.
    pub version: i32,
}

/// A version that was removed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RemovedComponent {
    /// Name.
    pub name: String,
    /// Version.
    pub version: i32,
}

/// A component that was uploaded.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Uploaded {
    /// Name.
    pub name: String,
    /// Version; that of the one before where the bytes are the same, 0 after a check.
    pub version: i32,
    /// True if the version is in use. False: it would have broken a flow, or was checked only.
    #[serde(default)]
    pub active: bool,
    /// SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// Transitions.
    pub transitions: Vec<String>,
    /// Parts of the flows that bind it which do not fit, for a person.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Caller.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Me {
    /// Tenant.
    pub tenant: String,
    /// User.
    pub user: String,
    /// Role.
    pub role: String,
    /// Token.
    pub token: String,
    /// Scopes.
    pub scopes: Vec<String>,
    /// Actions that role and scopes allow together.
    pub may: Vec<String>,
    /// Flows that the token is for; empty: all.
    #[serde(default)]
    pub flows: Vec<String>,
    /// True if the user is a person, who has a worklist.
    #[serde(default)]
    pub person: bool,
}

/// A user.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct User {
    /// Name.
    pub name: String,
    /// Role.
    pub role: String,
    /// Time at which it was made.
    pub created_at: String,
}

/// A token, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Token {
    /// First characters, which name it within the tenant.
    pub id: String,
    /// User.
    pub user: String,
    /// Name.
    pub name: String,
    /// Scopes.
    pub scopes: Vec<String>,
    /// Flows that it is for; empty: everything that its scopes allow.
    pub flows: Vec<String>,
    /// `live`, `expired` or `revoked`.
    pub status: String,
    /// Time at which it was made.
    pub created_at: String,
    /// Time at which it ends.
    pub expires_at: String,
    /// To within some minutes.
    pub last_used: Option<String>,
}

impl Token {
    /// Returns its position in a list: by user, then by time of creation.
    pub fn place(&self) -> String {
        format!("{}\n{}\n{}", self.user, self.created_at, self.id)
    }
}

/// A token that was made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct IssuedToken {
    /// The token itself, shown this once.
    pub secret: String,
    /// Token.
    #[serde(flatten)]
    pub token: Token,
}

/// Settings of a tenant that its admins may change.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Settings {
    /// The tenant's name, which the operator gave.
    pub tenant: String,
    /// Description.
    pub description: String,
    /// The longest life of a token, in days.
    pub token_days: i32,
}

/// A limit, and what is used of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct Usage {
    /// Name.
    pub name: String,
    /// Unit of the count.
    pub unit: String,
    /// Number in use; none where it counts no things.
    pub used: Option<i64>,
    /// Number allowed; none without a limit.
    pub allowed: Option<i64>,
}

/// Use of one day, by tenant, flow and transition.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// Day (UTC), such as `2026-01-31`.
    pub day: String,
    /// Tenant.
    pub tenant: String,
    /// Flow.
    pub flow: String,
    /// Transition; `""` for starts; null in the row that holds `stored_bytes`.
    pub transition: Option<String>,
    /// States that were committed.
    pub commits: i64,
    /// Attempts that changed nothing.
    pub failures: i64,
    /// Fuel of guests.
    pub fuel: i64,
    /// Time of attempts, in microseconds.
    pub elapsed_us: i64,
    /// The most memory of one attempt, in bytes.
    pub memory_max_bytes: i64,
    /// Memory by time, summed over the attempts, in bytes times seconds.
    pub memory_byte_seconds: i64,
    /// Bytes of history that were written, as they are stored.
    pub written_bytes: i64,
    /// Bytes that the flow's instances take on disk now; in one row of today for each flow, else null.
    pub stored_bytes: Option<i64>,
}

/// An entry of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[cfg_attr(feature = "sqlx", derive(sqlx::FromRow))]
pub struct AuditEntry {
    /// Time.
    pub at: String,
    /// Tenant that it is about; only where the log is the installation's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// `token:` with a user's name and the token's, or `operator:` for the installation's operator.
    pub actor: String,
    /// Action.
    pub action: String,
    /// Thing that was acted on.
    pub target: String,
    /// Particulars of the action.
    #[schema(value_type = Object)]
    pub detail: serde_json::Value,
}

/// An event of a stream, as its lines say it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StreamEvent {
    /// Number of the row, to resume after it (`Last-Event-ID`).
    pub id: String,
    /// Kind of event: `trace`.
    pub event: String,
    /// The row (`TraceRow`), as JSON.
    pub data: String,
}
