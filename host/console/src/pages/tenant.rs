//! Things of a tenant besides its flows: webhooks, users and tokens, usage, the audit log.

use axum::http::HeaderMap;
use maud::{Markup, html};
use wedflow_documents::{AuditEntry, AuditFilter, List, NewUser, ReceiptFilter, WebhookPlace};

use super::{Query, more_of, table};
use crate::ROOT;
use crate::document::part;
use crate::failure::Failure;
use crate::frame::{Answer, hidden, onward, page};
use crate::session::{Sent, Session};
use crate::shown::{number, part as encoded, prose, time};

/// Entries of the audit log on a page.
const ENTRIES_MAX: i64 = 100;
/// Entries of what was used today on a page.
const RECEIPTS_MAX: i64 = 100;
/// Roles of users.
const ROLES: [&str; 5] = ["viewer", "operator", "developer", "participant", "admin"];

/// The webhooks.
pub(crate) async fn webhooks(session: Session) -> Answer {
    let webhooks = session.client.webhooks().await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let heads = [
        say("URL"),
        say("Flow"),
        say("Messages pending"),
        say("Given up"),
        say("Last error"),
        say("By"),
        say("Change"),
    ];
    let body = html! {
        h1 { (say("Webhooks")) }
        p class="soft" { (say("Exceptions are announced to these URLs.")) }
        @if !webhooks.is_empty() {
            (table(say("Webhooks"), &heads, &html! {
                @for one in &webhooks {
                    tr {
                        th scope="row" { (one.url) }
                        td { (one.flow.as_deref().unwrap_or(say("all flows"))) }
                        td class="number" { (number(one.pending)) }
                        td class="number" { @if one.dead > 0 {
                            span class="badge exception" { (number(one.dead)) }
                        } @else { "0" } }
                        td { (one.last_error.as_deref().unwrap_or_default()) }
                        td { (one.actor) }
                        td { form method="post" {
                            (hidden(&session))
                            input type="hidden" name="url" value=(one.url);
                            input type="hidden" name="flow" value=(one.flow.as_deref().unwrap_or_default());
                            input type="hidden" name="name" value=(one.name);
                            @if one.dead > 0 { button name="act" value="again" { (say("Send again")) " " (one.name) } " " }
                            button class="bad" name="act" value="remove" { (say("Remove")) " " (one.url) }
                        } }
                    }
                }
            }))
        }
        form class="line" method="post" {
            (hidden(&session))
            label {
                (say("URL"))
                input name="url" type="url" size="40" required placeholder="https://example.com/hook";
            }
            label { (say("Flow; empty: all")) input name="flow"; }
            button class="strong" name="act" value="add" { (say("Announce exceptions")) }
        }
    };
    Ok(page(&session, say("Webhooks"), &body))
}

/// Adds or removes a webhook.
pub(crate) async fn change_webhook(session: Session, sent: Sent) -> Answer {
    let place = WebhookPlace { url: sent.text("url").to_owned(), flow: sent.given("flow"), ..WebhookPlace::default() };
    let failed = session.failed();
    let message = match sent.text("act") {
        "again" => {
            let again = session.client.redeliver(sent.text("name"), None).await;
            let again = again.map_err(&failed)?;
            format!("{} {}", again.messages, session.language.say("messages are sent again."))
        }
        "remove" => {
            session.client.delete_webhook(&place).await.map_err(&failed)?;
            session.language.say("The webhook was removed.").to_owned()
        }
        _ => {
            let set = session.client.set_webhook(&place).await.map_err(&failed)?;
            match set.secret {
                Some(secret) => {
                    format!("{} {secret}", session.language.say("Announced from now on. The secret of its signatures:"))
                }
                None => session.language.say("Announced as before.").to_owned(),
            }
        }
    };
    Ok(onward(&format!("{ROOT}/webhooks"), &message))
}

/// Users and tokens.
pub(crate) async fn people(session: Session) -> Answer {
    let users = session.client.users().await.unwrap_or_default();
    let tokens = session.client.tokens().await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let body = html! {
        h1 { (say("Users and tokens")) }
        (table(say("Users"), &[say("User"), say("Role"), say("Since (UTC)")], &html! {
            @for one in &users { tr { th scope="row" { (one.name) } td { (one.role) } td { (time(&one.created_at)) } } }
        }))
        @if session.may("users:write") { (user_form(&session)) }
        h2 { (say("Tokens")) }
        @let heads = [say("Token"), say("User"), say("Scopes"), say("Status"), say("Expires (UTC)"), say("Change")];
        (table(say("Tokens"), &heads, &html! {
            @for one in &tokens {
                tr {
                    th scope="row" { (one.name) " " code { (one.id) } }
                    td { (one.user) }
                    td { (one.scopes.join(" ")) }
                    td { (one.status) }
                    td { (time(&one.expires_at)) }
                    td {
                        @if one.status == "live" {
                            form method="post" {
                                (hidden(&session))
                                input type="hidden" name="token" value=(one.id);
                                button class="bad" name="act" value="end" data-ask=(say("End this token at once?")) {
                                    (say("End")) " " (one.id)
                                }
                            }
                        }
                    }
                }
            }
        }))
        p class="soft" { (prose(say("`wed token create USER` makes a token."))) }
    };
    Ok(page(&session, say("Users and tokens"), &body))
}

fn user_form(session: &Session) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        form class="line" method="post" {
            (hidden(session))
            label { (say("New user")) input name="name" required; }
            label { (say("Role")) select name="role" { @for role in ROLES { option { (role) } } } }
            button class="strong" name="act" value="user" { (say("Make the user")) }
        }
    }
}

/// Makes a user, or ends a token.
pub(crate) async fn change_people(session: Session, sent: Sent) -> Answer {
    let failed = session.failed();
    let message = match sent.text("act") {
        "user" => {
            let user = NewUser { name: sent.text("name").to_owned(), role: sent.text("role").to_owned() };
            session.client.create_user(&user).await.map_err(&failed)?;
            session.language.say("The user was made.")
        }
        "end" => {
            session.client.delete_token(sent.text("token")).await.map_err(&failed)?;
            session.language.say("The token has ended.")
        }
        _ => return Err(Failure::broken(session.language)),
    };
    Ok(onward(&format!("{ROOT}/people"), message))
}

/// The audit log, newest first.
pub(crate) async fn audit(session: Session, query: Query) -> Answer {
    let filter = AuditFilter { since: query.since(), cursor: query.owned("cursor"), limit: Some(ENTRIES_MAX) };
    let entries: List<AuditEntry> = session.part(&["audit"], &filter).await?;
    let say = |text| session.language.say(text);
    let heads = [say("When (UTC)"), say("By"), say("What"), say("On"), say("Detail")];
    let body = html! {
        h1 { (say("Audit log")) }
        form class="line" {
            label {
                (say("Since (UTC)"))
                input type="datetime-local" name="since" value=(query.given("since").unwrap_or_default());
            }
            button class="strong" { (say("Search")) }
        }
        (table(say("Audit log"), &heads, &html! {
            @for one in &entries.items {
                tr {
                    td { (time(&one.at)) }
                    td { (one.actor) }
                    td { (one.action) }
                    td { (one.target) }
                    td { code { (crate::shown::cut(&one.detail.to_string())) } }
                }
            }
        }))
        @let since = query.given("since").map_or_else(String::new, |since| format!("since={}&", encoded(since)));
        (more_of(&session, &entries, None, &format!("?{since}")))
    };
    Ok(page(&session, say("Audit log"), &body))
}

/// The hosts, and the tenant's jobs that each has in flight.
pub(crate) async fn hosts(session: Session) -> Answer {
    let hosts = session.client.hosts().await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let heads = [
        say("Host"),
        say("Version"),
        say("Status"),
        say("Jobs in flight"),
        say("Started (UTC)"),
        say("Leases until (UTC)"),
    ];
    let body = html! {
        h1 { (say("Hosts")) }
        @if hosts.is_empty() {
            p class="box" { (prose(say("No host is running: start one with `wed serve`."))) }
        } @else {
            (table(say("Hosts"), &heads, &html! {
                @for one in &hosts {
                    tr {
                        th scope="row" { (one.name) " " (one.host_id) }
                        td { (one.version.as_deref().unwrap_or("–")) }
                        td {
                            @if one.running { span class="badge final" { (say("running")) } }
                            @else { span class="badge exception" { (say("gone")) } }
                        }
                        td class="number" { (number(one.jobs)) }
                        td { (time(&one.started)) }
                        td { (time(&one.leased_until)) }
                    }
                }
            }))
        }
    };
    Ok(page(&session, say("Hosts"), &body))
}

/// Limits of the tenant, and what is used of them. What was used today is read by itself, for it may be much.
pub(crate) async fn usage(session: Session, query: Query) -> Answer {
    let usage = session.client.usage().await.map_err(session.failed())?;
    let today = match query.given("today") {
        Some(_) => Some(today(&session, query.given("cursor")).await?),
        None => None,
    };
    let say = |text| session.language.say(text);
    let figure = |figure: Option<i64>| figure.map_or("–".to_owned(), number);
    let body = html! {
        h1 { (say("Usage")) " " (session.me.tenant) }
        p class="soft" { (session.me.user) " · " (session.me.role) " · " (session.me.scopes.join(" ")) }
        (table(say("Usage"), &[say("What"), say("Used"), say("Allowed"), say("Unit")], &html! {
            @for one in &usage {
                tr {
                    th scope="row" { (one.name) }
                    td class="number" { (figure(one.used)) }
                    td class="number" { (figure(one.allowed)) }
                    td { (one.unit) }
                }
            }
        }))
        h2 { (say("Today (UTC)")) }
        @match &today {
            Some(today) => (today),
            None => div data-live=(format!("{ROOT}/usage/today")) data-once {
                p { a href="?today=yes" { (say("What was used today")) } }
            },
        }
    };
    Ok(page(&session, say("Usage"), &body))
}

/// The part of the page of usage with what was used today.
pub(crate) async fn usage_today(session: Session, headers: HeaderMap) -> Answer {
    Ok(part(&headers, &today(&session, None).await?))
}

async fn today(session: &Session, cursor: Option<&str>) -> Result<Markup, Failure> {
    let part =
        ReceiptFilter { cursor: cursor.map(str::to_owned), limit: Some(RECEIPTS_MAX), ..ReceiptFilter::default() };
    let today = session.client.receipts(&part).await.map_err(session.failed())?;
    let say = |text| session.language.say(text);
    let heads = [say("Flow"), say("Transition"), say("Commits"), say("Failures"), say("Fuel")];
    Ok(html! {
        (table(say("Today (UTC)"), &heads, &html! {
            @for one in today.items.iter().filter(|one| one.transition.is_some()) {
                tr {
                    th scope="row" { (one.flow) }
                    td { (one.transition.as_deref().unwrap_or_default()) }
                    td class="number" { (number(one.commits)) }
                    td class="number" { (number(one.failures)) }
                    td class="number" { (number(one.fuel)) }
                }
            }
        }))
        (more_of(session, &today, None, &format!("{ROOT}/usage?today=yes&")))
    })
}
