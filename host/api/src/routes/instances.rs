//! Instances: started and looked at.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use wedflow_model::Wid;
use wedflow_store::{CheckedCondition, Flow, Once, StoreError, WantedInstances};
use wedflow_tenancy::{Action, Area};
use wedflow_worker::definition::checked_condition;

use super::operate::{FlowPath, InstancePath};
use crate::access::Caller;
use crate::body::{IdempotencyKey, OptionalDocument};
use crate::documents::{
    Attempt, AttemptFilter, AttemptName, Count, IfRunning, Instance, InstanceFilter, List, Order, Page, Recording,
    Start, Started, Status, TraceFilter, TraceRow,
};
use crate::page;
use crate::path::{Asked, Named, wid};
use crate::problem::Problem;
use crate::state::Api;
use crate::traced::WroteState;

/// Says that an answer was given before.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Filter of instances as a request gives it.
#[derive(Debug, Default)]
pub(super) struct Filter {
    pub(super) status: Option<Status>,
    pub(super) state: Option<Map<String, Value>>,
    pub(super) condition: Option<String>,
    pub(super) transition: Option<String>,
    pub(super) key: Option<String>,
    pub(super) changed_since: Option<String>,
    pub(super) started_since: Option<String>,
    pub(super) started_before: Option<String>,
    pub(super) oldest_first: bool,
}

impl TryFrom<InstanceFilter> for Filter {
    type Error = Problem;

    fn try_from(which: InstanceFilter) -> Result<Self, Problem> {
        Ok(Filter {
            status: which.status,
            state: which.state.as_deref().map(state_of).transpose()?,
            condition: which.r#where,
            transition: which.transition,
            key: which.key,
            changed_since: which.changed_since,
            started_since: which.started_since,
            started_before: which.started_before,
            oldest_first: which.order == Some(Order::Oldest),
        })
    }
}

/// Filter of instances whose condition was checked.
pub(super) struct Wanted {
    filter: Filter,
    condition: Option<CheckedCondition>,
}

impl Wanted {
    /// Checks a filter's condition.
    pub(super) async fn read(api: &Api, flow: &Flow, filter: Filter) -> Result<Self, Problem> {
        if let Some(state) = &filter.state {
            let shape = api.store.flow_shape(flow.flow_id).await?;
            let known = |name: &String| shape.attributes.iter().any(|(own, _)| own == name);
            if let Some(name) = state.keys().find(|name| !known(name)) {
                let unknown = format!("flow \"{}\" has no attribute \"{name}\"", flow.name);
                return Err(Problem::invalid("42703", unknown).hint("GET /v1/flows/{flow} lists a flow's attributes."));
            }
        }
        Ok(Wanted {
            condition: match &filter.condition {
                None => None,
                Some(text) => Some(checked_condition(&api.store, flow, text).await?),
            },
            filter,
        })
    }

    /// Returns the filter as the store takes it.
    pub(super) fn filter(&self) -> WantedInstances<'_> {
        let filter = &self.filter;
        WantedInstances {
            status: filter.status.map(Status::letter),
            state: filter.state.as_ref(),
            changed_since: filter.changed_since.as_deref(),
            started_since: filter.started_since.as_deref(),
            started_before: filter.started_before.as_deref(),
            transition: filter.transition.as_deref(),
            key: filter.key.as_deref(),
            condition: self.condition.as_ref(),
            oldest_first: filter.oldest_first,
            wid: None,
        }
    }
}

/// Instances of a flow, newest first
#[utoipa::path(get, path = "/v1/flows/{flow}/instances", tag = "instances", params(FlowPath, InstanceFilter),
    responses((status = 200, body = List<Instance>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(which): Asked<InstanceFilter>,
) -> Result<Json<List<Instance>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let limit = page::limit(which.limit)?;
    let from = page::position::<1>(which.cursor.as_deref())?.map(|[wid]| Wid::new(page::small(wid)));
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wanted = Wanted::read(&api, &flow, which.try_into()?).await?;
    let wanted = wanted.filter();
    let store = &api.store;
    let fetch = |from, count| store.instances_from(&flow, &wanted, from, count);
    let (items, next) = page::part(limit, from, |instance: Instance| (instance.wid, instance), fetch).await?;
    let next = next.map(|last| page::cursor(&[i64::from(last.get())]));
    Ok(Json(List { items, next }))
}

/// Counts the instances of a flow that match, up to 100,000
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/count", tag = "instances", params(FlowPath, InstanceFilter),
    responses((status = 200, body = Count), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn count(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(which): Asked<InstanceFilter>,
) -> Result<Json<Count>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    page::limit(which.limit)?;
    page::position::<1>(which.cursor.as_deref())?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wanted = Wanted::read(&api, &flow, which.try_into()?).await?;
    let count = api.store.count_instances(&flow, &wanted.filter()).await?;
    Ok(Json(Count { count }))
}

/// The values of a filter.
fn state_of(text: &str) -> Result<Map<String, Value>, Problem> {
    serde_json::from_str(text).map_err(|_| {
        Problem::invalid("invalid_query", "state is no JSON object")
            .hint("Write it as in state={\"item\":\"tea\"}, percent-encoded.")
    })
}

/// Starts an instance; with `key` under a name of its own, which names it in every path as `key:NAME`; with
/// `Idempotency-Key` at most once for such a key, within a day
#[utoipa::path(post, path = "/v1/flows/{flow}/instances", tag = "instances",
    params(FlowPath,
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's choice, best a random UUID")),
    request_body = Option<Start>,
    responses((status = 201, body = Started),
        (status = 200, body = Started,
            description = "One runs under the key: `existing`; with `if_running: send` it has the values as an event"),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn start(
    State(api): State<Api>,
    caller: Caller,
    Named(name): Named<String>,
    IdempotencyKey(key): IdempotencyKey,
    OptionalDocument(start): OptionalDocument<Start>,
) -> Result<Response, Problem> {
    let flow = caller.flow(&api, Action::write(Area::Instances), &name).await?;
    let mut asked = json!(["start", flow.flow_id, &start.state]);
    if let (Some(key), Some(parts)) = (&start.key, asked.as_array_mut()) {
        parts.push(json!(key));
    }
    let once = key.as_deref().map(|key| Once { tenant: &caller.tenant, user: &caller.user, key, asked: &asked });
    let store = caller.store(&api);
    let business_key = start.key.as_deref();
    let started = store.start_instance_once(&flow, &start.state, business_key, once.as_ref());
    let (wid, replayed, existing) = match started.await {
        Ok((wid, replayed)) => (wid, replayed, false),
        Err(error) => {
            let wid = running(&api, &flow, &start, error).await?;
            let is_repeated = start.if_running == IfRunning::Send
                && !(store.send_event(&flow, wid, &start.state, key.as_deref())).await?;
            (wid, is_repeated, true)
        }
    };
    let status = match existing {
        true => StatusCode::OK,
        false => StatusCode::CREATED,
    };
    let mut response = (status, Json(Started { wid, existing })).into_response();
    let headers = response.headers_mut();
    if let Ok(place) = HeaderValue::from_str(&format!("/v1/flows/{}/instances/{wid}", flow.name)) {
        headers.insert(header::LOCATION, place);
    }
    response.extensions_mut().insert(WroteState { flow: flow.flow_id, wid, seq: 1 });
    let headers = response.headers_mut();
    if replayed {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Returns the instance that runs under the key of a start that was refused, where the client wants that one. The values
/// of an event alone may start nothing, or be closed to starts.
async fn running(api: &Api, flow: &Flow, start: &Start, error: StoreError) -> Result<Wid, Problem> {
    // What was sent under an idempotency key is no start: the event itself says whether it is the same.
    let was_sent = start.if_running == IfRunning::Send && matches!(error, StoreError::OtherRequest);
    let Some(key) = &start.key else {
        return Err(error.into());
    };
    if !was_sent && !matches!(error.code(), Some("WF001" | "WF027" | "WF048" | "23505")) {
        return Err(error.into());
    }
    match api.store.instance_with_key(flow, key, !was_sent).await? {
        Some(wid) if start.if_running != IfRunning::Refuse => Ok(wid),
        Some(wid) => Err(Problem::new(
            StatusCode::CONFLICT,
            "WF027",
            format!("instance {wid} of flow \"{}\" runs under the key \"{key}\"", flow.name),
        )
        .hint("Use that instance with `if_running: use` or `send`, or start another one when it is final.")),
        None => Err(error.into()),
    }
}

/// An instance
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}", tag = "instances", params(InstancePath),
    responses((status = 200, body = Instance), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
) -> Result<Json<Instance>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Instances), &flow).await?;
    let instance = api.store.instance(&flow, wid(&api, &flow, &number).await?).await?;
    Ok(Json(instance))
}

/// The attempts that hosts made at an instance's transitions, oldest first, with what they logged
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/attempts", tag = "instances", params(InstancePath, Page),
    responses((status = 200, body = List<Attempt>), (status = 404, body = Problem)))]
pub(crate) async fn attempts(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<Attempt>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let limit = page::limit(asked.limit)?;
    let after = page::position::<1>(asked.cursor.as_deref())?.map(|[place]| place.max(0));
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wid = wid(&api, &flow, &number).await?;
    let (store, flow) = (&api.store, flow.flow_id);
    store.instance_status(flow, wid).await?;
    let fetch = |after: Option<i64>, count| async move {
        let skipped = after.unwrap_or(0);
        let attempts = store.logged_attempts(flow, wid, skipped, count).await?;
        Ok((skipped + 1..).zip(attempts).collect::<Vec<_>>())
    };
    let (items, next) = page::part(limit, after, |placed| placed, fetch).await?;
    let next = next.map(|last| page::cursor(&[last]));
    Ok(Json(List { items, next }))
}

/// An attempt with what it takes to run it again. It is named by the row of the trace that it wrote, or by `a` and its
/// number where it changed nothing
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/attempts/{attempt}", tag = "instances",
    params(InstancePath,
        ("attempt" = String, Path, description = "`4`, or `a98`")),
    responses((status = 200, body = Recording), (status = 404, body = Problem)))]
pub(crate) async fn recording(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number, attempt)): Named<(String, String, String)>,
) -> Result<Json<Recording>, Problem> {
    let (flow, wid) = caller.instance(&api, Action::read(Area::Instances), &flow, &number).await?;
    let (store, flow) = (&api.store, flow.flow_id);
    store.instance_status(flow, wid).await?;
    let is_meant = |one: &wedflow_store::MadeAttempt| match attempt.strip_prefix('a') {
        Some(number) => one.attempt.number.map(|id| id.to_string()).as_deref() == Some(number),
        None => one.attempt.seq.map(|seq| seq.to_string()).as_deref() == Some(&attempt),
    };
    let made = store.made_attempts(flow, wid).await?;
    let found = made.into_iter().find(is_meant);
    let found = found.ok_or_else(|| Problem::missing("attempt", &attempt))?;
    let payload = match found.from_seq {
        Some(seq) => store.state_at(flow, wid, seq).await?,
        None => None,
    };
    let written = match found.attempt.seq {
        Some(seq) => store.state_at(flow, wid, seq).await?,
        None => None,
    };
    Ok(Json(found.recording(payload, written)))
}

/// The last attempts at a transition that changed a state or failed by themselves, newest first
#[utoipa::path(get, path = "/v1/flows/{flow}/attempts", operation_id = "last_attempts", tag = "instances",
    params(FlowPath, AttemptFilter),
    responses((status = 200, body = List<AttemptName>), (status = 404, body = Problem)))]
pub(crate) async fn last_attempts(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<AttemptFilter>,
) -> Result<Json<List<AttemptName>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let limit = page::limit(asked.limit)?;
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let transition = asked
        .transition
        .ok_or_else(|| Problem::invalid("invalid_query", "no transition is named").hint("Say ?transition=NAME."))?;
    let last = (api.store).last_attempts(flow.flow_id, &transition, limit);
    let last = last.await?.into_iter();
    let last = last.map(|(wid, seq, number)| AttemptName { wid, seq, number });
    Ok(Json(List::whole(last.collect())))
}

/// An instance's history, oldest first
#[utoipa::path(get, path = "/v1/flows/{flow}/instances/{wid}/trace", tag = "instances",
    params(InstancePath, TraceFilter),
    responses((status = 200, body = List<TraceRow>), (status = 404, body = Problem)))]
pub(crate) async fn trace(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, number)): Named<(String, String)>,
    Asked(rows): Asked<TraceFilter>,
) -> Result<Json<List<TraceRow>>, Problem> {
    caller.must(Action::read(Area::Instances))?;
    let limit = page::limit(rows.limit)?;
    let after = match page::position::<1>(rows.cursor.as_deref())? {
        Some([seq]) => Some(page::small(seq)),
        None => rows.after,
    };
    let flow = api.store.flow(&caller.tenant, &flow).await?;
    let wid = wid(&api, &flow, &number).await?;
    let store = &api.store;
    store.instance_status(flow.flow_id, wid).await?;
    let fetch = |after: Option<i32>, count| {
        let from = after.unwrap_or(0).saturating_add(1);
        store.trace_page(flow.flow_id, wid, from, count)
    };
    let (items, next) = page::part(limit, after, |row: TraceRow| (row.seq, row), fetch).await?;
    let next = next.map(|last| page::cursor(&[i64::from(last)]));
    Ok(Json(List { items, next }))
}
