//! The door through which the server runs a component for a person: that of an item, or a candidate over recorded
//! attempts. Who starts the server gives the sandbox.

use std::pin::Pin;

use serde_json::{Map, Value};
use wedflow_model::{AttributeType, Wid};

use crate::documents::{Recording, ShadowRun};

/// An item's component that is to be run.
#[derive(Debug)]
pub struct Application {
    /// The tenant whose item it is.
    pub tenant: String,
    /// The item as its holder sees it, with the data that its task reads.
    pub item: Value,
    /// The component.
    pub bytes: Vec<u8>,
    /// Values that the person gave, seen in the place of the item's.
    pub values: Map<String, Value>,
}

/// The values that a component answered, or why there are none, for the person.
pub type Answered = Result<Map<String, Value>, String>;

/// A component that is run over recorded attempts of the one in use.
#[derive(Debug)]
pub struct Shadow {
    /// The tenant.
    pub tenant: String,
    /// The flow.
    pub flow: String,
    /// Attributes of the flow.
    pub attributes: Vec<(String, AttributeType)>,
    /// The transition.
    pub transition: String,
    /// Bytes of the component.
    pub candidate: Vec<u8>,
    /// Components that made the attempts, by name and version, with their bytes.
    pub versions: Vec<((String, i32), Vec<u8>)>,
    /// The attempts, newest first.
    pub attempts: Vec<(Wid, Recording)>,
}

/// The comparison, or why there is none, for the person.
pub type Compared = Result<ShadowRun, String>;

/// A call that is under way. Dropped, it ends.
type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Sandbox in which people run components at the server.
#[derive(Debug, Clone, Copy)]
pub struct Bench {
    /// Runs an item's component.
    pub run_application: fn(Application) -> Running<Answered>,
    /// Runs a candidate over recorded attempts.
    pub run_shadow: fn(Shadow) -> Running<Compared>,
}
