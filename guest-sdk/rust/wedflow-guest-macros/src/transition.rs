//! `#[transition]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Error, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, LitInt, LitStr, Meta, Signature, Token, Type, bracketed, token,
};

/// Types as in `wed_attr.atype`, without `enum(…)` and the arrays.
const KINDS: [&str; 12] = [
    "text",
    "integer",
    "bigint",
    "numeric",
    "float",
    "boolean",
    "timestamptz",
    "date",
    "interval",
    "uuid",
    "jsonb",
    "any",
];

/// The content of the parentheses of `#[transition(…)]`.
pub(crate) struct Arguments {
    name: Option<LitStr>,
    writes: Option<Vec<Write>>,
    condition: Option<LitStr>,
    /// Milliseconds.
    timeout: Option<u64>,
    fuel: Option<u64>,
    /// Bytes.
    memory: Option<u64>,
}

const OPTIONS: [&str; 6] = ["name", "writes", "condition", "timeout", "fuel", "memory"];

struct Write {
    name: String,
    kind: String,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments =
            Arguments { name: None, writes: None, condition: None, timeout: None, fuel: None, memory: None };
        let mut given: Vec<String> = Vec::new();
        while !input.is_empty() {
            let option: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let word = option.to_string();
            if given.contains(&word) {
                return Err(Error::new(option.span(), "given twice"));
            }
            match word.as_str() {
                "name" => arguments.name = Some(non_empty(input.parse()?)?),
                "condition" => arguments.condition = Some(condition(input.parse()?)?),
                "timeout" => arguments.timeout = Some(amount(input, &TIMES)?),
                "fuel" => arguments.fuel = Some(amount(input, &COUNTS)?),
                "memory" => arguments.memory = Some(amount(input, &SIZES)?),
                "writes" => {
                    let list;
                    bracketed!(list in input);
                    let parsed = Punctuated::<Parsed, Token![,]>::parse_terminated(&list)?;
                    arguments.writes = Some(distinct(parsed)?);
                }
                _ => {
                    return Err(Error::new(option.span(), format!("unknown option; there are {}", OPTIONS.join(", "))));
                }
            }
            given.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

/// Units of a time, and how many milliseconds each has.
const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)];
/// Fuel has no unit.
const COUNTS: [(&str, u64); 1] = [("", 1)];
/// Units of a size, and how many bytes each has.
const SIZES: [(&str, u64); 4] = [("", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Reads a whole number, with a unit that stands in a string: `"30 s"`.
fn amount(input: ParseStream<'_>, units: &[(&str, u64)]) -> syn::Result<u64> {
    let span = input.span();
    let text = if input.peek(LitStr) {
        input.parse::<LitStr>()?.value()
    } else {
        input.parse::<LitInt>()?.base10_digits().to_owned()
    };
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text[digits.len()..].trim();
    let found = units.iter().find(|(known, _)| *known == unit);
    let number = digits.replace('_', "").parse::<u64>().ok();
    match (number, found) {
        (Some(number), Some((_, size))) if number > 0 => {
            number.checked_mul(*size).ok_or_else(|| Error::new(span, "too large"))
        }
        _ => {
            let examples: Vec<String> = units
                .iter()
                .map(|(unit, _)| match *unit {
                    "" => "1000".to_owned(),
                    unit => format!("\"10 {unit}\""),
                })
                .collect();
            Err(Error::new(span, format!("not an amount above zero, such as {}", examples.join(", "))))
        }
    }
}

fn condition(text: LitStr) -> syn::Result<LitStr> {
    let length = text.value().len();
    if text.value().trim().is_empty() || length > 10_000 {
        return Err(Error::new(text.span(), format!("a condition has 1 to 10000 bytes, not {length}")));
    }
    Ok(text)
}

fn non_empty(name: LitStr) -> syn::Result<LitStr> {
    if name.value().trim().is_empty() {
        return Err(Error::new(name.span(), "a name cannot be empty"));
    }
    Ok(name)
}

/// An entry of `writes`, with the place to report.
struct Parsed {
    write: Write,
    span: Span,
}

impl Parse for Parsed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        let name = if input.peek(LitStr) {
            non_empty(input.parse()?)?.value()
        } else {
            input.call(Ident::parse_any)?.unraw().to_string()
        };
        input.parse::<Token![:]>()?;
        let kind_span = input.span();
        let kind = if input.peek(LitStr) {
            input.parse::<LitStr>()?.value()
        } else {
            let mut kind = input.call(Ident::parse_any)?.to_string();
            if input.peek(token::Bracket) {
                let nothing;
                bracketed!(nothing in input);
                if !nothing.is_empty() {
                    return Err(nothing.error("an array type is written `text[]`"));
                }
                kind.push_str("[]");
            }
            kind
        };
        let scalar = kind.strip_suffix("[]").unwrap_or(&kind);
        let labels = scalar.starts_with("enum(") && scalar.ends_with(')');
        if !labels && !KINDS.contains(&scalar) {
            return Err(Error::new(
                kind_span,
                format!(
                    "unknown attribute type `{kind}`; there are {}, \"enum(a,b)\", and arrays of them (`text[]`)",
                    KINDS.join(", ")
                ),
            ));
        }
        Ok(Parsed { write: Write { name, kind }, span })
    }
}

fn distinct(parsed: Punctuated<Parsed, Token![,]>) -> syn::Result<Vec<Write>> {
    let mut writes: Vec<Write> = Vec::new();
    for Parsed { write, span } in parsed {
        if writes.iter().any(|known| known.name == write.name) {
            return Err(Error::new(span, format!("attribute `{}` is listed twice", write.name)));
        }
        writes.push(write);
    }
    Ok(writes)
}

/// Refuses functions that are async, unsafe or generic.
fn refuse_modifiers(signature: &Signature) -> syn::Result<()> {
    for (found, what) in [
        (signature.asyncness.map(|t| t.to_token_stream()), "async"),
        (signature.unsafety.map(|t| t.to_token_stream()), "unsafe"),
        ((!signature.generics.params.is_empty()).then(|| signature.generics.to_token_stream()), "generic"),
    ] {
        if let Some(tokens) = found {
            return Err(Error::new_spanned(tokens, format!("a transition cannot be {what}")));
        }
    }
    Ok(())
}

/// Reads the parameters: the type of the state, if it is taken, and what the function is called with.
fn parameters(signature: &Signature) -> syn::Result<(Option<&Type>, Vec<TokenStream>)> {
    let mut state = None;
    let mut takes_job = false;
    let mut passed = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(input) = input else {
            return Err(Error::new_spanned(input, "a transition has no `self`"));
        };
        match &*input.ty {
            Type::Reference(_) if takes_job => {
                return Err(Error::new_spanned(input, "the job comes once; the state is taken by value"));
            }
            Type::Reference(_) => {
                takes_job = true;
                passed.push(quote!(job));
            }
            _ if state.is_some() => {
                return Err(Error::new_spanned(
                    input,
                    "a transition takes one state by value, and the job by reference",
                ));
            }
            owned => {
                state = Some(owned);
                passed.push(quote!(state));
            }
        }
    }
    Ok((state, passed))
}

pub(crate) fn expand(arguments: &Arguments, function: &ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    refuse_modifiers(signature)?;
    let (state, passed) = parameters(signature)?;
    let ident = &signature.ident;
    let name = arguments.name.as_ref().map_or_else(|| ident.unraw().to_string(), LitStr::value);
    let description = description(function);
    let state = state.map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let writes = match &arguments.writes {
        None => quote!(::core::option::Option::None),
        Some(writes) => {
            let list = writes
                .iter()
                .map(|Write { name, kind }| quote!(::wedflow_guest::Declared { name: #name, kind: #kind }));
            quote!(::core::option::Option::Some(&[#(#list),*]))
        }
    };
    let optional = |value: Option<TokenStream>| match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    };
    let condition = optional(arguments.condition.as_ref().map(ToTokens::to_token_stream));
    let timeout = optional(arguments.timeout.map(|ms| quote!(::core::time::Duration::from_millis(#ms))));
    let fuel = optional(arguments.fuel.map(|fuel| quote!(#fuel)));
    let memory = optional(arguments.memory.map(|bytes| quote!(#bytes)));
    let visibility = &function.vis;
    let documentation = format!("The transition `{name}`, to be exported or tested.");
    // An empty enum lives in the namespace of types only, so it can share the function's name; and
    // nobody can be told to construct it.
    Ok(quote! {
        #function

        #[doc = #documentation]
        #[allow(non_camel_case_types)]
        #visibility enum #ident {}

        impl ::wedflow_guest::Transition for #ident {
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            const WRITES: ::core::option::Option<&'static [::wedflow_guest::Declared]> = #writes;
            const CONDITION: ::core::option::Option<&'static str> = #condition;
            const TIMEOUT: ::core::option::Option<::core::time::Duration> = #timeout;
            const FUEL: ::core::option::Option<u64> = #fuel;
            const MEMORY: ::core::option::Option<u64> = #memory;
            type State = #state;

            #[allow(unused_variables)]
            fn perform(
                state: Self::State,
                job: &::wedflow_guest::Job,
            ) -> ::core::result::Result<::wedflow_guest::Change, ::wedflow_guest::Failure> {
                ::wedflow_guest::Answer::into_result(#ident(#(#passed),*))
            }
        }
    })
}

/// The first paragraph of the function's documentation, on one line.
fn description(function: &ItemFn) -> String {
    let mut words: Vec<String> = Vec::new();
    for attribute in &function.attrs {
        let Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &pair.value else {
            continue;
        };
        if !pair.path.is_ident("doc") {
            continue;
        }
        let line = line.value();
        // A block comment is one attribute with several lines.
        for line in line.trim_matches('\n').lines() {
            let line = line.trim();
            if line.is_empty() && !words.is_empty() {
                return words.join(" ");
            }
            if !line.is_empty() {
                words.push(line.to_owned());
            }
        }
        if line.trim().is_empty() && !words.is_empty() {
            return words.join(" ");
        }
    }
    words.join(" ")
}
