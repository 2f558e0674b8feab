#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn shown(text: &str, digits: u32) -> (String, bool) {
    let decimal = show(&parse(text).unwrap(), digits);
    (decimal.text, decimal.exact)
}

#[test]
fn reads_decimals_and_nothing_else() {
    let half = Number::new(1.into(), 2.into());
    assert_eq!(parse("0.5"), Some(half.clone()));
    assert_eq!(parse(".5"), Some(half.clone()));
    assert_eq!(parse("+5e-1"), Some(half.clone()));
    assert_eq!(parse("-0.50"), Some(-half));
    assert_eq!(parse("12."), Some(Number::from_integer(12.into())));
    for text in ["", ".", "-", "e5", "1e", "1e5000", "1.2.3", "1,5", " 1", "0x1", "NaN", "٣"] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn shows_a_finite_decimal_whole() {
    assert_eq!(shown("0.1", 3), ("0.1".to_owned(), true));
    assert_eq!(shown("-1234567890.0625", 3), ("-1234567890.0625".to_owned(), true));
    assert_eq!(shown("1e50", 3), (format!("1{}", "0".repeat(50)), true));
}

#[test]
fn rounds_what_has_no_end_to_significant_digits() {
    let cases = [
        (1, 3, 5, "0.33333"),
        (2, 3, 5, "0.66667"),
        (-200_000, 3, 3, "-66700"),
        (1_000_000, 700, 4, "1429"),
        (29_990, 3_003, 2, "10"),
        (1, 7, 1, "0.1"),
    ];
    for (numerator, denominator, digits, text) in cases {
        let number = Number::new(numerator.into(), denominator.into());
        assert_eq!(
            show(&number, digits),
            Decimal { text: text.to_owned(), exact: false },
            "{numerator}/{denominator}"
        );
    }
}

#[test]
fn writes_far_magnitudes_with_a_power_of_ten() {
    let third = Number::new(1.into(), 3.into());
    let far = |power: i64| to_digits(&scale_by(&third, power), 4);
    assert_eq!(far(-30), "3.333e-31");
    assert_eq!(far(60), "3.333e59");
    assert_eq!(shown("1e-60", 4), ("1e-60".to_owned(), true));
    assert_eq!(shown("1.23456e-60", 4), ("1.235e-60".to_owned(), false));
}

#[test]
fn rounds_halves_away_from_zero_in_fixed_places() {
    let places = |text: &str, places| show_places(&parse(text).unwrap(), places);
    let decimal = |text: &str, exact| Decimal { text: text.to_owned(), exact };
    assert_eq!(places("2.675", 2), decimal("2.68", false));
    assert_eq!(places("-2.675", 2), decimal("-2.68", false));
    assert_eq!(places("-0.001", 2), decimal("0.00", false));
    assert_eq!(places("2.5", 0), decimal("3", false));
    assert_eq!(places("7", 2), decimal("7.00", true));
    assert!(places("1e-60", 60).exact);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}") {
        let _ = parse(&text);
    }

    #[test]
    fn what_is_shown_whole_reads_back(whole in any::<i64>(), places in 0_u32..50) {
        let number = Number::new(whole.into(), ten_to(places));
        let decimal = show(&number, 5);
        prop_assert!(decimal.exact);
        prop_assert_eq!(parse(&decimal.text), Some(number));
    }

    #[test]
    fn rounding_is_within_half_a_digit(a in any::<i64>(), b in 1_i64.., digits in 1_u32..30) {
        let number = Number::new(a.into(), b.into());
        let text = to_digits(&number, digits);
        let back = parse(&text).unwrap();
        let error = (&back - &number).abs();
        prop_assert!(error * Number::from_integer(ten_to(digits - 1) * 2) <= number.abs());
    }
}
