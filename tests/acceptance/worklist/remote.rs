//! Running an item's component at the server, for a person without a copy of it.

use serde_json::json;

use super::Office;
use super::away::{Field, HOUSE};
use crate::host::guests;
use crate::support::database::sample_component;
use crate::support::http::Client;
use crate::support::program::{Answer, Serving, run, token_of, wed};

/// `wed serve` for an office, and beto's token.
struct Served {
    office: Office,
    server: Serving,
    token: String,
    folder: tempfile::TempDir,
}

impl Served {
    fn new(component: &[u8]) -> Self {
        let office = Office::of(HOUSE);
        office.database().upload("paper", component);
        let url = office.database().url();
        Served {
            token: token_of(&url, "beto", "participant"),
            server: Serving::of(&url),
            office,
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// An item that nobody holds.
    fn item(&mut self) -> i64 {
        let wid = self.office.start_with("1, 1, '{6}', NULL");
        self.office.item(wid, "visit")
    }

    fn client(&self) -> Client {
        Client::at(self.server.address, &self.token)
    }

    /// `wed work` on beto's machine, where there is no database.
    fn work(&self, words: &[&str]) -> Answer {
        run(wed("postgres://nobody@127.0.0.1:1/nothing")
            .args(["--json", "work"])
            .args(words)
            .env("WEDFLOW_WORK_STORE", self.folder.path().join("store"))
            .env("WEDFLOW_SERVER", format!("http://{}", self.server.address))
            .env("WEDFLOW_TOKEN", &self.token))
    }
}

#[harness::test]
fn holder_runs_the_component_at_the_server_and_reports_what_it_answered() {
    let mut served = Served::new(sample_component("paper"));
    let item = served.item();
    let path = format!("/v1/work/items/{item}/run");
    let refused = served.client().json("POST", &path, &json!({})).is(409);
    assert_eq!(refused.json()["code"], "not_held");
    served.office.act("select_work", "beto", item);
    let answer = served.client().json("POST", &path, &json!({})).is(200);
    assert_eq!(answer.json()["values"], json!({ "a2": "done" }));
    // Nothing was reported by that.
    assert_eq!(served.office.state(item), "SELECTED|beto");
    let number = item.to_string();
    served.work(&["do", &number, "--at-server"]).done();
    assert_eq!(served.office.state(item), "SUCCEEDED|beto");
    // The component did not travel.
    let local = served.work(&["local"]).done().json();
    assert_eq!(local["items"], json!([]), "{local}");
}

#[harness::test]
fn what_the_component_refuses_at_the_server_is_told_and_nothing_is_reported() {
    let mut served = Served::new(guests::hostile());
    let item = served.item();
    served.office.act("select_work", "beto", item);
    let path = format!("/v1/work/items/{item}/run");
    let refused = served.client().json("POST", &path, &json!({})).is(422);
    let problem = refused.json();
    assert_eq!(problem["code"], "application", "{problem}");
    assert_eq!(served.office.state(item), "SELECTED|beto");
    let unknown = json!({ "value": {} });
    served.client().json("POST", &path, &unknown).is(422);
}

#[harness::test]
fn server_without_a_sandbox_says_that_it_runs_no_components() {
    let mut field = Field::new();
    let item = field.locked();
    let client = Client::at(field.api.address, &field.token);
    let path = format!("/v1/work/items/{item}/run");
    let problem = client.json("POST", &path, &json!({})).is(404).json();
    let said = problem["detail"].as_str().unwrap_or_default();
    assert!(said.contains("runs no components"), "{problem}");
}
