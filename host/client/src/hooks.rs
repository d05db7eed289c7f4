//! Inbound hooks of flows.

use wedflow_documents::{Hook, HookRotation, HookSet, PutHook};

use crate::verbs::verbs;

verbs! {
    /// Lists the inbound hooks of a flow.
    hooks(flow: &str) = GET "flows" / flow / "hooks" => items Hook;
    /// Makes an inbound hook, or changes the one of that name.
    put_hook(flow: &str, name: &str, hook: &PutHook) = PUT "flows" / flow / "hooks" / name, body hook => call HookSet;
    /// Replaces the secret of an inbound hook.
    rotate_hook(flow: &str, name: &str, rotation: &HookRotation)
        = POST "flows" / flow / "hooks" / name / "rotate", body rotation => call HookSet;
    /// Removes an inbound hook.
    delete_hook(flow: &str, name: &str) = DELETE "flows" / flow / "hooks" / name => done;
}
