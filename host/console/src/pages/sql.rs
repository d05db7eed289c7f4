//! Read-only SQL over the tables of a flow.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use wedflow_documents::{FlowDetail, Query, QueryResult};

use super::flow::{detail, of_flow};
use super::{flow_address, table};
use crate::frame::{Answer, hidden};
use crate::session::{Sent, Session};
use crate::shown::{number, value};

/// Query that the page begins with.
const EXAMPLE: &str = "SELECT wid, status, started, changed\nFROM wed_instance\nORDER BY wid DESC\nLIMIT 20";
/// Tables that a query may read.
const TABLES: [&str; 8] =
    ["wed_flow", "wed_attr", "wed_trig", "job_pool", "wed_trace", "wed_attempt", "wed_instance", "wed_reservation"];

/// The form for a query.
pub(crate) async fn form(session: Session, Path(flow): Path<String>) -> Answer {
    let detail = detail(&session, &flow).await?;
    Ok(sql_page(&session, &detail, EXAMPLE, &html! {}))
}

/// The rows of a query.
pub(crate) async fn run(session: Session, Path(flow): Path<String>, sent: Sent) -> Answer {
    let detail = detail(&session, &flow).await?;
    let asked = Query { sql: sent.text("sql").to_owned(), limit: None };
    let found = session.client.query(&flow, &asked).await.map_err(session.failed())?;
    Ok(sql_page(&session, &detail, &asked.sql, &rows(&session, &found)))
}

fn sql_page(session: &Session, flow: &FlowDetail, sql: &str, content: &Markup) -> Response {
    let say = |text| session.language.say(text);
    let address = format!("{}/sql", flow_address(&flow.name));
    let content = html! {
        p class="soft" {
            (say("One query, with the rights of the flow's own role; it changes nothing. At most 2 seconds and \
                100 rows. Tables:"))
            @for name in TABLES { " " code { (name) } }
        }
        form method="post" action=(address) {
            (hidden(session))
            label class="whole" { (say("Query")) textarea name="sql" rows="6" spellcheck="false" { (sql) } }
            p { button class="strong" { (say("Run")) } }
        }
        (content)
    };
    of_flow(session, flow, "/sql", &content)
}

fn rows(session: &Session, result: &QueryResult) -> Markup {
    let say = |text| session.language.say(text);
    let heads: Vec<&str> = result.columns.iter().map(|one| one.name.as_str()).collect();
    let count = i64::try_from(result.rows.len()).unwrap_or(i64::MAX);
    html! {
        section aria-live="polite" {
            p {
                (number(count)) " " (say("rows"))
                @if result.truncated { " · " (say("there are more")) }
            }
            @if !result.rows.is_empty() {
                (table(say("Rows"), &heads, &html! {
                    @for row in &result.rows { tr { @for cell in row { td { (value(cell)) } } } }
                }))
            }
        }
    }
}
