//! The pages, a file for each kind.

mod batch;
mod component;
mod components;
mod design;
mod entry;
mod exceptions;
mod fields;
mod flow;
mod flows;
mod inbox;
mod instance;
mod instances;
mod item;
mod last_hour;
mod news;
mod operate;
mod overview;
mod relay;
mod reservations;
mod sql;
mod tenant;
mod tenants;
mod timeline;
mod what_if;
mod why;
mod work;

use std::collections::HashMap;
use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::extract::{DefaultBodyLimit, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn};
use axum::response::Redirect;
use axum::routing::{any, get, post};
use maud::{Markup, html};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wedflow_client::Request as Asked;
use wedflow_documents::{Instance, List, Status};

use crate::ROOT;
use crate::assets;
use crate::failure::Failure;
use crate::forms::shown_again;
use crate::session::{Console, Session};
use crate::shown::number;
use crate::words::{Language, told};

/// Most bytes of a component that is uploaded.
const UPLOAD_BYTES_MAX: usize = 32 << 20;

/// All pages.
pub(crate) fn router(console: Console) -> Router {
    let pages = Router::new()
        .route("/", get(overview::overview))
        .route("/live", get(overview::live))
        .route("/last-hour", get(last_hour::page_of_it))
        .route("/last-hour/live", get(last_hour::live))
        .route("/assets/{version}/{name}", get(assets::asset))
        .route("/sign-in", get(entry::form).post(entry::sign_in))
        .route("/enter", get(entry::enter))
        .route("/sign-out", post(entry::sign_out))
        .route("/language", post(entry::language))
        .merge(flow_pages())
        .merge(tenant_pages())
        .merge(work_pages())
        .fallback(nowhere)
        .with_state(console);
    let pages = Router::new()
        .route("/", get(async || Redirect::to(ROOT)))
        .route("/work", get(async || Redirect::to(&format!("{ROOT}/work"))))
        .route(&format!("{ROOT}/"), get(async || Redirect::to(ROOT)))
        .nest(ROOT, pages);
    let forms = pages.clone();
    pages.layer(from_fn(move |request: Request, next: Next| shown_again(forms.clone(), request, next)))
}

/// Pages of flows and their instances.
fn flow_pages() -> Router<Console> {
    Router::new()
        .route("/flows", get(flows::flows))
        .route("/flows/{flow}", get(flow::picture))
        .route("/flows/{flow}/definition", get(flow::definition))
        .route("/flows/{flow}/versions", get(flow::versions))
        .route("/flows/{flow}/settings", get(flow::settings))
        .route("/flows/{flow}/condition", get(what_if::condition_form).post(what_if::condition))
        .route("/flows/{flow}/sql", get(sql::form).post(sql::run))
        .route("/flows/{flow}/do", post(operate::flow))
        .route("/flows/{flow}/design", get(design::flow))
        .route("/design", get(design::new).post(design::act))
        .route("/flows/{flow}/instances", get(instances::list).post(batch::run))
        .route("/flows/{flow}/start", get(instances::start_form).post(instances::start))
        .route("/flows/{flow}/exceptions", get(exceptions::of_flow).post(exceptions::retry))
        .route("/flows/{flow}/instances/{wid}", get(instance::instance))
        .route("/flows/{flow}/instances/{wid}/live", get(instance::live))
        .route("/flows/{flow}/instances/{wid}/reservations", get(instance::reservations))
        .route("/flows/{flow}/instances/{wid}/why", get(why::why))
        .route("/flows/{flow}/instances/{wid}/what-if", get(what_if::form).post(what_if::answer))
        .route("/flows/{flow}/instances/{wid}/do", post(operate::instance))
}

/// Pages of what a tenant has besides.
fn tenant_pages() -> Router<Console> {
    Router::new()
        .route("/exceptions", get(exceptions::all))
        .route("/jobs", get(work::jobs))
        .route("/schedules", get(work::schedules))
        .route("/schedules/do", post(work::pause_schedule))
        .route("/webhooks", get(tenant::webhooks).post(tenant::change_webhook))
        .route("/components", get(components::list))
        .route("/components/do", post(components::activate))
        .route("/components/of/{name}", get(component::component).post(component::act))
        .route("/components/shadow/{place}", post(component::candidate).layer(DefaultBodyLimit::max(UPLOAD_BYTES_MAX)))
        .route("/reservations", get(reservations::reservations))
        .route("/components/upload/{name}", post(components::upload).layer(DefaultBodyLimit::max(UPLOAD_BYTES_MAX)))
        .route("/people", get(tenant::people).post(tenant::change_people))
        .route("/audit", get(tenant::audit))
        .route("/usage", get(tenant::usage))
        .route("/usage/today", get(tenant::usage_today))
        .route("/hosts", get(tenant::hosts))
        .route(tenants::PLACE, get(tenants::list).post(tenants::change))
}

/// Pages of a person's work.
fn work_pages() -> Router<Console> {
    Router::new()
        .route("/work", get(inbox::inbox))
        .route("/work/live", get(inbox::live))
        .route("/work/news", get(news::news))
        .route("/work/messages", get(inbox::messages).post(inbox::delete_messages))
        .route("/work/start", get(inbox::start_form).post(inbox::start))
        .route("/work/items/{item}", get(item::item))
        .route("/work/items/{item}/do", post(item::act))
        .route("/work/items/{item}/kept", get(item::kept))
        .route("/work/items/{item}/files/{note}", get(item::file))
        .route("/work/api/{*path}", any(relay::relay))
        .route("/work/me", get(item::me))
        .route("/work/away", get(inbox::away))
        .route("/work/worker.js", get(assets::worker))
        .route("/work/manifest.json", get(assets::manifest))
}

async fn nowhere(headers: HeaderMap) -> Failure {
    Failure::nowhere(Language::of(&headers))
}

/// Parameters of an address.
pub(crate) struct Query(HashMap<String, String>);

impl Query {
    /// A parameter; none if it is absent or empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// A parameter, to be sent on.
    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.given(name).map(str::to_owned)
    }

    /// The moment of a field of a date and a time, which is of UTC.
    pub(crate) fn since(&self) -> Option<String> {
        self.given("since").map(|day| if day.len() == 16 { format!("{day}:00Z") } else { day.to_owned() })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let query = axum::extract::Query::<HashMap<String, String>>::from_request_parts(parts, state).await;
        Ok(Query(query.map(|query| query.0).unwrap_or_default()))
    }
}

impl Session {
    /// Returns the failure that a refusal of the API is.
    pub(crate) fn failed(&self) -> impl Fn(wedflow_client::ClientError) -> Failure + use<> {
        let language = self.language;
        move |error| Failure::of(error, language)
    }

    /// Reads a part of a list of the API.
    pub(crate) async fn part<T: DeserializeOwned>(
        &self,
        parts: &[&str],
        filter: &impl Serialize,
    ) -> Result<List<T>, Failure> {
        self.client.call(Asked::get(parts).query(filter)).await.map_err(self.failed())
    }
}

/// The word of a status.
pub(crate) fn status_word(language: Language, status: Status) -> &'static str {
    match status {
        Status::Regular => language.say("regular"),
        Status::Final => language.say("final"),
        Status::Exception => language.say("exception"),
    }
}

/// The code of a status, in addresses and as a class.
pub(crate) fn status_code(status: Status) -> &'static str {
    status_word(Language::English, status)
}

/// A status as a badge.
pub(crate) fn badge(language: Language, status: Status) -> Markup {
    html! { span class=(format!("badge {}", status_code(status))) { (status_word(language, status)) } }
}

/// A table that scrolls by itself where the page is narrow. `name` is read out.
pub(crate) fn table(name: &str, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div class="wide" tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// Says how many entries a list shows, where there are more, and leads to the next ones. `total` is their number, as
/// far as it is known.
pub(crate) fn more(session: &Session, shown: usize, total: Option<String>, next: Option<&str>) -> Markup {
    let say = |text| session.language.say(text);
    let shown = number(i64::try_from(shown).unwrap_or(i64::MAX));
    html! {
        p class="row more" {
            span class="soft" {
                @match total {
                    Some(total) => { (shown) " " (say("of")) " " (total) " " (say("are shown.")) }
                    None => { (shown) " " (say("are shown; there are more.")) }
                }
            }
            @if let Some(next) = next { a class="button" rel="next" href=(next) { (say("Next page")) } }
        }
    }
}

/// Says how many entries of a part of a list are shown, and leads to the part behind it, if there is one.
pub(crate) fn more_of<T>(session: &Session, part: &List<T>, total: Option<String>, address: &str) -> Markup {
    let next = part.next.as_ref().map(|next| format!("{address}cursor={}", crate::shown::part(next)));
    html! { @if let Some(next) = &next { (more(session, part.items.len(), total, Some(next))) } }
}

/// Says why an instance is an exception.
pub(crate) fn reason(language: Language, instance: &Instance) -> Markup {
    html! {
        @match &instance.reason {
            Some(reason) => (told(language, &crate::shown::cut(reason))),
            None => (language.say("its state satisfies no condition")),
        }
    }
}

/// Says what a job waits for: in the API's words where they are known in the language, else by its code.
pub(crate) fn waits(language: Language, code: &str, text: Option<&str>) -> Markup {
    match text.and_then(|text| language.known(text)) {
        Some(text) => crate::shown::prose(text),
        None => html! {
            (waits_for(language, code))
            @if let Some(text) = text { " (" (told(language, text)) ")" }
        },
    }
}

/// Names what a job waits for, by its code.
fn waits_for(language: Language, code: &str) -> &str {
    match code {
        "time" => language.say("its time"),
        "locked" => language.say("a lock of another session"),
        "siblings" => language.say("the other jobs of its instance"),
        "quota" => language.say("the tenant's quota"),
        "paused" => language.say("an operator paused it"),
        "circuit" => language.say("its component fails too often"),
        "no_host" => language.say("no host is running"),
        "no_component" => language.say("its component was not uploaded"),
        "not_runnable" => language.say("it cannot run"),
        "no_worker" => language.say("no worker is connected"),
        "reservation" => language.say("what it reserves"),
        "precedence" => language.say("tasks before it"),
        "person" => language.say("it is a person's work"),
        "nobody" => language.say("no person may do it"),
        "event" => language.say("an event"),
        "child" => language.say("the instance that it started"),
        other => other,
    }
}

/// Address of an instance's page.
pub(crate) fn instance_address(flow: &str, wid: impl std::fmt::Display) -> String {
    format!("{ROOT}/flows/{}/instances/{wid}", crate::shown::part(flow))
}

/// Address of a flow's page.
pub(crate) fn flow_address(flow: &str) -> String {
    format!("{ROOT}/flows/{}", crate::shown::part(flow))
}
