//! Which secrets a plugin asks for, and where each may go: the `[[request.secret]]` tables of a
//! manifest. The values are no business of this module, nor of the plugin.

use crate::document::{DocumentError, Reader};
use crate::http_rule::HttpRule;
use crate::name;

/// One `[[request.secret]]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRequest {
    /// The secret's name.
    pub name: String,
    /// The origin that may receive it, as `https://api.github.com`.
    pub audience: String,
    /// How it gets into a request.
    pub inject: Inject,
    /// Where the user gets one.
    pub hint: Option<String>,
}

/// How a secret gets into a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inject {
    /// The plugin places the inert placeholder itself.
    Placeholder,
    /// In a header, after a prefix.
    Header {
        /// The header's name.
        header: String,
        /// What stands before the value.
        prefix: String,
    },
    /// As a parameter of the query.
    Query {
        /// The parameter's name.
        query: String,
    },
}

impl SecretRequest {
    pub(super) fn read(table: Reader<'_>) -> Result<Self, DocumentError> {
        let name = table.text("name", name::secret)?;
        let audience = table.text("audience", |text| {
            // An origin reads as a rule for every path of one exact host, methods unsaid.
            let origin = HttpRule::parse(text, false).ok().filter(|rule| {
                rule.path.is_everything()
                    && rule.methods.is_none()
                    && !text.contains('*')
                    && rule.to_string() == text
            });
            origin.map(|_| text.to_owned()).ok_or_else(|| {
                "must be the origin that receives it, as \"https://api.example.com\"".into()
            })
        })?;
        let read = Self {
            name: table.required("name", name, "name = \"SERVICE_TOKEN\"")?,
            audience: table.required(
                "audience",
                audience,
                "audience = \"https://api.example.com\"",
            )?,
            inject: Inject::read(&table)?,
            hint: table.text("hint", name::one_line)?,
        };
        table.finish()?;
        Ok(read)
    }
}

impl Inject {
    fn read(secret: &Reader<'_>) -> Result<Self, DocumentError> {
        const SHAPES: &str =
            "must be { header = \"…\", prefix = \"…\" }, { query = \"…\" } or \"placeholder\"";
        if secret.is_text("inject") {
            let word = secret.text("inject", |text| match text {
                "placeholder" => Ok(Inject::Placeholder),
                _ => Err(SHAPES.into()),
            })?;
            return Ok(word.unwrap_or(Inject::Placeholder));
        }
        let Some(table) = secret.table("inject")? else { return Ok(Inject::Placeholder) };
        let header = table.text("header", name::token)?;
        let prefix = table.text("prefix", name::one_line)?;
        let query = table.text("query", name::token)?;
        let inject = match (header, query) {
            (Some(header), None) => Inject::Header { header, prefix: prefix.unwrap_or_default() },
            (None, Some(query)) if prefix.is_none() => Inject::Query { query },
            _ => {
                table.finish()?;
                return Err(secret.complain_of("inject", SHAPES));
            }
        };
        table.finish()?;
        Ok(inject)
    }
}
