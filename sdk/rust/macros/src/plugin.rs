//! `plugin!`: turns the list of what a plugin offers into the exports of its component, each through
//! the macro that wit-bindgen wrote for that one interface. What is not listed is not mentioned, so
//! the component does not promise it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Path, Result, Token, bracketed};

#[derive(Default)]
struct Plugin {
    tools: Option<Vec<Path>>,
    pre_tool_call: Option<Path>,
    post_tool_call: Option<Path>,
    observer: Option<Path>,
}

impl Parse for Plugin {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut plugin = Self::default();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            let fresh = match word.to_string().as_str() {
                "tools" => plugin.tools.replace(list(input)?).is_none(),
                "pre_tool_call" => plugin.pre_tool_call.replace(input.parse()?).is_none(),
                "post_tool_call" => plugin.post_tool_call.replace(input.parse()?).is_none(),
                "observer" => plugin.observer.replace(input.parse()?).is_none(),
                other => {
                    return Err(Error::new(
                        word.span(),
                        format!(
                            "`{other}` is none of tools, pre_tool_call, post_tool_call, observer"
                        ),
                    ));
                }
            };
            if !fresh {
                return Err(Error::new(word.span(), format!("`{word}` stands twice")));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(plugin)
    }
}

fn list(input: ParseStream<'_>) -> Result<Vec<Path>> {
    let content;
    let bracket = bracketed!(content in input);
    let paths = Punctuated::<Path, Token![,]>::parse_terminated(&content)?;
    if paths.is_empty() {
        return Err(Error::new(
            bracket.span.join(),
            "list at least one function marked #[tool], or leave `tools` out",
        ));
    }
    Ok(paths.into_iter().collect())
}

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let plugin: Plugin = syn::parse2(input)?;
    let exports: Vec<TokenStream> = [
        plugin.tools.as_deref().map(tools),
        plugin.pre_tool_call.as_ref().map(pre_tool_call),
        plugin.post_tool_call.as_ref().map(post_tool_call),
        plugin.observer.as_ref().map(observer),
    ]
    .into_iter()
    .flatten()
    .collect();
    if exports.is_empty() {
        return Err(Error::new(
            Span::call_site(),
            "a plugin offers something: tools, pre_tool_call, post_tool_call or observer",
        ));
    }
    let test = plugin.tools.as_deref().map(description_test);
    Ok(quote! {
        const _: () = {
            struct Plugin;
            // Without this a native build, which exports nothing, takes the hooks for dead code.
            let _ = Plugin;
            #(#exports)*
        };
        #test
    })
}

fn tools(tools: &[Path]) -> TokenStream {
    let table = table(tools);
    quote! {
        const _: () = ::hermes_plugin_sdk::__private::assert_distinct(&[
            #(<#tools as ::hermes_plugin_sdk::Tool>::NAME),*
        ]);
        impl ::hermes_plugin_sdk::__private::tools::Guest for Plugin {
            fn list_tools() -> ::core::result::Result<
                ::std::vec::Vec<::hermes_plugin_sdk::ToolSpec>,
                ::hermes_plugin_sdk::Failure,
            > {
                ::hermes_plugin_sdk::__private::list_tools(#table)
            }
            fn call(
                tool: ::std::string::String,
                arguments: ::std::string::String,
                info: ::hermes_plugin_sdk::CallInfo,
            ) -> ::core::result::Result<
                ::std::vec::Vec<::hermes_plugin_sdk::Part>,
                ::hermes_plugin_sdk::Failure,
            > {
                ::hermes_plugin_sdk::__private::call_tool(#table, &tool, &arguments, &info)
            }
        }
        #[cfg(target_family = "wasm")]
        ::hermes_plugin_sdk::__private::tools::export_tools!(
            Plugin with_types_in ::hermes_plugin_sdk::__private::tools::world
        );
    }
}

fn table(tools: &[Path]) -> TokenStream {
    quote!(&[#(::hermes_plugin_sdk::__private::Entry::of::<#tools>()),*])
}

fn pre_tool_call(check: &Path) -> TokenStream {
    quote! {
        impl ::hermes_plugin_sdk::__private::gate::Guest for Plugin {
            fn check(
                pending: ::hermes_plugin_sdk::PendingCall,
            ) -> ::core::result::Result<::hermes_plugin_sdk::PreVerdict, ::std::string::String> {
                ::hermes_plugin_sdk::__private::enter();
                #check(pending)
            }
        }
        #[cfg(target_family = "wasm")]
        ::hermes_plugin_sdk::__private::gate::export_gate!(
            Plugin with_types_in ::hermes_plugin_sdk::__private::gate::world
        );
    }
}

fn post_tool_call(review: &Path) -> TokenStream {
    quote! {
        impl ::hermes_plugin_sdk::__private::review::Guest for Plugin {
            fn review(
                finished: ::hermes_plugin_sdk::FinishedCall,
            ) -> ::core::result::Result<::hermes_plugin_sdk::PostVerdict, ::std::string::String> {
                ::hermes_plugin_sdk::__private::enter();
                #review(finished)
            }
        }
        #[cfg(target_family = "wasm")]
        ::hermes_plugin_sdk::__private::review::export_review!(
            Plugin with_types_in ::hermes_plugin_sdk::__private::review::world
        );
    }
}

fn observer(notify: &Path) -> TokenStream {
    quote! {
        impl ::hermes_plugin_sdk::__private::observer::Guest for Plugin {
            fn notify(
                point: ::std::string::String,
                fields: ::std::vec::Vec<::hermes_plugin_sdk::Attribute>,
            ) {
                ::hermes_plugin_sdk::__private::enter();
                #notify(&point, &fields);
            }
        }
        #[cfg(target_family = "wasm")]
        ::hermes_plugin_sdk::__private::observer::export_observer!(
            Plugin with_types_in ::hermes_plugin_sdk::__private::observer::world
        );
    }
}

/// A test in the plugin's own crate, since some faults of a description show only when it is built.
fn description_test(tools: &[Path]) -> TokenStream {
    let table = table(tools);
    quote! {
        #[cfg(test)]
        #[test]
        fn every_tool_of_the_plugin_can_be_described() {
            if let ::core::result::Result::Err(failure) =
                ::hermes_plugin_sdk::__private::list_tools(#table)
            {
                panic!("{failure}");
            }
        }
    }
}
