//! Settings and secrets that a flow's owner gives its transitions.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wedflow_model::FlowId;
use wedflow_store::Store;
use wedflow_tenancy::{Action, Area};

use super::operate::FlowPath;
use crate::access::Caller;
use crate::body::Document;
use crate::documents::{FlowSecret, FlowSetting, List, NewSecret, NewSetting, Page};
use crate::page;
use crate::path::{Asked, Named};
use crate::problem::Problem;
use crate::state::Api;

/// A flow's settings
#[utoipa::path(get, path = "/v1/flows/{flow}/config", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<FlowSetting>), (status = 404, body = Problem)))]
pub(crate) async fn settings(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<FlowSetting>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &flow).await?;
    let settings = api.store.settings(flow.flow_id).await?.into_iter();
    let settings = settings.map(|(key, value)| FlowSetting { key, value });
    page::cut(&asked, settings.collect(), |setting: &FlowSetting| setting.key.clone()).map(Json)
}

/// Gives a flow a setting, or another value to one
#[utoipa::path(put, path = "/v1/flows/{flow}/config/{key}", tag = "flows",
    params(FlowPath,
        ("key" = String, Path, description = "The setting's key")),
    request_body = NewSetting,
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_setting(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, key)): Named<(String, String)>,
    Document(new): Document<NewSetting>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let store = caller.store(&api);
    let flow = store.flow(&caller.tenant, &flow).await?;
    store.set_setting(flow.flow_id, &key, &new.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a setting away
#[utoipa::path(delete, path = "/v1/flows/{flow}/config/{key}", tag = "flows",
    params(FlowPath,
        ("key" = String, Path, description = "The setting's key")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn unset_setting(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, key)): Named<(String, String)>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let store = caller.store(&api);
    let flow = store.flow(&caller.tenant, &flow).await?;
    match store.unset_setting(flow.flow_id, &key).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::missing("setting", &key)),
    }
}

/// A flow's secrets by name, and which transitions have them; never their values
#[utoipa::path(get, path = "/v1/flows/{flow}/secrets", tag = "flows", params(FlowPath, Page),
    responses((status = 200, body = List<FlowSecret>), (status = 404, body = Problem)))]
pub(crate) async fn secrets(
    State(api): State<Api>,
    caller: Caller,
    Named(flow): Named<String>,
    Asked(asked): Asked<Page>,
) -> Result<Json<List<FlowSecret>>, Problem> {
    let flow = caller.flow(&api, Action::read(Area::Flows), &flow).await?;
    let secrets = api.store.secrets(flow.flow_id).await?.into_iter();
    let secrets = secrets.map(|secret| FlowSecret {
        name: secret.name,
        transitions: secret.transitions,
        senders: secret.senders,
    });
    page::cut(&asked, secrets.collect(), |secret: &FlowSecret| secret.name.clone()).map(Json)
}

/// Stores a secret of a flow, or says which transitions have it
#[utoipa::path(put, path = "/v1/flows/{flow}/secrets/{secret}", tag = "flows",
    params(FlowPath,
        ("secret" = String, Path, description = "The secret's name")),
    request_body = NewSecret, responses((status = 204), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The installation has no key to secrets"),
        (status = 422, body = Problem)))]
pub(crate) async fn put_secret(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
    Document(new): Document<NewSecret>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    if new.value.is_none() && new.transitions.is_none() && new.senders.is_none() {
        return Err(Problem::invalid("invalid_document", "nothing is given")
            .hint("Give the value, or the transitions or senders that have it."));
    }
    let store = caller.store(&api);
    let flow = store.flow(&caller.tenant, &flow).await?.flow_id;
    for transitions in [&new.transitions, &new.senders].into_iter().flatten() {
        must_be_known(&store, flow, transitions).await?;
    }
    if let Some(value) = &new.value {
        let find = api.find_secret_key;
        let key = tokio::task::spawn_blocking(move || find.and_then(|find| find()))
            .await
            .ok()
            .flatten()
            .ok_or_else(no_key)?;
        let (ciphertext, nonce) = key.seal(flow, &name, value).map_err(|error| {
            Problem::invalid("invalid_document", format!("the value is refused: {error}"))
                .hint("A shorter one could not be masked in logs.")
                .at("value".to_owned())
        })?;
        store.put_secret(flow, &name, &ciphertext, &nonce).await?;
    }
    for (transitions, may_read) in [(&new.transitions, true), (&new.senders, false)] {
        let Some(transitions) = transitions else {
            continue;
        };
        let known = match may_read {
            true => store.grant_secret(flow, &name, transitions).await?,
            false => store.let_send_secret(flow, &name, transitions).await?,
        };
        if !known {
            return Err(Problem::missing("secret", &name));
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses the name of a transition that a flow has not.
pub(super) async fn must_be_known(store: &Store, flow: FlowId, transitions: &[String]) -> Result<(), Problem> {
    match store.unknown_transitions(flow, transitions).await?.first() {
        None => Ok(()),
        Some(unknown) => {
            let short: String = unknown.chars().take(80).collect();
            Err(Problem::invalid("unknown_transition", format!("the flow has no transition \"{short}\""))
                .hint("GET /v1/flows/{flow} lists them; apply the definition that has it first."))
        }
    }
}

/// Takes a secret away
#[utoipa::path(delete, path = "/v1/flows/{flow}/secrets/{secret}", tag = "flows",
    params(FlowPath,
        ("secret" = String, Path, description = "The secret's name")),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove_secret(
    State(api): State<Api>,
    caller: Caller,
    Named((flow, name)): Named<(String, String)>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::write(Area::Flows))?;
    let store = caller.store(&api);
    let flow = store.flow(&caller.tenant, &flow).await?;
    match store.remove_secret(flow.flow_id, &name).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::missing("secret", &name)),
    }
}

/// Answers that the host has no key to encrypt with.
fn no_key() -> Problem {
    Problem::new(StatusCode::CONFLICT, "no_secret_key", "this installation has no key to secrets")
        .hint("Ask the operator to give its hosts the same WEDFLOW_SECRET_KEY: openssl rand -hex 32.")
}
