//! The macros of `wedflow-guest`, which re-exports them; depend on that crate.

mod sql;
mod state;
mod transition;

use proc_macro::TokenStream;

/// Reads a struct's fields from a WED-state; see the trait of the same name.
///
/// `#[state(name = "…")]` on a field gives the attribute's name where it is not the field's;
/// `#[state(kind = "…")]` its type where it is not the one that goes with the field's type (`any`:
/// whatever the flow has).
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    state::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function a transition.
///
/// ```text
/// /// The first paragraph of the documentation is the transition's description.
/// #[transition(name = "tr_a2", writes = [a2: text, tags: text[], size: "enum(s,m,l)"])]
/// fn set_a2(state: Order, job: &Job) -> Result<Change, Failure> { … }
/// ```
///
/// - `name`: its name in the flow (`wed_trig.trname`); the function's when absent.
/// - `writes`: the attributes it may set and their types. When absent it may set any, and typed
///   values are sent as literals of a SET clause.
/// - `condition`: a WED-condition that suits it, as SQL; a suggestion to the flow's owner.
/// - `timeout`: a time limit that suits it, also a suggestion: `"500 ms"`, `"30 s"`, `"5 min"`, `"1 h"`.
/// - `fuel`, `memory`: the most that a call needs (`memory = "8 MiB"`); the server's limits hold where
///   they are lower.
///
/// The function takes the state by value, the job by reference, or either, or neither. It returns
/// anything that implements `Answer`. It stays an ordinary function, which tests can call.
#[proc_macro_attribute]
pub fn transition(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(arguments as transition::Arguments);
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    transition::expand(&arguments, &function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// A piece of SQL with Rust values in it, each written as a literal: `sql!("n + {step}")`,
/// `sql!("lower({}) || a2", name)`.
///
/// `{}` takes the next argument, `{name}` the variable of that name; `{{` and `}}` are braces. Text
/// is quoted, so a value never becomes SQL; a value that is itself `Sql` is put in parentheses.
#[proc_macro]
pub fn sql(input: TokenStream) -> TokenStream {
    let template = syn::parse_macro_input!(input as sql::Template);
    sql::expand(&template).unwrap_or_else(syn::Error::into_compile_error).into()
}
