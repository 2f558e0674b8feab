//! A provider's error, from the several shapes error bodies have.

use serde_json::{Map, Value};

/// What a body says, as far as it can be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// The provider's own word or number for the error.
    pub(crate) code: Option<String>,
    /// An HTTP status among its codes.
    pub(crate) status: Option<u16>,
    /// The provider's own sentence.
    pub(crate) message: Option<String>,
    /// The request parameter it is about.
    pub(crate) param: Option<String>,
}

/// Reads an error body: JSON of any of the known shapes. Anything else says nothing.
pub(crate) fn read(body: &str) -> Report {
    let body = body.trim_start_matches('\u{feff}');
    match serde_json::from_str::<Value>(&hermes_core::text::mend_lone_surrogates(body)) {
        Ok(value) => report(&value),
        Err(_) => Report::default(),
    }
}

fn report(value: &Value) -> Report {
    match value {
        Value::String(text) => Report { message: filled(text), ..Report::default() },
        // Google wraps the object in a list.
        Value::Array(list) => list.first().map(report).unwrap_or_default(),
        Value::Object(object) => of_object(object),
        _ => Report::default(),
    }
}

fn of_object(object: &Map<String, Value>) -> Report {
    match object.get("error") {
        // A bare code with the sentence beside it, or only the sentence.
        Some(Value::String(error)) => match word(object, &["message", "error_description"]) {
            Some(message) => {
                Report { code: filled(error), message: Some(message), ..Report::default() }
            }
            None => Report { message: filled(error), ..Report::default() },
        },
        Some(inner) if !inner.is_null() => report(inner),
        _ => match object.get("errors").and_then(Value::as_array).and_then(|all| all.first()) {
            Some(first) => report(first),
            None => of_error(object),
        },
    }
}

/// An object that is itself the error.
fn of_error(object: &Map<String, Value>) -> Report {
    let (code, status) = codes(object);
    let param = word(object, &["param"]);
    let told = ["message", "msg", "error_msg", "title", "detail"].iter().filter_map(|key| {
        let nested = sentence(object.get(*key)?)?;
        Some(Report { code: nested.code.filter(|_| *key == "message"), ..nested })
    });
    let told = told.into_iter().next().unwrap_or_default();
    let told = Report {
        code: told.code.or(code),
        status: status.or(told.status),
        message: told.message,
        param: told.param.or(param),
    };
    // OpenRouter: "Provider returned error", and what the provider said in `metadata.raw`.
    let Some(raw) = object.get("metadata").and_then(upstream) else { return told };
    let message = match (told.message, raw.message) {
        (Some(outer), Some(inner)) => Some(format!("{outer}: {inner}")),
        (outer, inner) => outer.or(inner),
    };
    Report {
        code: raw.code.or(told.code),
        status: told.status.or(raw.status),
        message,
        param: raw.param.or(told.param),
    }
}

/// What an error says: a sentence, one that is again an error in JSON (Google's for other
/// vendors' models), or what is wrong where (FastAPI's and Mistral's).
fn sentence(said: &Value) -> Option<Report> {
    let only = |message| Report { message: Some(message), ..Report::default() };
    match said {
        Value::String(text) if text.trim_start().starts_with('{') => match read(text) {
            Report { message: None, .. } => filled(text).map(only),
            report => Some(report),
        },
        Value::Object(object) => Some(of_object(object)).filter(|report| report.message.is_some()),
        other => detail(other).map(only),
    }
}

/// An object's code, and its status where one is among its codes. A word says more than a
/// number, and `code` more than `type`, which is often the same for many errors.
fn codes(object: &Map<String, Value>) -> (Option<String>, Option<u16>) {
    let found = ["code", "type", "status", "statusCode"].map(|key| object.get(key));
    let texts = found.into_iter().flatten().filter_map(|value| match value {
        Value::String(text) => filled(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    let numeric = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
    let (numbers, words): (Vec<String>, Vec<String>) = texts.partition(numeric);
    let status = numbers.iter().filter_map(|number| number.parse().ok());
    let status = status.into_iter().find(|status| (400..600).contains(status));
    let word = words.into_iter().find(|word| word != "error");
    (word.or_else(|| numbers.into_iter().next()), status)
}

fn upstream(metadata: &Value) -> Option<Report> {
    let raw = metadata.get("raw")?;
    Some(match raw {
        Value::String(text) => match read(text) {
            Report { code: None, message: None, .. } => {
                Report { message: filled(text), ..Report::default() }
            }
            report => report,
        },
        other => report(other),
    })
}

/// FastAPI's `detail`: a sentence, or a list of what is wrong where.
fn detail(detail: &Value) -> Option<String> {
    match detail {
        Value::String(text) => filled(text),
        Value::Array(list) => {
            let lines: Vec<String> = list.iter().filter_map(complaint).collect();
            filled(&lines.join("; "))
        }
        _ => None,
    }
}

/// One entry of a validation error: `body.messages.0: field required`.
fn complaint(entry: &Value) -> Option<String> {
    let message = entry.get("msg")?.as_str()?;
    let place = entry.get("loc").and_then(Value::as_array).into_iter().flatten();
    let place: Vec<String> =
        place.map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect();
    Some(if place.is_empty() {
        message.to_owned()
    } else {
        format!("{}: {message}", place.join("."))
    })
}

fn word(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| object.get(*key).and_then(Value::as_str).and_then(filled))
}

fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_from_every_known_shape() {
        let cases = [
            (r#"{"error":{"message":"m","type":"t","param":null,"code":"c"}}"#, "c", 0, "m"),
            (r#"{"error":{"message":"m","type":"t","code":null}}"#, "t", 0, "m"),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
                "overloaded_error",
                0,
                "m",
            ),
            (r#"{"error":{"code":502,"message":"m"}}"#, "502", 502, "m"),
            (r#"{"code":502,"message":"m","type":"server_error"}"#, "server_error", 502, "m"),
            (r#"{"error":"model 'x' not found"}"#, "", 0, "model 'x' not found"),
            (r#"{"error":"bad_thing","message":"m"}"#, "bad_thing", 0, "m"),
            (
                r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#,
                "BadRequestError",
                400,
                "m",
            ),
            (
                r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#,
                "INVALID_ARGUMENT",
                400,
                "m",
            ),
            (r#"{"error":{"code":"1261","message":"m"}}"#, "1261", 0, "m"),
            (r#"{"statusCode":404,"message":"m"}"#, "404", 404, "m"),
            (r#"{"detail":"Not Found"}"#, "", 0, "Not Found"),
            (
                r#"{"detail":[{"loc":["body","messages",0],"msg":"field required","type":"missing"},{"msg":"x"}]}"#,
                "",
                0,
                "body.messages.0: field required; x",
            ),
            (r#"{"errors":[{"message":"m","code":7003}]}"#, "7003", 0, "m"),
            (
                r#"{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}","provider_name":"P"}}}"#,
                "overloaded_error",
                429,
                "Provider returned error: busy",
            ),
            (
                r#"{"error":{"code":429,"message":"m","metadata":{"raw":"slow down"}}}"#,
                "429",
                429,
                "m: slow down",
            ),
            (r#"{"error":{"message":"lone \ud800"}}"#, "", 0, "lone \u{fffd}"),
            ("\u{feff}{\"error\":\"m\"}", "", 0, "m"),
            (r#""just text""#, "", 0, "just text"),
            ("<html>", "", 0, ""),
            ("", "", 0, ""),
            ("[]", "", 0, ""),
            ("7", "", 0, ""),
        ];
        for (body, code, status, message) in cases {
            let expected = Report {
                code: filled(code),
                status: Some(status).filter(|&status| status > 0),
                message: filled(message),
                param: None,
            };
            assert_eq!(read(body), expected, "{body}");
        }
    }
}
