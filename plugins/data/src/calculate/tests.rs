#![allow(clippy::unwrap_used)]

use hermes_plugin_sdk::{Tool, serde_json};
use proptest::prelude::*;

use super::*;

/// The whole answer, or the failure.
fn ask(arguments: &serde_json::Value) -> String {
    match <calculate as Tool>::call(&arguments.to_string(), &CallInfo::default()) {
        Ok(parts) => parts.iter().filter_map(Part::as_text).collect(),
        Err(failure) => failure.to_string(),
    }
}

/// The answer to an expression in short: result, unit, `~` if it is not exact, fraction.
fn short(expression: &str) -> String {
    let arguments = Calculate { expression: expression.to_owned(), decimals: None, base: None };
    match calculate(arguments) {
        Ok(Json(answer)) => {
            let unit = answer.unit.map(|unit| format!(" {unit}")).unwrap_or_default();
            let about = if answer.exact { "" } else { "~" };
            let fraction = answer.fraction.map(|text| format!(" = {text}")).unwrap_or_default();
            format!("{about}{}{unit}{fraction}", answer.result)
        }
        Err(failure) => failure.message,
    }
}

fn check(cases: &[(&str, &str)]) {
    for (expression, answer) in cases {
        assert_eq!(short(expression), *answer, "{expression}");
    }
}

#[test]
fn answers_with_result_and_exactness() {
    assert_eq!(
        ask(&serde_json::json!({"expression": "0.1 + 0.2"})),
        r#"{"result":"0.3","exact":true}"#
    );
    assert_eq!(
        ask(&serde_json::json!({"expression": "1/3"})),
        r#"{"result":"0.33333333333333333333","exact":false,"fraction":"1/3"}"#
    );
    assert_eq!(
        ask(&serde_json::json!({"expression": "10 ft to m", "decimals": 1})),
        r#"{"result":"3.0","unit":"m","exact":false,"fraction":"381/125"}"#
    );
    assert_eq!(
        ask(&serde_json::json!({"expression": "2^64 - 1", "base": 16})),
        r#"{"result":"ffffffffffffffff","exact":true}"#
    );
}

#[test]
fn arithmetic_is_exact_at_any_size() {
    check(&[
        ("0.1 + 0.2 == 0.3", "true"),
        ("2^100", "1267650600228229401496703205376"),
        ("100! / 98!", "9900"),
        ("1 / 1024", "0.0009765625"),
        ("1e3 + 1_000 + 0xff + 0b11", "2258"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2^-2", "0.25"),
        ("2 ** 10", "1024"),
        ("3 × 4 ÷ 2 − 1", "5"),
        ("1 << 70 >> 68 | 3 & 2", "6"),
        ("10000!", "at character 6, `!`: the argument of a factorial must lie between 0 and 5000"),
        ("3!!", "720"),
        ("(-1)^(10^50)", "1"),
        ("0.5 > 1/3", "true"),
        ("a = 3; b = 4\nsqrt(a^2 + b^2)", "5"),
    ]);
}

#[test]
fn percentages_count_of_what_stands_before() {
    check(&[
        ("200 + 10%", "220"),
        ("200 - 10%", "180"),
        ("200 + (10%)", "200.1"),
        ("200 * 10%", "20"),
        ("15% of 80", "12"),
        ("5% + 5%", "0.1"),
        ("10 % 3", "1"),
        ("-7 % 3", "2"),
        ("7 mod -3", "-2"),
        ("10 % - 3", "-2"),
        ("10% - 3", "-2.9"),
        ("100 km + 5%", "105 km"),
    ]);
}

#[test]
fn functions_are_exact_where_they_come_out_even() {
    check(&[
        ("sqrt(16) + cbrt(27) + root(81, 4)", "10"),
        ("16^(1/4)", "2"),
        ("(8/27)^(2/3)", "~0.44444444444444444444 = 4/9"),
        ("(-8)^(1/3)", "-2"),
        ("log2(1024) + log(1000) + log(81, 3) + ln(1)", "17"),
        ("sqrt(2)", "~1.4142135623731"),
        ("sin(30 deg)", "~0.5"),
        ("sin(pi)", "~0"),
        ("exp(1) - e", "~0"),
        ("ln(10^1000)", "~2302.58509299405"),
        ("round(2.675, 2) + floor(-0.5) + ceil(0.1) + trunc(-1.9)", "1.68"),
        ("min(3, 1, 2) + max(3, 1, 2) + sum(1, 2, 3) + median(5, 1, 9)", "15"),
        ("mean(1, 2, 6)", "3"),
        ("variance(2, 4, 4, 4, 5, 5, 7, 9)", "~4.5714285714285714286 = 32/7"),
        ("gcd(12, 18) + lcm(4, 6) + xor(6, 3)", "23"),
        ("ncr(52, 5)", "2598960"),
        ("npr(5, 2)", "20"),
        ("powmod(3, 200, 13)", "9"),
        ("hypot(3, 4)", "5"),
        ("atan2(1, 1) * 4 - pi", "~0"),
    ]);
}

#[test]
fn units_convert_and_combine() {
    check(&[
        ("100 km/h to mph", "~62.137119223733396962 mph = 781250/12573"),
        ("5 km + 300 m", "5.3 km"),
        ("5 ft + 6 in to cm", "167.64 cm"),
        ("5 in to cm", "12.7 cm"),
        ("12 m in ft", "~39.370078740157480315 ft = 5000/127"),
        ("1 GiB to MB", "1073.741824 MB"),
        ("3 GiB / (20 Mbps) to minutes", "21.47483648 minutes"),
        ("20 °C to °F", "68 °F"),
        ("0 K to celsius", "-273.15 celsius"),
        ("72 kg / (1.80 m)^2", "~22.222222222222222222 kg/m^2 = 200/9"),
        ("sqrt(9 m^2)", "3 m"),
        ("1.5 hours to min", "90 min"),
        ("2 kWh to kJ", "7200 kJ"),
        (
            "20 °C + 1 K",
            "at character 7, `+ 1 K`: degrees can only be converted with `to`; calculate in K",
        ),
        (
            "5 km + 3 s",
            "at character 6, `+ 3 s`: a value in km and a value in s do not add up or compare",
        ),
        ("5 km to kg", "at character 9, `kg`: a value in km cannot be converted to `kg`"),
        (
            "sin(5 km)",
            "at character 1, `sin(5 km)`: a plain number is needed here, not a value in km",
        ),
        ("10 dB", "at character 4, `dB`: `dB` is no variable, constant, unit or function"),
    ]);
}

#[test]
fn what_it_does_not_understand_it_refuses_with_the_place() {
    check(&[
        ("", "at the end of the expression: the expression is empty"),
        ("1 +", "at the end of the expression: expected a number, found the end"),
        (
            "1,234 + 1",
            "at character 2, `,234 + 1`: expected an operator or the end, found `,` (write numbers \
             without thousands separators and with a decimal point)",
        ),
        ("2(3)", "at character 2, `(3)`: expected an operator, found `(`"),
        ("2 sqrt(4)", "at character 3, `sqrt(4)`: write `*` before `sqrt(`"),
        ("(1 + 2", "at the end of the expression: expected `)`, found the end"),
        ("1 / (2 - 2)", "at character 3, `/ (2 - 2)`: division by zero"),
        ("foo + 1", "at character 1, `foo + 1`: `foo` is no variable, constant, unit or function"),
        ("sqrt", "at character 1, `sqrt`: `sqrt` is a function: write `sqrt(…)`"),
        ("pi = 3", "at character 1, `pi = 3`: `pi` has a meaning of its own; take another name"),
        ("$5", "at character 1, `$5`: `$`: write amounts of money as plain numbers"),
        ("1 ? 2", "at character 3, `? 2`: `?` means nothing here"),
        (
            "root(-4, 2)",
            "at character 1, `root(-4, 2)`: a negative number has no such root among the real \
             numbers",
        ),
    ]);
}

#[test]
fn nothing_grows_beyond_its_bounds() {
    let too_large = "the result would have more than 19 000 digits";
    for expression in ["2^2^2^2^30", "9^9^9", "7^20000 * 7^20000", "ncr(10^30, 10^6)"] {
        let answer = short(expression);
        assert!(answer.ends_with(too_large), "{expression}: {answer}");
    }
    for expression in ["10000!", "1 << 10^9", "1e5000", "exp(10^6)", "exp(-10^6)", "10^0.5^10^9"] {
        assert!(short(expression).starts_with("at "), "{expression}: {}", short(expression));
    }
    let deep = format!("{}1{}", "(".repeat(4_000), ")".repeat(4_000));
    for expression in [deep, "-".repeat(9_000), "2^".repeat(4_000)] {
        assert!(short(&expression).contains("too many levels"), "{}", short(&expression));
    }
    let long = "1+".repeat(6_000);
    assert_eq!(
        short(&long),
        "the expression has more than 10000 characters; calculate it in parts"
    );
}

#[test]
fn decimals_and_base_are_checked() {
    assert_eq!(
        ask(&serde_json::json!({"expression": "1/3", "base": 2})),
        "invalid-arguments: only whole numbers can be written in base 2, not 0.333333333333333"
    );
    assert_eq!(
        ask(&serde_json::json!({"expression": "1", "base": 1})),
        "invalid-arguments: `base` lies between 2 and 36"
    );
    assert_eq!(
        ask(&serde_json::json!({"expression": "1", "decimals": 1001})),
        "invalid-arguments: `decimals` is at most 1000"
    );
}

#[test]
fn every_unit_has_a_factor() {
    for unit in units::names() {
        assert!(units::find(unit).is_some(), "{unit}");
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(expression in ".{0,60}") {
        short(&expression);
    }

    /// Text made of what expressions are made of gets further than random characters.
    #[test]
    fn any_mix_of_words_is_answered(words in prop::collection::vec(word(), 0..25)) {
        short(&words.concat());
    }

    #[test]
    fn sums_of_decimals_are_those_of_whole_numbers(a in -10_000_i64..10_000, b in -10_000_i64..10_000) {
        let decimal = |number: i64| format!("({number} / 100)");
        let sum = short(&format!("{} + {}", decimal(a), decimal(b)));
        prop_assert_eq!(sum, short(&format!("({a} + {b}) / 100")));
    }
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "1",
        "0",
        "2.5",
        "1e3",
        "99999999999",
        "+",
        "-",
        "*",
        "/",
        "^",
        "%",
        "!",
        "(",
        ")",
        ",",
        ";",
        "=",
        "a",
        " ",
        "km",
        "s",
        "°C",
        " to ",
        " of ",
        "sqrt(",
        "root(",
        "log(",
        "max(",
        "ncr(",
        "median(",
        "round(",
        "pi",
        "<<",
        ">>",
        "&",
        "|",
        "mod",
        "==",
        "<",
        "5%",
        "0x1f",
    ])
}
