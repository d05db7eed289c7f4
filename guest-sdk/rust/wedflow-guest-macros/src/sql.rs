//! `sql!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, LitStr, Token};

/// A format string and its arguments.
pub(crate) struct Template {
    format: LitStr,
    arguments: Punctuated<Expr, Token![,]>,
}

impl Parse for Template {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Template { format, arguments: Punctuated::parse_terminated(input)? })
    }
}

/// Reads a name up to its `}`; none when that is missing.
fn name_in(rest: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut name = String::new();
    loop {
        match rest.next()? {
            '}' => return Some(name),
            c => name.push(c),
        }
    }
}

pub(crate) fn expand(template: &Template) -> syn::Result<TokenStream> {
    let wrong = |message: &str| Error::new(template.format.span(), message);
    let format = template.format.value();
    let mut arguments = template.arguments.iter();
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' | '}' if rest.peek() == Some(&c) => {
                rest.next();
                text.push(c);
            }
            '}' => return Err(wrong("a `}` without its `{`; write `}}` for the character")),
            '{' => {
                let name =
                    name_in(&mut rest).ok_or_else(|| wrong("a `{` without its `}`; write `{{` for the character"))?;
                if !text.is_empty() {
                    pieces.push(quote!(sql.push_str(#text);));
                    text.clear();
                }
                pieces.push(if name.is_empty() {
                    let argument = arguments.next().ok_or_else(|| wrong("more `{}` than arguments"))?;
                    quote!(::wedflow_guest::__private::push_literal(&mut sql, #argument);)
                } else {
                    // Borrowed values would need a second set of conversions; a clone costs little
                    // next to the call.
                    let mut variable = syn::parse_str::<Ident>(&name).map_err(|_| {
                        wrong(&format!("`{{{name}}}` is no variable; other expressions go behind the string"))
                    })?;
                    variable.set_span(template.format.span());
                    quote! {
                        ::wedflow_guest::__private::push_literal(
                            &mut sql,
                            ::core::clone::Clone::clone(&#variable),
                        );
                    }
                });
            }
            c => text.push(c),
        }
    }
    if let Some(left) = arguments.next() {
        return Err(Error::new_spanned(left, "an argument without its `{}`"));
    }
    if pieces.is_empty() {
        return Ok(quote!(::wedflow_guest::Sql::verbatim(#text)));
    }
    if !text.is_empty() {
        pieces.push(quote!(sql.push_str(#text);));
    }
    Ok(quote! {{
        let mut sql = ::wedflow_guest::__private::String::new();
        #(#pieces)*
        ::wedflow_guest::Sql::verbatim(sql)
    }})
}
