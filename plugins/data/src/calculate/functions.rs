//! The functions an expression may call. A result is exact wherever the mathematics allows it;
//! otherwise it comes from floating-point arithmetic and says so.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::value::{MAX_BITS, Outcome, TOO_LARGE, Value};
use crate::exact::{self, Number};

type Function = fn(Vec<Value>) -> Outcome;

/// The largest factorial computed: 5 000! has 16 326 digits.
const MAX_FACTORIAL: u32 = 5_000;

/// Bits up to which powers are reduced modulo a number; cryptographic sizes.
const MAX_MODULAR_BITS: u64 = 4_096;

/// How many arguments a list function takes, more than any expression of legal length holds.
const MANY: usize = usize::MAX;

/// Names, the least and the most arguments, the function.
type Row = (&'static [&'static str], usize, usize, Function);

const TABLE: &[Row] = &[
    (&["abs"], 1, 1, |a| Ok(Value { number: a[0].number.abs(), ..a[0].clone() })),
    (&["sign", "sgn"], 1, 1, |a| Ok(Value::from(a[0].number.signum()))),
    (&["round"], 1, 2, |a| to_place(&a, exact::round)),
    (&["floor"], 1, 2, |a| to_place(&a, |n| n.floor().to_integer())),
    (&["ceil"], 1, 2, |a| to_place(&a, |n| n.ceil().to_integer())),
    (&["trunc"], 1, 2, |a| to_place(&a, Number::to_integer)),
    (&["min"], 1, MANY, |a| extreme(a, Ordering::Less)),
    (&["max"], 1, MANY, |a| extreme(a, Ordering::Greater)),
    (&["sum"], 1, MANY, sum),
    (&["mean", "avg", "average"], 1, MANY, mean),
    (&["median"], 1, MANY, median),
    (&["variance"], 2, MANY, variance),
    (&["stdev"], 2, MANY, |a| root(&variance(a)?, 2)),
    (&["gcd"], 1, MANY, |a| whole(&a, |x, y| Ok(x.gcd(y)))),
    (&["lcm"], 1, MANY, |a| whole(&a, |x, y| Ok(x.lcm(y)))),
    (&["xor"], 1, MANY, |a| whole(&a, |x, y| Ok(x ^ y))),
    (&["factorial"], 1, 1, |a| factorial(&a[0])),
    (&["ncr", "choose"], 2, 2, |a| choose(&a, true)),
    (&["npr"], 2, 2, |a| choose(&a, false)),
    (&["mod"], 2, 2, |a| two(a, |x, y| x.divided(y, true))),
    (&["div"], 2, 2, |a| two(a, |x, y| x.divided(y, false))),
    (&["pow"], 2, 2, |a| two(a, |x, y| x.raised(&y))),
    (&["powmod"], 3, 3, |a| power_modulo(&a)),
    (&["sqrt"], 1, 1, |a| root(&a[0], 2)),
    (&["cbrt"], 1, 1, |a| root(&a[0], 3)),
    (&["root"], 2, 2, |a| root(&a[0], a[1].small("the degree of a root", 1_000)?)),
    (&["exp"], 1, 1, |a| float(&a, 0, 1, exponential)),
    (&["ln"], 1, 1, |a| Value::approximate_unless(&a[0], 1, 0, || natural(&a[0]))),
    (&["log", "log10"], 1, 2, |a| logarithm(&a[0], a.get(1), 10)),
    (&["log2"], 1, 1, |a| logarithm(&a[0], None, 2)),
    (&["sin"], 1, 1, |a| float(&a, 0, 0, f64::sin)),
    (&["cos"], 1, 1, |a| float(&a, 0, 1, f64::cos)),
    (&["tan"], 1, 1, |a| float(&a, 0, 0, f64::tan)),
    (&["asin"], 1, 1, |a| float(&a, 0, 0, f64::asin)),
    (&["acos"], 1, 1, |a| float(&a, 1, 0, f64::acos)),
    (&["atan"], 1, 1, |a| float(&a, 0, 0, f64::atan)),
    (&["sinh"], 1, 1, |a| float(&a, 0, 0, f64::sinh)),
    (&["cosh"], 1, 1, |a| float(&a, 0, 1, f64::cosh)),
    (&["tanh"], 1, 1, |a| float(&a, 0, 0, f64::tanh)),
    (&["atan2"], 2, 2, |a| Value::approximate(a[0].float()?.atan2(a[1].float()?))),
    (&["hypot"], 2, 2, hypotenuse),
];

/// Whether there is a function of this name.
pub(super) fn exists(name: &str) -> bool {
    TABLE.iter().any(|row| row.0.contains(&name))
}

/// Calls a function.
pub(super) fn call(name: &str, arguments: Vec<Value>) -> Outcome {
    let Some((_, least, most, function)) = TABLE.iter().find(|row| row.0.contains(&name)) else {
        let names: Vec<&str> = TABLE.iter().filter_map(|row| row.0.first().copied()).collect();
        return Err(format!("there is no function `{name}`, only {}", names.join(", ")));
    };
    if !(*least..=*most).contains(&arguments.len()) {
        let range = match *most {
            MANY => format!("at least {least}"),
            most if most == *least => format!("{least}"),
            most => format!("{least} to {most}"),
        };
        return Err(format!("`{name}` takes {range} arguments, not {}", arguments.len()));
    }
    arguments.iter().try_for_each(Value::ready)?;
    function(arguments)
}

impl Value {
    /// The exact `then` if the argument is exactly `when`, else what floating-point arithmetic says.
    fn approximate_unless(
        argument: &Self,
        when: i64,
        then: i64,
        otherwise: impl FnOnce() -> Result<f64, String>,
    ) -> Outcome {
        if argument.exact && *argument.plain()? == Number::from_integer(when.into()) {
            return Ok(Self::whole(then.into()));
        }
        Self::approximate(otherwise()?)
    }
}

fn float(arguments: &[Value], when: i64, then: i64, function: fn(f64) -> f64) -> Outcome {
    let argument = &arguments[0];
    Value::approximate_unless(argument, when, then, || {
        let x = argument.float()?;
        let y = function(x);
        // sin(pi) is 0 in exact arithmetic; what is left over is only pi's own rounding.
        Ok(if y.abs() < f64::EPSILON * x.abs().max(1.0) && x.abs() > 1.0 { 0.0 } else { y })
    })
}

/// Too small for floating-point arithmetic is no more a result than too large.
fn exponential(x: f64) -> f64 {
    let y = x.exp();
    if y == 0.0 { f64::NAN } else { y }
}

fn two(arguments: Vec<Value>, function: impl FnOnce(Value, Value) -> Outcome) -> Outcome {
    match <[Value; 2]>::try_from(arguments) {
        Ok([first, second]) => function(first, second),
        Err(_) => Err("two arguments are needed here".to_owned()),
    }
}

/// Folds plain whole numbers.
fn whole(
    arguments: &[Value],
    fold: impl Fn(&BigInt, &BigInt) -> Result<BigInt, String>,
) -> Outcome {
    let mut result = arguments[0].integer()?;
    for argument in &arguments[1..] {
        result = fold(&result, &argument.integer()?)?;
        if result.bits() > MAX_BITS {
            return Err(TOO_LARGE.to_owned());
        }
    }
    Ok(Value::whole(result))
}

/// Rounds to a decimal place; a value with a unit is rounded in that unit.
fn to_place(arguments: &[Value], rounding: fn(&Number) -> BigInt) -> Outcome {
    let value = &arguments[0];
    let places = match arguments.get(1) {
        Some(places) => places.small("the number of decimal places", 1_000)?,
        None => 0,
    };
    let unit = match &value.shown {
        Some(unit) => unit.factor.clone(),
        None => Number::one(),
    };
    let scale = Number::from_integer(exact::ten_to(places)) / unit;
    let rounded = Number::from_integer(rounding(&(&value.number * &scale))) / scale;
    Ok(Value { number: rounded, percent: false, ..value.clone() })
}

fn extreme(arguments: Vec<Value>, wanted: Ordering) -> Outcome {
    let mut rest = arguments.into_iter();
    let mut best = rest.next().unwrap_or_default();
    for next in rest {
        best.same_measure(&next)?;
        let exact = best.exact && next.exact;
        if next.number.cmp(&best.number) == wanted {
            best = next;
        }
        best.exact = exact;
    }
    Ok(best)
}

fn sum(arguments: Vec<Value>) -> Outcome {
    let mut rest = arguments.into_iter();
    let mut total = Value { percent: false, ..rest.next().unwrap_or_default() };
    for next in rest {
        total = total.plus(Value { percent: false, ..next }, false)?;
    }
    Ok(total)
}

fn mean(arguments: Vec<Value>) -> Outcome {
    let count = Value::whole(arguments.len().into());
    sum(arguments)?.over(count)
}

fn median(mut arguments: Vec<Value>) -> Outcome {
    for pair in arguments.windows(2) {
        pair[0].same_measure(&pair[1])?;
    }
    arguments.sort_by(|a, b| a.number.cmp(&b.number));
    let middle = arguments.len() / 2;
    if arguments.len() % 2 == 1 {
        return Ok(arguments.swap_remove(middle));
    }
    mean(arguments.drain(middle - 1..=middle).collect())
}

/// Of a sample, so divided by one less than the count.
fn variance(arguments: Vec<Value>) -> Outcome {
    let count = arguments.len();
    let middle = mean(arguments.clone())?;
    let mut squares = Vec::with_capacity(count);
    for value in arguments {
        let distance = Value { percent: false, ..value }.plus(middle.clone(), true)?;
        squares.push(distance.clone().times(distance)?);
    }
    sum(squares)?.over(Value::whole((count - 1).into()))
}

/// `value!`
pub(super) fn factorial(value: &Value) -> Outcome {
    let count = value.small("the argument of a factorial", MAX_FACTORIAL)?;
    Ok(Value::whole((1..=count).fold(BigInt::one(), |product, factor| product * factor)))
}

/// Choices of k among n, or arrangements if the order counts.
fn choose(arguments: &[Value], unordered: bool) -> Outcome {
    let (n, k) = (arguments[0].integer()?, arguments[1].integer()?);
    if n.is_negative() || k.is_negative() {
        return Err("the arguments must not be negative".to_owned());
    }
    if k > n {
        return Ok(Value::whole(BigInt::zero()));
    }
    let fewer = if unordered { k.clone().min(&n - &k) } else { k };
    let steps = fewer.to_u32().filter(|steps| *steps <= 100_000).ok_or(TOO_LARGE)?;
    let mut result = BigInt::one();
    for step in 0..steps {
        result *= &n - step;
        if unordered {
            result /= step + 1;
        }
        if result.bits() > MAX_BITS {
            return Err(TOO_LARGE.to_owned());
        }
    }
    Ok(Value::whole(result))
}

fn power_modulo(arguments: &[Value]) -> Outcome {
    let mut numbers = Vec::with_capacity(3);
    for argument in arguments {
        let number = argument.integer()?;
        if number.bits() > MAX_MODULAR_BITS {
            return Err("`powmod` takes numbers of at most 4096 bits".to_owned());
        }
        numbers.push(number);
    }
    let (base, exponent, modulus) = (&numbers[0], &numbers[1], &numbers[2]);
    if exponent.is_negative() || !modulus.is_positive() {
        return Err("`powmod(base, exponent, modulus)` needs exponent >= 0, modulus > 0".to_owned());
    }
    Ok(Value::whole(base.modpow(exponent, modulus)))
}

fn root(value: &Value, degree: u32) -> Outcome {
    if degree == 0 {
        return Err("there is no root of degree 0".to_owned());
    }
    if let Some(root) = value.exact_root(degree) {
        return Ok(root);
    }
    let Some(dimension) = value.root_dimension(degree) else {
        return Err(format!("{} has no such root", value.measure()));
    };
    if value.number.is_negative() && degree.is_even() {
        return Err("a negative number has no such root among the real numbers".to_owned());
    }
    // The whole-number root of the number times a power of ten gives 40 digits at any size.
    let size = value.number.denom().bits().max(value.number.numer().bits());
    let digits = u32::try_from(size / 3).unwrap_or(u32::MAX) / degree + 40;
    if u64::from(digits) * u64::from(degree) * 4 > MAX_BITS * 4 {
        return Err("this root is too laborious; use ^ with a decimal exponent".to_owned());
    }
    let scale = Number::from_integer(exact::ten_to(digits * degree));
    let scaled = (&value.number * scale).to_integer().nth_root(degree);
    let number = Number::new(scaled, exact::ten_to(digits));
    Ok(Value { exact: false, dimension, ..Value::from(number) })
}

/// The natural logarithm, of numbers beyond floating-point range too.
fn natural(value: &Value) -> Result<f64, String> {
    let number = value.plain()?;
    if !number.is_positive() {
        return Err("only positive numbers have a logarithm".to_owned());
    }
    let part = |whole: &BigInt| {
        let beyond = whole.bits().saturating_sub(1_000);
        let near = (whole >> beyond).to_f64().unwrap_or(f64::INFINITY);
        let beyond = beyond.to_f64().unwrap_or(f64::INFINITY);
        beyond.mul_add(std::f64::consts::LN_2, near.ln())
    };
    if let Some(float) = number.to_f64().filter(|float| float.is_normal()) {
        return Ok(float.ln());
    }
    Ok(part(number.numer()) - part(number.denom()))
}

/// To a base; exact if the number is a whole power of the base.
fn logarithm(value: &Value, base: Option<&Value>, usual: i64) -> Outcome {
    let usual = Value::whole(usual.into());
    let base = base.unwrap_or(&usual);
    let divisor = natural(base)?;
    if divisor == 0.0 {
        return Err("there is no logarithm to the base 1".to_owned());
    }
    let result = natural(value)? / divisor;
    let guess = Value::whole(Number::from_float(result.round()).unwrap_or_default().to_integer());
    if value.exact
        && base.exact
        && base.clone().raised(&guess).is_ok_and(|power| power.number == value.number)
    {
        return Ok(guess);
    }
    Value::approximate(result)
}

fn hypotenuse(arguments: Vec<Value>) -> Outcome {
    two(arguments, |x, y| {
        let squares = x.clone().times(x)?.plus(y.clone().times(y)?, false)?;
        root(&squares, 2)
    })
}
