//! Uploading a component: checked, compiled, asked what it can do, stored.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use wedflow_contract::{Declaration, DeclaredAttribute};
use wedflow_model::Limits;
use wedflow_sandbox::{Sandbox, Settings};
use wedflow_store::{NewComponent, Store};

use crate::{UploadError, cache};

/// A stored component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The tenant's name for it.
    pub name: String,
    /// Its version; that of the one before when the bytes are the same.
    pub version: i32,
    /// SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// The transitions it declares.
    pub transitions: Vec<String>,
}

/// Checks a component, compiles it, asks it what it can do, and stores it as the newest version of its
/// name.
///
/// # Errors
/// [`UploadError::Refused`] says what is wrong and how to mend it; nothing is stored then.
pub async fn upload(
    store: &Store,
    tenant: &str,
    name: &str,
    bytes: &[u8],
) -> Result<Upload, UploadError> {
    let sandbox = Sandbox::new(Settings {
        concurrent: 4,
        cache: cache::folder(),
        ..Settings::fast()
    })?;
    let sandbox = Arc::new(sandbox);
    let compiled = tokio::task::spawn_blocking({
        let (sandbox, bytes) = (Arc::clone(&sandbox), bytes.to_vec());
        move || sandbox.compile(&bytes, &Limits::default())
    });
    let component = compiled
        .await
        .map_err(|error| UploadError::Refused(error.to_string()))?
        .map_err(|error| UploadError::Refused(error.to_string()))?;
    let declarations = sandbox
        .describe(&component)
        .await
        .map_err(|error| UploadError::Refused(error.to_string()))?;
    let digest = component.digest().to_string();
    let document = Json::Array(declarations.iter().map(declaration).collect());
    let (_, version) = store
        .push_component(
            tenant,
            &NewComponent {
                name,
                digest: &digest,
                bytes,
                declarations: &document,
            },
        )
        .await?;
    Ok(Upload {
        name: name.to_owned(),
        version,
        digest,
        transitions: declarations
            .into_iter()
            .map(|declaration| declaration.transition)
            .collect(),
    })
}

fn declaration(declaration: &Declaration) -> Json {
    let attributes = |list: &Option<Vec<DeclaredAttribute>>| match list {
        None => Json::Null,
        Some(list) => list
            .iter()
            .map(|attribute| json!({ "name": attribute.name, "kind": attribute.kind.to_string() }))
            .collect(),
    };
    json!({
        "transition": declaration.transition,
        "description": declaration.description,
        "reads": attributes(&declaration.reads),
        "writes": attributes(&declaration.writes),
    })
}
