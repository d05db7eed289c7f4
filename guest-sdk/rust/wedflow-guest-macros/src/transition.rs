//! `#[transition]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Error, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, LitStr, Meta, Token, Type, bracketed, token,
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

/// What stands in the parentheses of `#[transition(…)]`.
pub(crate) struct Arguments {
    name: Option<LitStr>,
    writes: Option<Vec<Write>>,
}

struct Write {
    name: String,
    kind: String,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut name, mut writes) = (None, None);
        while !input.is_empty() {
            let option: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match option.to_string().as_str() {
                "name" if name.is_none() => name = Some(non_empty(input.parse()?)?),
                "writes" if writes.is_none() => {
                    let list;
                    bracketed!(list in input);
                    let parsed = Punctuated::<Parsed, Token![,]>::parse_terminated(&list)?;
                    writes = Some(distinct(parsed)?);
                }
                "name" | "writes" => return Err(Error::new(option.span(), "given twice")),
                _ => {
                    return Err(Error::new(
                        option.span(),
                        "unknown option; there are `name` and `writes`",
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Arguments { name, writes })
    }
}

fn non_empty(name: LitStr) -> syn::Result<LitStr> {
    if name.value().trim().is_empty() {
        return Err(Error::new(name.span(), "a name cannot be empty"));
    }
    Ok(name)
}

/// One entry of `writes`, with the place to report.
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
        Ok(Parsed {
            write: Write { name, kind },
            span,
        })
    }
}

fn distinct(parsed: Punctuated<Parsed, Token![,]>) -> syn::Result<Vec<Write>> {
    let mut writes: Vec<Write> = Vec::new();
    for Parsed { write, span } in parsed {
        if writes.iter().any(|known| known.name == write.name) {
            return Err(Error::new(
                span,
                format!("attribute `{}` is listed twice", write.name),
            ));
        }
        writes.push(write);
    }
    Ok(writes)
}

pub(crate) fn expand(arguments: &Arguments, function: &ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    for (found, what) in [
        (signature.asyncness.map(|t| t.to_token_stream()), "async"),
        (signature.unsafety.map(|t| t.to_token_stream()), "unsafe"),
        (
            (!signature.generics.params.is_empty()).then(|| signature.generics.to_token_stream()),
            "generic",
        ),
    ] {
        if let Some(tokens) = found {
            return Err(Error::new_spanned(
                tokens,
                format!("a transition cannot be {what}"),
            ));
        }
    }

    let mut state = None;
    let mut takes_job = false;
    let mut passed = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(input) = input else {
            return Err(Error::new_spanned(input, "a transition has no `self`"));
        };
        match &*input.ty {
            Type::Reference(_) if takes_job => {
                return Err(Error::new_spanned(
                    input,
                    "the job comes once; the state is taken by value",
                ));
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

    let ident = &signature.ident;
    let name = arguments
        .name
        .as_ref()
        .map_or_else(|| ident.unraw().to_string(), LitStr::value);
    let description = description(function);
    let state = state.map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let writes = match &arguments.writes {
        None => quote!(::core::option::Option::None),
        Some(writes) => {
            let list = writes.iter().map(|Write { name, kind }| {
                quote!(::wedflow_guest::Declared { name: #name, kind: #kind })
            });
            quote!(::core::option::Option::Some(&[#(#list),*]))
        }
    };
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
        let Expr::Lit(ExprLit {
            lit: Lit::Str(line),
            ..
        }) = &pair.value
        else {
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
