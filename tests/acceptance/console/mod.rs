//! The console and what it stands on: explanations, pictures, pages, sessions, a browser.

mod browser;
mod design;
mod explaining;
mod figures;
mod forms;
mod lists;
mod live;
mod pages;
mod picture;
mod pictures;
mod places;
mod play;
mod querying;
mod work;

use std::sync::Arc;

use serde_json::{Value as Json, json};
use wedflow_api::MakePages;
use wedflow_console::Links;

use crate::support::Database;
use crate::support::http::{Answered, Api, Client};

pub(crate) use browser::{driver, pictures as picture_folder};
pub(crate) use pictures::{Docs, picture_of_terminal};

/// Text that would be script, if it were ever taken for markup.
const MARKUP: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&";

/// Serves an API with its console.
fn served(links: &Links) -> Api {
    served_over(&Database::new(), links)
}

/// Serves the API of a database with its console.
pub(crate) fn served_over(database: &Arc<Database>, links: &Links) -> Api {
    Api::with(database, |settings| settings.pages = Some(pages_of(links)))
}

/// The console's pages, into which these links lead.
pub(crate) fn pages_of(links: &Links) -> MakePages {
    let links = links.clone();
    MakePages(Arc::new(move |api| wedflow_console::router(api, &links)))
}

/// A flow whose names and texts hold markup where they may, of two transitions of external workers.
fn definition(name: &str) -> Json {
    json!({
        "name": name,
        "description": MARKUP,
        "final": "a1 <> 'ready'",
        "attribute": [
            { "name": "a1", "default": "ready" },
            { "name": "a2", "open": true },
            { "name": "n", "type": "integer" },
        ],
        "trigger": [
            { "name": MARKUP.replace('/', ""), "transition": "tr_a2", "when": "a1 = 'ready' and a2 is null",
              "writes": ["a2"] },
            { "name": "t2", "transition": "tr_n",
              "when": "a1 = 'ready' and a2 is not null and (n > 3 or not (n < 10 and a2 <> '</textarea>'))" },
        ],
    })
}

/// Defines the flow and starts instances; the second one is an exception.
fn with_exception(developer: &Client, flow: &str, instances: u32) {
    developer.json("PUT", &format!("/v1/flows/{flow}"), &definition(flow)).is(201);
    for _ in 0..instances {
        developer.json("POST", &format!("/v1/flows/{flow}/instances"), &json!({})).is(201);
    }
}

/// Makes an instance an exception: its event leaves nothing that could fire, once its job was skipped.
fn break_instance(operator: &Client, flow: &str, wid: i32) {
    let of = |what: &str| format!("/v1/flows/{flow}/instances/{wid}/{what}");
    operator.json("POST", &of("event"), &json!({ "state": { "a2": MARKUP } })).is(200);
    let skip = json!({ "transition": "tr_a2", "reason": MARKUP });
    operator.json("POST", &of("skip"), &skip).is(200);
}

/// Asks for a page with a session's cookie.
pub(crate) fn page(client: &Client, path: &str) -> Answered {
    let cookie = format!("wedflow_session={}", client.token.as_deref().unwrap_or_default());
    bare(client).send("GET", path, &[("cookie", &cookie)], b"")
}

/// Sends a form with a session's cookie.
pub(crate) fn form(client: &Client, path: &str, headers: &[(&str, &str)], fields: &str) -> Answered {
    let cookie = format!("wedflow_session={}", client.token.as_deref().unwrap_or_default());
    let own = [("cookie", cookie.as_str()), ("content-type", "application/x-www-form-urlencoded")];
    bare(client).send("POST", path, &[&own[..], headers].concat(), fields.as_bytes())
}

/// The proof in a page's forms.
pub(crate) fn proof(text: &str) -> &str {
    let (_, rest) = text.split_once("name=\"proof\" value=\"").expect("a form");
    rest.split('"').next().expect("its proof")
}

/// The client without its token: a browser has only cookies.
fn bare(client: &Client) -> Client {
    client.without_token()
}
