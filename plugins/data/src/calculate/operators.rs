//! What the operators and constants mean that are more than arithmetic: percentages, units after a
//! number, conversions, bits.

use num_bigint::BigInt;
use num_traits::Signed;

use super::value::{Outcome, Shown, Value, bounded};
use crate::exact::Number;

/// Bits a number may be shifted by.
const MAX_SHIFT: u32 = 1 << 16;

/// Names with a meaning in the grammar.
pub(super) fn is_word(name: &str) -> bool {
    matches!(name, "to" | "in" | "of" | "mod")
}

/// Irrational constants are as near as floating-point arithmetic has them.
pub(super) fn constant(name: &str) -> Option<Value> {
    use std::f64::consts;
    let float = match name {
        "pi" | "π" => consts::PI,
        "tau" | "τ" => consts::TAU,
        "e" => consts::E,
        "phi" | "φ" => f64::midpoint(1.0, 5.0_f64.sqrt()),
        "deg" | "°" | "degree" | "degrees" => consts::PI / 180.0,
        "rad" | "radian" | "radians" => return Some(Value::whole(1.into())),
        _ => return None,
    };
    Value::approximate(float).ok()
}

/// `value%`
pub(super) fn percent(value: Value) -> Outcome {
    let hundredth = Value::from(Number::new(1.into(), 100.into()));
    Ok(Value { percent: true, ..value.times(hundredth)? })
}

/// `20 °C` is a point on a scale, everything else a product.
pub(super) fn measured(value: Value, unit: Value) -> Outcome {
    match &unit.shown {
        Some(Shown { factor, zero, .. }) if *zero != Number::default() => {
            let number = value.plain()? * factor + zero;
            Ok(Value { number, exact: value.exact, ..unit })
        }
        _ => value.times(unit),
    }
}

/// Shows the value in the unit `target`, which was written `name`.
pub(super) fn convert(value: Value, target: &Value, name: String) -> Outcome {
    if value.dimension != target.dimension {
        return Err(format!("{} cannot be converted to `{name}`", value.measure()));
    }
    let shown = match &target.shown {
        // The zero of a scale is that of the unit, whose one degree the target is.
        Some(unit) if unit.name == name => unit.clone(),
        _ => Shown { name, factor: target.number.clone(), zero: Number::default() },
    };
    if !shown.factor.is_positive() {
        return Err("a value is converted to a unit larger than zero".to_owned());
    }
    let exact = value.exact && target.exact;
    Ok(Value { shown: Some(shown), percent: false, exact, ..value })
}

/// The operators on the bits of whole numbers.
pub(super) fn bits(symbol: &str, left: &Value, right: &Value) -> Outcome {
    let number = left.integer()?;
    let result: BigInt = match symbol {
        "|" => number | right.integer()?,
        "&" => number & right.integer()?,
        _ => {
            let distance = right.small("the distance of a shift", MAX_SHIFT)?;
            if symbol == ">>" { number >> distance } else { number << distance }
        }
    };
    let result = Value::whole(result);
    bounded(&result.number)?;
    Ok(result)
}
