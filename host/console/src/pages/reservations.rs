//! Reservations of all flows: keys with their holders and queues.

use maud::{Markup, html};
use wedflow_documents::{Reservation, Resource};

use super::{Query, flow_address, instance_address, more, table};
use crate::ROOT;
use crate::frame::{Answer, page};
use crate::session::Session;
use crate::shown::{part, time};

/// Reservations of a flow that the page lists.
const LISTED_MAX: usize = 200;

/// The page of all flows' reservations.
pub(crate) async fn reservations(session: Session, query: Query) -> Answer {
    let failed = session.failed();
    let mut flows = session.client.flows().await.map_err(&failed)?;
    flows.retain(|flow| query.given("flow").is_none_or(|name| name == flow.name));
    let from = query.given("from").and_then(|from| from.parse().ok()).unwrap_or_default();
    let mut found = Vec::new();
    for flow in flows {
        let held = session.client.reservations(&flow.name).await.map_err(&failed)?;
        let stock = session.client.resources(&flow.name).await.map_err(&failed)?;
        if !held.is_empty() || !stock.is_empty() {
            found.push((flow.name, held, stock));
        }
    }
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Reservations")) }
        @if found.is_empty() { p class="box" { (say("Nothing is reserved.")) } }
        @for (flow, held, stock) in &found {
            h2 { a href=(flow_address(flow)) { (flow) } }
            (reservation_table(&session, flow, held, from))
            @if !stock.is_empty() { (stock_table(&session, flow, stock)) }
        }
    };
    Ok(page(&session, say("Reservations"), &body))
}

/// Reservations of a flow, or of an instance, from a place of their order on: those that are held first.
pub(crate) fn reservation_table(session: &Session, flow: &str, list: &[Reservation], from: usize) -> Markup {
    let say = |text| session.language.say(text);
    let heads =
        [say("Key"), say("Instance"), say("Transition"), say("State"), say("Waits for"), say("Asked for (UTC)")];
    let mut sorted: Vec<&Reservation> = list.iter().collect();
    sorted.sort_by(|a, b| (!a.held, &a.resource, &a.key).cmp(&(!b.held, &b.resource, &b.key)));
    let listed = sorted.iter().skip(from).take(LISTED_MAX);
    let behind = from.saturating_add(listed.len());
    let next = format!("{ROOT}/reservations?flow={}&from={behind}", part(flow));
    let rows = table(
        &format!("{} {flow}", say("Reservations")),
        &heads,
        &html! {
            @for one in listed.clone() {
                tr {
                    th scope="row" {
                        @if let Some(resource) = &one.resource { (resource) ": " }
                        code { (one.key) }
                        @if let Some(amount) = &one.amount { " × " (amount) }
                    }
                    td { a href=(instance_address(flow, one.wid)) { (one.wid) } }
                    td { (one.transition) }
                    td {
                        @if one.held { span class="badge final" { (say("holds it")) } }
                        @else { span class="badge pending" { (say("waits")) } }
                    }
                    td { (one.waits_for.as_deref().unwrap_or_default()) }
                    td { (time(&one.asked_at)) }
                }
            }
            @if listed.len() == 0 { tr { td colspan="6" { (say("None.")) } } }
        },
    );
    html! {
        (rows)
        @if behind < list.len() { (more(session, listed.len(), Some(list.len().to_string()), Some(&next))) }
    }
}

fn stock_table(session: &Session, flow: &str, stock: &[Resource]) -> Markup {
    let say = |text| session.language.say(text);
    table(
        &format!("{} {flow}", say("Stock")),
        &[say("Stock"), say("Capacity"), say("Always left"), say("Held")],
        &html! {
            @for one in stock {
                tr {
                    th scope="row" { @if let Some(resource) = &one.resource { (resource) ": " } code { (one.key) } }
                    td class="number" { (one.capacity) }
                    td class="number" { (one.minimum) }
                    td class="number" { (one.held) }
                }
            }
        },
    )
}
