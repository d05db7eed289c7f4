//! All tenants, for operators of the installation, who sign in with a token of theirs.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use wedflow_client::Client;
use wedflow_documents::{Tenant, TenantChange};

use super::table;
use crate::ROOT;
use crate::cookies::{SESSION, cookie};
use crate::document::{confined, document};
use crate::failure::Failure;
use crate::frame::Answer;
use crate::session::{Console, Sent, proof};
use crate::shown::{number, time};
use crate::words::Language;

/// Path of the page, below the root.
pub(crate) const PLACE: &str = "/tenants";

/// An operator of the installation who is signed in.
pub(crate) struct Operator {
    client: Client,
    language: Language,
    proof: String,
}

impl FromRequestParts<Console> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let token = cookie(&parts.headers, SESSION).unwrap_or_default();
        let away = || Redirect::to(&format!("{ROOT}/sign-in")).into_response();
        let client = Some(token.as_str()).filter(|token| !token.is_empty());
        let client = client.and_then(|token| console.client(token));
        Ok(Operator { client: client.ok_or_else(away)?, language: Language::of(&parts.headers), proof: proof(&token) })
    }
}

/// Lists the tenants.
pub(crate) async fn list(operator: Operator) -> Answer {
    let language = operator.language;
    let say = |text| language.say(text);
    let tenants = operator.client.tenants().await;
    let tenants = tenants.map_err(|error| Failure::of(error, language))?;
    let heads = [say("Tenant"), say("Flows"), say("Components"), say("Users"), say("Made (UTC)"), say("Change")];
    let title = say("Tenants");
    let body = html! {
        header class="top" {
            a class="brand" href=(format!("{ROOT}{PLACE}")) { "Wedflow" }
            div class="who" {
                form method="post" action=(format!("{ROOT}/sign-out")) {
                    input type="hidden" name="proof" value=(operator.proof);
                    button class="plain" { (say("Sign out")) }
                }
            }
        }
        main id="main" tabindex="-1" {
            h1 { (title) }
            (table(title, &heads, &html! { @for one in &tenants { (row(&operator, one)) } }))
        }
    };
    Ok(confined(StatusCode::OK, &document(language, title, &body)))
}

fn row(operator: &Operator, tenant: &Tenant) -> Markup {
    let say = |text| operator.language.say(text);
    let (act, word) = match tenant.suspended {
        true => ("activate", say("Activate")),
        false => ("suspend", say("Suspend")),
    };
    let ask = say("Suspend this tenant? Nothing of it is started or changed then.");
    html! {
        tr {
            th scope="row" {
                (tenant.name)
                @if tenant.suspended { " " span class="badge exception" { (say("suspended")) } }
                @if let Some(moving) = &tenant.moving { " " span class="badge pending" { (moving) } }
                @if !tenant.description.is_empty() { br; span class="soft" { (tenant.description) } }
            }
            td class="number" { (number(tenant.flows)) }
            td class="number" { (number(tenant.components)) }
            td class="number" { (number(tenant.users)) }
            td { (time(&tenant.created_at)) }
            td { form method="post" {
                input type="hidden" name="proof" value=(operator.proof);
                input type="hidden" name="tenant" value=(tenant.name);
                button name="act" value=(act) data-ask=[(!tenant.suspended).then_some(ask)] {
                    (word) " " (tenant.name)
                }
            } }
        }
    }
}

/// Suspends a tenant, or activates it again.
pub(crate) async fn change(operator: Operator, sent: Sent) -> Answer {
    let change = TenantChange { description: None, token_days: None, suspended: Some(sent.text("act") == "suspend") };
    let changed = operator.client.change_tenant(sent.text("tenant"), &change).await;
    changed.map_err(|error| Failure::of(error, operator.language))?;
    Ok(Redirect::to(&format!("{ROOT}{PLACE}")).into_response())
}
