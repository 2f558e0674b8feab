//! The macros of `hermes-plugin-sdk`. Use them through that crate: what they write refers to it by
//! name, and it alone documents how a plugin is put together.

mod arguments;
mod options;
mod plugin;
#[cfg(test)]
mod tests;
mod tool;

use proc_macro::TokenStream;

/// Makes a function a tool. Its doc comment is the description the model reads, its name the
/// tool's name.
///
/// The function takes its arguments (a type marked `#[arguments]`, or nothing), optionally a
/// `&CallInfo`, and returns text, parts or `Json`, or a `Result` of these whose error is a
/// `Failure`.
///
/// Words, all optional:
///
/// | word | meaning |
/// |---|---|
/// | `read_only` | changes nothing |
/// | `destructive` | may lose what cannot be brought back |
/// | `idempotent` | a second call with the same arguments changes nothing more |
/// | `interactive` | waits for a person |
/// | `parallel_safe` | may run beside other calls of the same reply |
/// | `path_arguments = ["path"]` | which arguments hold paths |
/// | `timeout_ms = 5000` | milliseconds a call may take, at most the plugin's own limit |
/// | `max_result_bytes = 65536` | bytes a result may hold, at most the plugin's own limit |
/// | `name = "read-it"` | the tool's name, if it is not the function's |
/// | `title = "Read it"` | a name for people |
/// | `examples = r#"[{"path": "a.txt"}]"#` | argument objects, as a JSON list |
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the arguments of a tool, or a struct or enum a type used inside them. Doc
/// comments of fields and variants are the descriptions the model reads.
///
/// It derives serde's `Deserialize` and schemars' `JsonSchema`, whose own field attributes
/// (`#[serde(default)]`, `#[serde(rename = "…")]`, `#[schemars(range(min = 1))]`) work as usual. A
/// struct refuses fields it does not have, unless one of its fields is flattened.
#[proc_macro_attribute]
pub fn arguments(options: TokenStream, item: TokenStream) -> TokenStream {
    arguments::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Lists what the component exports; the crate says it once.
///
/// `tools: [a, b]` lists functions marked `#[tool]`; `pre_tool_call: check`,
/// `post_tool_call: review` and `observer: notify` name plain functions. Nothing that is not listed
/// is exported. In tests it adds one that checks how the tools are described.
#[proc_macro]
pub fn plugin(input: TokenStream) -> TokenStream {
    plugin::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
