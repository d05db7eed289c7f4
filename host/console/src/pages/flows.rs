//! The flows of the tenant.

use maud::{Markup, html};
use wedflow_documents::FlowSummary;

use super::{flow_address, table};
use crate::ROOT;
use crate::frame::{Answer, page};
use crate::session::Session;
use crate::shown::{about, number, prose};

/// All flows.
pub(crate) async fn flows(session: Session) -> Answer {
    let flows = session.client.flows().await.map_err(session.failed())?;
    let title = session.language.say("Flows");
    let body = html! {
        h1 { (title) }
        (flow_table(&session, &flows))
        @if session.may("flows:write") {
            p { a class="button" href=(format!("{ROOT}/design")) { (session.language.say("Design a new flow")) } }
        }
    };
    Ok(page(&session, title, &body))
}

/// Flows with their figures.
pub(crate) fn flow_table(session: &Session, flows: &[FlowSummary]) -> Markup {
    let say = |text| session.language.say(text);
    if flows.is_empty() {
        return html! {
            p class="box" {
                (prose(say("There is no flow yet. `wed flow apply flow.toml` makes one; `wed demo paper` shows one.")))
            }
        };
    }
    let lines = html! {
        @for flow in flows {
            @let address = flow_address(&flow.name);
            tr {
                th scope="row" {
                    a href=(address) { (flow.name) }
                    @if !flow.description.is_empty() { br; span class="soft" { (flow.description) } }
                }
                td class="number" {
                    @if flow.exception > 0 {
                        a href=(format!("{address}/exceptions")) {
                            span class="badge exception" { (number(flow.exception)) }
                        }
                    } @else { "0" }
                }
                td class="number" { a href=(format!("{address}/instances?status=regular")) {
                    (about(flow.regular, flow.estimated))
                } }
                td class="number" { a href=(format!("{address}/instances?status=final")) {
                    (about(flow.r#final, flow.estimated))
                } }
                td class="number" { (about(flow.jobs, flow.estimated)) }
                td class="number" { (flow.version) }
            }
        }
    };
    let heads = [say("Flow"), say("Exceptions"), say("Running"), say("Ended"), say("Pending jobs"), say("Version")];
    table(say("Flows"), &heads, &lines)
}
