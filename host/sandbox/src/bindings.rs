//! The Rust side of `wit/transition.wit`, as generated, and the quick way to an instance.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "transition",
    // What the guest is handed is borrowed from the payload's text; what it answers is owned.
    ownership: Borrowing { duplicate_if_necessary: true },
    exports: { default: async },
});

pub(crate) use wed::flow::host::Severity;
pub(crate) use wed::flow::types::{Attribute, Failure, Postponement};
pub(crate) use wed::flow::values::{ScalarParam, ScalarResult, ValueParam, ValueResult};

impl<T: Send + 'static> TransitionPre<T> {
    /// The component.
    pub(crate) fn component(&self) -> &wasmtime::component::Component {
        self.instance_pre.component()
    }

    /// Like [`TransitionPre::instantiate_async`] without comparing the types of the exports again:
    /// [`TransitionPre::new`] has done that for this component.
    pub(crate) async fn instantiate_quickly(
        &self,
        mut store: impl wasmtime::AsContextMut<Data = T>,
    ) -> wasmtime::Result<Transition> {
        let mut store = store.as_context_mut();
        let instance = self.instance_pre.instantiate_async(&mut store).await?;
        let mut export = |index, name| {
            instance.get_func(&mut store, index).ok_or_else(|| wasmtime::format_err!("no export `{name}` found"))
        };
        Ok(Transition { describe: export(&self.indices.describe, "describe")?, run: export(&self.indices.run, "run")? })
    }
}
