//! Images as Anthropic takes them: by address over `https:`, or inline in one of four formats.
//!
//! An image that cannot be sent becomes a note. Sending it anyway would have this request and
//! every later one refused.

use std::borrow::Cow;

use serde::Serialize;

/// Where an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    /// In the request.
    Base64 {
        /// One of the formats the API takes.
        media_type: &'static str,
        /// The image.
        data: &'a str,
    },
    /// At an address.
    Url {
        /// The address.
        url: &'a str,
    },
}

/// Media types under which images are sent, with the name the API knows them by.
const FORMATS: [(&str, &str); 5] = [
    ("image/png", "image/png"),
    ("image/jpeg", "image/jpeg"),
    ("image/jpg", "image/jpeg"),
    ("image/gif", "image/gif"),
    ("image/webp", "image/webp"),
];

/// Most bytes of an image's base64 text: the API's limit of 5 MiB, which it measures on the text
/// rather than on the image.
const MAX_BASE64_BYTES: usize = 5 * 1024 * 1024;

/// The source for the image at `url`.
///
/// # Errors
/// The note to send in its place.
pub(super) fn source(url: &str) -> Result<Source<'_>, Cow<'static, str>> {
    if starts_with(url, "https://") {
        return Ok(Source::Url { url });
    }
    if !starts_with(url, "data:") {
        return Err("[an image was left out: only https: and data: addresses can be sent]".into());
    }
    let (head, data) = url["data:".len()..].split_once(',').unwrap_or_default();
    let mut head = head.split(';').map(str::trim);
    let given = head.next().unwrap_or_default();
    let format = FORMATS.iter().find(|(name, _)| name.eq_ignore_ascii_case(given));
    let data = data.trim();
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let encoded = head.any(|word| word.eq_ignore_ascii_case("base64"))
        && !data.is_empty()
        && data.bytes().all(legal);
    if data.len() > MAX_BASE64_BYTES {
        return Err("[an image was left out: it is larger than 5 MiB in base64]".into());
    }
    match format {
        Some((_, media_type)) if encoded => Ok(Source::Base64 { media_type, data }),
        Some(_) => Err("[an image was left out: its data is no base64 text]".into()),
        None => Err("[an image was left out: it is neither PNG, JPEG, GIF nor WebP]".into()),
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_sources_or_notes() {
        let png = |data| Ok(Source::Base64 { media_type: "image/png", data });
        let note = |text: &str| Err(format!("[an image was left out: {text}]").into());
        let address = "only https: and data: addresses can be sent";
        let format = "it is neither PNG, JPEG, GIF nor WebP";
        let data = "its data is no base64 text";
        let cases = [
            ("https://i/1.png", Ok(Source::Url { url: "https://i/1.png" })),
            ("HTTPS://i", Ok(Source::Url { url: "HTTPS://i" })),
            ("data:image/png;base64,AA+/=", png("AA+/=")),
            ("DATA:IMAGE/PNG;name=a;BASE64,AA", png("AA")),
            (
                "data:image/jpg;base64,AA",
                Ok(Source::Base64 { media_type: "image/jpeg", data: "AA" }),
            ),
            ("data:image/svg+xml;base64,AA", note(format)),
            ("data:,AA", note(format)),
            ("data:", note(format)),
            ("data:image/png,AA", note(data)),
            ("data:image/png;base64,", note(data)),
            ("data:image/png;base64,A A", note(data)),
            ("http://i/1.png", note(address)),
            ("file:///etc/passwd", note(address)),
            ("", note(address)),
            ("dätä", note(address)),
        ];
        for (url, expected) in cases {
            assert_eq!(source(url), expected, "{url}");
        }
    }

    #[test]
    fn b038_the_limit_is_checked_on_the_encoded_bytes() {
        let url = |bytes: usize| format!("data:image/png;base64,{}", "A".repeat(bytes));
        assert!(source(&url(MAX_BASE64_BYTES)).is_ok());
        let note = source(&url(MAX_BASE64_BYTES + 1)).err();
        assert_eq!(
            note.as_deref(),
            Some("[an image was left out: it is larger than 5 MiB in base64]")
        );
    }
}
