//! Instances of a flow: searching by status, attribute and time; starting one.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect};
use maud::{Markup, html};
use serde_json::{Map, Value};
use wedflow_documents::{Attribute, FlowDetail, Instance, InstanceFilter, List, Start, Status};

use super::batch;
use super::flow::{detail, of_flow};
use super::{Query, badge, flow_address, instance_address, more_of, status_code, status_word, table};
use crate::failure::Failure;
use crate::frame::{Answer, hidden, onward};
use crate::session::{Sent, Session};
use crate::shown::{part, time, value};

/// Instances on a page.
const PAGE: i64 = 50;
/// Attributes that a table shows.
const ATTRIBUTES_MAX: usize = 5;
/// Statuses that a search is for.
const STATUSES: [Status; 3] = [Status::Regular, Status::Exception, Status::Final];
/// Parameters of a search.
pub(crate) const SEARCHED: [&str; 5] = ["status", "attribute", "value", "since", "where"];

/// Instances, as searched for.
pub(crate) async fn list(session: Session, Path(flow): Path<String>, query: Query) -> Answer {
    if let Some(wid) = query.given("wid").filter(|wid| wid.bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(Redirect::to(&instance_address(&flow, wid)).into_response());
    }
    let detail = detail(&session, &flow).await?;
    let filter = filter_of(&session, &detail, &query)?;
    let found: List<Instance> = session.part(&["flows", &flow, "instances"], &filter).await?;
    let say = |text| session.language.say(text);
    let content = html! {
        (search(&session, &detail, &query))
        (instance_table(&session, &detail, &found.items))
        (more_of(&session, &found, None, &format!("?{}", searched(&query))))
        @if session.may("jobs:write") && !found.items.is_empty() { (batch::form(&session, &detail, &query.0, None)) }
        @if session.may("instances:write") {
            p { a class="button" href=(format!("{}/start", flow_address(&flow))) { (say("Start an instance")) } }
        }
    };
    Ok(of_flow(&session, &detail, "/instances", &content))
}

/// The API's filter for a search.
pub(crate) fn filter_of(session: &Session, flow: &FlowDetail, query: &Query) -> Result<InstanceFilter, Failure> {
    let status = STATUSES.into_iter().find(|status| query.given("status") == Some(status_code(*status)));
    let attribute = query.given("attribute").and_then(|name| flow.attributes.iter().find(|one| one.name == name));
    let state = match attribute {
        None if query.given("value").is_some() => {
            let message = session.language.say("Choose the attribute that has this value.");
            return Err(Failure::wrong(session.language, message).at("attribute"));
        }
        Some(attribute) => {
            let value = read(session, attribute, query.given("value").unwrap_or_default())?;
            let state: Map<String, Value> = [(attribute.name.clone(), value)].into_iter().collect();
            Some(Value::Object(state).to_string())
        }
        None => None,
    };
    Ok(InstanceFilter {
        status,
        state,
        changed_since: query.since(),
        r#where: query.owned("where"),
        cursor: query.owned("cursor"),
        limit: Some(PAGE),
        ..InstanceFilter::default()
    })
}

/// The form of a search.
fn search(session: &Session, flow: &FlowDetail, query: &Query) -> Markup {
    let say = |text| session.language.say(text);
    let asked = |name| query.given(name).unwrap_or_default();
    html! {
        form class="line" role="search" {
            label { (say("Number")) input name="wid" inputmode="numeric" size="8" data-search; }
            label {
                (say("Status"))
                select name="status" {
                    option value="" { (say("any")) }
                    @for status in STATUSES {
                        @let word = status_code(status);
                        option value=(word) selected[asked("status") == word] {
                            (status_word(session.language, status))
                        }
                    }
                }
            }
            label {
                (say("Attribute"))
                select name="attribute" {
                    option value="" { (say("any")) }
                    @for one in &flow.attributes {
                        option value=(one.name) selected[asked("attribute") == one.name] { (one.name) }
                    }
                }
            }
            label { (say("Has the value")) input name="value" value=(asked("value")) size="18"; }
            label { (say("Condition")) input name="where" value=(asked("where")) size="30" placeholder="qty > 3"; }
            label {
                (say("Status changed since (UTC)")) input type="datetime-local" name="since" value=(asked("since"));
            }
            button class="strong" { (say("Search")) }
        }
    }
}

/// Parameters of a search, for the address of its next part.
fn searched(query: &Query) -> String {
    let given = SEARCHED.iter().filter_map(|name| Some(format!("{name}={}&", part(query.given(name)?))));
    given.collect()
}

/// Instances with their first attributes.
fn instance_table(session: &Session, flow: &FlowDetail, instances: &[Instance]) -> Markup {
    let say = |text| session.language.say(text);
    if instances.is_empty() {
        return html! { p class="box" { (say("None is like this.")) } };
    }
    let shown: Vec<&Attribute> = flow.attributes.iter().take(ATTRIBUTES_MAX).collect();
    let mut heads = vec![say("Instance"), say("Status"), say("Pending"), say("Status since (UTC)")];
    heads.extend(shown.iter().map(|one| one.name.as_str()));
    table(
        say("Instances"),
        &heads,
        &html! {
            @for one in instances {
                tr {
                    th scope="row" { a href=(instance_address(&flow.name, one.wid)) { (one.wid) } }
                    td { (badge(session.language, one.status)) }
                    td { (one.pending.join(", ")) }
                    td { (time(&one.changed)) }
                    @for attribute in &shown { td { (value(one.state.get(&attribute.name).unwrap_or(&Value::Null))) } }
                }
            }
        },
    )
}

/// Reads a value of an attribute as a person writes it: nothing is null.
pub(crate) fn read(session: &Session, attribute: &Attribute, text: &str) -> Result<Value, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let kind = attribute.r#type.as_str();
    let is_json =
        kind.ends_with(']') || matches!(kind, "integer" | "bigint" | "numeric" | "float" | "boolean" | "jsonb");
    if !is_json {
        return Ok(Value::String(text.to_owned()));
    }
    serde_json::from_str(text).map_err(|_| {
        let say = session.language.say("is no value of type");
        let message = format!("{}: \"{text}\" {say} {kind}", attribute.name);
        Failure::wrong(session.language, &message).at(&attribute.name)
    })
}

/// A value as a person may change it.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The default of an attribute, as it is written in the definition.
fn default_of(flow: &FlowDetail, attribute: &str) -> Option<String> {
    let declared = flow.definition["attribute"].as_array()?;
    let one = declared.iter().find(|one| one["name"] == attribute)?;
    Some(written(&one["default"])).filter(|text| !text.is_empty())
}

/// The form that starts an instance.
pub(crate) async fn start_form(session: Session, Path(flow): Path<String>) -> Answer {
    let detail = detail(&session, &flow).await?;
    let say = |text| session.language.say(text);
    let content = html! {
        h2 { (say("Start an instance")) }
        p class="soft" { (say("An attribute that is left empty takes its default, which is shown grey.")) }
        form method="post" class="box" {
            (hidden(&session))
            @for one in detail.startable() {
                p { label class="whole" {
                    span { (one.name) " " span class="soft" { (one.r#type) } }
                    input name=(format!("a.{}", one.name)) placeholder=[default_of(&detail, &one.name)];
                } }
            }
            button class="strong" { (say("Start")) }
        }
    };
    Ok(of_flow(&session, &detail, "/instances", &content))
}

/// Starts an instance.
pub(crate) async fn start(session: Session, Path(flow): Path<String>, sent: Sent) -> Answer {
    let detail = detail(&session, &flow).await?;
    let mut state = Map::new();
    for one in detail.startable() {
        if let Some(text) = sent.given(&format!("a.{}", one.name)) {
            state.insert(one.name.clone(), read(&session, one, &text)?);
        }
    }
    let start = Start { state, ..Start::default() };
    let started = session.client.start(&flow, &start, None).await.map_err(session.failed())?;
    Ok(onward(&instance_address(&flow, started.wid), session.language.say("It was started.")))
}
