//! A flow: its picture, its definition, its versions and their differences, its settings.

use axum::extract::Path;
use maud::{Markup, PreEscaped, html};
use wedflow_documents::{Between, FlowDetail};

use super::{Query, flow_address, table};
use crate::ROOT;
use crate::failure::Failure;
use crate::frame::{Answer, hidden, page};
use crate::session::Session;
use crate::shown::{number, span, time};
use crate::words::told;

/// A flow with the picture that is derived from its definition.
pub(crate) async fn picture(session: Session, Path(flow): Path<String>) -> Answer {
    let failed = session.failed();
    let detail = detail(&session, &flow).await?;
    let graph = session.client.graph(&flow).await.map_err(&failed)?;
    let say = |text| session.language.say(text);
    let title = format!("{} {}", say("Picture of the flow"), detail.name);
    let leads = format!("{}/condition?trigger=", flow_address(&flow));
    let drawing = wedflow_picture::svg(&title, &graph, wedflow_picture::Place::Page(&leads));
    let pauses = match session.may("jobs:write") {
        true => pause_forms(&session, &flow).await,
        false => html! {},
    };
    let content = html! {
        div class="picture" tabindex="0" role="region" aria-label=(title) { (PreEscaped(drawing)) }
        p class="soft" {
            (say("An arrow leads from what writes an attribute to what reads it; the wider, the more often the newest \
                instances went that way. Dashed: none did."))
        }
        @let heads = [say("Trigger"), say("Condition"), say("Done by"), say("Pending"), say("Exceptions")];
        (table(say("Triggers"), &heads, &html! {
            @for one in &graph.triggers {
                tr {
                    th scope="row" {
                        a href=(format!("{leads}{}", crate::shown::part(&one.trigger))) { (one.trigger) }
                        @if !one.enabled { " " span class="badge" { (say("disabled")) } }
                    }
                    td { code { (one.condition) } }
                    td { (performer(&session, one)) }
                    td class="number" { (number(one.jobs)) }
                    td class="number" { (number(one.exceptions)) }
                }
            }
        }))
        (pauses)
    };
    Ok(of_flow(&session, &detail, "", &content))
}

/// Names who performs a trigger's transition.
fn performer(session: &Session, trigger: &wedflow_documents::GraphTrigger) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        @match (&trigger.component, trigger.performer.as_str()) {
            (Some(component), _) => { (say("component")) " " (component) }
            (None, "person") => (say("a person")),
            (None, "gate") => (say("the gate")),
            (None, performer) if performer.starts_with("flow ") => (performer),
            _ => (say("an external worker")),
        }
    }
}

/// A flow's definition.
pub(crate) async fn definition(session: Session, Path(flow): Path<String>) -> Answer {
    let detail = detail(&session, &flow).await?;
    let say = |text| session.language.say(text);
    let text = serde_json::to_string_pretty(&detail.definition).unwrap_or_default();
    let findings = session.client.lint(&flow).await.unwrap_or_default();
    let content = html! {
        h2 { (say("Attributes")) }
        (table(say("Attributes"), &[say("Attribute"), say("Type")], &html! {
            @for one in &detail.attributes {
                tr { th scope="row" { (one.name) } td { code { (one.r#type) } } }
            }
        }))
        h2 { (say("Findings")) }
        @if findings.is_empty() { p class="box" { (say("No contradiction was found.")) } }
        @for one in &findings {
            section class="note" {
                div class="row" {
                    strong { (one.place) } " " code { (one.code) }
                    @if !one.certain { span class="badge unknown" { (say("perhaps")) } }
                }
                p { (told(session.language, &one.text)) ". " (told(session.language, &one.hint)) }
                @if let Some(state) = &one.state { p { (say("For example")) " " code { (state) } } }
            }
        }
        h2 { (say("Bindings")) }
        (table(say("Bindings"), &[say("Transition"), say("Done by"), say("Time limit")], &html! {
            @for one in detail.triggers.iter().filter(|one| !one.r#final) {
                tr {
                    th scope="row" { (one.transition.as_deref().unwrap_or_default()) }
                    td { @match &one.component {
                        Some(name) => a href=(super::component::address(name)) { (name) },
                        None => (say("workers or people")),
                    } }
                    td { (span(&one.timeout)) }
                }
            }
        }))
        h2 { (say("Definition")) }
        pre tabindex="0" { (text) }
    };
    Ok(of_flow(&session, &detail, "/definition", &content))
}

/// The definitions that a flow had, and the difference between two.
pub(crate) async fn versions(session: Session, Path(flow): Path<String>, query: Query) -> Answer {
    let failed = session.failed();
    let detail = detail(&session, &flow).await?;
    let versions = session.client.versions(&flow).await.map_err(&failed)?;
    let number = |name| query.given(name).and_then(|text| text.parse::<i32>().ok());
    let difference = match (number("old"), number("new")) {
        (None, None) => None,
        (old, new) => Some(session.client.diff(&flow, &Between { old, new }).await.map_err(&failed)?),
    };
    let say = |text| session.language.say(text);
    let content = html! {
        @if let Some(difference) = &difference {
            h2 { (say("Difference")) " " (difference.old) " → " (difference.new) }
            pre class="diff" tabindex="0" {
                @for line in &difference.lines {
                    @match line.chars().next() {
                        Some('+') => ins { (line) "\n" }
                        Some('-') => del { (line) "\n" }
                        _ => { (line) "\n" }
                    }
                }
                @if difference.lines.is_empty() { (say("They are the same.")) }
            }
        }
        (table(say("Versions"), &[say("Version"), say("Applied (UTC)"), say("By"), say("Difference")], &html! {
            @for (at, one) in versions.iter().enumerate() {
                tr {
                    th scope="row" { (one.version) }
                    td { (time(&one.applied_at)) }
                    td { (one.actor) }
                    td {
                        @if let Some(before) = versions.get(at + 1) {
                            a href=(format!("?old={}&new={}", before.version, one.version)) {
                                (before.version) " → " (one.version)
                            }
                        }
                    }
                }
            }
        }))
    };
    Ok(of_flow(&session, &detail, "/versions", &content))
}

/// A flow's settings, secrets, and what it reserves.
pub(crate) async fn settings(session: Session, Path(flow): Path<String>) -> Answer {
    let detail = detail(&session, &flow).await?;
    let settings = session.client.flow_settings(&flow).await.unwrap_or_default();
    let secrets = session.client.secrets(&flow).await.unwrap_or_default();
    let reservations = session.client.reservations(&flow).await.unwrap_or_default();
    let say = |text| session.language.say(text);
    let content = html! {
        h2 { (say("Settings")) }
        (table(say("Settings"), &[say("Name"), say("Value")], &html! {
            @for one in &settings { tr { th scope="row" { (one.key) } td { code { (one.value) } } } }
            @if settings.is_empty() { tr { td colspan="2" { (say("None.")) } } }
        }))
        h2 { (say("Secrets")) }
        (table(say("Secrets"), &[say("Name"), say("Read by"), say("Sent by")], &html! {
            @for one in &secrets {
                tr { th scope="row" { (one.name) } td { (one.transitions.join(", ")) } td { (one.senders.join(", ")) } }
            }
            @if secrets.is_empty() { tr { td colspan="3" { (say("None.")) } } }
        }))
        h2 { (say("Reservations")) }
        (super::reservations::reservation_table(&session, &detail.name, &reservations, 0))
    };
    Ok(of_flow(&session, &detail, "/settings", &content))
}

/// Makes the page of one tab of a flow: head, tabs and content.
pub(crate) fn of_flow(session: &Session, flow: &FlowDetail, tab: &str, content: &Markup) -> axum::response::Response {
    let say = |text| session.language.say(text);
    let address = flow_address(&flow.name);
    let tabs = [
        ("", say("Picture")),
        ("/instances", say("Instances")),
        ("/exceptions", say("Exceptions")),
        ("/definition", say("Definition")),
        ("/design", say("Design")),
        ("/versions", say("Versions")),
        ("/settings", say("Settings")),
        ("/sql", say("SQL")),
    ];
    let body = html! {
        p class="soft" { a href=(format!("{ROOT}/flows")) { (say("Flows")) } }
        h1 { (flow.name) }
        @if !flow.description.is_empty() { p class="soft" { (flow.description) } }
        nav class="tabs" aria-label=(say("Parts of the flow")) {
            @for (path, name) in tabs.into_iter().filter(|(path, _)| *path != "/sql" || session.may("jobs:write")) {
                a href=(format!("{address}{path}")) aria-current=[(path == tab).then_some("page")] {
                    (name) @if path == "/exceptions" && flow.exception > 0 { " (" (number(flow.exception)) ")" }
                }
            }
        }
        (content)
    };
    page(session, &flow.name, &body)
}

/// The forms that pause a flow, or resume it and those of its triggers that are paused.
async fn pause_forms(session: &Session, flow: &str) -> Markup {
    let say = |text| session.language.say(text);
    let mut pauses = session.client.pauses().await.unwrap_or_default();
    pauses.retain(|one| one.flow.as_deref() == Some(flow) && one.wid.is_none());
    let is_paused = pauses.iter().any(|one| one.trigger.is_none());
    let form = |act: &str, trigger: &str, word: &str| {
        html! {
            form class="line" method="post" action=(format!("{}/do", flow_address(flow))) {
                (hidden(session))
                input type="hidden" name="trigger" value=(trigger);
                label { (say("Reason")) input name="reason" size="30"; }
                button name="act" value=(act) { (word) " " (trigger) }
            }
        }
    };
    html! {
        h2 { (say("Pause")) }
        @if !is_paused { (form("pause", "", say("Pause the flow"))) }
        @for one in &pauses {
            p class="note" {
                (say("Paused")) ": " (one.trigger.as_deref().unwrap_or(flow)) " · " (one.actor) ": " (one.reason)
            }
            @match &one.trigger {
                Some(trigger) => (form("resume", trigger, say("Resume"))),
                None => (form("resume", "", say("Resume the flow"))),
            }
        }
    }
}

/// Reads the flow of a page.
pub(crate) async fn detail(session: &Session, flow: &str) -> Result<FlowDetail, Failure> {
    let (detail, _) = session.client.flow(flow).await.map_err(session.failed())?;
    Ok(detail)
}
