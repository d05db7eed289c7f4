//! Calls one transition: in the real sandbox, with the real limits, its answer judged by the guard.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json};
use wedflow_contract::{Declaration, Manifest};
use wedflow_guard::{CheckedAssignment, CheckedSetClause, CheckedValue, FlowAttributes, SetClauseCache};
use wedflow_model::{AttributeType, Limits, Measure, Outcome, ScalarType, TenantId, Wid};
use wedflow_sandbox::{
    AnswersFrom, Attempt, AttemptContext, Bound, Component, Exchange, FilesFrom, Granted, Guests, HttpFrom, Invocation,
    Logs, Provided, Recording, Sandbox, Settings, SetupError, user_cache,
};

use crate::attributes::{StateError, attributes_of};

/// The time limit of a call whose component suggests none.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Guests at once: one, with room for components of several memories.
const CONCURRENT: u32 = 16;

/// A call that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The sandbox cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The component is refused, as it would be at upload.
    #[error("the component is refused: {0}")]
    Refused(String),
    /// The component has several transitions, or none of that name.
    #[error("{message}; the component has {}", known.join(", "))]
    Transition {
        /// The reason.
        message: String,
        /// The transitions that it has.
        known: Vec<String>,
    },
    /// The state does not fit.
    #[error(transparent)]
    State(#[from] StateError),
    /// The transition does not fit the attributes.
    #[error("{0}")]
    Misfit(String),
}

/// A sandbox on the author's machine.
#[derive(Debug)]
pub struct Workbench {
    sandbox: Sandbox,
    limits: Limits,
    /// Numbers of tenants whose components were loaded: each has its share and its guest processes.
    tenants: Mutex<HashMap<String, TenantId>>,
}

/// A component on the workbench: compiled, and asked what it can do.
#[derive(Debug, Clone)]
pub struct Subject {
    component: Component,
    manifest: Manifest,
    tenant: TenantId,
}

/// The input of a transition's call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The transition; may be absent when the component has one only.
    pub transition: Option<String>,
    /// Types of attributes that the component leaves open.
    pub types: BTreeMap<String, AttributeType>,
    /// The flow's attributes, where there is a flow: nothing is declared, given or guessed then.
    pub flow_attributes: Option<Vec<(String, AttributeType)>>,
    /// The state; what is not in it is null.
    pub state: Map<String, Json>,
    /// The state as JSON text, handed over verbatim instead of `state`.
    pub payload: Option<String>,
    /// The flow's name.
    pub flow: String,
    /// The instance.
    pub wid: Wid,
    /// The trigger.
    pub trigger: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// The time limit; the component's own suggestion, or [`DEFAULT_TIMEOUT`], when absent.
    pub timeout: Option<Duration>,
    /// Time at which the time limit ends, in microseconds since 1970; computed when absent.
    pub deadline: Option<i64>,
    /// Settings of the flow.
    pub config: BTreeMap<String, String>,
    /// Secrets of the flow that are granted to the transition.
    pub secrets: BTreeMap<String, String>,
    /// The source of the host's answers.
    pub answers: AnswersFrom,
    /// The files that the instance has before, where files are granted.
    pub files: Option<BTreeMap<String, Vec<u8>>>,
    /// The requests that are expected, with their answers, where HTTP is granted.
    pub http: Option<Vec<Exchange>>,
}

impl Default for Call {
    fn default() -> Self {
        Call {
            transition: None,
            types: BTreeMap::new(),
            flow_attributes: None,
            state: Map::new(),
            payload: None,
            flow: "flow".to_owned(),
            wid: Wid::new(1),
            trigger: "trigger".to_owned(),
            attempt: 1,
            timeout: None,
            deadline: None,
            config: BTreeMap::new(),
            secrets: BTreeMap::new(),
            answers: AnswersFrom::Host,
            files: None,
            http: None,
        }
    }
}

/// The server's decision about an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Commit this change.
    Change(Arc<CheckedSetClause>),
    /// Refuse what was returned, for this reason.
    Refused(String),
    /// Commit nothing: the transition did not return a change.
    Nothing,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct Called {
    /// The transition that was called.
    pub transition: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The server's decision about the answer.
    pub verdict: Verdict,
    /// The cause, the limit and what was used, and the stack, for a person; empty for a change.
    pub account: String,
    /// The resources that the call used.
    pub measure: Measure,
    /// The lines that the call logged.
    pub logs: Logs,
    /// The host's answers to the call.
    pub recording: Recording,
    /// True if the call asked for more than the recording holds that was played back.
    pub beyond_recording: bool,
    /// The attributes it was called with.
    pub attributes: Vec<(String, AttributeType)>,
    /// The time it had.
    pub timeout: Duration,
    /// The fuel and memory that it had.
    pub limits: Limits,
}

impl Workbench {
    /// Sets up a sandbox with the limits of a host.
    ///
    /// # Errors
    /// [`CallError::Setup`] when the system refuses what it needs.
    pub fn new() -> Result<Self, CallError> {
        Self::with(Guests::InProcess)
    }

    /// Sets up the same for an author's own components: it remembers the functions of interpreters that it compiled.
    ///
    /// # Errors
    /// The same.
    pub fn of_author() -> Result<Self, CallError> {
        Self::set_up(Guests::InProcess, true)
    }

    /// Sets up the same, whose guests run in these processes.
    ///
    /// # Errors
    /// The same.
    pub fn with(guests: Guests) -> Result<Self, CallError> {
        Self::set_up(guests, false)
    }

    fn set_up(guests: Guests, functions: bool) -> Result<Self, CallError> {
        Ok(Workbench {
            sandbox: Sandbox::new(Settings {
                concurrent: CONCURRENT,
                cache: user_cache(),
                // An author waits for the compiler after each change, and makes few calls then.
                optimise: false,
                functions,
                guests,
                ..Settings::fast()
            })?,
            limits: Limits::default(),
            tenants: Mutex::default(),
        })
    }

    /// Returns the number of a tenant on this workbench.
    fn number_of(&self, tenant: &str) -> TenantId {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let next = i32::try_from(tenants.len() + 1).unwrap_or(i32::MAX);
        *(tenants.entry(tenant.to_owned())).or_insert(TenantId::new(next))
    }

    /// Checks a component, compiles it, and asks it what it can do, as an upload does. Blocks while it
    /// compiles.
    ///
    /// # Errors
    /// [`CallError::Refused`] with what an upload would say.
    pub async fn load(&self, bytes: &[u8]) -> Result<Subject, CallError> {
        let component =
            self.sandbox.compile(bytes, &self.limits).map_err(|error| CallError::Refused(error.to_string()))?;
        let manifest =
            self.sandbox.describe(&component).await.map_err(|error| CallError::Refused(error.to_string()))?;
        Ok(Subject { component, manifest, tenant: TenantId::NOBODY })
    }

    /// Checks, compiles and asks a component of a tenant, as [`Self::load`] does, within the tenant's share of what
    /// compiles and computes; a thread of its own waits while it compiles.
    ///
    /// # Errors
    /// [`CallError::Refused`] with what an upload would say.
    pub async fn load_for(self: &Arc<Self>, tenant: &str, bytes: Vec<u8>) -> Result<Subject, CallError> {
        let number = self.number_of(tenant);
        let (bench, tenant) = (Arc::clone(self), tenant.to_owned());
        let refused = |error: &dyn std::fmt::Display| CallError::Refused(error.to_string());
        let component = tokio::task::spawn_blocking(move || bench.sandbox.compile_for(&tenant, &bytes, &bench.limits))
            .await
            .map_err(|error| refused(&error))?
            .map_err(|error| refused(&error))?;
        let manifest = self.sandbox.describe(&component).await.map_err(|error| refused(&error))?;
        Ok(Subject { component, manifest, tenant: number })
    }

    /// Makes one call.
    ///
    /// # Errors
    /// [`CallError`] when it could not be made; however the transition ends is in [`Called`].
    pub async fn call(&self, subject: &Subject, call: &Call) -> Result<Called, CallError> {
        let declaration = subject.transition(call.transition.as_deref())?;
        let attributes = match &call.flow_attributes {
            Some(attributes) => attributes.clone(),
            None => attributes_of(declaration, &call.types, &call.state)?,
        };
        let bound = subject.bind(declaration, &attributes, call)?;
        let timeout = call.timeout.or(declaration.timeout).unwrap_or(DEFAULT_TIMEOUT);
        let deadline = call.deadline.unwrap_or_else(|| call.deadline_after(timeout));
        let payload = match &call.payload {
            Some(text) => text.clone(),
            None => Json::Object(call.state.clone()).to_string(),
        };
        let key = format!("{}-{}-{}", call.flow, call.wid, call.trigger);
        let invocation = Invocation {
            flow: &call.flow,
            wid: call.wid,
            trigger: &call.trigger,
            attempt: call.attempt,
            deadline,
            payload: &payload,
            key: &key,
        };
        let limits = bound.within(&self.limits);
        let Attempt { outcome, measure, logs, account, recording, beyond_recording, .. } = self
            .sandbox
            .run_in_context(
                &bound,
                invocation,
                timeout,
                &limits,
                AttemptContext { tenant: subject.tenant, answers: call.answers.clone(), ..AttemptContext::default() },
            )
            .await;
        Ok(Called {
            verdict: judge(&outcome, declaration, &attributes),
            transition: declaration.transition.clone(),
            outcome,
            account,
            measure,
            logs,
            recording,
            beyond_recording,
            attributes,
            timeout,
            limits,
        })
    }
}

impl Call {
    /// Computes when a time limit ends that begins now, by the clock that the transition sees.
    fn deadline_after(&self, timeout: Duration) -> i64 {
        let now = match &self.answers {
            AnswersFrom::Test { now, .. } => *now,
            AnswersFrom::Host | AnswersFrom::Recording(_) => system_now(),
        };
        now.saturating_add(i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX))
    }
}

impl Subject {
    /// Binds a transition to attributes, with the settings, secrets, files and answers of a call.
    fn bind(
        &self,
        declaration: &Declaration,
        attributes: &[(String, AttributeType)],
        call: &Call,
    ) -> Result<Bound, CallError> {
        let bound =
            self.component.bind(declaration, attributes).map_err(|error| CallError::Misfit(error.to_string()))?;
        Ok(bound.provided_with(Arc::new(Provided::new(to_map(&call.config), to_map(&call.secrets)))).granted_with(
            Granted { files: call.files.clone().map(FilesFrom::Test), http: call.http.clone().map(HttpFrom::Test) },
        ))
    }

    /// Returns what the component says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The SHA-256 of its bytes, in hexadecimal.
    pub fn digest(&self) -> String {
        self.component.digest().to_string()
    }

    /// The declaration of a transition; of its only one when no name is given.
    ///
    /// # Errors
    /// [`CallError::Transition`] when there is none of that name, or several to choose from.
    pub fn transition(&self, name: Option<&str>) -> Result<&Declaration, CallError> {
        let all = &self.manifest.transitions;
        let refused = |message: String| CallError::Transition {
            message,
            known: all.iter().map(|one| one.transition.clone()).collect(),
        };
        match (name, all.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => Err(refused("say which transition is meant".to_owned())),
            (Some(name), _) => all
                .iter()
                .find(|one| one.transition == name)
                .ok_or_else(|| refused(format!("there is no transition `{name}`"))),
        }
    }
}

impl Called {
    /// The name of what it came to: that of the outcome, or `refused`.
    pub fn name(&self) -> &'static str {
        match self.verdict {
            Verdict::Refused(_) => "refused",
            _ => self.outcome.name(),
        }
    }

    /// The change as SQL, without the word SET.
    pub fn set(&self) -> Option<String> {
        match &self.verdict {
            Verdict::Change(clause) => Some(sql_of(clause, &self.attributes)),
            _ => None,
        }
    }

    /// SHA-256 of what it answered, as hosts record it, in hexadecimal.
    pub fn digest(&self) -> String {
        wedflow_contract::Digest::of(self.outcome.transcript().as_bytes()).to_string()
    }

    /// The answer, in one canonical text: equal texts are equal answers, byte for byte.
    pub fn answer(&self) -> String {
        match (&self.outcome, &self.verdict) {
            (Outcome::Clause(text), Verdict::Change(_)) => format!("SET {text}"),
            (_, Verdict::Change(clause)) => format!("SET {}", sql_of(clause, &self.attributes)),
            (_, Verdict::Refused(reason)) => format!("refused: {reason}"),
            (outcome, Verdict::Nothing) => match outcome {
                Outcome::Failed { retry: true, .. } => {
                    format!("{outcome} (another attempt may succeed)")
                }
                other => other.to_string(),
            },
        }
    }
}

/// A checked clause as SQL that people read: numbers and truth values without quotes. It parses to an
/// equal clause.
pub fn sql_of(clause: &CheckedSetClause, attributes: &[(String, AttributeType)]) -> String {
    clause
        .assignments()
        .iter()
        .map(|assignment| format!("{} = {}", assignment.quoted, value_sql(assignment, attributes)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The right side of an assignment as SQL.
pub(crate) fn value_sql(assignment: &CheckedAssignment, attributes: &[(String, AttributeType)]) -> String {
    match &assignment.value {
        CheckedValue::Literal(None) => "NULL".to_owned(),
        CheckedValue::Literal(Some(text)) => {
            let kind = attributes.iter().find(|(name, _)| **name == *assignment.attribute).map(|(_, kind)| kind);
            literal(text, kind)
        }
        CheckedValue::Expression { sql, .. } => sql.clone(),
        CheckedValue::Default => "DEFAULT".to_owned(),
    }
}

fn literal(text: &str, kind: Option<&AttributeType>) -> String {
    let plain = match kind {
        Some(AttributeType {
            scalar: ScalarType::Integer | ScalarType::Bigint | ScalarType::Numeric,
            array: false,
        }) => text
            .strip_prefix('-')
            .unwrap_or(text)
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())),
        Some(AttributeType { scalar: ScalarType::Boolean, array: false }) => matches!(text, "true" | "false"),
        _ => false,
    };
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

fn judge(outcome: &Outcome, declaration: &Declaration, attributes: &[(String, AttributeType)]) -> Verdict {
    let clauses = SetClauseCache::new(FlowAttributes::new(attributes.iter().cloned()), 0);
    let writes: Option<BTreeSet<String>> =
        declaration.writes.as_ref().map(|writes| writes.iter().map(|attribute| attribute.name.clone()).collect());
    let judged = match outcome {
        Outcome::Clause(text) => clauses.judge_clause(text, writes.as_ref(), str::to_owned),
        Outcome::Assignments(list) => clauses.judge_assignments(list, writes.as_ref()),
        _ => return Verdict::Nothing,
    };
    match judged {
        Ok(clause) => Verdict::Change(clause),
        Err(reason) => Verdict::Refused(reason),
    }
}

fn to_map(map: &BTreeMap<String, String>) -> HashMap<String, String> {
    map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn system_now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .unwrap_or(0)
}
