//! An item's component at work: over the item's data and what a person gave, here or, for `wed serve`, at the server.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value as Json};
use wedflow_api::Application;
use wedflow_authoring::{Call, CallError, Called, CheckedValue, Subject, Verdict, Workbench};
use wedflow_model::{AttributeType, Wid};
use wedflow_worker::Guests;

use crate::answer::shown;
use crate::problem::Problem;

/// Runs an item's component over the item's data and the values that a person gave; the values that it answers.
///
/// # Errors
/// The component's own refusal of the values, or why it could not be run.
pub(crate) async fn run_component(
    item: &Json,
    bytes: &[u8],
    values: &Map<String, Json>,
) -> Result<Map<String, Json>, Problem> {
    changes(&call(item, bytes, values).await?)
}

/// Calls the item's component as a host does: the same sandbox, the same limits. It sees the values that the person
/// gave in the place of the item's, so it can check them.
pub(crate) async fn call(item: &Json, bytes: &[u8], values: &Map<String, Json>) -> Result<Called, Problem> {
    let workbench = Workbench::new().map_err(|error| Problem::new(error.to_string()))?;
    let subject = workbench.load(bytes).await.map_err(|error| Problem::new(error.to_string()))?;
    call_on(&workbench, &subject, item, values).await
}

/// Calls an item's component on a workbench.
async fn call_on(
    workbench: &Workbench,
    subject: &Subject,
    item: &Json,
    values: &Map<String, Json>,
) -> Result<Called, Problem> {
    let types = item["types"].as_object().cloned().unwrap_or_default();
    let attributes: Result<Vec<(String, AttributeType)>, _> =
        types.iter().map(|(name, kind)| shown(kind).parse().map(|kind| (name.clone(), kind))).collect();
    let attributes = attributes.map_err(|error| Problem::new(error.to_string()))?;
    let mut state = item["data"].as_object().cloned().unwrap_or_default();
    let given = values.iter().filter(|(name, _)| types.contains_key(*name));
    state.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    let mut call = Call {
        transition: item["transition"].as_str().map(str::to_owned),
        flow_attributes: Some(attributes),
        state,
        flow: shown(&item["flow"]),
        wid: item["wid"].as_i64().and_then(|wid| i32::try_from(wid).ok()).map_or(Wid::new(1), Wid::new),
        trigger: shown(&item["task"]),
        ..Call::default()
    };
    let called = match workbench.call(subject, &call).await {
        // An application with one transition may be used by any task.
        Err(CallError::Transition { known, .. }) if known.len() == 1 => {
            call.transition = None;
            workbench.call(subject, &call).await
        }
        other => other,
    };
    called.map_err(|error| Problem::new(error.to_string()).hint("The component does not fit the item's data."))
}

/// The values that a call answered; an expression needs the server's state, and is not done here.
pub(crate) fn changes(called: &Called) -> Result<Map<String, Json>, Problem> {
    let Verdict::Change(clause) = &called.verdict else {
        return Err(Problem::new(format!("the component answered no change: {}", called.account))
            .hint("Nothing is kept; do it again, or report a failure with --failed --reason."));
    };
    let mut values = Map::new();
    for assignment in clause.assignments() {
        let kind = called
            .attributes
            .iter()
            .find(|(name, _)| **name == *assignment.attribute)
            .map(|(_, kind)| kind.to_string());
        let value = match &assignment.value {
            CheckedValue::Literal(None) => Json::Null,
            CheckedValue::Literal(Some(text)) if kind.as_deref() == Some("jsonb") => {
                serde_json::from_str(text).unwrap_or(Json::Null)
            }
            CheckedValue::Literal(Some(text)) => Json::from(text.as_str()),
            _ => {
                return Err(Problem::new(format!(
                    "the component answered an expression for {}, which only the server can evaluate",
                    assignment.attribute
                ))
                .hint("Do this item while connected, or give the value with --set."));
            }
        };
        if assignment.quoted.ends_with(']') {
            return Err(Problem::new(format!("the component set an element of {}", assignment.attribute))
                .hint("An application of people's work sets whole attributes."));
        }
        values.insert(assignment.attribute.to_string(), value);
    }
    Ok(values)
}

/// Processes in which the workbench of a server runs guests.
static GUESTS: OnceLock<Guests> = OnceLock::new();

/// Says in which processes the workbench of this server runs guests, before its first call.
pub(crate) fn run_in(guests: Guests) {
    let _ = GUESTS.set(guests);
}

/// Returns the workbench of a server, which all its calls share.
///
/// # Errors
/// Why it cannot be set up, for the person.
pub(crate) fn server_workbench() -> Result<Arc<Workbench>, String> {
    static WORKBENCH: OnceLock<Arc<Workbench>> = OnceLock::new();
    match WORKBENCH.get() {
        Some(workbench) => Ok(Arc::clone(workbench)),
        None => {
            let guests = GUESTS.get().copied().unwrap_or_default();
            let made = Workbench::with(guests).map_err(|error| error.to_string())?;
            Ok(Arc::clone(WORKBENCH.get_or_init(|| Arc::new(made))))
        }
    }
}

/// Runs an item's component at the server, for a person whose machine does not have it; the values that it answers.
///
/// # Errors
/// Why there are none, for the person.
pub(crate) async fn run_at_server(application: Application) -> Result<Map<String, Json>, String> {
    let workbench = server_workbench()?;
    let subject =
        workbench.load_for(&application.tenant, application.bytes).await.map_err(|error| error.to_string())?;
    let called = call_on(&workbench, &subject, &application.item, &application.values).await;
    called.and_then(|called| changes(&called)).map_err(|problem| problem.message.clone())
}
