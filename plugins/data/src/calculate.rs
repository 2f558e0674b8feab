//! The tool `calculate`: exact arithmetic. Own code rather than a calculator crate, because those
//! guess where a model needs a refusal: they read `min(1,2)` as twelve minutes, or cannot be stopped.
//! Left out: dates (see `date_time`), currencies, symbolic algebra.

mod functions;
mod lexer;
mod operators;
mod parser;
mod power;
mod units;
mod value;

use hermes_plugin_sdk::prelude::*;
use num_bigint::BigInt;
use num_traits::One;
use serde::Serialize;

use crate::exact::{self, Decimal, Number};
use parser::Answer;
use value::{Value, base_units};

/// Characters of an expression. Every character can cost one bounded operation.
const MAX_LENGTH: usize = 10_000;

/// Decimal places a model may ask for.
const MAX_DECIMALS: u32 = 1_000;

/// Significant digits of an exact result whose decimals do not end.
const EXACT_DIGITS: u32 = 20;

/// Significant digits of a result of floating-point arithmetic, all of which are right.
const APPROXIMATE_DIGITS: u32 = 15;

/// Characters of a fraction worth showing beside its rounded decimals.
const MAX_FRACTION: usize = 80;

/// Arguments of `calculate`.
#[arguments]
pub(crate) struct Calculate {
    /// Such as `0.1 + 0.2`, `(1200 * 19%) / 3`, `200 + 10%` (220), `15% of 80`, `2^200`,
    /// `r = 4%; 1000 * (1 + r)^10`, `100 km/h to mph`, `3 GiB / (20 Mbps) to minutes`,
    /// `20 °C to °F`, `5 > 3`, `mean(1, 2, 6)`. Operators: + - * / ^ ! % mod << >> & |. Functions:
    /// round(x, places), floor, ceil, abs, min, max, sum, mean, median, stdev, gcd, lcm, mod,
    /// powmod, ncr, npr, sqrt, root(x, n), exp, ln, log(x, base = 10), sin, cos, … (radians, or
    /// `sin(30 deg)`). Statements are separated by `;`, the last one counts. No thousands
    /// separators.
    expression: String,
    /// Round to this many decimal places, halves away from zero. Default: no rounding where the
    /// decimals end, else 20 significant digits.
    #[schemars(range(max = 1000))]
    decimals: Option<u32>,
    /// Write a whole result in this base, such as 16.
    #[schemars(range(min = 2, max = 36))]
    base: Option<u32>,
}

/// What `calculate` answers.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Calculated {
    /// The number, or `true` or `false` for a comparison.
    result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Whether the result is the value itself, not a rounded one.
    exact: bool,
    /// The value itself, where it is a short fraction that had to be rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<String>,
}

/// What is wrong and at which character of the expression, from 0.
#[derive(Debug)]
struct Fault {
    at: usize,
    message: String,
}

/// Exact arithmetic with numbers of any size, percentages, functions and units. Use it instead of
/// calculating yourself. Answers the result and whether it is exact.
#[tool(read_only, idempotent, parallel_safe, timeout_ms = 10000)]
pub(crate) fn calculate(arguments: Calculate) -> Result<Json<Calculated>, Failure> {
    let text = arguments.expression.trim();
    if text.chars().count() > MAX_LENGTH {
        return Err(Failure::too_large(format!(
            "the expression has more than {MAX_LENGTH} characters; calculate it in parts"
        )));
    }
    if arguments.decimals.is_some_and(|places| places > MAX_DECIMALS) {
        return Err(Failure::invalid_arguments("`decimals` is at most 1000"));
    }
    let answer = lexer::split(text)
        .and_then(|tokens| parser::evaluate(text, &tokens))
        .map_err(|fault| explain(text, &fault))?;
    match answer {
        Answer::Truth(truth, exact) => {
            Ok(Json(Calculated { result: truth.to_string(), unit: None, exact, fraction: None }))
        }
        Answer::Value(value) => show(&value, arguments.decimals, arguments.base).map(Json),
    }
}

/// Names the place by its number and by what stands there.
fn explain(text: &str, fault: &Fault) -> Failure {
    let message = &fault.message;
    let near: String = text.chars().skip(fault.at).take(20).collect();
    if near.is_empty() {
        return Failure::invalid_arguments(format!("at the end of the expression: {message}"));
    }
    let at = fault.at + 1;
    Failure::invalid_arguments(format!("at character {at}, `{near}`: {message}"))
}

fn show(value: &Value, decimals: Option<u32>, base: Option<u32>) -> Result<Calculated, Failure> {
    let (number, unit) = match &value.shown {
        Some(unit) => ((&value.number - &unit.zero) / &unit.factor, Some(unit.name.clone())),
        None if value.dimension == value::Dimension::default() => (value.number.clone(), None),
        None => (value.number.clone(), Some(base_units(value.dimension))),
    };
    if let Some(base) = base {
        let result = in_base(&number, base)?;
        return Ok(Calculated { result, unit, exact: value.exact, fraction: None });
    }
    let shown = match decimals {
        Some(places) => exact::show_places(&number, places),
        None if value.exact => exact::show(&number, EXACT_DIGITS),
        None => Decimal { text: exact::to_digits(&number, APPROXIMATE_DIGITS), exact: false },
    };
    let exact = value.exact && shown.exact;
    let fraction = (value.exact && !exact && !number.denom().is_one())
        .then(|| number.to_string())
        .filter(|fraction| fraction.len() <= MAX_FRACTION);
    Ok(Calculated { result: shown.text, unit, exact, fraction })
}

fn in_base(number: &Number, base: u32) -> Result<String, Failure> {
    if !(2..=36).contains(&base) {
        return Err(Failure::invalid_arguments("`base` lies between 2 and 36"));
    }
    if !number.is_integer() {
        let shown = exact::to_digits(number, APPROXIMATE_DIGITS);
        return Err(Failure::invalid_arguments(format!(
            "only whole numbers can be written in base {base}, not {shown}"
        )));
    }
    let whole: &BigInt = number.numer();
    Ok(whole.to_str_radix(base))
}

#[cfg(test)]
mod tests;
