//! Compiled components and bound transitions, and the bounded store of the compiled.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

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
        Component(Arc::new(Compiled {
            slots: u32::try_from(slots).unwrap_or(u32::MAX),
            inspection,
            pre,
            code,
        }))
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
    pub fn bind(
        &self,
        declaration: &Declaration,
        attributes: &[(String, AttributeType)],
    ) -> Result<Bound, BindError> {
        let binding = wedflow_contract::bind(declaration, attributes)?;
        let names = binding
            .reads()
            .iter()
            .map(|attribute| attribute.name.clone())
            .collect();
        Ok(Bound {
            component: self.clone(),
            binding: Arc::new(binding),
            names,
            provided: None,
            granted: Arc::default(),
            fuel: declaration.fuel,
            memory: declaration.memory,
        })
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component")
            .field("digest", &self.digest())
            .finish_non_exhaustive()
    }
}

/// A transition of a component, bound to a flow: what [`Sandbox::run`](crate::Sandbox::run) runs.
/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bound {
    component: Component,
    binding: Arc<Binding>,
    names: Arc<[String]>,
    provided: Option<Arc<Provided>>,
    granted: Arc<Granted>,
    fuel: Option<u64>,
    memory: Option<u64>,
}

impl Bound {
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
        Bound {
            provided: Some(provided),
            ..self
        }
    }

    /// The settings and secrets that it may ask for.
    pub fn provided(&self) -> Option<&Arc<Provided>> {
        self.provided.as_ref()
    }

    /// The same with what it may reach beyond its call; without, it is refused all of it.
    #[must_use]
    pub fn granted_with(self, granted: Granted) -> Self {
        Bound {
            granted: Arc::new(granted),
            ..self
        }
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

/// Bytes of compiled code that are kept ready.
const KEPT_BYTES: usize = 2 << 30;

/// Compiled components by digest; the least recently used is dropped when there are too many, or too large ones.
pub(crate) struct Shelf {
    room: usize,
    clock: u64,
    components: HashMap<Digest, (u64, Component)>,
}

impl Shelf {
    pub(crate) fn new(room: usize) -> Self {
        Shelf {
            room,
            clock: 0,
            components: HashMap::new(),
        }
    }

    pub(crate) fn get(&mut self, digest: &Digest) -> Option<Component> {
        self.clock += 1;
        let (used, component) = self.components.get_mut(digest)?;
        *used = self.clock;
        Some(component.clone())
    }

    /// Bytes of the code of all.
    fn bytes(&self) -> usize {
        (self.components.values())
            .map(|(_, component)| component.code_bytes())
            .sum()
    }

    /// Keeps a component; one of that digest that is already there is kept instead and returned.
    pub(crate) fn put(&mut self, component: Component) -> Component {
        if let Some(known) = self.get(&component.digest()) {
            return known;
        }
        if self.room > 0 {
            while !self.components.is_empty()
                && (self.components.len() >= self.room
                    || self.bytes() + component.code_bytes() > KEPT_BYTES)
            {
                // A search through a few hundred, once for each compilation of seconds.
                let oldest = self
                    .components
                    .iter()
                    .min_by_key(|(_, (used, _))| *used)
                    .map(|(digest, _)| *digest);
                if let Some(oldest) = oldest {
                    self.components.remove(&oldest);
                }
            }
            self.components
                .insert(component.digest(), (self.clock, component.clone()));
        }
        component
    }
}
