//! `#[tool]`: keeps the function and puts a type of the same name beside it that carries the tool's
//! description. Functions and types have separate name spaces, so `use tools::greet` brings both.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, FnArg, ItemFn, Lit, Meta, Result, Type};

use crate::options::ToolOptions;

/// Characters a tool's name may have; providers refuse longer ones.
const NAME_LIMIT: usize = 64;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let options = ToolOptions::parse(options)?;
    check_signature(&function)?;
    let description = description(&function)?;
    let name = name(&function, &options)?;
    let Parameters { arguments, takes } = Parameters::of(&function)?;
    let title = match &options.title {
        Some(title) => quote!(::core::option::Option::Some(#title)),
        None => quote!(::core::option::Option::None),
    };
    let pairs = options.attribute_pairs();
    let paths = &options.path_arguments;
    let (visibility, ident) = (&function.vis, &function.sig.ident);
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs, unreachable_pub)]
        #visibility enum #ident {}

        impl ::hermes_plugin_sdk::Tool for #ident {
            const NAME: &'static str = #name;

            fn spec() -> ::core::result::Result<
                ::hermes_plugin_sdk::ToolSpec,
                ::hermes_plugin_sdk::Failure,
            > {
                ::hermes_plugin_sdk::__private::tool_spec::<#arguments>(
                    ::hermes_plugin_sdk::__private::Described {
                        name: #name,
                        title: #title,
                        description: #description,
                        attributes: &[#pairs],
                        path_arguments: &[#(#paths),*],
                    },
                )
            }

            fn call(
                arguments: &str,
                info: &::hermes_plugin_sdk::CallInfo,
            ) -> ::core::result::Result<
                ::std::vec::Vec<::hermes_plugin_sdk::Part>,
                ::hermes_plugin_sdk::Failure,
            > {
                let _ = info;
                let arguments =
                    ::hermes_plugin_sdk::__private::decode::<#arguments>(arguments)?;
                let _ = &arguments;
                ::hermes_plugin_sdk::IntoOutcome::into_outcome(#ident(#(#takes),*))
            }
        }
    })
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(word) = &signature.asyncness {
        return Err(Error::new(
            word.span(),
            "a tool is an ordinary function: the host runs calls beside each other",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new(signature.generics.span(), "a tool has no generic parameters"));
    }
    Ok(())
}

fn name(function: &ItemFn, options: &ToolOptions) -> Result<String> {
    let (name, span) = match &options.name {
        Some(name) => (name.value(), name.span()),
        None => {
            let ident = &function.sig.ident;
            (ident.to_string().trim_start_matches("r#").to_owned(), ident.span())
        }
    };
    let fits = (1..=NAME_LIMIT).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !fits {
        return Err(Error::new(
            span,
            format!("`{name}` is no tool name: 1 to {NAME_LIMIT} characters of a-z A-Z 0-9 _ -"),
        ));
    }
    Ok(name)
}

/// The doc comment, as one text without the space that follows each `///`.
fn description(function: &ItemFn) -> Result<String> {
    let lines: Vec<String> = function.attrs.iter().filter_map(doc_line).collect();
    let text = lines.join("\n").trim().to_owned();
    if text.is_empty() {
        return Err(Error::new(
            function.sig.ident.span(),
            "a tool needs a doc comment: it is the description the model reads",
        ));
    }
    Ok(text)
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    let text = text.value();
    pair.path.is_ident("doc").then(|| text.strip_prefix(' ').unwrap_or(&text).trim_end().to_owned())
}

/// What the function takes.
struct Parameters {
    /// The type of its arguments.
    arguments: TokenStream,
    /// The names passed on, in its order.
    takes: Vec<TokenStream>,
}

impl Parameters {
    fn of(function: &ItemFn) -> Result<Self> {
        let mut arguments = None;
        let mut takes = Vec::new();
        let mut informed = false;
        for input in &function.sig.inputs {
            let FnArg::Typed(parameter) = input else {
                return Err(Error::new_spanned(input, "a tool is a free function"));
            };
            match &*parameter.ty {
                Type::Reference(_) if !informed => {
                    informed = true;
                    takes.push(quote!(info));
                }
                ty if !matches!(ty, Type::Reference(_)) && arguments.is_none() => {
                    arguments = Some(quote!(#ty));
                    takes.push(quote!(arguments));
                }
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "a tool takes one arguments struct and, if it likes, a &CallInfo",
                    ));
                }
            }
        }
        let arguments = arguments.unwrap_or_else(|| quote!(::hermes_plugin_sdk::NoArguments));
        Ok(Self { arguments, takes })
    }
}
