//! The bearer of a token.

use wedflow_store::{Bearer, Store, StoreError};

use crate::{Action, Role, Scope, Secret};

/// The bearer of a token and their rights. The tenant of everything that is done for a request
/// is taken from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The tenant's name.
    pub tenant: String,
    /// The user's name.
    pub user: String,
    /// The user's role, as it is now.
    pub role: Role,
    /// The token's name.
    pub token: String,
    /// The token's first characters.
    pub prefix: String,
    /// The token's scopes.
    pub scopes: Vec<Scope>,
    /// Flows that the token is for; empty: everything that its scopes allow.
    pub flows: Vec<String>,
    /// Requests that the tenant may make in a second; none: as many as it likes.
    pub requests_per_second: Option<u32>,
}

/// Reason for which a token is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    /// The text is no token at all.
    #[error("this is no token of Wedflow")]
    NoToken,
    /// The token is unknown, revoked or expired; the answer does not say which.
    #[error("the token is not valid")]
    Invalid,
    /// The tenant is suspended.
    #[error("the tenant is suspended")]
    Suspended,
    /// The tenant is on its way to another database.
    #[error("the tenant is being moved")]
    Moving,
    /// The tenant lives in another database.
    #[error("the tenant lives elsewhere")]
    Moved,
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Looks up the bearer of this token. Asks the database every time, so that what is revoked, suspended or given
/// another role is so from the next request on.
///
/// # Errors
/// [`AuthenticationError`].
pub async fn authenticate(store: &Store, token: &str) -> Result<Identity, AuthenticationError> {
    let secret = Secret::parse(token).ok_or(AuthenticationError::NoToken)?;
    let bearer = store.bearer(&secret.hash()).await?.ok_or(AuthenticationError::Invalid)?;
    match bearer.moving.as_deref() {
        Some("left") => return Err(AuthenticationError::Moved),
        Some(_) => return Err(AuthenticationError::Moving),
        None if bearer.suspended => return Err(AuthenticationError::Suspended),
        None => {}
    }
    if bearer.unseen {
        store.token_used(bearer.token_id).await?;
    }
    identity(bearer).ok_or(AuthenticationError::Invalid)
}

/// Reads an identity; `None` if the database holds a role or scope that this version does not know; nothing is
/// allowed by it.
fn identity(bearer: Bearer) -> Option<Identity> {
    Some(Identity {
        role: bearer.role.parse().ok()?,
        scopes: bearer.scopes.iter().map(|scope| scope.parse().ok()).collect::<Option<_>>()?,
        requests_per_second: bearer.requests_per_second.and_then(|rate| u32::try_from(rate).ok()),
        flows: bearer.flows,
        tenant: bearer.tenant,
        user: bearer.user,
        token: bearer.token,
        prefix: bearer.prefix,
    })
}

impl Identity {
    /// Returns the identity of the owner of the installation, who acts as a tenant's user without a token.
    pub fn owner(tenant: &str, user: &str) -> Self {
        Identity {
            tenant: tenant.to_owned(),
            user: user.to_owned(),
            role: Role::Admin,
            token: String::new(),
            prefix: String::new(),
            scopes: vec![Scope::ALL],
            flows: Vec::new(),
            requests_per_second: None,
        }
    }

    /// Returns whether both the role and the token allow this.
    pub fn may(&self, action: Action) -> bool {
        self.role.may(action) && self.scopes.iter().any(|scope| scope.allows(action))
    }

    /// Returns whether these scopes allow nothing that this identity's token does not.
    pub fn covers(&self, scopes: &[Scope]) -> bool {
        scopes.iter().all(|scope| self.scopes.iter().any(|own| scope.is_within(*own)))
    }

    /// Returns whether a token for these flows may do nothing that this identity's token may not.
    pub fn covers_flows(&self, flows: &[String]) -> bool {
        self.flows.is_empty() || !flows.is_empty() && flows.iter().all(|flow| self.flows.contains(flow))
    }

    /// The name in the audit log.
    pub fn actor(&self) -> String {
        format!("token:{}/{}", self.user, self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Area, Verb};

    fn with(role: Role, scopes: &[&str]) -> Identity {
        Identity {
            tenant: "acme".to_owned(),
            user: "ann".to_owned(),
            role,
            token: "ci".to_owned(),
            prefix: "wed_aaaaaaaa".to_owned(),
            scopes: scopes.iter().map(|text| text.parse().expect("a scope")).collect(),
            flows: Vec::new(),
            requests_per_second: None,
        }
    }

    #[test]
    fn both_role_and_token_must_allow() {
        let viewer = with(Role::Viewer, &["write"]);
        assert!(!viewer.may(Action::write(Area::Flows)));
        assert!(viewer.may(Action::read(Area::Flows)));
        let narrow = with(Role::Admin, &["flows:write", "jobs:read"]);
        for &area in Area::ALL {
            for verb in [Verb::Read, Verb::Write] {
                let expected = area == Area::Flows || (area == Area::Jobs && verb == Verb::Read);
                assert_eq!(narrow.may(Action { area, verb }), expected, "{area:?} {verb:?}");
            }
        }
        assert!(!with(Role::Admin, &[]).may(Action::read(Area::Flows)));
    }

    #[test]
    fn token_for_flows_covers_those_alone() {
        let limited =
            Identity { flows: vec!["orders".to_owned(), "trips".to_owned()], ..with(Role::Admin, &["write"]) };
        let flows = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert!(limited.covers_flows(&flows(&["orders"])));
        assert!(!limited.covers_flows(&flows(&["orders", "other"])));
        assert!(!limited.covers_flows(&[]));
        assert!(with(Role::Admin, &["write"]).covers_flows(&[]));
    }

    #[test]
    fn a_token_covers_what_it_allows() {
        let narrow = with(Role::Admin, &["flows:write", "jobs:read"]);
        let scopes =
            |texts: &[&str]| -> Vec<Scope> { texts.iter().map(|text| text.parse().expect("a scope")).collect() };
        assert!(narrow.covers(&scopes(&["flows:read", "jobs:read"])));
        assert!(!narrow.covers(&scopes(&["flows:read", "jobs:write"])));
        assert!(!narrow.covers(&scopes(&["read"])));
        assert!(with(Role::Viewer, &["write"]).covers(&scopes(&["audit:read", "write"])));
    }
}
