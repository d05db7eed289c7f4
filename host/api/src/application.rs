//! The door through which the server runs the component of a person's item; who starts the server gives the sandbox.

use std::pin::Pin;

use serde_json::{Map, Value};

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

/// Runs an item's component. Dropped, it ends.
pub type RunApplication = fn(Application) -> Pin<Box<dyn Future<Output = Answered> + Send>>;
