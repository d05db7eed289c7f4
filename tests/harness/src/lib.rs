//! The attribute that registers an acceptance test: the harness runs every function that carries it.
//!
//! ```ignore
//! #[harness::test]
//! fn final_instance_is_immutable() {}
//!
//! #[harness::test(ignored)] // runs with `--ignored` only
//! fn takes_minutes() {}
//! ```
//!
//! A test is named after its module and its function: `gate::writes::final_instance_is_immutable`.

use proc_macro::{TokenStream, TokenTree};

/// Registers a function without arguments as an acceptance test; it fails when it panics.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let ignored = match arguments.to_string().as_str() {
        "" => false,
        "ignored" => true,
        other => return error(&format!("`ignored` is the only argument, not `{other}`")),
    };
    let Some(name) = name_of(&function) else {
        return error("only a function can be a test");
    };
    let registration = format!(
        "::inventory::submit! {{ crate::support::harness::Registered {{ \
           module: ::core::module_path!(), name: \"{name}\", ignored: {ignored}, run: {name} }} }}"
    );
    let mut all = function;
    all.extend(parsed(&registration));
    all
}

/// Finds the identifier after `fn`.
fn name_of(function: &TokenStream) -> Option<String> {
    let mut tokens = function.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn"))?;
    tokens.next().map(|name| name.to_string())
}

/// Makes the compiler stop with `message`.
fn error(message: &str) -> TokenStream {
    parsed(&format!("::core::compile_error!({message:?});"))
}

fn parsed(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}
