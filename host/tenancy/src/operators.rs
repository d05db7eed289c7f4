//! Operators of the installation: their tokens manage tenants, and belong to none.

use wedflow_store::{NewOperator, Store, StoreError};

use crate::{AuthenticationError, Secret};

/// The bearer of an operator's token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorIdentity {
    /// Name of the token.
    pub name: String,
    /// True if it may change something.
    pub may_write: bool,
}

impl OperatorIdentity {
    /// The name in the audit log.
    pub fn actor(&self) -> String {
        format!("operator:{}", self.name)
    }
}

/// Makes the token of an operator; the secret is nowhere else.
///
/// # Errors
/// [`StoreError::Refused`] when the name is taken or not allowed.
pub async fn issue_operator(store: &Store, name: &str, may_write: bool, days: i32) -> Result<Secret, StoreError> {
    let secret = Secret::random();
    let new = NewOperator { name, prefix: secret.prefix(), hash: &secret.hash(), may_write, days };
    store.create_operator(&new).await?;
    Ok(secret)
}

/// Looks up the operator whose token this is.
///
/// # Errors
/// [`AuthenticationError`].
pub async fn authenticate_operator(store: &Store, secret: &Secret) -> Result<OperatorIdentity, AuthenticationError> {
    let operator = store.operator(&secret.hash()).await?;
    let operator = operator.ok_or(AuthenticationError::Invalid)?;
    Ok(OperatorIdentity { name: operator.name, may_write: operator.may_write })
}
