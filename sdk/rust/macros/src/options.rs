//! The words inside `#[tool(…)]`, read into the attributes the host knows. What a word means to the
//! host is the contract's business, not this file's.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Error, ExprArray, Lit, LitInt, LitStr, Result};

/// What `#[tool(…)]` said.
#[derive(Default)]
pub(crate) struct ToolOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    /// Attribute names with their values as JSON text, in the order written.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) path_arguments: Vec<String>,
}

const WORDS: &str = "read_only, destructive, idempotent, interactive, parallel_safe, \
    path_arguments, timeout_ms, max_result_bytes, name, title, examples";

impl ToolOptions {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self::default();
        let mut seen = Vec::new();
        let parser = syn::meta::parser(|meta| {
            let word = meta.path.require_ident()?.to_string();
            if seen.contains(&word) {
                return Err(meta.error(format!("`{word}` stands twice")));
            }
            options.read(&word, &meta)?;
            seen.push(word);
            Ok(())
        });
        parser.parse2(tokens)?;
        Ok(options)
    }

    fn read(&mut self, word: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match word {
            "read_only" | "destructive" | "idempotent" | "interactive" | "parallel_safe" => {
                self.push(word, "true".to_owned());
            }
            "timeout_ms" => self.push(word, positive::<u64>(&meta.value()?.parse()?)?),
            "max_result_bytes" => self.push(word, positive::<u32>(&meta.value()?.parse()?)?),
            "path_arguments" => {
                self.path_arguments = strings(&meta.value()?.parse()?)?;
                self.push(word, serde_json::Value::from(self.path_arguments.clone()).to_string());
            }
            "examples" => self.push(word, examples(&meta.value()?.parse()?)?),
            "name" => self.name = Some(meta.value()?.parse()?),
            "title" => self.title = Some(meta.value()?.parse()?),
            _ => return Err(meta.error(format!("`{word}` is none of {WORDS}"))),
        }
        Ok(())
    }

    fn push(&mut self, word: &str, value: String) {
        self.attributes.push((word.replace('_', "-"), value));
    }

    /// The attributes as the elements of an array of pairs.
    pub(crate) fn attribute_pairs(&self) -> TokenStream {
        let pairs = self.attributes.iter().map(|(name, value)| quote!((#name, #value)));
        quote!(#(#pairs),*)
    }
}

fn positive<T>(number: &LitInt) -> Result<String>
where
    T: std::str::FromStr + Into<u64>,
    T::Err: std::fmt::Display,
{
    let value: u64 = number.base10_parse::<T>()?.into();
    if value == 0 {
        return Err(Error::new(number.span(), "a limit of 0 lets nothing through"));
    }
    Ok(value.to_string())
}

fn strings(array: &ExprArray) -> Result<Vec<String>> {
    array
        .elems
        .iter()
        .map(|element| match element {
            syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Ok(text.value()),
            other => {
                Err(Error::new_spanned(other, "expected the name of an argument, as a string"))
            }
        })
        .collect()
}

/// A JSON list of objects, made compact.
fn examples(text: &LitStr) -> Result<String> {
    let list: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(&text.value())
        .map_err(|error| {
            Error::new(
                text.span(),
                format!("examples is not a JSON list of argument objects: {error}"),
            )
        })?;
    serde_json::to_string(&list).map_err(|error| Error::new(text.span(), error))
}
