//! The needs of one instance of a component, summed over everything it instantiates.

use std::ops::AddAssign;

use crate::{Quantity, Refusal};
use wedflow_model::Limits;

/// Component instances that one instance of an uploaded component may make.
pub const MAX_COMPONENT_INSTANCES: u64 = 1_000;

/// Linear memories that one module may define.
pub const MODULE_MEMORIES: u64 = 8;
/// Tables that one module may define.
pub const MODULE_TABLES: u64 = 8;

/// The needs of one instance of a module or component. Sums saturate: a component can ask for 2^n
/// instances in n lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) instances: u64,
    pub(crate) component_instances: u64,
    pub(crate) memories: u64,
    pub(crate) tables: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) table_elements: u64,
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Weight) {
        let Weight { instances, component_instances, memories, tables, memory_bytes, table_elements } = other;
        self.instances = self.instances.saturating_add(instances);
        self.component_instances = self.component_instances.saturating_add(component_instances);
        self.memories = self.memories.saturating_add(memories);
        self.tables = self.tables.saturating_add(tables);
        self.memory_bytes = self.memory_bytes.saturating_add(memory_bytes);
        self.table_elements = self.table_elements.saturating_add(table_elements);
    }
}

impl Weight {
    /// Checks what one module defines.
    pub(crate) fn check_module(&self, limits: &Limits) -> Result<(), Refusal> {
        held([
            (Quantity::ModuleMemories, self.memories, MODULE_MEMORIES),
            (Quantity::ModuleTables, self.tables, MODULE_TABLES),
            (Quantity::MemoryBytes, self.memory_bytes, limits.memory_bytes),
            (Quantity::TableElements, self.table_elements, limits.table_elements),
        ])
    }

    /// Checks the sums against the limits of an upload.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), Refusal> {
        let counted = u64::from(limits.instances);
        held([
            (Quantity::Instances, self.instances, counted),
            (Quantity::ComponentInstances, self.component_instances, MAX_COMPONENT_INSTANCES),
            (Quantity::Memories, self.memories, counted),
            (Quantity::Tables, self.tables, counted),
            (Quantity::MemoryBytes, self.memory_bytes, limits.memory_bytes),
            (Quantity::TableElements, self.table_elements, limits.table_elements),
        ])
    }
}

/// Refuses the first of some quantities that is above its limit.
fn held<const N: usize>(quantities: [(Quantity, u64, u64); N]) -> Result<(), Refusal> {
    for (quantity, found, limit) in quantities {
        if found > limit {
            return Err(Refusal::TooLarge { quantity, found, limit });
        }
    }
    Ok(())
}
