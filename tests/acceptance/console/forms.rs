//! Forms that are refused: shown again with what was typed and the reason, in the reader's language.

use wedflow_console::Links;

use super::places::with_everything;
use super::{MARKUP, bare, break_instance, form, page, proof, served, with_exception};
use crate::support::database::TENANT;
use crate::support::http::{Answered, Api, Client};

/// Sends a form as a browser does from one of our pages.
fn sent_from(api: &Api, client: &Client, place: &str, path: &str, fields: &str) -> Answered {
    let own = proof(&page(client, place).is(200).text).to_owned();
    let from = format!("http://{}{place}", api.address);
    let host = api.address.to_string();
    form(client, path, &[("referer", &from), ("host", &host)], &format!("proof={own}&{fields}"))
}

#[harness::test]
fn refused_form_is_shown_again_with_what_was_typed() {
    let (api, client, _) = with_everything();
    let refused = |place: &str, path: &str, fields: &str, kept: &[&str]| {
        let answer = sent_from(&api, &client, place, path, fields);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        let text = &answer.text;
        assert_eq!(text.matches("id=\"refused\"").count(), 1, "{path}: {text}");
        assert!(text.contains("data-typed>") && text.contains("aria-current=\"page\""), "{path}: {text}");
        for kept in kept {
            assert!(text.contains(kept), "{path}: {kept}: {text}");
        }
    };
    let of = "/console/flows/f";
    refused(
        &format!("{of}/start"),
        &format!("{of}/start"),
        "a.a1=tea&a.n=many",
        &["name=\"a.n\" value=\"many\" aria-invalid=\"true\"", "value=\"tea\"", "is no value of type"],
    );
    let instance = format!("{of}/instances/2");
    refused(
        &instance,
        &format!("{instance}/do"),
        "act=back&reason=too+%22late%22&to=77",
        &["value=\"too &quot;late&quot;\"", "value=\"77\""],
    );
    refused(&instance, &format!("{instance}/do"), "act=cancel&reason=&to=1", &["this action needs a reason"]);
    refused(
        "/console/people",
        "/console/people",
        "act=user&name=ann&role=operator",
        &["name=\"name\" required value=\"ann\"", "<option selected>operator</option>"],
    );
    refused("/console/webhooks", "/console/webhooks", "act=add&url=nowhere&flow=f", &["value=\"nowhere\""]);
    refused(
        &format!("{of}/sql"),
        &format!("{of}/sql"),
        "sql=DROP+TABLE+%22%3Cb%22",
        &["\nDROP TABLE &quot;&lt;b&quot;<"],
    );
    let condition = format!("{of}/condition?trigger=t2");
    refused(&condition, &format!("{of}/condition"), "trigger=t2&when=n+%3E", &["\nn &gt;</textarea>"]);
    refused(
        &format!("{of}/instances"),
        &format!("{of}/instances"),
        "act=skip&reason=x&status=&attribute=&value=&since=&where=",
        &["value=\"x\""],
    );
    refused("/console/work/items/1", "/console/work/items/1/do", "act=delegate&to=zoe", &["value=\"zoe\""]);
    // A search is a form, too.
    let found = page(&client, &format!("{of}/instances?value=x&attribute=")).is(422).text;
    assert!(
        found.contains("name=\"value\" size=\"18\" value=\"x\"") && found.contains("Choose the attribute"),
        "{found}"
    );
}

#[harness::test]
fn form_of_elsewhere_is_not_filled_in() {
    let (api, client, _) = with_everything();
    let start = "/console/flows/f/start";
    let from = format!("http://{}{start}", api.address);
    let answer = form(&client, start, &[("referer", &from)], "proof=guess&a.n=many").is(403);
    assert!(!answer.text.contains("many") && !answer.text.contains("<form"), "{}", answer.text);
    let own = proof(&page(&client, start).text).to_owned();
    // A page of another server is not asked for; nor does a script get one that it did not ask for.
    for (name, value) in [("referer", "http://evil.example/console/flows/f/start"), ("sec-fetch-mode", "cors")] {
        let answer = form(&client, start, &[(name, value)], &format!("proof={own}&a.n=many")).is(422);
        assert_eq!(answer.text.contains("value=\"many\""), name == "referer", "{}", answer.text);
    }
    let secret = form(&bare(&client), "/console/sign-in", &[], "token=wed_secret").is(422);
    assert!(!secret.text.contains("wed_secret"), "{}", secret.text);
}

#[harness::test]
fn refusals_and_reasons_are_in_the_readers_language() {
    let links = Links::default();
    let api = served(&links);
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 2);
    break_instance(&client, "f", 2);
    let cookie = format!("wedflow_session={}; wedflow_language=pt-BR", client.token.as_deref().unwrap_or_default());
    let asked = [("cookie", cookie.as_str())];
    let waiting = bare(&client).send("GET", "/console/flows/f/instances/1", &asked, b"").is(200).text;
    assert!(waiting.contains("nenhum worker está conectado") && !waiting.contains("no worker is"), "{waiting}");
    assert!(waiting.contains("Inicie um worker na URL"), "{waiting}");
    let own = proof(&waiting);
    let headers = [asked[0], ("content-type", "application/x-www-form-urlencoded")];
    let fields = format!("proof={own}&act=cancel&reason=");
    let refused = bare(&client).send("POST", "/console/flows/f/instances/2/do", &headers, fields.as_bytes());
    assert!(refused.text.contains("Esta ação precisa de um motivo."), "{}", refused.text);
    assert!(refused.text.contains("<span lang=\"en\">this action needs a reason"), "{}", refused.text);
    // What an operator wrote is in no language that is known.
    let broken = bare(&client).send("GET", "/console/flows/f/instances/2", &asked, b"").is(200).text;
    assert!(
        broken.contains("Nada pode disparar.") && broken.contains("<span lang=\"en\">tr_a2 was skipped by"),
        "{broken}"
    );
    assert!(!broken.contains(MARKUP), "{broken}");
}
