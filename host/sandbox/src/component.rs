//! Compiled components and bound transitions, and the cache of the compiled.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use wedflow_contract::{BindError, Binding, Declaration, Digest, Inspection};
use wedflow_model::{AttributeType, Limits};

use crate::bindings::TransitionPre;
use crate::outside::Granted;
use crate::provided::Provided;
use crate::settings::{INSTANCES_PER_SLOT, TABLES_PER_SLOT};
use crate::state::State;

/// A compiled component, ready to be instantiated. Clones are the same component; it lives as long
/// as one of them, or of the transitions bound to it, does.
#[derive(Clone)]
pub struct Component(Arc<Compiled>);

struct Compiled {
    inspection: Inspection,
    pre: TransitionPre<State>,
    slots: u32,
    /// Bytes of compiled code.
    code: usize,
}

impl Component {
    pub(crate) fn new(inspection: Inspection, code: usize, pre: TransitionPre<State>) -> Self {
        let slots = inspection
            .memories
            .max(inspection.tables.div_ceil(u64::from(TABLES_PER_SLOT)))
            .max(inspection.instances.div_ceil(u64::from(INSTANCES_PER_SLOT)))
            .max(1);
        Component(Arc::new(Compiled { slots: u32::try_from(slots).unwrap_or(u32::MAX), inspection, pre, code }))
    }

    /// The digest of the bytes it was compiled from.
    pub fn digest(&self) -> Digest {
        self.0.inspection.digest
    }

    /// Returns the findings of the structure check: sizes, counts, and the `wasi:` interfaces it imports.
    pub fn inspection(&self) -> &Inspection {
        &self.0.inspection
    }

    pub(crate) fn pre(&self) -> &TransitionPre<State> {
        &self.0.pre
    }

    /// Copies its compiled code, for a guest process.
    pub(crate) fn code(&self) -> wasmtime::Result<Vec<u8>> {
        self.0.pre.component().serialize()
    }

    /// Bytes of its compiled code.
    pub(crate) fn code_bytes(&self) -> usize {
        self.0.code
    }

    /// Slots of the pool that one instance takes.
    pub(crate) fn slots(&self) -> u32 {
        self.0.slots
    }

    /// Resolves one of the component's transitions against a flow's attributes, in the flow's order.
    /// The result serves until the flow's attributes change.
    ///
    /// # Errors
    /// [`BindError`] naming every attribute that the flow lacks or has with another type.
    pub fn bind(&self, declaration: &Declaration, attributes: &[(String, AttributeType)]) -> Result<Bound, BindError> {
        let binding = wedflow_contract::bind(declaration, attributes)?;
        Ok(Bound { fuel: declaration.fuel, memory: declaration.memory, ..self.bound(binding) })
    }

    /// The transition of a binding, with limits of its own in nothing.
    pub(crate) fn bound(&self, binding: Binding) -> Bound {
        let names = binding.reads().iter().map(|attribute| attribute.name.clone()).collect();
        Bound {
            number: next_number(),
            component: self.clone(),
            binding: Arc::new(binding),
            names,
            provided: None,
            granted: Arc::default(),
            fuel: None,
            memory: None,
        }
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("digest", &self.digest()).finish_non_exhaustive()
    }
}

/// A transition of a component, bound to a flow: what [`Sandbox::run`](crate::Sandbox::run) runs.
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Number by which guest processes know it.
    number: u64,
    component: Component,
    binding: Arc<Binding>,
    names: Arc<[String]>,
    provided: Option<Arc<Provided>>,
    granted: Arc<Granted>,
    fuel: Option<u64>,
    memory: Option<u64>,
}

impl Bound {
    /// Number by which guest processes know it: another one with other settings, secrets or grants.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The component it belongs to.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// Returns how its attributes are resolved.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The same with the settings and secrets that it may ask for; without them, it hears that there
    /// are none.
    #[must_use]
    pub fn provided_with(self, provided: Arc<Provided>) -> Self {
        Bound { number: next_number(), provided: Some(provided), ..self }
    }

    /// The settings and secrets that it may ask for.
    pub fn provided(&self) -> Option<&Arc<Provided>> {
        self.provided.as_ref()
    }

    /// The same with what it may reach beyond its call; without, it is refused all of it.
    #[must_use]
    pub fn granted_with(self, granted: Granted) -> Self {
        Bound { number: next_number(), granted: Arc::new(granted), ..self }
    }

    /// Returns what it may reach outside the call.
    pub fn granted(&self) -> &Granted {
        &self.granted
    }

    /// The limits of its calls: the host's, or what the component says it needs where that is less.
    pub fn within(&self, limits: &Limits) -> Limits {
        let lower = |limit: u64, own: Option<u64>| own.map_or(limit, |own| own.min(limit));
        Limits {
            fuel: lower(limits.fuel, self.fuel),
            memory_bytes: lower(limits.memory_bytes, self.memory),
            ..limits.clone()
        }
    }

    /// The names of what it is handed, in order.
    pub(crate) fn names(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }
}

/// Gives out the number of a bound transition.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// Bytes of compiled code that are kept ready.
const KEPT_BYTES: u64 = 2 << 30;

/// Compiled components by digest, bounded in bytes and number.
pub(crate) type Components = Cache<Digest, Component, CodeBytes>;

/// Weight of a component in the cache: the bytes of its code, and at least its part of the room for all.
#[derive(Clone)]
pub(crate) struct CodeBytes {
    least: u64,
}

impl Weighter<Digest, Component> for CodeBytes {
    fn weight(&self, _: &Digest, component: &Component) -> u64 {
        self.least.max(component.code_bytes() as u64)
    }
}

/// Makes a cache of at most `most` components.
pub(crate) fn components(most: usize) -> Components {
    let (capacity, least) = match most as u64 {
        0 => (0, 0),
        // A little less than the part, since the cache admits nothing that would fill all of it.
        most => (KEPT_BYTES, KEPT_BYTES / 100 * 95 / most),
    };
    Cache::with_weighter(most, capacity, CodeBytes { least })
}
