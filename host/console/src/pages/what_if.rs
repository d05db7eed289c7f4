//! Answers to what-if: another state of an instance, another condition of a trigger.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value};
use wedflow_documents::{AssumedCondition, Assumption, ConditionPreview, FlowDetail, Instance, Status, WhatIf};
use wedflow_model::Wid;

use super::flow::{detail, of_flow};
use super::instance::trail;
use super::instances::{read, written};
use super::why::explanation;
use super::{Query, badge, flow_address, instance_address, more, table};
use crate::failure::Failure;
use crate::frame::{Answer, hidden, page};
use crate::session::{Sent, Session};
use crate::shown::{number, value};
use crate::words::told;

/// The form with an instance's state, to be changed.
pub(crate) async fn form(session: Session, Path((flow, wid)): Path<(String, Wid)>) -> Answer {
    shown(&session, &flow, wid, None, "").await
}

/// The answer to a changed state; the form alone, with the reason that was given, where no state was sent.
pub(crate) async fn answer(session: Session, Path((flow, wid)): Path<(String, Wid)>, sent: Sent) -> Answer {
    let has_state = sent.0.keys().any(|field| field.starts_with("a."));
    shown(&session, &flow, wid, has_state.then_some(&sent), sent.text("reason")).await
}

/// Reads the changed values of a form, of which there must be one.
pub(crate) fn changed(session: &Session, detail: &FlowDetail, sent: &Sent) -> Result<Map<String, Value>, Failure> {
    let mut state = Map::new();
    for one in &detail.attributes {
        let (now, before) = (sent.0.get(&format!("a.{}", one.name)), sent.0.get(&format!("o.{}", one.name)));
        if let (Some(now), true) = (now, now != before) {
            state.insert(one.name.clone(), read(session, one, now)?);
        }
    }
    match state.is_empty() {
        true => Err(Failure::wrong(session.language, session.language.say("No value was changed."))),
        false => Ok(state),
    }
}

async fn shown(session: &Session, flow: &str, wid: Wid, sent: Option<&Sent>, reason: &str) -> Answer {
    let detail = detail(session, flow).await?;
    let instance = session.client.instance(flow, wid).await.map_err(session.failed())?;
    let answer = match sent {
        Some(sent) => {
            let assumed = Assumption { state: changed(session, &detail, sent)?, transition: sent.given("transition") };
            Some(session.client.what_if(flow, wid, &assumed).await.map_err(session.failed())?)
        }
        None => None,
    };
    let say = |text| session.language.say(text);
    let address = instance_address(flow, wid);
    let is_set = instance.status == Status::Exception && session.may("jobs:write");
    let title = format!("{} {flow} {wid}", if is_set { say("Set the state:") } else { say("What if:") });
    let body = html! {
        (trail(session, flow, Some(wid)))
        h1 { (title) }
        p class="soft" {
            (say("Nothing is changed by asking. Change values, and see what would fire."))
            @if is_set { " " (say("Then the state can be set.")) }
        }
        form method="post" action=(format!("{address}/what-if")) {
            (hidden(session))
            (fields(session, &detail, &instance, sent))
            @if !instance.pending.is_empty() && instance.status == Status::Regular {
                p { label {
                    (say("Set by: an event, or the result of a transition"))
                    select name="transition" {
                        option value="" { (say("an event")) }
                        @for one in &instance.pending {
                            option selected[sent.is_some_and(|sent| sent.text("transition") == one)] { (one) }
                        }
                    }
                } }
            }
            div class="row" { button class="strong" { (say("What would happen?")) } a href=(address) { (say("Back")) } }
            @if let Some(answer) = &answer { (result(session, answer)) }
            @if is_set {
                div class="box" {
                    label class="whole" { (say("Reason, for the trace and the audit log"))
                        input name="reason" value=(reason); }
                    p { button class="strong" name="act" value="set" formaction=(format!("{address}/do"))
                        disabled[answer.is_none()] { (say("Set this state")) } }
                }
            }
        }
    };
    Ok(page(session, &title, &body))
}

/// A field for each attribute, with the value before it was changed.
fn fields(session: &Session, detail: &FlowDetail, instance: &Instance, sent: Option<&Sent>) -> Markup {
    let say = |text| session.language.say(text);
    let heads = [say("Attribute"), say("Type"), say("Value; empty is null")];
    table(
        say("State"),
        &heads,
        &html! {
            @for one in &detail.attributes {
                @let before = written(instance.state.get(&one.name).unwrap_or(&Value::Null));
                @let field = format!("a.{}", one.name);
                @let now = sent.and_then(|sent| sent.0.get(&field)).unwrap_or(&before);
                tr {
                    th scope="row" { label for=(field) { (one.name) } }
                    td { code { (one.r#type) } }
                    td {
                        input id=(field) name=(field) value=(now) size="40";
                        input type="hidden" name=(format!("o.{}", one.name)) value=(before);
                    }
                }
            }
        },
    )
}

/// Section with what would become of the instance.
fn result(session: &Session, answer: &WhatIf) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        section class="box" aria-live="polite" {
            h2 { (say("What would happen")) }
            @if let Some(refused) = &answer.refused {
                p class="alert" { (say("It would be refused:")) " " (told(session.language, &refused.message))
                    " (" (refused.code) ")" @if let Some(hint) = &refused.hint { ". " (told(session.language, hint)) } }
            }
            @if let Some(fault) = &answer.fault { p class="alert" { (fault) } }
            p { (say("The instance would be")) " " (badge(session.language, answer.becomes)) }
            @if answer.fires.is_empty() { p { (say("Nothing would fire.")) } }
            @else {
                p { (say("These would fire:")) }
                ul {
                    @for one in &answer.fires {
                        li {
                            strong { (one.trigger) }
                            @if let Some(keys) = &one.reserves { " · " (say("reserves")) " " code { (keys) } }
                            @if let Some(after) = &one.after { " · " (say("after")) " " (after) }
                        }
                    }
                }
            }
            @if !answer.still_pending.is_empty() { p { (say("Still pending:")) " " (answer.still_pending.join(", ")) } }
            @if !answer.stale.is_empty() {
                p class="alert" {
                    (say("Their condition would no longer hold, so they will be skipped:")) " " (answer.stale.join(", "))
                    @if answer.ends_as_exception() {
                        ". " (say("Nothing else is left, so the instance then becomes an exception."))
                    }
                }
            }
            details {
                summary { (say("All conditions over this state")) }
                @for one in &answer.triggers { (explanation(session, one)) }
            }
        }
    }
}

/// The form with a trigger's condition, to be changed.
pub(crate) async fn condition_form(session: Session, Path(flow): Path<String>, query: Query) -> Answer {
    let detail = detail(&session, &flow).await?;
    let trigger = query.given("trigger").unwrap_or("final").to_owned();
    let now = condition_of(&detail, &trigger).ok_or_else(|| Failure::nowhere(session.language))?;
    Ok(condition_page(&session, &detail, &trigger, &now, &html! {}))
}

/// The answer to a changed condition.
pub(crate) async fn condition(session: Session, Path(flow): Path<String>, sent: Sent) -> Answer {
    let detail = detail(&session, &flow).await?;
    let assumed = AssumedCondition { trigger: sent.text("trigger").to_owned(), when: sent.text("when").to_owned() };
    let found = session.client.what_if_condition(&flow, &assumed).await.map_err(session.failed())?;
    Ok(condition_page(&session, &detail, &assumed.trigger, &assumed.when, &differing(&session, &flow, &found)))
}

/// The condition of a trigger, as it was written.
fn condition_of(detail: &FlowDetail, trigger: &str) -> Option<String> {
    let found = detail.triggers.iter().find(|one| match one.r#final {
        true => trigger == "final",
        false => one.name.as_deref().filter(|name| !name.is_empty()).or(one.transition.as_deref()) == Some(trigger),
    });
    found.map(|one| one.when.clone())
}

fn condition_page(session: &Session, detail: &FlowDetail, trigger: &str, now: &str, content: &Markup) -> Response {
    let say = |text| session.language.say(text);
    let address = format!("{}/condition", flow_address(&detail.name));
    let content = html! {
        h2 { (say("Condition of")) " " (trigger) }
        p class="soft" {
            (say("Nothing is changed by asking. Write another condition, and see for which live instances it has \
                another value."))
        }
        form method="post" action=(address) {
            (hidden(session))
            input type="hidden" name="trigger" value=(trigger);
            label class="whole" { (say("Condition")) textarea name="when" rows="4" spellcheck="false" { (now) } }
            p { button class="strong" { (say("What would differ?")) } }
        }
        (content)
    };
    of_flow(session, detail, "/condition", &content)
}

/// The instances for which two conditions differ.
fn differing(session: &Session, flow: &str, preview: &ConditionPreview) -> Markup {
    let say = |text| session.language.say(text);
    let shown = |holds: Option<bool>| value(&holds.map_or(Value::Null, Value::Bool));
    html! {
        section aria-live="polite" {
            ul class="cards" {
                li { strong { (number(preview.looked_at)) } (say("live instances looked at"))
                    @if !preview.complete { " (" (say("there are more")) ")" } }
                li { strong { (number(preview.holds_now)) } (say("satisfy the present condition")) }
                li { strong { (number(preview.would_hold)) } (say("would satisfy this one")) }
                li { strong { (number(preview.differ)) } (say("differ")) }
                @if preview.faults > 0 {
                    li class="bad" { strong { (number(preview.faults)) } (say("cannot be evaluated")) }
                }
            }
            @if !preview.instances.is_empty() {
                (table(say("Instances"), &[say("Instance"), say("Holds now"), say("Would hold")], &html! {
                    @for one in &preview.instances {
                        tr {
                            th scope="row" { a href=(instance_address(flow, one.wid)) { (one.wid) } }
                            td { (shown(one.holds_now)) }
                            td { (shown(one.would_hold)) }
                        }
                    }
                }))
                @if i64::try_from(preview.instances.len()).is_ok_and(|shown| shown < preview.differ) {
                    (more(session, preview.instances.len(), Some(number(preview.differ)), None))
                }
            }
        }
    }
}
