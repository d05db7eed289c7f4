//! Uploading a component: checked, compiled, asked what it can do, stored.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use wedflow_contract::{Declaration, DeclaredAttribute, DeclaredKind, Manifest};
use wedflow_guard::CheckedPredicate;
use wedflow_model::Limits;
use wedflow_sandbox::{Guests, Sandbox, Settings};
use wedflow_store::{NewComponent, Store};

use crate::UploadError;

/// A stored component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The tenant's name for it.
    pub name: String,
    /// Version; the previous one's when the bytes are the same.
    pub version: i32,
    /// SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// The transitions it declares.
    pub transitions: Vec<String>,
    /// True if it is in use.
    pub is_active: bool,
    /// Parts of the flows that bind it which do not fit, for a person.
    pub faults: Vec<String>,
}

/// Use of a component that is uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Checked only: nothing is stored, and the version is 0.
    Check,
    /// Put into use unless it breaks a flow that fits the version before.
    UnlessItBreaks,
    /// Put into use at once.
    Always,
}

/// The name under which a component is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredAs<'a> {
    /// This name.
    Name(&'a str),
    /// The one in its manifest, and this one where it gives none.
    ItsOwn {
        /// Name of a component whose manifest gives none.
        otherwise: &'a str,
    },
}

impl<'a> From<&'a str> for StoredAs<'a> {
    fn from(name: &'a str) -> Self {
        StoredAs::Name(name)
    }
}

/// Checks a component, compiles it, asks it what it can do, and stores it as the newest version of its
/// name.
///
/// # Errors
/// [`UploadError::Refused`] says what is wrong and how to mend it; nothing is stored then.
pub async fn upload(
    store: &Store,
    tenant: &str,
    name: impl Into<StoredAs<'_>>,
    bytes: &[u8],
) -> Result<Upload, UploadError> {
    upload_as(store, tenant, name, bytes, Activation::Always).await
}

/// Does the same, and says whether it is put into use.
///
/// # Errors
/// As [`upload`].
pub async fn upload_as(
    store: &Store,
    tenant: &str,
    name: impl Into<StoredAs<'_>>,
    bytes: &[u8],
    activation: Activation,
) -> Result<Upload, UploadError> {
    let sandbox = Sandbox::new(Settings {
        concurrent: 4,
        cache: wedflow_sandbox::user_cache(),
        // It runs where the database's password is in memory.
        guests: Guests::Processes { per_tenant: 1 },
        ..Settings::fast()
    })?;
    let sandbox = Arc::new(sandbox);
    let compiled = tokio::task::spawn_blocking({
        let (sandbox, bytes, tenant) = (Arc::clone(&sandbox), bytes.to_vec(), tenant.to_owned());
        move || sandbox.compile_for(&tenant, &bytes, &Limits::default())
    });
    let component = compiled
        .await
        .map_err(|error| UploadError::Refused(error.to_string()))?
        .map_err(|error| UploadError::Refused(error.to_string()))?;
    let manifest = sandbox.describe(&component).await.map_err(|error| UploadError::Refused(error.to_string()))?;
    let digest = component.digest().to_string();
    check_conditions(&manifest)?;
    let name = match name.into() {
        StoredAs::Name(name) => name,
        StoredAs::ItsOwn { otherwise } if manifest.name.is_empty() => otherwise,
        StoredAs::ItsOwn { .. } => &manifest.name,
    };
    let document = document(&manifest);
    let new =
        NewComponent { name, digest: &digest, bytes, manifest: &document, is_forced: activation == Activation::Always };
    let stored = match activation {
        Activation::Check => None,
        _ => Some(store.push_component(tenant, &new).await?),
    };
    Ok(Upload {
        name: name.to_owned(),
        version: stored.as_ref().map_or(0, |stored| stored.version),
        is_active: stored.as_ref().is_some_and(|stored| stored.is_active),
        faults: stored.map(|stored| stored.faults).unwrap_or_default(),
        digest,
        transitions: manifest.transitions.into_iter().map(|declaration| declaration.transition).collect(),
    })
}

/// A suggested condition is one that a flow could take over. Which attributes the flow has is not
/// known yet; those that the transition declares are checked with their types.
fn check_conditions(manifest: &Manifest) -> Result<(), UploadError> {
    for declaration in &manifest.transitions {
        let Some(condition) = &declaration.condition else {
            continue;
        };
        let declared = [&declaration.reads, &declaration.writes];
        let known = declared.into_iter().flatten().flatten();
        let known = known.filter_map(|attribute| match &attribute.kind {
            DeclaredKind::Any => None,
            DeclaredKind::Type(kind) => Some((attribute.name.clone(), kind.clone())),
        });
        CheckedPredicate::parse_for_any_flow(condition, known).map_err(|refusal| {
            UploadError::Refused(format!(
                "the condition that transition `{}` suggests is refused: {refusal}; it was: {condition}",
                declaration.transition
            ))
        })?;
    }
    Ok(())
}

/// The manifest as it is stored and shown. A time is in milliseconds, memory in bytes.
fn document(manifest: &Manifest) -> Json {
    json!({
        "name": manifest.name,
        "sdk": manifest.sdk,
        "transitions": manifest.transitions.iter().map(declaration).collect::<Json>(),
    })
}

fn declaration(declaration: &Declaration) -> Json {
    let attributes = |list: &Option<Vec<DeclaredAttribute>>| match list {
        None => Json::Null,
        Some(list) => {
            list.iter().map(|attribute| json!({ "name": attribute.name, "kind": attribute.kind.to_string() })).collect()
        }
    };
    json!({
        "transition": declaration.transition,
        "description": declaration.description,
        "reads": attributes(&declaration.reads),
        "writes": attributes(&declaration.writes),
        "condition": declaration.condition,
        "timeout": declaration.timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok()),
        "fuel": declaration.fuel,
        "memory": declaration.memory,
    })
}
