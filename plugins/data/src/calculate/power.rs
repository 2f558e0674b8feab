//! Powers and roots: exact where the answer is a fraction again, bounded before they are carried out.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use super::value::{Dimension, MAX_BITS, Outcome, TOO_LARGE, Value, bounded};
use crate::exact::Number;

impl Value {
    /// `self ^ power`, exact where the power is whole or the root comes out even.
    pub(super) fn raised(self, power: &Self) -> Outcome {
        self.ready()?;
        let exponent = power.plain()?.clone();
        let exact = self.exact && power.exact;
        if exponent.is_integer() {
            let exponent = exponent.numer().to_i64().filter(|e| e.unsigned_abs() <= MAX_BITS * 2);
            return match exponent {
                Some(exponent) => {
                    let result = self.whole_power(exponent)?;
                    bounded(&result.number)?;
                    Ok(Self { exact, ..result })
                }
                None if self.number.abs().is_one() || self.number.is_zero() => {
                    Ok(Self { exact, ..self.unit_power(power)? })
                }
                None => Err(TOO_LARGE.to_owned()),
            };
        }
        let root = exponent.denom().to_u32().filter(|root| *root <= 1_000);
        if let Some(rooted) = root.and_then(|root| self.exact_root(root)) {
            let above = Self::whole(exponent.numer().clone());
            return Ok(Self { exact, ..rooted.raised(&above)? });
        }
        if self.number.is_negative() {
            return Err("a negative number has no such power among the real numbers".to_owned());
        }
        let float = self.float()?.powf(power.float()?);
        // A positive number has no power that is zero: it is only too small to compute.
        Self::approximate(if float == 0.0 && !self.number.is_zero() { f64::NAN } else { float })
    }

    fn whole_power(&self, exponent: i64) -> Outcome {
        let times = exponent.unsigned_abs();
        let bits = self.number.numer().bits().max(self.number.denom().bits());
        // One bit less may be enough: a power of two has no more.
        if bits > 1 && bits.saturating_sub(1).saturating_mul(times) > MAX_BITS {
            return Err(TOO_LARGE.to_owned());
        }
        if exponent < 0 && self.number.is_zero() {
            return Err("division by zero".to_owned());
        }
        let mut dimension = [0; 7];
        for (to, from) in dimension.iter_mut().zip(self.dimension) {
            *to = i64::from(from)
                .checked_mul(exponent)
                .and_then(|power| i8::try_from(power).ok())
                .ok_or("this power of a unit is too large")?;
        }
        let number = Pow::pow(&self.number, BigInt::from(exponent));
        Ok(Self { dimension, ..Self::from(number) })
    }

    /// 0, 1 and -1 to powers of any size.
    fn unit_power(&self, power: &Self) -> Outcome {
        let exponent = power.integer()?;
        if self.number.is_zero() && exponent.is_negative() {
            return Err("division by zero".to_owned());
        }
        self.plain()?;
        let number = if exponent.is_even() { self.number.abs() } else { self.number.clone() };
        Ok(Self::from(number))
    }

    /// The root if it is a fraction again and the dimension divides.
    pub(super) fn exact_root(&self, degree: u32) -> Option<Self> {
        if degree == 0 || (self.number.is_negative() && degree.is_even()) {
            return None;
        }
        let root = |whole: &BigInt| {
            let root = whole.nth_root(degree);
            (Pow::pow(&root, degree) == *whole).then_some(root)
        };
        let number = Number::new(root(self.number.numer())?, root(self.number.denom())?);
        Some(Self { exact: self.exact, dimension: self.root_dimension(degree)?, ..number.into() })
    }

    /// The dimension of the root, if it has one.
    pub(super) fn root_dimension(&self, degree: u32) -> Option<Dimension> {
        let degree = i8::try_from(degree).ok().filter(|degree| *degree > 0);
        let mut dimension = [0; 7];
        for (to, from) in dimension.iter_mut().zip(self.dimension) {
            if from != 0 {
                let degree = degree?;
                *to = (from % degree == 0).then_some(from / degree)?;
            }
        }
        Some(dimension)
    }
}
