//! Documents of the API's answers. No number in an answer counts things of other tenants.

use serde::Serialize;
use utoipa::ToSchema;
use wedflow_model::Wid;
use wedflow_store as store;

/// A part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct List<T> {
    /// The entries.
    pub(crate) items: Vec<T>,
    /// The cursor of the next part; none: this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl<T> List<T> {
    /// All there is.
    pub(crate) fn whole(items: Vec<T>) -> Self {
        List { items, next: None }
    }
}

/// A flow, as listed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowSummary {
    pub(crate) name: String,
    description: String,
    /// Raised by every change of the definition.
    version: i32,
    /// Instances that are neither final nor exceptions.
    regular: i64,
    /// Instances that are final.
    r#final: i64,
    /// Instances that are exceptions.
    exception: i64,
    /// Pending jobs.
    jobs: i64,
}

impl From<store::Flow> for FlowSummary {
    fn from(flow: store::Flow) -> Self {
        FlowSummary {
            name: flow.name,
            description: flow.description,
            version: flow.version,
            regular: flow.regular,
            r#final: flow.r#final,
            exception: flow.exception,
            jobs: flow.jobs,
        }
    }
}

/// A flow with its definition.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowDetail {
    #[serde(flatten)]
    pub(crate) flow: FlowSummary,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) triggers: Vec<Trigger>,
    /// The present definition: PUT makes the same flow from it.
    #[schema(schema_with = crate::definition::schema)]
    pub(crate) definition: serde_json::Value,
}

/// An attribute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    /// As in `wed_attr.atype`.
    pub(crate) r#type: String,
}

/// A condition, and the transition that it fires.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Trigger {
    name: Option<String>,
    enabled: bool,
    /// The transition; none for the final condition.
    transition: Option<String>,
    /// The condition's name.
    condition: Option<String>,
    /// The condition.
    when: String,
    /// True for the final condition.
    r#final: bool,
    /// Time limit of an attempt.
    timeout: String,
    /// The component that performs the transition; none: external workers do.
    component: Option<String>,
}

impl From<store::Trigger> for Trigger {
    fn from(trigger: store::Trigger) -> Self {
        Trigger {
            name: trigger.tgname,
            enabled: trigger.enabled,
            transition: trigger.trname,
            condition: trigger.cname,
            when: trigger.cpred,
            r#final: trigger.cfinal,
            timeout: trigger.timeout,
            component: trigger.component,
        }
    }
}

/// Effect of applying a definition.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Applied {
    /// True if applying made the flow.
    pub(crate) created: bool,
    attributes_added: Vec<String>,
    /// Attributes whose default, type, numbering or openness changed.
    attributes_changed: Vec<String>,
    /// Attributes that the definition does not name; they are left as they are.
    attributes_kept: Vec<String>,
    triggers_added: Vec<String>,
    triggers_changed: Vec<String>,
    triggers_removed: Vec<String>,
    /// Other settings that changed: `final`, `order`, `description`.
    settings_changed: Vec<String>,
    /// Transitions that were left to another component, or to one for the first time.
    transitions_bound: Vec<String>,
    /// Transitions that are external workers' from now on.
    transitions_unbound: Vec<String>,
    /// Triggers that are disabled, and stay so.
    triggers_disabled: Vec<String>,
    /// Components that are bound but not uploaded; their transitions wait until they are.
    components_missing: Vec<String>,
    /// Parts of the definition that will not run, for a person.
    warnings: Vec<String>,
}

impl From<store::Applied> for Applied {
    fn from(applied: store::Applied) -> Self {
        Applied {
            created: applied.created,
            attributes_added: applied.attributes_added,
            attributes_changed: applied.attributes_changed,
            attributes_kept: applied.attributes_kept,
            triggers_added: applied.triggers_added,
            triggers_changed: applied.triggers_changed,
            triggers_removed: applied.triggers_removed,
            settings_changed: applied.settings_changed,
            transitions_bound: applied.transitions_bound,
            transitions_unbound: applied.transitions_unbound,
            triggers_disabled: applied.triggers_disabled,
            components_missing: applied.components_missing,
            warnings: applied.warnings,
        }
    }
}

/// An attempt that a host made at a transition, and what it logged.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Attempt {
    /// The row of the trace that it wrote; none: it changed nothing.
    seq: Option<i32>,
    /// The number of an attempt that changed nothing.
    number: Option<i64>,
    /// The trigger that fired: its name, or its number where it has none.
    trigger: String,
    transition: String,
    /// 1 for the first attempt.
    attempt: i32,
    /// `returned`, or the name of a failure.
    outcome: String,
    /// The reason of an attempt that changed no state.
    message: Option<String>,
    component: Option<String>,
    /// The component's version.
    version: Option<i32>,
    fuel: Option<i64>,
    elapsed_us: Option<i64>,
    memory_bytes: Option<i64>,
    writer: String,
    at: String,
    logs: Vec<LogLine>,
}

/// A line that a transition logged.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogLine {
    /// `debug`, `info`, `warn` or `error`.
    severity: String,
    message: String,
    /// Named values of the line.
    #[schema(value_type = Object)]
    fields: serde_json::Value,
}

impl From<store::AttemptLog> for LogLine {
    fn from(line: store::AttemptLog) -> Self {
        LogLine {
            severity: line.severity,
            message: line.message,
            fields: line.fields,
        }
    }
}

impl Attempt {
    /// An attempt with the lines that are its own.
    pub(crate) fn new(attempt: store::MadeAttempt, lines: &[store::AttemptLog]) -> Self {
        let own = lines.iter().filter(|line| line.is_of(&attempt));
        Attempt {
            logs: own.cloned().map(LogLine::from).collect(),
            seq: attempt.seq,
            number: attempt.attempt_id,
            trigger: attempt.trigger,
            transition: attempt.trname,
            attempt: attempt.attempt,
            outcome: attempt.outcome,
            message: attempt.message,
            component: attempt.component,
            version: attempt.version,
            fuel: attempt.fuel,
            elapsed_us: attempt.elapsed_us,
            memory_bytes: attempt.memory_bytes,
            writer: attempt.writer,
            at: attempt.tstmp,
        }
    }
}

/// A setting of a flow, which its transitions may ask for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowSetting {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// A secret of a flow. Its value is never answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowSecret {
    pub(crate) name: String,
    /// The transitions that may ask for it.
    pub(crate) transitions: Vec<String>,
    /// The transitions that may send it in a header, and not read it.
    pub(crate) senders: Vec<String>,
}

/// Status of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// Neither final nor an exception.
    Regular,
    /// Ended.
    Final,
    /// In need of recovery.
    Exception,
}

impl Status {
    pub(crate) fn letter(self) -> char {
        match self {
            Status::Regular => 'R',
            Status::Final => 'F',
            Status::Exception => 'E',
        }
    }

    pub(crate) fn of(letter: &str) -> Self {
        match letter {
            "F" => Status::Final,
            "E" => Status::Exception,
            _ => Status::Regular,
        }
    }
}

/// An instance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Instance {
    /// Number in the flow.
    #[schema(value_type = i32)]
    wid: Wid,
    status: Status,
    /// Attributes.
    #[schema(value_type = Object)]
    state: serde_json::Value,
    started: String,
    /// When its status last changed.
    changed: String,
    /// Pending transitions.
    pending: Vec<String>,
}

impl From<store::Instance> for Instance {
    fn from(instance: store::Instance) -> Self {
        Instance {
            wid: instance.wid,
            status: Status::of(&instance.status),
            state: instance.state,
            started: instance.started,
            changed: instance.changed,
            pending: instance.pending,
        }
    }
}

/// An instance that was started.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Started {
    /// Number in the flow.
    #[schema(value_type = i32)]
    pub(crate) wid: Wid,
}

/// A row of an instance's history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TraceRow {
    /// 1 for the initial state; in commit order.
    pub(crate) seq: i32,
    pub(crate) status: Status,
    /// The transition that wrote the state; none for the initial one.
    transition: Option<String>,
    /// The transitions that the state fired.
    fired: Vec<String>,
    #[schema(value_type = Object)]
    state: serde_json::Value,
    at: String,
    /// Writer: a host, or a database role.
    writer: String,
    /// Why, for rows that no transition wrote.
    note: Option<String>,
    attempt: Option<i32>,
    fuel: Option<i64>,
    elapsed_us: Option<i64>,
    memory_bytes: Option<i64>,
}

impl From<store::TraceRow> for TraceRow {
    fn from(row: store::TraceRow) -> Self {
        TraceRow {
            seq: row.seq,
            status: Status::of(&row.status),
            transition: row.trw,
            fired: row.trf,
            state: row.state,
            at: row.tstmp,
            writer: row.writer,
            note: row.note,
            attempt: row.attempt,
            fuel: row.fuel,
            elapsed_us: row.elapsed_us,
            memory_bytes: row.memory_bytes,
        }
    }
}

/// A pending job.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    #[schema(value_type = i32)]
    wid: Wid,
    /// The trigger that fired it: its name, or its number where it has none.
    trigger: String,
    transition: String,
    /// True if a host runs it.
    running: bool,
    /// Attempts begun.
    attempt: i32,
    /// When it may next be claimed; none while it waits for something else than time.
    due: Option<String>,
    priority: i32,
    waits_for: Option<String>,
}

impl From<store::JobRow> for Job {
    fn from(job: store::JobRow) -> Self {
        Job {
            wid: job.wid,
            trigger: trigger_of(&job),
            transition: job.trname,
            running: job.lckid.is_some(),
            attempt: job.attempt,
            due: job.due,
            priority: job.priority,
            waits_for: job.waits_for,
        }
    }
}

/// Returns the name of a job's trigger in addresses.
pub(crate) fn trigger_of(job: &store::JobRow) -> String {
    match &job.tgname {
        Some(name) if !name.is_empty() => name.clone(),
        _ => job.tgid.to_string(),
    }
}

/// A version of a component.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Component {
    name: String,
    pub(crate) version: i32,
    /// SHA-256 of its bytes, in hexadecimal.
    digest: String,
    /// Bytes.
    size: i32,
    /// Manifest: name, SDK, transitions.
    #[schema(value_type = Object)]
    manifest: serde_json::Value,
    created_at: String,
    /// True for the version in use.
    active: bool,
    /// `flow/transition` of every binding to the name; none for versions that are not in use.
    used_by: Vec<String>,
}

impl Component {
    /// Returns its position in a list: by name, newest first.
    pub(crate) fn place(&self) -> String {
        format!("{}\n{:010}", self.name, i32::MAX - self.version)
    }
}

impl From<store::Component> for Component {
    fn from(component: store::Component) -> Self {
        Component {
            name: component.name,
            version: component.version,
            digest: component.digest,
            size: component.size,
            manifest: component.manifest,
            created_at: component.created_at,
            active: component.active,
            used_by: component.used_by,
        }
    }
}

/// Version to put into use.
#[derive(Debug, serde::Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Activation {
    pub(crate) version: i32,
}

/// A version that was removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RemovedComponent {
    pub(crate) name: String,
    pub(crate) version: i32,
}

/// A component that was uploaded.
#[derive(Debug, Serialize, serde::Deserialize, ToSchema)]
pub(crate) struct Uploaded {
    pub(crate) name: String,
    /// That of the one before, when the bytes are the same.
    pub(crate) version: i32,
    /// SHA-256 of its bytes, in hexadecimal.
    pub(crate) digest: String,
    pub(crate) transitions: Vec<String>,
    /// Parts of the flows that bind it which do not fit, for a person.
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
}

/// Caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    pub(crate) tenant: String,
    pub(crate) user: String,
    pub(crate) role: String,
    pub(crate) token: String,
    pub(crate) scopes: Vec<String>,
    /// Actions that role and scopes allow together.
    pub(crate) may: Vec<String>,
}

/// A user.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct User {
    pub(crate) name: String,
    role: String,
    created_at: String,
}

impl From<store::User> for User {
    fn from(user: store::User) -> Self {
        User {
            name: user.name,
            role: user.role,
            created_at: user.created_at,
        }
    }
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    /// First characters, which name it within the tenant.
    id: String,
    user: String,
    name: String,
    scopes: Vec<String>,
    /// `live`, `expired` or `revoked`.
    status: String,
    created_at: String,
    expires_at: String,
    /// To within some minutes.
    last_used: Option<String>,
}

impl Token {
    /// Returns its position in a list: by user, then by time of creation.
    pub(crate) fn place(&self) -> String {
        format!("{}\n{}\n{}", self.user, self.created_at, self.id)
    }
}

impl From<store::Token> for Token {
    fn from(token: store::Token) -> Self {
        Token {
            id: token.id,
            user: token.user,
            name: token.name,
            scopes: token.scopes,
            status: token.status,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used: token.last_used,
        }
    }
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssuedToken {
    /// The token itself, shown this once.
    pub(crate) secret: String,
    #[serde(flatten)]
    pub(crate) token: Token,
}

/// Settings of a tenant that its admins may change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Settings {
    /// The tenant's name, which the operator gave.
    pub(crate) tenant: String,
    pub(crate) description: String,
    /// The longest life of a token, in days.
    pub(crate) token_days: i32,
}

/// A limit, and what is used of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Usage {
    name: String,
    /// Unit of the count.
    unit: String,
    /// Number in use; none where it counts no things.
    used: Option<i64>,
    /// Number allowed; none without a limit.
    allowed: Option<i64>,
}

impl From<store::Quota> for Usage {
    fn from(quota: store::Quota) -> Self {
        Usage {
            name: quota.name,
            unit: quota.unit,
            used: quota.used,
            allowed: quota.allowed,
        }
    }
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    at: String,
    /// `token:` with a user's name and the token's, or `operator:` for the installation's operator.
    actor: String,
    action: String,
    target: String,
    #[schema(value_type = Object)]
    detail: serde_json::Value,
}

impl From<store::AuditEntry> for AuditEntry {
    fn from(entry: store::AuditEntry) -> Self {
        AuditEntry {
            at: entry.at,
            // Which database user the operator was is not the tenant's business.
            actor: match entry.actor.split_once(':') {
                Some(("operator", _)) => "operator".to_owned(),
                _ => entry.actor,
            },
            action: entry.action,
            target: entry.target,
            detail: entry.detail,
        }
    }
}

/// An event of a stream, as its lines say it.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what `Event` of axum writes")]
pub(crate) struct StreamEvent {
    /// Number of the row, to resume after it (`Last-Event-ID`).
    id: String,
    /// Kind of event: `trace`.
    event: String,
    /// The row (`TraceRow`), as JSON.
    data: String,
}
