//! Exact numbers: decimal text to fractions of whole numbers and back. `calculate` and `csv_query`
//! share them, so that 0.1 + 0.2 is 0.3 in both. Rounding happens only when a number is shown.
//! Left out: approximations, which belong to the calculator's functions.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// An exact number.
pub(crate) type Number = BigRational;

/// Digits a number may be written with: far more than any measurement or account needs.
const MAX_DIGITS: usize = 2_000;

/// The largest power of ten in `1e…`: text of six characters may not ask for a number of gigabytes.
const MAX_EXPONENT: u32 = 4_000;

/// Decimal places up to which an exact decimal is shown whole.
const MAX_EXACT_PLACES: u32 = 50;

/// Powers of ten outside which a rounded number is shown as `1.5e60`.
const SCIENTIFIC: std::ops::RangeInclusive<i64> = -12..=40;

/// Reads `12`, `-1.50`, `.5`, `6.02e23`. Nothing else counts as a number: no blanks, no separators.
pub(crate) fn parse(text: &str) -> Option<Number> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, parse_exponent(text.get(at + 1..)?)?),
        None => (text, 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut numerator: BigInt = digits.parse().ok()?;
    if negative {
        numerator = -numerator;
    }
    let places = i64::try_from(fraction.len()).ok()?;
    let power = i64::from(exponent) - places;
    let scale = ten_to(u32::try_from(power.unsigned_abs()).ok()?);
    Some(if power < 0 {
        Number::new(numerator, scale)
    } else {
        Number::from_integer(numerator * scale)
    })
}

fn parse_exponent(text: &str) -> Option<i32> {
    let value: i32 = text.parse().ok()?;
    (value.unsigned_abs() <= MAX_EXPONENT).then_some(value)
}

/// 10 to a power.
pub(crate) fn ten_to(power: u32) -> BigInt {
    BigInt::from(10).pow(power)
}

/// A number as decimal text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// Such as `-0.25` or `1.5e60`; always a JSON number.
    pub(crate) text: String,
    /// Whether the text is the number itself, not the nearest decimal.
    pub(crate) exact: bool,
}

/// The number whole if it is a decimal of at most 50 places, else with `digits` significant digits.
pub(crate) fn show(number: &Number, digits: u32) -> Decimal {
    match decimal_places(number, MAX_EXACT_PLACES) {
        Some(places) => Decimal { text: to_places(number, places), exact: true },
        None => {
            let text = to_digits(number, digits);
            // 1e-60 has more than 50 places and yet few digits.
            let exact = parse(&text).as_ref() == Some(number);
            Decimal { text, exact }
        }
    }
}

/// The number rounded to this many decimal places, half away from zero, with all places written.
pub(crate) fn show_places(number: &Number, places: u32) -> Decimal {
    let exact = decimal_places(number, places).is_some();
    Decimal { text: to_places(number, places), exact }
}

/// Decimal places the number needs, or nothing if it needs more than `limit`.
fn decimal_places(number: &Number, limit: u32) -> Option<u32> {
    let mut rest = number.denom().clone();
    let mut places = 0;
    for factor in [2, 5] {
        let mut times = 0;
        loop {
            let (quotient, remainder) = rest.div_rem(&BigInt::from(factor));
            if !remainder.is_zero() {
                break;
            }
            if times == limit {
                return None;
            }
            rest = quotient;
            times += 1;
        }
        places = places.max(times);
    }
    rest.is_one().then_some(places)
}

fn to_places(number: &Number, places: u32) -> String {
    let scaled = round(&(number * Number::from_integer(ten_to(places))));
    point(&scaled, places)
}

/// Writes `units` of the last place with the point where it belongs.
fn point(units: &BigInt, places: u32) -> String {
    let places = places as usize;
    let digits = units.magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if units.sign() == Sign::Minus { "-" } else { "" };
    if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Rounds to significant digits, without the zeros that rounding leaves at the end.
pub(crate) fn to_digits(number: &Number, digits: u32) -> String {
    if number.is_zero() {
        return "0".to_owned();
    }
    let digits = i64::from(digits.max(1));
    let power = magnitude(number);
    let scale = scale_by(number, digits - 1 - power);
    let mut units = round(&scale);
    let mut power = power;
    // 9.99 becomes 10.0 when rounded: one digit more, so one power more.
    if units.magnitude() >= ten_to(u32::try_from(digits).unwrap_or(u32::MAX)).magnitude() {
        units /= 10;
        power += 1;
    }
    if SCIENTIFIC.contains(&power) {
        let shown = place_point(&units, digits - 1 - power);
        return trim_zeros(&shown).to_owned();
    }
    let places = u32::try_from(digits - 1).unwrap_or(0);
    format!("{}e{power}", trim_zeros(&point(&units, places)))
}

/// `units` divided by ten to `places`, which may be negative.
fn place_point(units: &BigInt, places: i64) -> String {
    match u32::try_from(places) {
        Ok(places) => point(units, places),
        Err(_) => (units * ten_to(u32::try_from(-places).unwrap_or(0))).to_string(),
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// The largest power of ten that is not above the number.
fn magnitude(number: &Number) -> i64 {
    let digits = |whole: &BigInt| i64::try_from(whole.magnitude().to_string().len()).unwrap_or(0);
    let guess = digits(number.numer()) - digits(number.denom());
    // The guess is right or one too high: 1/3 has digits 1 − 1 = 0, its power is −1.
    let one = scale_by(&number.abs(), -guess);
    if one < Number::one() { guess - 1 } else { guess }
}

fn scale_by(number: &Number, power: i64) -> Number {
    let factor = Number::from_integer(ten_to(u32::try_from(power.unsigned_abs()).unwrap_or(0)));
    if power < 0 { number / factor } else { number * factor }
}

/// To the nearest whole number, halves away from zero, as in commerce.
pub(crate) fn round(number: &Number) -> BigInt {
    let doubled: BigInt = number.numer().abs() * 2 + number.denom();
    let nearest: BigInt = doubled / (number.denom() * 2);
    if number.is_negative() { -nearest } else { nearest }
}

#[cfg(test)]
mod tests;
