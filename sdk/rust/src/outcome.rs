//! What a tool may return, and how it becomes the parts of a result.

use serde::Serialize;

use crate::types::{Failure, Part};

/// Something a tool may return as its result.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    note = "return String, &str, Part, Vec<Part> or Json(value), alone or in a Result whose error is a Failure"
)]
pub trait IntoParts {
    /// The parts, in order.
    ///
    /// # Errors
    ///
    /// If the value cannot be written down; a fault of the tool.
    fn into_parts(self) -> Result<Vec<Part>, Failure>;
}

impl IntoParts for String {
    fn into_parts(self) -> Result<Vec<Part>, Failure> {
        Ok(vec![Part::text(self)])
    }
}

impl IntoParts for &str {
    fn into_parts(self) -> Result<Vec<Part>, Failure> {
        Ok(vec![Part::text(self)])
    }
}

impl IntoParts for Part {
    fn into_parts(self) -> Result<Vec<Part>, Failure> {
        Ok(vec![self])
    }
}

impl IntoParts for Vec<Part> {
    fn into_parts(self) -> Result<Vec<Part>, Failure> {
        Ok(self)
    }
}

/// A value returned as compact JSON, with the media type `application/json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoParts for Json<T> {
    fn into_parts(self) -> Result<Vec<Part>, Failure> {
        let text = serde_json::to_string(&self.0)
            .map_err(|error| Failure::internal(format!("the result is not JSON: {error}")))?;
        let mut part = Part::text(text);
        "application/json".clone_into(&mut part.mime);
        Ok(vec![part])
    }
}

/// What a tool's function returns: a result, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    note = "return String, &str, Part, Vec<Part> or Json(value), alone or in a Result whose error is a Failure"
)]
pub trait IntoOutcome {
    /// The answer to the call.
    ///
    /// # Errors
    ///
    /// What the tool failed with.
    fn into_outcome(self) -> Result<Vec<Part>, Failure>;
}

impl<T: IntoParts> IntoOutcome for T {
    fn into_outcome(self) -> Result<Vec<Part>, Failure> {
        self.into_parts()
    }
}

impl<T: IntoParts, E: Into<Failure>> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Result<Vec<Part>, Failure> {
        self.map_err(Into::into)?.into_parts()
    }
}
