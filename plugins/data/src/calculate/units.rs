//! Units of measurement as a table of exact factors to the base units. Left out: currencies, whose
//! rates change, and units whose size differs from country to country.

use num_traits::Zero;

use super::value::{Dimension, Shown, Value};
use crate::exact::{self, Number};

/// Exponents of metre, kilogram, second, ampere, kelvin, mole and bit.
const NONE: Dimension = [0; 7];
const LENGTH: Dimension = [1, 0, 0, 0, 0, 0, 0];
const AREA: Dimension = [2, 0, 0, 0, 0, 0, 0];
const VOLUME: Dimension = [3, 0, 0, 0, 0, 0, 0];
const MASS: Dimension = [0, 1, 0, 0, 0, 0, 0];
const TIME: Dimension = [0, 0, 1, 0, 0, 0, 0];
const CURRENT: Dimension = [0, 0, 0, 1, 0, 0, 0];
const KELVIN: Dimension = [0, 0, 0, 0, 1, 0, 0];
const AMOUNT: Dimension = [0, 0, 0, 0, 0, 1, 0];
const DATA: Dimension = [0, 0, 0, 0, 0, 0, 1];
const DATA_RATE: Dimension = [0, 0, -1, 0, 0, 0, 1];
const SPEED: Dimension = [1, 0, -1, 0, 0, 0, 0];
const FREQUENCY: Dimension = [0, 0, -1, 0, 0, 0, 0];
const FORCE: Dimension = [1, 1, -2, 0, 0, 0, 0];
const PRESSURE: Dimension = [-1, 1, -2, 0, 0, 0, 0];
const ENERGY: Dimension = [2, 1, -2, 0, 0, 0, 0];
const POWER: Dimension = [2, 1, -3, 0, 0, 0, 0];
const VOLTAGE: Dimension = [2, 1, -3, -1, 0, 0, 0];
const RESISTANCE: Dimension = [2, 1, -3, -2, 0, 0, 0];
const CHARGE: Dimension = [0, 0, 1, 1, 0, 0, 0];

/// The symbols of the base units, in the order of a [`Dimension`].
pub(super) const BASE: [&str; 7] = ["m", "kg", "s", "A", "K", "mol", "bit"];

/// Names, the factor as `numerator/denominator` or a decimal, the dimension.
type Row = (&'static [&'static str], &'static str, Dimension);

/// Units that take no prefix.
const PLAIN: &[Row] = &[
    (&["percent"], "0.01", NONE),
    (&["dozen"], "12", NONE),
    (&["inch", "inches", "in"], "0.0254", LENGTH),
    (&["ft", "foot", "feet"], "0.3048", LENGTH),
    (&["yd", "yard", "yards"], "0.9144", LENGTH),
    (&["mi", "mile", "miles"], "1609.344", LENGTH),
    (&["nmi"], "1852", LENGTH),
    (&["au"], "149597870700", LENGTH),
    (&["ly", "lightyear", "lightyears"], "9460730472580800", LENGTH),
    (&["ha", "hectare", "hectares"], "10000", AREA),
    (&["acre", "acres"], "4046.8564224", AREA),
    (&["gal", "gallon", "gallons"], "0.003785411784", VOLUME),
    (&["pint", "pints"], "0.000473176473", VOLUME),
    (&["cup", "cups"], "0.0002365882365", VOLUME),
    (&["floz"], "0.0000295735295625", VOLUME),
    (&["t", "tonne", "tonnes"], "1000", MASS),
    (&["lb", "lbs", "pound", "pounds"], "0.45359237", MASS),
    (&["oz", "ounce", "ounces"], "0.028349523125", MASS),
    (&["stone"], "6.35029318", MASS),
    (&["min", "mins", "minute", "minutes"], "60", TIME),
    (&["h", "hr", "hrs", "hour", "hours"], "3600", TIME),
    (&["d", "day", "days"], "86400", TIME),
    (&["week", "weeks"], "604800", TIME),
    (&["month", "months"], "2629746", TIME),
    (&["yr", "year", "years"], "31556952", TIME),
    (&["kph", "kmh"], "5/18", SPEED),
    (&["mph"], "0.44704", SPEED),
    (&["knot", "knots", "kn"], "463/900", SPEED),
    (&["rpm"], "1/60", FREQUENCY),
    (&["lbf"], "4.4482216152605", FORCE),
    (&["atm"], "101325", PRESSURE),
    (&["psi"], "8896443230521/1290320000", PRESSURE),
    (&["mmHg"], "133.322387415", PRESSURE),
    (&["kcal"], "4184", ENERGY),
    (&["BTU", "Btu"], "1055.05585262", ENERGY),
    (&["hp"], "745.69987158227022", POWER),
    (&["K", "kelvin"], "1", KELVIN),
    (&["kbps"], "1000", DATA_RATE),
    (&["Mbps"], "1000000", DATA_RATE),
    (&["Gbps"], "1000000000", DATA_RATE),
];

/// Units with decimal prefixes.
const DECIMAL: &[Row] = &[
    (&["m", "meter", "meters", "metre", "metres"], "1", LENGTH),
    (&["L", "l", "liter", "liters", "litre", "litres"], "0.001", VOLUME),
    (&["g", "gram", "grams"], "0.001", MASS),
    (&["s", "sec", "secs", "second", "seconds"], "1", TIME),
    (&["A", "amp", "amps", "ampere"], "1", CURRENT),
    (&["mol"], "1", AMOUNT),
    (&["Hz", "hertz"], "1", FREQUENCY),
    (&["N", "newton", "newtons"], "1", FORCE),
    (&["Pa", "pascal"], "1", PRESSURE),
    (&["bar"], "100000", PRESSURE),
    (&["J", "joule", "joules"], "1", ENERGY),
    (&["cal"], "4.184", ENERGY),
    (&["eV"], "0.0000000000000000001602176634", ENERGY),
    (&["Wh"], "3600", ENERGY),
    (&["W", "watt", "watts"], "1", POWER),
    (&["V", "volt", "volts"], "1", VOLTAGE),
    (&["Ω", "ohm", "ohms"], "1", RESISTANCE),
    (&["Ah"], "3600", CHARGE),
    (&["bit", "bits", "b"], "1", DATA),
    (&["B", "byte", "bytes"], "8", DATA),
];

/// Prefixes for symbols and names of [`DECIMAL`] units.
const PREFIXES: [(&str, &str, i32); 13] = [
    ("p", "pico", -12),
    ("n", "nano", -9),
    ("µ", "micro", -6),
    ("μ", "micro", -6),
    ("u", "micro", -6),
    ("m", "milli", -3),
    ("c", "centi", -2),
    ("d", "deci", -1),
    ("k", "kilo", 3),
    ("M", "mega", 6),
    ("G", "giga", 9),
    ("T", "tera", 12),
    ("P", "peta", 15),
];

/// Prefixes that count in 1024s, for bits and bytes.
const BINARY: [(&str, &str, u32); 5] =
    [("Ki", "kibi", 1), ("Mi", "mebi", 2), ("Gi", "gibi", 3), ("Ti", "tebi", 4), ("Pi", "pebi", 5)];

/// Temperatures whose zero is elsewhere: names, kelvins a degree, kelvins at zero degrees.
const DEGREES: &[(&[&str], &str, &str)] = &[
    (&["°C", "degC", "celsius", "Celsius"], "1", "273.15"),
    (&["°F", "degF", "fahrenheit", "Fahrenheit"], "5/9", "45967/180"),
];

/// One of a unit, or nothing if no unit has this name.
pub(super) fn find(name: &str) -> Option<Value> {
    if let Some((_, factor, zero)) = DEGREES.iter().find(|row| row.0.contains(&name)) {
        return unit(name, ratio(factor)?, ratio(zero)?, KELVIN);
    }
    if let Some((factor, dimension)) = lookup(PLAIN, name).or_else(|| lookup(DECIMAL, name)) {
        return unit(name, factor, Number::zero(), dimension);
    }
    let (factor, dimension) = prefixed(name)?;
    unit(name, factor, Number::zero(), dimension)
}

fn unit(name: &str, factor: Number, zero: Number, dimension: Dimension) -> Option<Value> {
    let shown = Shown { name: name.to_owned(), factor: factor.clone(), zero };
    Some(Value { number: factor, dimension, shown: Some(shown), ..Value::default() })
}

fn lookup(rows: &[Row], name: &str) -> Option<(Number, Dimension)> {
    let (_, factor, dimension) = rows.iter().find(|row| row.0.contains(&name))?;
    Some((ratio(factor)?, *dimension))
}

/// A symbol takes a symbol's prefix (`km`), a name a name's (`kilometers`).
fn prefixed(name: &str) -> Option<(Number, Dimension)> {
    for (short, long, power) in BINARY {
        let unit = name.strip_prefix(long).or_else(|| name.strip_prefix(short));
        let Some((factor, dimension)) = unit.and_then(|unit| lookup(DECIMAL, unit)) else {
            continue;
        };
        if dimension == DATA {
            return Some((factor * Number::from_integer(1024_i64.pow(power).into()), dimension));
        }
    }
    for (short, long, power) in PREFIXES {
        let symbol = name.strip_prefix(short).filter(|unit| unit.chars().count() <= 2);
        let spelled = name.strip_prefix(long).filter(|unit| unit.chars().count() > 2);
        let Some((factor, dimension)) = spelled.or(symbol).and_then(|unit| lookup(DECIMAL, unit))
        else {
            continue;
        };
        // `dB` is a ratio of powers, not a tenth of a byte.
        if dimension == DATA && power < 3 {
            continue;
        }
        let scale = Number::from_integer(exact::ten_to(power.unsigned_abs()));
        return Some((if power < 0 { factor / scale } else { factor * scale }, dimension));
    }
    None
}

fn ratio(text: &str) -> Option<Number> {
    match text.split_once('/') {
        Some((above, below)) => Some(exact::parse(above)? / exact::parse(below)?),
        None => exact::parse(text),
    }
}

/// All names without prefixes.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let rows = PLAIN.iter().chain(DECIMAL).map(|row| row.0);
    rows.chain(DEGREES.iter().map(|row| row.0)).flatten().copied()
}
