//! Bindings that `wit-bindgen` makes of `wit/transition.wit`.
#![allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    clippy::too_many_arguments,
    reason = "generated; the contract's own comments are its documentation"
)]

wit_bindgen::generate!({
    path: "wit",
    world: "transition",
    pub_export_macro: true,
    default_bindings_module: "wedflow_guest::bindings",
    additional_derives: [PartialEq],
});
