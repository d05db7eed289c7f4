//! The designer: a text and its picture, each of which changes the other; whole without script, and in a browser.

use std::process::Command;

use serde_json::json;
use wedflow_console::Links;

use super::browser::driver;
use super::{MARKUP, form, page, proof, served};
use crate::support::database::TENANT;
use crate::support::http::{Answered, Api, Client};
use crate::support::program::run;

/// A process of three tasks, one after the other.
const ORDER: &str = "WORKFLOW Order {\n  // comes first\n  TASK Write: Form { ROLE clerk; }\n  \
    TASK Quote: Form { DEPENDS Write -> SUCCEEDED; }\n  TASK Send: Form { DEPENDS Quote -> SUCCEEDED; }\n}\n\
    TASK Form { TYPE MANUAL; PRIORITY 1; DISCONNECTED_OPERATION FALSE; }\n";

fn open() -> (Api, Client) {
    let api = served(&Links::default());
    let ann = api.user(TENANT, "ann", "developer");
    (api, ann)
}

/// Writes a text as a field of a form has it.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// Sends the designer's form.
fn design(client: &Client, text: &str, fields: &[(&str, &str)]) -> Answered {
    let shown = page(client, "/console/design").is(200).text;
    let mut sent = format!("proof={}&form=pdl&text={}", proof(&shown), encoded(text));
    for (name, value) in fields {
        sent.push_str(&format!("&{name}={}", encoded(value)));
    }
    form(client, "/console/design", &[], &sent)
}

#[harness::test]
fn process_is_designed_and_applied_without_script() {
    let (_api, ann) = open();
    let moved = design(&ann, ORDER, &[("act", "move"), ("task", "Order/Write"), ("after", "Quote")]).is(200);
    assert!(moved.text.contains("TASK Write: Form { DEPENDS Quote -&gt; SUCCEEDED; ROLE clerk; }"), "{}", moved.text);
    assert!(moved.text.contains("// comes first") && moved.text.contains("DEPENDS Write -&gt; SUCCEEDED; }"));
    let preview = design(&ann, ORDER, &[("act", "preview")]).is(200).text;
    assert!(preview.contains("a new flow") && preview.contains("write_state"), "{preview}");
    ann.get("/v1/flows/order").is(404);
    design(&ann, ORDER, &[("act", "apply"), ("creator_role", "clerk")]);
    assert_eq!(ann.get("/v1/flows/order/plan").is(200).json()["plan"]["creator_role"], "clerk");
    // A new text changes no flow that there is; the one of the flow does, and says how before.
    let taken = design(&ann, ORDER, &[("act", "apply")]).is(200).text;
    assert!(taken.contains("There is a flow of this name already"), "{taken}");
    let more = ORDER.replace("TASK Send", "TASK Post");
    let difference = design(&ann, &more, &[("act", "preview"), ("flow", "order")]).is(200).text;
    assert!(difference.contains("<ins>+   TASK Post: Form {"), "{difference}");
    design(&ann, &more, &[("act", "apply"), ("flow", "order")]);
    let flow = ann.get("/v1/flows/order").is(200).json();
    assert!(flow["version"].as_i64() > Some(1) && flow.to_string().contains("post_state"), "{flow}");
}

#[harness::test]
fn errors_of_a_text_are_shown_at_their_places_and_change_nothing() {
    let (_api, ann) = open();
    let wrong = ORDER.replace("ROLE clerk;", "ROLE;").replace("comes first", MARKUP);
    let answer = design(&ann, &wrong, &[("act", "apply")]).is(200).text;
    assert!(answer.contains("data-line=\"3\"") && answer.contains("The text has errors"), "{answer}");
    assert!(!answer.contains("<script>alert") && !answer.contains("<img"), "{answer}");
    ann.get("/v1/flows/order").is(404);
    let name = [("act", "rename"), ("task", "Order/Send"), ("name", "A { } TASK B")];
    let refused = design(&ann, ORDER, &name).is(200).text;
    assert!(refused.contains("a name has letters, digits"), "{refused}");
}

#[harness::test]
fn designer_does_what_the_token_may_and_of_its_tenant_alone() {
    let (api, ann) = open();
    design(&ann, ORDER, &[("act", "apply")]);
    on_other_tenant(&api);
    let eve = api.user("other", "eve", "developer");
    page(&eve, "/console/flows/order/design").is(404);
    design(&eve, ORDER, &[("act", "preview"), ("flow", "order")]).is(404);
    let own = design(&eve, ORDER, &[("act", "preview")]).is(200).text;
    assert!(own.contains("a new flow") && !own.contains("<pre class=\"diff\""), "{own}");
    let viewer = api.user(TENANT, "vera", "viewer");
    let refused = design(&viewer, ORDER, &[("act", "apply"), ("flow", "order")]).is(200).text;
    assert!(refused.contains("role=\"alert\""), "{refused}");
    assert!(!page(&viewer, "/console/flows/order/design").is(200).text.contains("value=\"apply\""));
}

fn on_other_tenant(api: &Api) {
    crate::support::on(api.database.store.create_tenant("other", "")).expect("a tenant");
}

#[harness::test]
fn picture_and_text_change_each_other_in_a_browser() {
    let (api, ann) = open();
    design(&ann, ORDER, &[("act", "apply")]);
    let statements = json!({
        "name": "shop", "final": "b is not null", "attribute": [{ "name": "a" }, { "name": "b" }],
        "trigger": [
            { "name": MARKUP.replace('/', ""), "transition": "one", "when": "a is null", "writes": ["a"] },
            { "name": "two", "transition": "two", "when": "a is not null and b is null", "writes": ["b"] },
        ],
    });
    ann.json("PUT", "/v1/flows/shop", &statements).is(201);
    let docs = super::pictures::Docs::new();
    let asked = json!({
        "server": format!("http://{}", api.address), "token": ann.token, "pictures": super::browser::pictures(),
        "docs": docs.path(),
    });
    let mut command = Command::new("node");
    let out = run(command.arg(driver("design.mjs")).arg(asked.to_string())).done();
    assert!(out.out.contains("designed"), "{out:?}");
    docs.hold(&["designer"]);
    let plan = ann.get("/v1/flows/order/plan").is(200).json();
    assert_eq!(plan["plan"]["tasks"][0]["task"], "Quote", "{plan}");
    assert!(plan.to_string().contains("Deliver"));
}
