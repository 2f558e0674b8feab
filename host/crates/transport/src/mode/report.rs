//! Telling an error from a reply, where a server sends it with a status of success.
//!
//! What kind of error it is gets decided elsewhere, once for all modes.

use serde_json::value::RawValue;

use super::lenient::Word;

/// Whether the value of an `error` field tells of an error: some servers always send the field.
pub(crate) fn is_error(error: &RawValue) -> bool {
    !matches!(error.get(), "null" | "false" | "\"\"" | "{}" | "[]" | "0")
}

/// Whether JSON that is no chunk is an error without the usual wrapping.
pub(crate) fn reports_error(json: &str) -> bool {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Bare<'a> {
        #[serde(borrow)]
        object: Word<'a>,
        #[serde(borrow, rename = "type")]
        kind: Word<'a>,
        #[serde(borrow)]
        message: Word<'a>,
        #[serde(borrow)]
        code: Word<'a>,
        #[serde(borrow)]
        detail: Option<&'a RawValue>,
    }
    serde_json::from_str::<Bare<'_>>(json).is_ok_and(|bare| {
        bare.object.0 == "error"
            || bare.kind.0 == "error"
            || bare.detail.is_some()
            || (!bare.message.0.is_empty()
                && [bare.kind, bare.code].iter().any(|w| !w.0.is_empty()))
    })
}
