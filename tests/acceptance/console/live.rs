//! Live parts of pages: computed once for all pages that show them, and never beyond who may see them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use serde_json::json;
use wedflow_api::MakePages;
use wedflow_console::Links;
use wedflow_tenancy::{TokenRequest, issue};

use super::{page, with_exception};
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};
use crate::support::{Database, on};

/// Pages that are open at the same time.
const PAGES: usize = 16;

/// Requests of the console to the API: for who asks, and for the figures of the last hour.
#[derive(Default)]
struct Counts {
    askers: AtomicUsize,
    figures: AtomicUsize,
}

impl Counts {
    /// Counts a request. The first figures are answered once all pages have asked.
    async fn answer(&self, request: Request, next: Next) -> Response {
        match request.uri().path() {
            "/v1/me" => {
                self.askers.fetch_add(1, Ordering::SeqCst);
            }
            "/v1/last-hour" => {
                self.figures.fetch_add(1, Ordering::SeqCst);
                while self.askers.load(Ordering::SeqCst) < PAGES {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
            _ => {}
        }
        next.run(request).await
    }

    fn figures(&self) -> usize {
        self.figures.load(Ordering::SeqCst)
    }
}

/// Serves an API whose requests by the console are counted.
fn counted() -> (Api, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let counted = Arc::clone(&counts);
    let pages = move |api: axum::Router| {
        let counts = Arc::clone(&counted);
        let layer = from_fn(move |request: Request, next: Next| {
            let counts = Arc::clone(&counts);
            async move { counts.answer(request, next).await }
        });
        wedflow_console::router(api.layer(layer), &Links::default())
    };
    let api = Api::with(&Database::new(), |settings| {
        settings.pages = Some(MakePages(Arc::new(pages)));
    });
    (api, counts)
}

/// A token of `ann` that is for another flow alone.
fn token_for_one_flow(api: &Api) -> Client {
    let request = TokenRequest {
        tenant: TENANT,
        user: "ann",
        name: "one",
        scopes: &[wedflow_tenancy::Scope::ALL],
        flows: &["g".to_owned()],
        days: 1,
    };
    let issued = on(issue(&api.database.store, None, &request)).expect("a token");
    Client::at(api.address, issued.secret.reveal())
}

#[harness::test]
fn live_part_is_computed_once_for_all_pages_that_show_it() {
    let (api, counts) = counted();
    let live = "/console/last-hour/live";
    let ann = api.user(TENANT, "ann", "admin");
    let ben = api.user(TENANT, "ben", "admin");
    with_exception(&ann, "f", 1);
    let shown: Vec<String> = std::thread::scope(|scope| {
        let ask = |number: usize| {
            let who = [&ann, &ben][number % 2];
            scope.spawn(move || page(who, live).is(200).text)
        };
        let asked: Vec<_> = (0..PAGES).map(ask).collect();
        let answers = asked.into_iter().map(|one| one.join());
        answers.map(|answer| answer.expect("an answer")).collect()
    });
    assert!(shown.iter().all(|text| text == &shown[0] && text.contains("/console/flows/f")));
    assert_eq!(counts.figures(), 1);
    // Other rights, and another tenant, have parts of their own; what is refused to a token stays refused.
    page(&api.user(TENANT, "vic", "viewer"), live).is(200);
    on(api.database.store.create_tenant("other", "")).expect("a tenant");
    let other = page(&api.user("other", "bob", "admin"), live).is(200).text;
    assert!(!other.contains("/console/flows/f"), "{other}");
    page(&token_for_one_flow(&api), live).is(403);
    assert_eq!(counts.figures(), 4);
    // Whoever opens a page sees the present, and so do those who ask after it.
    ann.json("POST", "/v1/flows/f/instances", &json!({})).is(201);
    let opened = page(&ben, "/console/last-hour").is(200).text;
    let renewed = page(&ann, live).is(200).text;
    assert!(opened.contains(&renewed) && renewed != shown[0], "{renewed}");
}
