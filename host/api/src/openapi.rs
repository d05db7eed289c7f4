//! The description of the interface. Its paths come from the routes themselves.

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// What the routes do not say.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Wedflow",
        description = "Flows, instances, components, users and tokens of one tenant: that of the token. Problems are application/problem+json (RFC 9457) with a stable `code` and a `hint`."
    ),
    modifiers(&Bearer),
    security(("token" = []))
)]
pub(crate) struct Description;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A token that `wed token create` made: `wed_…`"))
            .build();
        openapi
            .components
            .get_or_insert_default()
            .add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The OpenAPI document, as `GET /openapi.json` answers it.
pub fn description() -> utoipa::openapi::OpenApi {
    crate::routes::description()
}
