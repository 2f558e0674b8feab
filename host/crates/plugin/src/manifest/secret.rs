//! Which secrets a plugin asks for, and where each may go: reading the `[[request.secret]]` tables of
//! a manifest. The values are no business of this module, nor of the plugin.

use url::{Origin, Url};

use crate::document::{DocumentError, Reader};
use crate::http_rule::HttpRule;
use crate::name;
use crate::secret::{Inject, SecretRule};

impl SecretRule {
    pub(super) fn read(table: Reader<'_>) -> Result<Self, DocumentError> {
        let name = table.text("name", name::secret)?;
        let audience = table.text("audience", audience)?;
        let inject = Inject::read(&table)?;
        let body = table.flag("body")?.unwrap_or_default();
        if body && inject != Inject::Placeholder {
            return Err(table.complain_of(
                "body",
                "only a secret with inject = \"placeholder\" \
                                                  can stand in a body",
            ));
        }
        let read = Self {
            name: table.required("name", name, "name = \"SERVICE_TOKEN\"")?,
            audience: table.required(
                "audience",
                audience,
                "audience = \"https://api.example.com\"",
            )?,
            inject,
            body,
            hint: table.text("hint", name::one_line)?,
        };
        table.finish()?;
        Ok(read)
    }
}

fn audience(text: &str) -> Result<Origin, String> {
    // An origin reads as a rule for every path of one exact host, methods unsaid.
    let origin = HttpRule::parse(text, false).ok().filter(|rule| {
        rule.path.is_everything()
            && rule.methods.is_none()
            && !text.contains('*')
            && rule.to_string() == text
    });
    let url = origin.and_then(|_| Url::parse(text).ok());
    url.map(|url| url.origin())
        .ok_or_else(|| "must be the origin that receives it, as \"https://api.example.com\"".into())
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
