//! Values and the arithmetic on them: exact fractions with a dimension, each operation bounded in
//! size before it is carried out.

use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};

use super::units;
use crate::exact::Number;

/// Bits a numerator or denominator may have, about 19 000 digits: enough for any real calculation,
/// and little enough that no operation takes longer than some tens of milliseconds.
pub(super) const MAX_BITS: u64 = 1 << 16;

/// Exponents of the base units, see [`units::BASE`].
pub(super) type Dimension = [i8; 7];

/// A number with what it measures.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    /// In base units.
    pub(super) number: Number,
    /// Whether no function rounded on the way.
    pub(super) exact: bool,
    /// What it measures; all zero for a plain number.
    pub(super) dimension: Dimension,
    /// The unit to show it in, if it has one by name.
    pub(super) shown: Option<Shown>,
    /// Whether it was written `5%`, so that `100 + 5%` is 105.
    pub(super) percent: bool,
}

/// A unit to show a value in: `(number - zero) / factor`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    /// As it was written.
    pub(super) name: String,
    /// Base units in one of it.
    pub(super) factor: Number,
    /// Base units at its zero; not 0 for degrees only.
    pub(super) zero: Number,
}

/// A plain exact zero.
impl Default for Value {
    fn default() -> Self {
        Self::from(Number::zero())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self { number, exact: true, dimension: [0; 7], shown: None, percent: false }
    }
}

/// An operation's result, or what is wrong with the operands.
pub(super) type Outcome = Result<Value, String>;

impl Value {
    /// A whole number.
    pub(super) fn whole(number: BigInt) -> Self {
        Self::from(Number::from_integer(number))
    }

    /// A result of floating-point arithmetic, which is right to about 15 digits.
    pub(super) fn approximate(float: f64) -> Outcome {
        let number = Number::from_float(float)
            .ok_or("the result is not a number of a size that can be computed here")?;
        Ok(Self { exact: false, ..Self::from(number) })
    }

    /// The number, if the value measures nothing.
    pub(super) fn plain(&self) -> Result<&Number, String> {
        if self.dimension == [0; 7] {
            return Ok(&self.number);
        }
        Err(format!("a plain number is needed here, not {}", self.measure()))
    }

    /// The whole number, if it is a plain one.
    pub(super) fn integer(&self) -> Result<BigInt, String> {
        let number = self.plain()?;
        if number.is_integer() {
            return Ok(number.numer().clone());
        }
        Err("a whole number is needed here".to_owned())
    }

    /// The nearest floating-point number.
    pub(super) fn float(&self) -> Result<f64, String> {
        self.plain()?
            .to_f64()
            .filter(|float| float.is_finite())
            .ok_or_else(|| "this number is too large for this function".to_owned())
    }

    /// Whether it counts from a zero of its own, as degrees Celsius do.
    fn counts_from_elsewhere(&self) -> bool {
        self.shown.as_ref().is_some_and(|unit| !unit.zero.is_zero())
    }

    /// Neither too large nor a temperature scale, so fit to calculate with.
    pub(super) fn ready(&self) -> Result<(), String> {
        if self.counts_from_elsewhere() {
            return Err("degrees can only be converted with `to`; calculate in K".to_owned());
        }
        Ok(())
    }

    /// The dimension in words, for messages.
    pub(super) fn measure(&self) -> String {
        match (&self.shown, self.dimension) {
            (Some(unit), _) => format!("a value in {}", unit.name),
            (None, [0, 0, 0, 0, 0, 0, 0]) => "a plain number".to_owned(),
            (None, dimension) => format!("a value in {}", base_units(dimension)),
        }
    }

    fn with(self, number: Number) -> Outcome {
        bounded(&number)?;
        Ok(Self { number, percent: false, ..self })
    }

    /// `-self`
    pub(super) fn negated(self) -> Outcome {
        self.ready()?;
        let number = -self.number.clone();
        self.with(number)
    }

    /// `self + other`, or `self - other` if `minus`; a percentage counts of `self`.
    pub(super) fn plus(self, other: Self, minus: bool) -> Outcome {
        if other.percent && !self.percent {
            let whole = Self::from(Number::one());
            let factor = whole.plus(Self { percent: false, ..other }, minus)?;
            return self.times(factor);
        }
        self.same_measure(&other)?;
        let exact = self.exact && other.exact;
        let number =
            if minus { &self.number - &other.number } else { &self.number + &other.number };
        Self { exact, ..self }.with(number)
    }

    /// An error unless both can be added or compared.
    pub(super) fn same_measure(&self, other: &Self) -> Result<(), String> {
        self.ready()?;
        other.ready()?;
        if self.dimension == other.dimension {
            return Ok(());
        }
        Err(format!("{} and {} do not add up or compare", self.measure(), other.measure()))
    }

    /// `self * other`
    pub(super) fn times(self, other: Self) -> Outcome {
        self.ready()?;
        other.ready()?;
        let dimension = combine(self.dimension, other.dimension, 1)?;
        let number = &self.number * &other.number;
        let shown = match (self.dimension == [0; 7], other.dimension == [0; 7]) {
            (_, true) => self.shown,
            (true, false) => other.shown,
            (false, false) => None,
        };
        let exact = self.exact && other.exact;
        Self { number: Number::zero(), exact, dimension, shown, percent: false }.with(number)
    }

    /// `self / other`
    pub(super) fn over(self, other: Self) -> Outcome {
        self.ready()?;
        other.ready()?;
        if other.number.is_zero() {
            return Err("division by zero".to_owned());
        }
        let dimension = combine(self.dimension, other.dimension, -1)?;
        let number = &self.number / &other.number;
        let shown = if other.dimension == [0; 7] { self.shown } else { None };
        let exact = self.exact && other.exact;
        Self { number: Number::zero(), exact, dimension, shown, percent: false }.with(number)
    }

    /// The remainder with the divisor's sign, or the quotient rounded down.
    pub(super) fn divided(self, other: Self, remainder: bool) -> Outcome {
        self.same_measure(&other)?;
        if other.number.is_zero() {
            return Err("division by zero".to_owned());
        }
        let exact = self.exact && other.exact;
        let quotient = (&self.number / &other.number).floor();
        if !remainder {
            return Self { exact, ..Self::from(quotient.clone()) }.with(quotient);
        }
        let rest = &self.number - &other.number * quotient;
        Self { exact, ..self }.with(rest)
    }

    /// A whole number of a machine's size.
    pub(super) fn small(&self, what: &str, limit: u32) -> Result<u32, String> {
        let whole = self.integer()?;
        whole
            .to_u32()
            .filter(|value| *value <= limit)
            .ok_or_else(|| format!("{what} must lie between 0 and {limit}"))
    }
}

/// What an operation answers whose result would be too large.
pub(super) const TOO_LARGE: &str = "the result would have more than 19 000 digits";

/// An error if the number is too large to go on with.
pub(super) fn bounded(number: &Number) -> Result<(), String> {
    if number.numer().bits() > MAX_BITS + 64 || number.denom().bits() > MAX_BITS + 64 {
        return Err(TOO_LARGE.to_owned());
    }
    Ok(())
}

fn combine(left: Dimension, right: Dimension, sign: i8) -> Result<Dimension, String> {
    let mut dimension = left;
    for (to, from) in dimension.iter_mut().zip(right) {
        *to = from
            .checked_mul(sign)
            .and_then(|from| to.checked_add(from))
            .ok_or("this power of a unit is too large")?;
    }
    Ok(dimension)
}

/// Such as `kg*m/s^2`.
pub(super) fn base_units(dimension: Dimension) -> String {
    let side = |sign: i8| {
        let named = units::BASE.iter().zip(dimension).filter(|(_, power)| power.signum() == sign);
        named
            .map(|(name, power)| match power.unsigned_abs() {
                1 => (*name).to_owned(),
                power => format!("{name}^{power}"),
            })
            .collect::<Vec<_>>()
    };
    let (above, below) = (side(1), side(-1));
    let above = if above.is_empty() { "1".to_owned() } else { above.join("*") };
    match below.as_slice() {
        [] => above,
        [one] => format!("{above}/{one}"),
        many => format!("{above}/({})", many.join("*")),
    }
}
