//! `#[derive(State)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr};

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let shape = "a state is a struct with named fields, one for each attribute it reads";
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), shape));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.ident.span(), shape));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a state owns what it holds and has no parameters"));
    }
    let mut seen: Vec<String> = Vec::new();
    let (mut declared, mut read) = (Vec::new(), Vec::new());
    for field in &fields.named {
        let (name, kind) = options(field)?;
        let ident = &field.ident;
        let name = name.unwrap_or_else(|| ident.as_ref().map_or_else(String::new, |ident| ident.unraw().to_string()));
        if seen.contains(&name) {
            return Err(Error::new(field.span(), format!("attribute `{name}` is read twice")));
        }
        let of = &field.ty;
        let kind = match kind {
            Some(kind) => quote!(#kind),
            None => quote!(<#of as ::wedflow_guest::Attribute>::KIND),
        };
        declared.push(quote!(::wedflow_guest::Declared { name: #name, kind: #kind }));
        read.push(quote!(#ident: values.next::<#of>(#name)?));
        seen.push(name);
    }
    let state = &input.ident;
    Ok(quote! {
        impl ::wedflow_guest::State for #state {
            const READS: ::core::option::Option<&'static [::wedflow_guest::Declared]> =
                ::core::option::Option::Some(&[#(#declared),*]);

            #[allow(unused_mut, unused_variables)]
            fn read(
                mut values: ::wedflow_guest::Values,
            ) -> ::core::result::Result<Self, ::wedflow_guest::Failure> {
                ::core::result::Result::Ok(Self { #(#read),* })
            }
        }
    })
}

/// The name and the kind given by `#[state(…)]`.
fn options(field: &Field) -> syn::Result<(Option<String>, Option<String>)> {
    let (mut name, mut kind) = (None, None);
    for attribute in &field.attrs {
        if !attribute.path().is_ident("state") {
            continue;
        }
        attribute.parse_nested_meta(|option| {
            let target = if option.path.is_ident("name") {
                &mut name
            } else if option.path.is_ident("kind") {
                &mut kind
            } else {
                return Err(option.error("unknown option; there are `name` and `kind`"));
            };
            *target = Some(option.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok((name, kind))
}
