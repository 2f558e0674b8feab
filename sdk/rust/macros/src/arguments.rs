//! `#[arguments]`: the two derives, pointed at the crates the SDK re-exports so that a plugin needs
//! neither as a dependency of its own.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Result};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !options.is_empty() {
        return Err(Error::new_spanned(options, "#[arguments] takes no options"));
    }
    let input: DeriveInput = syn::parse2(item)?;
    if let Data::Union(union) = &input.data {
        return Err(Error::new(union.union_token.span, "#[arguments] works on structs and enums"));
    }
    let strict = refuses_unknown_fields(&input).then(|| quote!(#[serde(deny_unknown_fields)]));
    Ok(quote! {
        #[derive(
            ::hermes_plugin_sdk::serde::Deserialize,
            ::hermes_plugin_sdk::schemars::JsonSchema,
        )]
        #[serde(crate = "::hermes_plugin_sdk::serde")]
        #[schemars(crate = "::hermes_plugin_sdk::schemars")]
        #strict
        #input
    })
}

/// Serde cannot combine the two: a flattened field takes what the others leave.
fn refuses_unknown_fields(input: &DeriveInput) -> bool {
    match &input.data {
        Data::Struct(data) => {
            !data.fields.iter().any(|field| says(&field.attrs, "flatten"))
                && !says(&input.attrs, "deny_unknown_fields")
                && !says(&input.attrs, "transparent")
                && matches!(data.fields, syn::Fields::Named(_) | syn::Fields::Unit)
        }
        Data::Enum(_) | Data::Union(_) => false,
    }
}

/// Whether a `#[serde(…)]` among these attributes has this word.
fn says(attributes: &[Attribute], word: &str) -> bool {
    let mut found = false;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
        // Serde's derive reports what it cannot read, with a better message than ours.
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident(word);
            if let Ok(value) = meta.value() {
                value.parse::<syn::Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|inner| match inner.value() {
                    Ok(value) => value.parse::<syn::Expr>().map(drop),
                    Err(_) => Ok(()),
                })?;
            }
            Ok(())
        });
    }
    found
}
