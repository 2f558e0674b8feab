//! What the macros say about code they cannot use. Code they can use is tested by the SDK, which
//! compiles and runs it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Result;

fn message(expanded: Result<TokenStream>) -> String {
    match expanded {
        Ok(tokens) => format!("accepted: {tokens}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_function_that_is_no_tool_is_refused() {
    let cases = [
        (
            quote!(
                fn f() {}
            ),
            "a tool needs a doc comment: it is the description the model reads",
        ),
        (
            quote!(
                #[doc = "F."]
                async fn f() {}
            ),
            "a tool is an ordinary function: the host runs calls beside each other",
        ),
        (
            quote!(
                #[doc = "F."]
                fn f<T>(a: T) {}
            ),
            "a tool has no generic parameters",
        ),
        (
            quote!(
                #[doc = "F."]
                fn f(&self) {}
            ),
            "a tool is a free function",
        ),
        (
            quote!(
                #[doc = "F."]
                fn f(a: A, b: B) {}
            ),
            "a tool takes one arguments struct and, if it likes, a &CallInfo",
        ),
        (
            quote!(
                #[doc = "F."]
                fn f(a: &A, b: &B) {}
            ),
            "a tool takes one arguments struct and, if it likes, a &CallInfo",
        ),
    ];
    for (function, expected) in cases {
        assert_eq!(message(crate::tool::expand(TokenStream::new(), function)), expected);
    }
}

#[test]
fn words_that_mean_nothing_are_refused() {
    let cases = [
        (
            quote!(readonly),
            "`readonly` is none of read_only, destructive, idempotent, interactive, \
             parallel_safe, path_arguments, timeout_ms, max_result_bytes, name, title, examples",
        ),
        (quote!(read_only, read_only), "`read_only` stands twice"),
        (quote!(timeout_ms = 0), "a limit of 0 lets nothing through"),
        (quote!(max_result_bytes = 4294967296), "number too large to fit in target type"),
        (quote!(path_arguments = [path]), "expected the name of an argument, as a string"),
        (
            quote!(name = "read file"),
            "`read file` is no tool name: 1 to 64 characters of a-z A-Z 0-9 _ -",
        ),
        (
            quote!(examples = "[1]"),
            "examples is not a JSON list of argument objects: invalid type: integer `1`, \
             expected a map at line 1 column 2",
        ),
    ];
    for (words, expected) in cases {
        let function = quote!(
            #[doc = "F."]
            fn f() {}
        );
        assert_eq!(message(crate::tool::expand(words, function)), expected);
    }
}

#[test]
fn a_list_that_offers_nothing_is_refused() {
    let cases = [
        (quote!(), "a plugin offers something: tools, pre_tool_call, post_tool_call or observer"),
        (quote!(tools: []), "list at least one function marked #[tool], or leave `tools` out"),
        (quote!(hooks: check), "`hooks` is none of tools, pre_tool_call, post_tool_call, observer"),
        (quote!(observer: a, observer: b), "`observer` stands twice"),
    ];
    for (list, expected) in cases {
        assert_eq!(message(crate::plugin::expand(list)), expected);
    }
}

/// Serde refuses the combination with `flatten`, and says so in the author's code.
#[test]
fn only_a_struct_that_names_all_its_fields_is_strict() {
    let cases = [
        (
            quote!(
                struct A {
                    a: u8,
                }
            ),
            true,
        ),
        (
            quote!(
                struct A {}
            ),
            true,
        ),
        (
            quote!(
                struct A {
                    #[serde(default = "f", rename(deserialize = "b"), flatten)]
                    a: B,
                }
            ),
            false,
        ),
        (
            quote!(
                #[serde(transparent)]
                struct A {
                    a: u8,
                }
            ),
            false,
        ),
        (
            quote!(
                struct A(u8);
            ),
            false,
        ),
        (
            quote!(
                enum A {
                    B,
                }
            ),
            false,
        ),
    ];
    for (item, strict) in cases {
        let expanded = message(crate::arguments::expand(TokenStream::new(), item.clone()));
        assert_eq!(expanded.contains("deny_unknown_fields"), strict, "{item}");
    }
    let union = quote!(
        union A {
            a: u8,
        }
    );
    assert_eq!(
        message(crate::arguments::expand(TokenStream::new(), union)),
        "#[arguments] works on structs and enums"
    );
    let options = message(crate::arguments::expand(quote!(strict), quote!()));
    assert_eq!(options, "#[arguments] takes no options");
}
