//! The page of verbs: each request with the command that sends it, the permission it needs, its word in the audit log.

use std::collections::BTreeMap;

use super::{generated_table, sources};
use crate::support::repository;

/// Request, command, word in the audit log, preview. A request that is not here has a row without them.
#[rustfmt::skip]
const VERBS: &[[&str; 4]] = &[
    ["GET /v1/audit", "wed audit", "", ""],
    ["GET /v1/components", "wed component list", "", ""],
    ["DELETE /v1/components", "wed component gc", "component.remove", ""],
    ["POST /v1/components", "wed component push", "component.push", "`?check=true`"],
    ["GET /v1/components/{component}", "wed component show", "", ""],
    ["POST /v1/components/{component}", "wed component push --name", "component.push", "`?check=true`"],
    ["POST /v1/components/{component}/activate", "wed component activate", "component.activate", ""],
    ["POST /v1/components/{component}/rollback", "wed component rollback", "component.rollback", ""],
    ["GET /v1/components/{component}/versions/{version}/bytes", "wed replay", "", ""],
    ["GET /v1/flows", "wed flow list", "", ""],
    ["GET /v1/flows/{flow}", "wed flow show", "", ""],
    ["PUT /v1/flows/{flow}", "wed flow apply", "flow.apply", "`POST …/preview`"],
    ["DELETE /v1/flows/{flow}", "wed flow delete", "flow.delete", ""],
    ["GET /v1/flows/{flow}/attempts", "wed replay --last", "", ""],
    ["POST /v1/flows/{flow}/shadow", "wed replay --last", "", "changes nothing"],
    ["GET /v1/flows/{flow}/config", "wed flow config list", "", ""],
    ["PUT /v1/flows/{flow}/config/{key}", "wed flow config set", "", ""],
    ["DELETE /v1/flows/{flow}/config/{key}", "wed flow config delete", "", ""],
    ["GET /v1/flows/{flow}/diff", "wed flow diff", "", ""],
    ["GET /v1/events", "wed flow events", "", ""],
    ["GET /v1/flows/{flow}/events", "wed flow events", "", ""],
    ["GET /v1/flows/{flow}/hooks", "wed flow hook list", "", ""],
    ["PUT /v1/flows/{flow}/hooks/{hook}", "wed flow hook set", "hook.set", ""],
    ["POST /v1/flows/{flow}/hooks/{hook}/rotate", "wed flow hook rotate", "hook.rotate", ""],
    ["DELETE /v1/flows/{flow}/hooks/{hook}", "wed flow hook delete", "hook.remove", ""],
    ["GET /v1/flows/{flow}/instances", "wed instance list", "", ""],
    ["POST /v1/flows/{flow}/instances", "wed instance start", "instance.start", ""],
    ["POST /v1/flows/{flow}/instances/batch", "wed instance batch", "", "without `apply`"],
    ["GET /v1/flows/{flow}/instances/{wid}", "wed instance watch", "", ""],
    ["GET /v1/flows/{flow}/instances/{wid}/attempts", "wed job logs", "", ""],
    ["GET /v1/flows/{flow}/instances/{wid}/attempts/{attempt}", "wed replay", "", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/back", "wed instance back", "instance.back", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/cancel", "wed instance cancel", "instance.cancel", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/event", "wed instance event", "instance.event", ""],
    ["GET /v1/flows/{flow}/instances/{wid}/events", "wed instance watch", "", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/jobs/{trigger}/complete", "wed job complete", "", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/jobs/{trigger}/extend", "wed job extend", "", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/jobs/{trigger}/fail", "wed job fail", "", ""],
    ["GET /v1/flows/{flow}/instances/{wid}/overview", "wed instance show", "", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/pause", "wed instance pause", "pause", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/resume", "wed instance resume", "resume", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/retry", "wed instance retry", "instance.retry", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/skip", "wed instance skip", "job.skip", ""],
    ["POST /v1/flows/{flow}/instances/{wid}/state", "wed instance set", "instance.set", ""],
    ["GET /v1/flows/{flow}/instances/{wid}/trace", "wed instance trace", "", ""],
    ["GET /v1/flows/{flow}/instances/{wid}/waiting", "wed instance watch", "", ""],
    ["GET /v1/flows/{flow}/jobs", "wed job list", "", ""],
    ["POST /v1/flows/{flow}/jobs/claim", "wed job claim", "", ""],
    ["GET /v1/flows/{flow}/lint", "wed flow lint", "", ""],
    ["GET /v1/flows/{flow}/order", "wed flow order list", "", ""],
    ["POST /v1/flows/{flow}/order", "wed flow order add", "order.add", ""],
    ["POST /v1/flows/{flow}/order/drop", "wed flow order delete", "order.drop", ""],
    ["POST /v1/flows/{flow}/pause", "wed flow pause", "pause", ""],
    ["GET /v1/flows/{flow}/plan", "wed flow show --pdl", "", ""],
    ["POST /v1/flows/{flow}/preview", "wed flow apply --dry-run", "", ""],
    ["POST /v1/flows/{flow}/query", "wed sql", "flow.query", ""],
    ["POST /v1/flows/{flow}/rematch", "wed flow rematch", "flow.rematch", "without `apply`"],
    ["GET /v1/flows/{flow}/reservations", "wed flow reservations", "", ""],
    ["GET /v1/flows/{flow}/resources", "wed flow resource list", "", ""],
    ["PUT /v1/flows/{flow}/resources", "wed flow resource set", "resource.set", ""],
    ["POST /v1/flows/{flow}/resume", "wed flow resume", "resume", ""],
    ["POST /v1/flows/{flow}/retry", "wed flow retry", "instance.retry", "without `apply`"],
    ["POST /v1/flows/{flow}/rollback", "wed flow rollback", "flow.rollback", "without `apply`"],
    ["GET /v1/flows/{flow}/schedules", "wed flow schedule list", "", ""],
    ["PUT /v1/flows/{flow}/schedules/{schedule}", "wed flow schedule set", "schedule.set", ""],
    ["DELETE /v1/flows/{flow}/schedules/{schedule}", "wed flow schedule delete", "schedule.remove", ""],
    ["POST /v1/flows/{flow}/schedules/{schedule}/backfill", "wed flow schedule backfill", "schedule.backfill", ""],
    ["POST /v1/flows/{flow}/schedules/{schedule}/pause", "wed flow schedule pause", "schedule.pause", ""],
    ["POST /v1/flows/{flow}/schedules/{schedule}/resume", "wed flow schedule resume", "schedule.resume", ""],
    ["GET /v1/flows/{flow}/secrets", "wed flow secret list", "", ""],
    ["PUT /v1/flows/{flow}/secrets/{secret}", "wed flow secret set", "", ""],
    ["DELETE /v1/flows/{flow}/secrets/{secret}", "wed flow secret delete", "", ""],
    ["GET /v1/flows/{flow}/versions", "wed flow history", "", ""],
    ["GET /v1/installation", "wed status", "", ""],
    ["GET /v1/installation/clusters", "wed cluster list", "", ""],
    ["PUT /v1/installation/clusters/{cluster}", "wed cluster add", "", "`check`"],
    ["PATCH /v1/installation/clusters/{cluster}", "wed cluster drain", "", ""],
    ["DELETE /v1/installation/clusters/{cluster}", "wed cluster delete", "", ""],
    ["GET /v1/installation/receipts", "wed usage --all", "", ""],
    ["GET /v1/installation/tenants", "wed tenant list", "", ""],
    ["POST /v1/installation/tenants", "wed tenant create", "tenant.create", ""],
    ["GET /v1/installation/tenants/{tenant}", "wed tenant show", "", ""],
    ["PATCH /v1/installation/tenants/{tenant}", "wed tenant suspend", "tenant.suspend", ""],
    ["DELETE /v1/installation/tenants/{tenant}", "wed tenant delete", "tenant.delete", ""],
    ["POST /v1/installation/tenants/{tenant}/pause", "wed tenant pause", "pause", ""],
    ["GET /v1/installation/tenants/{tenant}/quotas", "wed tenant show", "", ""],
    ["PATCH /v1/installation/tenants/{tenant}/quotas", "wed tenant quota", "tenant.quota", ""],
    ["POST /v1/installation/tenants/{tenant}/resume", "wed tenant resume", "resume", ""],
    ["GET /v1/me", "wed whoami", "", ""],
    ["GET /v1/pauses", "wed flow pauses", "", ""],
    ["PUT /v1/processes", "wed flow apply", "flow.apply", "`POST …/preview`"],
    ["GET /v1/tokens", "wed token list", "", ""],
    ["POST /v1/tokens", "wed token create", "token.create", ""],
    ["DELETE /v1/tokens/{token}", "wed token delete", "token.revoke", ""],
    ["POST /v1/tokens/{token}/rotate", "wed token rotate", "token.rotate", ""],
    ["GET /v1/usage", "wed usage --limits", "", ""],
    ["GET /v1/usage/receipts", "wed usage", "", ""],
    ["GET /v1/users", "wed user list", "", ""],
    ["POST /v1/users", "wed user create", "user.create", ""],
    ["PATCH /v1/users/{user}", "wed user role", "user.role", ""],
    ["DELETE /v1/users/{user}", "wed user delete", "user.delete", ""],
    ["GET /v1/webhooks", "wed webhook list", "", ""],
    ["PUT /v1/webhooks", "wed webhook set", "webhook.set", ""],
    ["DELETE /v1/webhooks", "wed webhook delete", "webhook.remove", ""],
    ["GET /v1/work/calendars", "wed work calendar", "", ""],
    ["PUT /v1/work/calendars/{calendar}", "wed work calendar", "calendar.set", ""],
    ["PUT /v1/work/connection", "wed work connect", "", ""],
    ["DELETE /v1/work/connection", "wed work disconnect", "", ""],
    ["GET /v1/work/events", "wed work", "", ""],
    ["GET /v1/work/items", "wed work list", "", ""],
    ["GET /v1/work/items/{item}", "wed work show", "", ""],
    ["GET /v1/work/items/{item}/application", "wed work sync", "", ""],
    ["GET /v1/work/items/{item}/attachments/{attachment}", "wed work fetch", "", ""],
    ["POST /v1/work/items/{item}/attachments/{attachment}", "wed work comment", "", ""],
    ["POST /v1/work/items/{item}/comments", "wed work comment", "", ""],
    ["POST /v1/work/items/{item}/decide", "wed work decide", "", ""],
    ["POST /v1/work/items/{item}/delegate", "wed work delegate", "", ""],
    ["GET /v1/work/items/{item}/history", "wed work history", "", ""],
    ["POST /v1/work/items/{item}/move", "wed work move", "", ""],
    ["POST /v1/work/items/{item}/report", "wed work report", "", ""],
    ["POST /v1/work/items/{item}/reserve", "wed work together", "", ""],
    ["POST /v1/work/items/{item}/run", "wed work do", "", ""],
    ["POST /v1/work/items/{item}/{act}", "wed work select", "", ""],
    ["GET /v1/work/messages", "wed work messages", "", ""],
    ["DELETE /v1/work/messages", "wed work messages", "", ""],
    ["GET /v1/work/people", "wed work people", "", ""],
    ["PUT /v1/work/people/{user}", "wed work people", "person.set", ""],
    ["DELETE /v1/work/people/{user}", "wed work people", "person.delete", ""],
    ["POST /v1/work/people/{user}/reassign", "wed work reassign", "", ""],
    ["DELETE /v1/work/people/{user}/roles/{role}", "wed work people", "", ""],
    ["POST /v1/work/processes", "wed work begin", "", ""],
    ["PATCH /v1/work/processes/{flow}/{wid}/notification", "wed work notify", "", ""],
    ["GET /v1/work/roles", "wed work roles", "", ""],
];

/// Permissions that a handler asks for by another name, and what these come to.
const NAMED: [(&str, &str); 7] = [
    ("OnJob", "workers:write"),
    ("OnInstance", "jobs:write"),
    ("OnFlow", "jobs:write"),
    ("OnSchedule", "flows:write"),
    ("set_tenant_pause(", "jobs:write"),
    ("must_preview(&caller)", "flows:write or jobs:write"),
    ("must(&caller, asked.apply)", "flows:write; jobs:write to preview"),
];

/// Returns the permission of each request, as its handler asks for it.
fn permissions() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let folder = repository("host/api/src/routes");
    for file in std::fs::read_dir(folder).expect("the routes") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("text");
        for handler in text.split("#[utoipa::path(").skip(1) {
            let method = handler.split(',').next().unwrap_or_default().trim().to_uppercase();
            let path = handler.split("path = \"").nth(1).and_then(|rest| rest.split('"').next());
            let body = handler.split("\n/// ").next().unwrap_or_default();
            found.insert(format!("{method} {}", path.unwrap_or_default()), permission_in(body));
        }
    }
    found
}

fn permission_in(handler: &str) -> String {
    let named = NAMED.iter().find(|(name, _)| handler.contains(name));
    if let Some((_, permission)) = named {
        return (*permission).to_owned();
    }
    let Some((_, rest)) = handler.split_once("Action::") else {
        return String::new();
    };
    let verb = if rest.starts_with("read") { "read" } else { "write" };
    let area = rest.split_once("Area::").map_or("", |(_, area)| area);
    let area: String = area.chars().take_while(|c| c.is_alphanumeric()).collect();
    match area.as_str() {
        // One's own; `all-tokens` for everybody's.
        "" => format!("tokens:{verb}"),
        area => format!("{}:{verb}", dashed(area)),
    }
}

/// Writes a name in capitals as the scope does: `AllTokens`, `all-tokens`.
fn dashed(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[harness::test]
fn the_table_of_verbs_is_what_the_code_says() {
    let mut table =
        String::from("| request | command | permission | audited as | preview |\n| --- | --- | --- | --- | --- |\n");
    let code = |text: &str| match text {
        "" => String::new(),
        text => format!("`{text}`"),
    };
    let permissions = permissions();
    let document = wedflow_api::description();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in ["get", "put", "post", "patch", "delete"] {
            let request = format!("{} {path}", method.to_uppercase());
            if item.get(method).is_none() || !path.starts_with("/v1/") {
                continue;
            }
            let row = VERBS.iter().find(|row| row[0] == request);
            let [_, command, audited, preview] = row.copied().unwrap_or_default();
            let permission = permissions.get(&request).map_or("", String::as_str);
            table.push_str(&format!(
                "| `{request}` | {} | {permission} | {} | {preview} |\n",
                code(command),
                code(audited)
            ));
        }
    }
    generated_table("verbs.md", &table);
}

#[harness::test]
fn each_verb_is_a_request_and_a_command_and_a_word_of_the_audit_log() {
    let page = std::fs::read_to_string(repository("docs/reference/commands.md")).expect("the page");
    let requests = permissions();
    let mut all = String::new();
    for folder in ["migrations/functions", "host/store/src", "host/tenancy/src"] {
        for file in sources(&[folder], &["sql", "rs"]) {
            all.push_str(&std::fs::read_to_string(file).expect("text"));
        }
    }
    for [request, command, audited, _] in VERBS {
        assert!(requests.contains_key(*request), "there is no {request}");
        let words = command.split(" --").next().unwrap_or_default();
        assert!(page.contains(&format!("`{words}")), "there is no {command}");
        let is_said = ['"', '\''].iter().any(|quote| all.contains(&format!("{quote}{audited}")));
        assert!(is_said, "nothing is audited as {audited}");
    }
}
