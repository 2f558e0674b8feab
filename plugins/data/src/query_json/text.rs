//! Values to JSON text: always standard JSON, never longer than asked for. Numbers look as jq writes
//! them (`5`, not `5.0`), those of the input as they stood there.

use std::fmt::{self, Write};

use jaq_json::{Num, Val};
use serde::de::IgnoredAny;

use super::meter::MAX_NESTING;

/// Why a value was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// More text than allowed.
    Long,
    /// More levels than allowed.
    Deep,
}

/// The value as compact JSON of at most `limit` bytes.
pub(super) fn json(value: &Val, limit: usize) -> Result<String, Unwritten> {
    let mut writer = Writer { text: String::new(), limit };
    writer.value(value, 0)?;
    Ok(writer.text)
}

/// A string as it is, anything else as JSON.
pub(super) fn plain(value: &Val, limit: usize) -> Result<String, Unwritten> {
    match value {
        Val::TStr(bytes) | Val::BStr(bytes) if bytes.len() <= limit => {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
        Val::TStr(_) | Val::BStr(_) => Err(Unwritten::Long),
        other => json(other, limit),
    }
}

struct Writer {
    text: String,
    limit: usize,
}

impl Writer {
    fn push(&mut self, text: &str) -> Result<(), Unwritten> {
        if self.text.len() + text.len() > self.limit {
            return Err(Unwritten::Long);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn value(&mut self, value: &Val, level: usize) -> Result<(), Unwritten> {
        if level > MAX_NESTING {
            return Err(Unwritten::Deep);
        }
        match value {
            Val::Null => self.push("null"),
            Val::Bool(true) => self.push("true"),
            Val::Bool(false) => self.push("false"),
            Val::Num(number) => self.push(&self::number(number)),
            Val::TStr(bytes) | Val::BStr(bytes) => self.string(bytes),
            Val::Arr(items) => {
                self.push("[")?;
                for (at, item) in items.iter().enumerate() {
                    self.push(if at == 0 { "" } else { "," })?;
                    self.value(item, level + 1)?;
                }
                self.push("]")
            }
            Val::Obj(fields) => {
                self.push("{")?;
                for (at, (key, value)) in fields.iter().enumerate() {
                    self.push(if at == 0 { "" } else { "," })?;
                    self.key(key, level + 1)?;
                    self.push(":")?;
                    self.value(value, level + 1)?;
                }
                self.push("}")
            }
        }
    }

    /// jaq allows any value as a key; JSON only strings.
    fn key(&mut self, key: &Val, level: usize) -> Result<(), Unwritten> {
        if let Val::TStr(bytes) | Val::BStr(bytes) = key {
            return self.string(bytes);
        }
        let mut inner = Self { text: String::new(), limit: self.limit };
        inner.value(key, level)?;
        self.string(inner.text.as_bytes())
    }

    fn string(&mut self, bytes: &[u8]) -> Result<(), Unwritten> {
        if self.text.len() + bytes.len() > self.limit {
            return Err(Unwritten::Long);
        }
        let text = serde_json::Value::from(String::from_utf8_lossy(bytes)).to_string();
        self.push(&text)
    }
}

/// A number as jq writes it; what JSON has no word for is null or the largest number there is.
fn number(number: &Num) -> String {
    match number {
        Num::Int(whole) => whole.to_string(),
        Num::BigInt(whole) => whole.to_string(),
        Num::Float(float) => self::float(*float),
        Num::Dec(text) if serde_json::from_str::<IgnoredAny>(text).is_ok() => text.to_string(),
        Num::Dec(text) => self::float(text.parse().unwrap_or(f64::NAN)),
    }
}

fn float(float: f64) -> String {
    if float.is_nan() {
        return "null".to_owned();
    }
    let float = float.clamp(f64::MIN, f64::MAX);
    // Up to 2^53 every whole number is one of floating-point arithmetic.
    if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 {
        return format!("{float:.0}");
    }
    serde_json::Value::from(float).to_string()
}

/// An error of a filter in words, short: it may quote values of any size.
pub(super) fn error(error: &jaq_core::Error<Val>) -> String {
    let mut short = Short(String::new());
    // An error here only says that the rest did not fit.
    let _ = write!(short, "{error}");
    let text = short.0;
    // `error("…")` with a text is that text.
    match serde_json::from_str::<String>(&text) {
        Ok(message) => message,
        Err(_) if text.len() >= MAX_ERROR => format!("{text}…"),
        Err(_) => text,
    }
}

/// Bytes of a filter's error that the model is shown.
const MAX_ERROR: usize = 300;

/// Takes up to [`MAX_ERROR`] bytes and then refuses, which ends the writing.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.0.len() >= MAX_ERROR {
                return Err(fmt::Error);
            }
            self.0.push(character);
        }
        Ok(())
    }
}
