//! Pages and sessions: who is let in, what a form must prove, what tenants and markup cannot do.

use wedflow_console::Links;

use super::places::{Kind, PLACES, elsewhere, of_tenant, with_everything};
use super::{MARKUP, bare, break_instance, form, page, proof, served, with_exception};
use crate::support::database::TENANT;
use crate::support::http::{Api, Client};
use crate::support::program::wed_path;
use crate::support::{Database, eventually, on};

fn with_pages() -> (Api, Client, Links) {
    let links = Links::default();
    let api = served(&links);
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 3);
    break_instance(&client, "f", 2);
    (api, client, links)
}

#[harness::test]
fn every_page_shows_texts_of_others_as_texts() {
    let (_api, client, _) = with_everything();
    for path in of_tenant() {
        let answer = page(&client, path).is(200);
        assert!(!answer.text.contains("<script>alert") && !answer.text.contains("<img"), "{path}");
        let policy = answer.header("content-security-policy").unwrap_or_default().to_owned();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert!(!answer.text.contains(" style=") && !answer.text.contains("<style"), "{path}");
        assert!(!answer.text.contains("javascript:") && !answer.text.contains(" onclick"), "{path}");
    }
    for path in ["/console/flows/f/instances/2", "/console/work/items/1", "/console/work/messages"] {
        assert!(page(&client, path).text.contains("&lt;script&gt;"), "{path}");
    }
    page(&client, "/console/none").is(404);
    page(&client, "/console/flows/none").is(404);
}

#[harness::test]
fn nobody_sees_a_page_without_a_token() {
    let (api, client, _) = with_pages();
    let signed_in = [Kind::Page, Kind::Part, Kind::Operators];
    for path in PLACES.iter().filter(|place| signed_in.contains(&place.kind)) {
        let path = path.path;
        let answer = bare(&client).get(path);
        assert!(answer.text.contains("name=\"token\"") && !answer.text.contains("paper"), "{path}");
    }
    let wrong = client.with_token("wed_wrong");
    assert!(page(&wrong, "/console").text.contains("name=\"token\""));
    // The API is where it was, and takes no cookie for a token.
    page(&client, "/v1/me").problem(401, "no_token");
    api.nobody().get("/openapi.json").is(200);
}

#[harness::test]
fn a_link_signs_in_once() {
    let (_api, client, links) = with_pages();
    let path = links.make(client.token.as_deref().expect("a token"));
    let entered = bare(&client).get(&path).is(200);
    let cookie = entered.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(bare(&client).get(&path).is(422).header("set-cookie").is_none());
    bare(&client).get("/console/enter?code=guess").is(422);
    assert!(!cookie.contains("Secure"), "{cookie}");
    // Behind a proxy that speaks HTTPS the cookie goes over HTTPS alone.
    let path = links.make(client.token.as_deref().expect("a token"));
    let by_https = [("x-forwarded-proto", "https")];
    let entered = bare(&client).send("GET", &path, &by_https, b"").is(200);
    let cookie = entered.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("; Secure"), "{cookie}");
}

/// Ends the program with the test.
struct AtTerminal(std::process::Child);

impl Drop for AtTerminal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[harness::test]
fn server_at_a_terminal_tells_a_link_each_time() {
    let database = Database::new();
    for _ in 0..2 {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let serve = format!("exec {} serve --listen 127.0.0.1:0 --lanes 1", wed_path().display());
        let program = std::process::Command::new("script")
            .args(["-q", "-e", "-f", "-c", &serve])
            .arg(log.path())
            .env("DATABASE_URL", database.url())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn();
        let _program = AtTerminal(program.expect("script runs"));
        let (address, path) = eventually("a link that signs in once", || {
            let said = std::fs::read_to_string(log.path()).ok()?;
            let link = said.split("the console is at http://").nth(1)?;
            let (link, _) = link.split_once(" (signs in once")?;
            let (address, path) = link.split_once('/')?;
            Some((address.parse().ok()?, format!("/{path}")))
        });
        let entered = Client::at(address, "").without_token().get(&path).is(200);
        assert!(entered.header("set-cookie").is_some(), "{entered:?}");
    }
}

#[harness::test]
fn a_form_without_proof_or_from_elsewhere_does_nothing() {
    let (_api, client, _) = with_pages();
    let place = "/console/flows/f/instances/2/do";
    let own = proof(&page(&client, "/console/flows/f/instances/2").text).to_owned();
    let cancel = |proof: &str| format!("proof={proof}&act=cancel&reason=x");
    form(&client, place, &[], "act=cancel&reason=x").is(403);
    form(&client, place, &[], &cancel("guess")).is(403);
    form(&client, place, &[("origin", "https://evil.example")], &cancel(&own)).is(403);
    form(&client, place, &[("sec-fetch-site", "cross-site")], &cancel(&own)).is(403);
    let upload = [("content-type", "application/wasm")];
    assert_eq!(page(&client, "/v1/flows/f").status, 401);
    let cookie = format!("wedflow_session={}", client.token.as_deref().unwrap_or_default());
    let sent = bare(&client).send("POST", "/console/components/upload/x", &[upload[0], ("cookie", &cookie)], b"\0asm");
    sent.is(403);
    assert_eq!(client.get("/v1/flows/f/instances/2").json()["status"], "exception");
}

/// Forms of all pages: address, and fields that would change something.
const FORMS: [(&str, &str); 20] = [
    ("/console/language", "language=pt-BR&back=/console"),
    ("/console/sign-out", ""),
    ("/console/flows/f/do", "act=pause"),
    ("/console/flows/f/start", "a.n=1"),
    ("/console/flows/f/instances", "act=cancel&apply=yes"),
    ("/console/flows/f/exceptions", "act=retry"),
    ("/console/flows/f/sql", "sql=SELECT+1"),
    ("/console/flows/f/condition", "trigger=t2&when=true"),
    ("/console/flows/f/instances/2/do", "act=cancel"),
    ("/console/flows/f/instances/2/what-if", "a.n=1&o.n="),
    ("/console/schedules/do", "flow=f&schedule=s&act=pause"),
    ("/console/webhooks", "act=add&url=https://example.com/"),
    ("/console/components/do", "name=c&version=1"),
    ("/console/components/of/c", "act=back"),
    ("/console/people", "act=user&name=eve&role=admin"),
    ("/console/work/messages", "act=delete"),
    ("/console/design", "act=apply&form=pdl&text=x"),
    ("/console/work/start", "flow=f"),
    ("/console/work/items/1/do", "act=done"),
    ("/console/tenants", "tenant=default&act=suspend"),
];
/// Addresses to which scripts of pages send files.
const UPLOADS: [&str; 2] = ["/console/components/upload/c", "/console/components/shadow/f%2Ftr_n"];

/// Addresses of all forms, of which that to sign in has no session whose proof it could have.
pub(super) fn forms() -> impl Iterator<Item = &'static str> {
    let forms = FORMS.iter().map(|(path, _)| *path);
    forms.chain(UPLOADS).chain(["/console/sign-in"])
}

#[harness::test]
fn every_form_is_refused_without_its_proof_and_from_elsewhere() {
    let (_api, client, _) = with_pages();
    let own = proof(&page(&client, "/console").text).to_owned();
    for (path, fields) in FORMS {
        form(&client, path, &[], fields).is(403);
        form(&client, path, &[], &format!("proof=guess&{fields}")).is(403);
        let elsewhere = [("sec-fetch-site", "cross-site")];
        form(&client, path, &elsewhere, &format!("proof={own}&{fields}")).is(403);
    }
    let cookie = format!("wedflow_session={}", client.token.as_deref().unwrap_or_default());
    for path in UPLOADS {
        let wasm = [("content-type", "application/wasm"), ("cookie", cookie.as_str())];
        bare(&client).send("POST", path, &wasm, b"\0asm").is(403);
    }
    assert_eq!(client.get("/v1/users").json()["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.get("/v1/flows/f/instances/2").json()["status"], "exception");
}

#[harness::test]
fn signing_in_leads_to_the_page_that_was_asked_for_and_to_no_other_place() {
    let (_api, client, _) = with_pages();
    let nobody = bare(&client);
    let token = client.token.clone().expect("a token");
    let asked = "name=\"to\" value=\"/console/flows/f/instances/2\"";
    let door = nobody.get("/console/flows/f/instances/2").is(200).text;
    assert!(door.contains(asked), "{door}");
    let enter = |to: &str| {
        let fields = format!("token={token}&to={to}");
        let entered = form(&nobody, "/console/sign-in", &[], &fields).is(200);
        entered.header("refresh").unwrap_or_default().to_owned()
    };
    assert_eq!(enter("/console/flows/f"), "0; url=/console/flows/f");
    for other in
        ["https://example.com", "//example.com", "/v1/me", "/console.example", "/console/a;b", "/console/sign-out"]
    {
        assert_eq!(enter(other), "0; url=/console", "{other}");
    }
    // A value without its attribute is no search.
    let refused = page(&client, "/console/flows/f/instances?value=x").is(422).text;
    assert!(refused.contains("Choose the attribute") && refused.contains("href=\"/console/jobs\""), "{refused}");
}

#[harness::test]
fn batch_is_counted_before_it_acts_on_what_a_search_finds() {
    let (_api, client, _) = with_pages();
    let list = page(&client, "/console/flows/f/instances?status=regular").is(200).text;
    let own = proof(&list).to_owned();
    let ask = |more: &str| {
        let fields = format!("proof={own}&status=regular&act=cancel&reason=x{more}");
        form(&client, "/console/flows/f/instances", &[], &fields).is(200).text
    };
    let status = |wid: i32| client.get(&format!("/v1/flows/f/instances/{wid}")).json()["status"].clone();
    let counted = ask("");
    assert!(counted.contains("name=\"apply\"") && counted.contains("/instances/3\""), "{counted}");
    assert_eq!(status(3), "regular");
    let done = ask("&total=2&apply=yes");
    assert!(done.contains("<progress") && done.contains("max=\"2\""), "{done}");
    // The exception is none of those that the search finds.
    assert_eq!([status(1), status(2), status(3)], ["final", "exception", "final"]);
}

#[harness::test]
fn component_is_rolled_back_and_message_sent_again_from_its_page() {
    let (api, client, _) = with_everything();
    let of_pack = "/console/components/of/pack";
    let own = proof(&page(&client, of_pack).is(200).text).to_owned();
    let active = || {
        let listed = client.get("/v1/components").is(200).json();
        let items = listed["items"].as_array().cloned().unwrap_or_default();
        let used = items.into_iter().find(|one| one["active"] == true);
        used.map(|one| one["version"].clone())
    };
    assert_eq!(active(), Some(2.into()));
    form(&client, of_pack, &[], &format!("proof={own}&act=back"));
    assert_eq!(active(), Some(1.into()));
    let hook = "act=add&url=https://example.com/&flow=f";
    form(&client, "/console/webhooks", &[], &format!("proof={own}&{hook}"));
    let dead = "INSERT INTO wed.outbox (webhook_id, tenant_id, body, dead_at) \
                SELECT max(webhook_id), max(tenant_id), '{}', now() FROM wed.webhook RETURNING message_id";
    api.database.owner().number(dead);
    let newest = "SELECT name FROM wed.webhook ORDER BY webhook_id DESC LIMIT 1";
    let name = api.database.owner().line(newest);
    let again = format!("proof={own}&act=again&url=https://example.com/&flow=f&name={name}");
    form(&client, "/console/webhooks", &[], &again);
    let left = "SELECT count(*) FROM wed.outbox WHERE dead_at IS NOT NULL";
    assert_eq!(api.database.owner().number(left), 0);
}

#[harness::test]
fn operators_see_all_tenants_and_suspend_one() {
    let (api, client, _) = with_pages();
    on(api.database.store.create_tenant("other", MARKUP)).expect("a tenant");
    page(&client, "/console/tenants").is(403);
    let secret = wedflow_tenancy::issue_operator(&api.database.store, "portal", true, 1);
    let portal = Client::at(api.address, on(secret).expect("a token").reveal());
    let shown = page(&portal, "/console/tenants").is(200).text;
    assert!(shown.contains("default") && shown.contains("&lt;script&gt;") && !shown.contains("<img"));
    let own = proof(&shown).to_owned();
    form(&portal, "/console/tenants", &[], "tenant=other&act=suspend").is(403);
    let suspend = format!("proof={own}&tenant=other&act=suspend");
    form(&portal, "/console/tenants", &[], &suspend);
    let after = page(&portal, "/console/tenants").is(200).text;
    assert!(after.contains("value=\"activate\""), "{after}");
    // A tenant's page is none of an operator's.
    page(&portal, "/console").is(403);
}

#[harness::test]
fn sessions_of_two_tenants_see_nothing_of_each_other() {
    let (api, client, _) = with_everything();
    let other = elsewhere(&api);
    let named = ["/console/flows/f", "/console/components/of/pack", "/console/work/items/1"];
    let is_named = |path: &str| named.iter().any(|start| path.starts_with(start));
    for place in &PLACES {
        let path = place.path;
        if is_named(path) {
            page(&other, path).is(404);
        } else if matches!(place.kind, Kind::Page | Kind::Part | Kind::Data) {
            // The session of the first is asked before and after: what it was shown is not shown to the other.
            page(&client, path).is(200);
            let text = page(&other, path).is(200).text;
            let mut words = text.split(|letter: char| !letter.is_alphanumeric());
            assert!(!text.contains("/console/flows/f") && words.all(|word| word != "ann"), "{path}");
        }
    }
    // Nor does the proof of one serve the other.
    let own = proof(&page(&client, "/console").text).to_owned();
    form(&other, "/console/language", &[], &format!("proof={own}&language=en&back=/console")).is(403);
}

#[harness::test]
fn a_viewer_is_shown_and_allowed_no_act() {
    let (api, _client, _) = with_pages();
    let viewer = api.user(TENANT, "vic", "viewer");
    let shown = page(&viewer, "/console/flows/f/instances/2").is(200).text;
    assert!(!shown.contains("value=\"cancel\""), "{shown}");
    let own = proof(&shown).to_owned();
    form(&viewer, "/console/flows/f/instances/2/do", &[], &format!("proof={own}&act=cancel&reason=x")).is(403);
}

#[harness::test]
fn pages_speak_the_readers_language() {
    let (_api, client, _) = with_pages();
    let cookie = format!("wedflow_session={}", client.token.as_deref().unwrap_or_default());
    let asked = [("cookie", cookie.as_str()), ("accept-language", "pt-BR,pt;q=0.9,en;q=0.5")];
    let answer = bare(&client).send("GET", "/console", &asked, b"").is(200);
    assert!(answer.text.contains("lang=\"pt-BR\"") && answer.text.contains("Exceções"), "{}", answer.text);
}

#[harness::test]
fn rows_of_a_query_are_text() {
    let (_api, client, _) = with_pages();
    let address = "/console/flows/f/sql";
    let own = proof(&page(&client, address).text).to_owned();
    let ask = |sql: &str| form(&client, address, &[], &format!("proof={own}&sql={sql}"));
    let answer = ask("SELECT '<script>x', 7 AS seven").is(200);
    assert!(answer.text.contains("&lt;script&gt;x"), "{}", answer.text);
    assert!(answer.text.contains("seven") && !answer.text.contains("<script>x"));
    let refused = ask("DROP TABLE wed_flow").is(422);
    assert!(refused.text.contains("role=\"alert\""), "{}", refused.text);
}

#[harness::test]
fn a_part_that_is_the_same_is_not_sent_again() {
    let (_api, client, _) = with_pages();
    let first = page(&client, "/console/flows/f/instances/2/live").is(200);
    let tag = first.header("etag").expect("a tag").to_owned();
    let cookie = format!("wedflow_session={}", client.token.as_deref().unwrap_or_default());
    let again = [("cookie", cookie.as_str()), ("if-none-match", tag.as_str())];
    bare(&client).send("GET", "/console/flows/f/instances/2/live", &again, b"").is(304);
    assert!(first.text.contains("&lt;script&gt;"), "{MARKUP}");
}
