#![allow(clippy::unwrap_used)]

use hermes_plugin_sdk::serde_json;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Answers as if it were Sunday, 10 March 2024, 12:00 UTC.
fn ask(arguments: Value) -> Result<Value, String> {
    let arguments: DateTime = serde_json::from_value(arguments).map_err(|e| e.to_string())?;
    let now = "2024-03-10T12:00:00Z".parse().unwrap();
    let answer = answer(&arguments, now).map_err(|failure| failure.to_string())?;
    Ok(serde_json::to_value(answer).unwrap())
}

/// The time of the answer, or the failure.
fn time(arguments: Value) -> String {
    match ask(arguments) {
        Ok(answer) => answer["time"].as_str().unwrap().to_owned(),
        Err(failure) => failure,
    }
}

/// The times of the occurrences, or the failure.
fn times(arguments: Value) -> Vec<String> {
    match ask(arguments) {
        Ok(answer) => answer["occurrences"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                format!(
                    "{} {}",
                    &one["weekday"].as_str().unwrap()[..3],
                    one["time"].as_str().unwrap()
                )
            })
            .collect(),
        Err(failure) => vec![failure],
    }
}

#[test]
fn describes_now_and_converts() {
    let described = |time: &str, zone: &str, weekday: &str, iso_week: &str, day: u32, dst: bool| {
        json!({
            "time": time, "zone": zone, "weekday": weekday, "utc": "2024-03-10T12:00:00Z",
            "unix": 1_710_072_000, "iso_week": iso_week, "day_of_year": day, "days_in_month": 31,
            "leap_year": true, "daylight_saving": dst
        })
    };
    let mut utc = described("2024-03-10T12:00:00+00:00", "UTC", "Sunday", "2024-W10-7", 70, false);
    assert_eq!(ask(json!({})), Ok(utc.clone()));
    utc["converted"] = json!([
        described(
            "2024-03-10T08:00:00-04:00",
            "America/New_York",
            "Sunday",
            "2024-W10-7",
            70,
            true
        ),
        described(
            "2024-03-11T01:00:00+13:00",
            "Pacific/Auckland",
            "Monday",
            "2024-W11-1",
            71,
            true
        ),
    ]);
    let zones = json!(["America/New_York", "Pacific/Auckland"]);
    assert_eq!(ask(json!({"at": "now", "to_zones": zones})), Ok(utc));
}

#[test]
fn reads_the_forms_that_mean_one_thing() {
    let cases = [
        ("today", "2024-03-10T00:00:00+01:00"),
        ("Tomorrow", "2024-03-11T00:00:00+01:00"),
        ("yesterday", "2024-03-09T00:00:00+01:00"),
        ("2024-07-01", "2024-07-01T00:00:00+02:00"),
        ("2024-07-01 14:30", "2024-07-01T14:30:00+02:00"),
        ("2024-07-01T14:30:15.25", "2024-07-01T14:30:15.25+02:00"),
        ("14:30", "2024-03-10T14:30:00+01:00"),
        ("2024-07-01T14:30:00Z", "2024-07-01T16:30:00+02:00"),
        ("2024-07-01 14:30:00-05:00", "2024-07-01T21:30:00+02:00"),
        ("2024-07-01T14:30:00-04:00[America/New_York]", "2024-07-01T14:30:00-04:00"),
        ("2024-07-01 14:30 Asia/Tokyo", "2024-07-01T14:30:00+09:00"),
        ("2024-W10-7", "2024-03-10T00:00:00+01:00"),
        ("20240310", "2024-03-10T00:00:00+01:00"),
        ("1710068400", "2024-03-10T12:00:00+01:00"),
        ("1710068400.5", "2024-03-10T12:00:00.5+01:00"),
        ("1710068400123", "2024-03-10T12:00:00.123+01:00"),
        ("@-1", "1970-01-01T00:59:59+01:00"),
        ("Sun, 10 Mar 2024 12:00:00 +0100", "2024-03-10T12:00:00+01:00"),
    ];
    for (at, expected) in cases {
        assert_eq!(time(json!({"at": at, "zone": "Europe/Paris"})), expected, "{at}");
    }
    let with = |format: &str, at: &str| time(json!({"at": at, "format": format}));
    assert_eq!(with("%d/%m/%Y", "03/04/2024"), "2024-04-03T00:00:00+00:00");
    assert_eq!(with("%m/%d/%Y %I:%M %p", "03/04/2024 2:30 PM"), "2024-03-04T14:30:00+00:00");
    assert_eq!(with("%Y-%m-%d %H:%M %z", "2024-03-04 14:30 +0200"), "2024-03-04T14:30:00+02:00");
}

#[test]
fn says_what_clocks_do_to_a_local_time() {
    let note = |at: &str| {
        let answer = ask(json!({"at": at, "zone": "Europe/Paris"})).unwrap();
        (answer["time"].clone(), answer["note"].clone())
    };
    assert_eq!(
        note("2024-03-31 02:30"),
        (
            json!("2024-03-31T03:30:00+02:00"),
            json!("clocks are set forward over this local time; taken as later by that much")
        )
    );
    assert_eq!(
        note("2024-10-27 02:30"),
        (
            json!("2024-10-27T02:30:00+02:00"),
            json!("clocks show this local time twice; taken as the first time")
        )
    );
    assert_eq!(note("2024-10-27 03:30").1, Value::Null);
}

#[test]
fn adds_durations() {
    let add = |at: &str, duration: &str| {
        let answer = ask(json!({
            "operation": "add", "at": at, "duration": duration, "zone": "Europe/Paris"
        }));
        match answer {
            Ok(answer) => format!("{} {}", answer["time"], answer["added"]).replace('"', ""),
            Err(failure) => failure,
        }
    };
    let cases = [
        ("2024-01-31", "1 month", "2024-02-29T00:00:00+01:00 1 month"),
        ("2024-03-30 12:00", "1 day", "2024-03-31T12:00:00+02:00 1 day"),
        ("2024-03-30 12:00", "24 hours", "2024-03-31T13:00:00+02:00 24 hours"),
        ("2024-03-10", "-90 minutes", "2024-03-09T22:30:00+01:00 -90 minutes"),
        ("2024-03-10", "+2h30m", "2024-03-10T02:30:00+01:00 2 hours 30 minutes"),
        ("2024-03-10", "P1Y2M3DT4H", "2025-05-13T04:00:00+02:00 1 year 2 months 3 days 4 hours"),
        ("2024-03-08", "10 business days", "2024-03-22T00:00:00+01:00 10 business days"),
        ("2024-03-08", "1 business day", "2024-03-11T00:00:00+01:00 1 business day"),
        ("2024-03-09", "1 weekday", "2024-03-11T00:00:00+01:00 1 business day"),
        ("2024-03-10", "-1 working day", "2024-03-08T00:00:00+01:00 -1 business day"),
        ("2024-03-11", "-6 workdays", "2024-03-01T00:00:00+01:00 -6 business days"),
    ];
    for (at, duration, expected) in cases {
        assert_eq!(add(at, duration), expected, "{at} + {duration}");
    }
    let month =
        ask(json!({"operation": "add", "at": "2024-01-31", "duration": "1 month"})).unwrap();
    assert_eq!(month["from"], "2024-01-31T00:00:00+00:00");
    assert_eq!(month["note"], "the month is shorter, so this is its last day");
}

#[test]
fn tells_differences() {
    let difference = |at: &str, until: &str| {
        ask(json!({"operation": "difference", "at": at, "until": until})).unwrap()
    };
    assert_eq!(
        difference("1990-05-17", "2024-03-10 12:00"),
        json!({
            "from": "1990-05-17T00:00:00+00:00", "until": "2024-03-10T12:00:00+00:00",
            "calendar": "33 years 9 months 22 days 12 hours", "days": 12_351, "weekdays": 8_822,
            "seconds": 1_067_169_600_i64
        })
    );
    let back = difference("2024-12-25", "2024-01-01");
    assert_eq!(
        (&back["calendar"], &back["days"], &back["weekdays"]),
        (&json!("-11 months 24 days"), &json!(-359), &json!(-257))
    );
    // Friday to Monday: only the Friday counts.
    assert_eq!(difference("2024-03-08", "2024-03-11")["weekdays"], 1);
    let to_now = ask(json!({"operation": "difference", "at": "2024-03-09"})).unwrap();
    assert_eq!(to_now["seconds"], 129_600);
}

#[test]
fn lists_occurrences() {
    let cases = [
        (
            json!({"at": "2024-01-31", "every": "1 month", "count": 3}),
            "Thu 2024-02-29T00:00:00+00:00, Sun 2024-03-31T00:00:00+00:00, \
             Tue 2024-04-30T00:00:00+00:00",
        ),
        (
            json!({"at": "2000-01-01", "every": "1 second", "after": "now", "count": 1}),
            "Sun 2024-03-10T12:00:01+00:00",
        ),
        (
            json!({"at": "2020-02-29", "every": "1 year", "after": "now", "count": 1}),
            "Fri 2025-02-28T00:00:00+00:00",
        ),
        (
            json!({"at": "2024-03-29 09:00", "every": "1 day", "zone": "Europe/Paris", "count": 2}),
            "Sat 2024-03-30T09:00:00+01:00, Sun 2024-03-31T09:00:00+02:00",
        ),
        (
            json!({"weekdays": ["friday", "monday"], "count": 3}),
            "Mon 2024-03-11T12:00:00+00:00, Fri 2024-03-15T12:00:00+00:00, \
             Mon 2024-03-18T12:00:00+00:00",
        ),
        (
            json!({"at": "2024-03-11", "weekdays": ["monday", "wednesday"], "every": "2 weeks", "count": 3}),
            "Wed 2024-03-13T00:00:00+00:00, Mon 2024-03-25T00:00:00+00:00, \
             Wed 2024-03-27T00:00:00+00:00",
        ),
        (
            json!({"at": "today", "weekdays": ["friday"], "nth": -1, "count": 2}),
            "Fri 2024-03-29T00:00:00+00:00, Fri 2024-04-26T00:00:00+00:00",
        ),
        (
            json!({"at": "today", "weekdays": ["friday"], "nth": 5, "count": 2}),
            "Fri 2024-03-29T00:00:00+00:00, Fri 2024-05-31T00:00:00+00:00",
        ),
        (
            json!({"at": "2030-01-01", "weekdays": ["tuesday"], "after": "now", "count": 1}),
            "Tue 2030-01-01T00:00:00+00:00",
        ),
    ];
    for (mut arguments, expected) in cases {
        arguments["operation"] = json!("occurrences");
        assert_eq!(times(arguments.clone()).join(", "), expected, "{arguments}");
    }
}

#[test]
fn faults_say_what_to_write_instead() {
    let cases = [
        (
            json!({"at": "03/04/2024"}),
            "`at` is `03/04/2024`, which is not read here; write `2024-03-10`, `2024-03-10 14:30`, \
             `2024-03-10T14:30:00+01:00`, `now`, `today`, a Unix time, or say in `format` how it is \
             written",
        ),
        (
            json!({"zone": "PST"}),
            "`PST` is no time zone; abbreviations are ambiguous, use America/Los_Angeles",
        ),
        (json!({"zone": "new york"}), "`new york` is no time zone; did you mean America/New_York?"),
        (
            json!({"zone": "?"}),
            "`?` is no time zone; use an IANA name such as Europe/Paris, or an offset such as +05:30",
        ),
        (json!({"operation": "add"}), "`add` needs a `duration`, such as `3 days`"),
        (
            json!({"operation": "add", "at": "9998-12-31", "duration": "2 years"}),
            "the date or duration is out of range: years go from -9999 to 9999",
        ),
        (
            json!({"operation": "occurrences"}),
            "`occurrences` needs `every`, such as `1 month`, or `weekdays`",
        ),
        (
            json!({"operation": "occurrences", "every": "-1 day"}),
            "`every` must be longer than nothing",
        ),
        (
            json!({"operation": "occurrences", "every": "1 month", "weekdays": ["monday"]}),
            "with `weekdays`, `every` is a number of weeks, such as `2 weeks`",
        ),
        (
            json!({"operation": "occurrences", "every": "1 month", "nth": 1}),
            "`nth` is 1; it is 1 to 5 or -1 and goes with `weekdays` but not with `every`",
        ),
    ];
    for (arguments, message) in cases {
        assert_eq!(ask(arguments), Err(format!("invalid-arguments: {message}")));
    }
    let impossible = time(json!({"at": "2024-02-30"}));
    assert!(
        impossible.contains("which cannot be read (") && impossible.contains("day"),
        "{impossible}"
    );
    let unfit = time(json!({"at": "x", "format": "%Y"}));
    assert!(unfit.contains("`x`, which does not fit the format `%Y`: "), "{unfit}");
    let duration = time(json!({"operation": "add", "duration": "1.5 days"}));
    assert!(duration.contains("`1.5 days`, which is no duration ("), "{duration}");
}

proptest! {
    #[test]
    fn any_texts_are_answered(at in text(), zone in text(), duration in text(), format in text()) {
        for operation in ["describe", "add", "difference", "occurrences"] {
            let _ = ask(json!({
                "operation": operation, "at": at, "duration": duration, "every": duration,
                "until": zone, "after": zone
            }));
        }
        let _ = ask(json!({"zone": zone, "at": at}));
        let _ = ask(json!({"at": at, "format": format}));
    }

    #[test]
    fn any_numbers_are_answered(
        year in -9999_i32..=9999, month in 1_u8..=12, day in 1_u8..=31, amount in any::<i64>(),
        unit in prop::sample::select(vec!["years", "months", "weeks", "days", "hours", "seconds",
            "business days"]),
    ) {
        let at = format!("{year:05}-{month:02}-{day:02}");
        let duration = format!("{amount} {unit}");
        for operation in ["add", "difference", "occurrences"] {
            let _ = ask(json!({"operation": operation, "at": at, "duration": duration,
                "every": duration, "zone": "America/New_York"}));
        }
        let _ = ask(json!({"at": format!("@{amount}")}));
    }

    /// Business days added and taken off again lead back, from a business day.
    #[test]
    fn business_days_lead_back(day in 0_i64..2_000, days in -500_i64..500) {
        let from: jiff::Zoned = "2024-03-11T00:00[UTC]".parse().unwrap();
        let from = distance::add(&from, &format!("{day} business days")).unwrap().zoned;
        let there = distance::add(&from, &format!("{days} business days")).unwrap().zoned;
        let back = distance::add(&there, &format!("{} business days", -days)).unwrap().zoned;
        prop_assert_eq!(back, from);
    }
}

/// Random characters, or a mix of what dates are made of.
fn text() -> impl Strategy<Value = String> {
    let words = vec![
        "2024",
        "-",
        "03",
        "10",
        "T",
        ":",
        "30",
        "Z",
        "+01:00",
        " ",
        "Europe/Paris",
        "[",
        "]",
        "W",
        "P",
        "1",
        "M",
        "D",
        "days",
        "month",
        "@",
        ".",
        "%Y",
        "%",
        "%s",
        "%Q",
        "now",
        "ago",
        "99999",
    ];
    let mix = prop::collection::vec(prop::sample::select(words), 0..10);
    prop_oneof![".{0,30}".boxed(), mix.prop_map(|words| words.concat()).boxed()]
}
