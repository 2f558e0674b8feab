//! Adding durations and telling the distance between two moments.

use hermes_plugin_sdk::prelude::*;
use jiff::civil::{Date, Weekday};
use jiff::fmt::friendly::{Designator, Direction, Spacing, SpanPrinter};
use jiff::{Span, ToSpan, Unit, Zoned};
use serde::Serialize;

use super::describe;
use super::moment::{Moment, out_of_range};

/// Business days that can be added.
const MAX_BUSINESS_DAYS: i64 = 100_000;

/// Bytes of a duration.
const MAX_LENGTH: usize = 200;

/// How far it is from one moment to another; negative if the other is earlier.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Distance {
    from: String,
    until: String,
    /// In years, months, days, hours, ….
    calendar: String,
    /// Between the two dates, whatever the time of day.
    days: i64,
    /// Mondays to Fridays among the dates from the first on and before the last.
    weekdays: i64,
    seconds: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The distance; both are seen in the first one's zone.
pub(super) fn between(from: &Moment, until: &Moment) -> Result<Distance, Failure> {
    let other = until.zoned.with_time_zone(from.zoned.time_zone().clone());
    let span = from.zoned.until((Unit::Year, &other)).map_err(out_of_range)?;
    let days = from.zoned.date().until((Unit::Day, other.date())).map_err(out_of_range)?;
    let seconds = from.zoned.duration_until(&other).as_secs();
    Ok(Distance {
        from: describe::rfc_3339(&from.zoned),
        until: describe::rfc_3339(&other),
        calendar: in_words(&span),
        days: i64::from(days.get_days()),
        weekdays: weekdays_between(from.zoned.date(), other.date(), i64::from(days.get_days())),
        seconds,
        note: from.note.clone().or_else(|| until.note.clone()),
    })
}

/// Mondays to Fridays from the earlier date on and before the later one, negative if that is first.
fn weekdays_between(from: Date, until: Date, days: i64) -> i64 {
    let (start, sign) = if days < 0 { (until, -1) } else { (from, 1) };
    let weeks = days.abs() / 7;
    let first = i64::from(start.weekday().to_monday_zero_offset());
    let rest = (first..first + days.abs() % 7).filter(|day| day % 7 < 5).count();
    sign * (weeks * 5 + i64::try_from(rest).unwrap_or(0))
}

fn in_words(span: &Span) -> String {
    static PRINTER: SpanPrinter = SpanPrinter::new()
        .designator(Designator::Verbose)
        .direction(Direction::Sign)
        .spacing(Spacing::BetweenUnitsAndDesignators);
    PRINTER.span_to_string(span)
}

/// A moment to which a duration was added.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) zoned: Zoned,
    /// The duration as it was understood.
    pub(super) added: String,
    pub(super) note: Option<String>,
}

/// Adds a duration in words, in ISO 8601, or in business days.
pub(super) fn add(from: &Zoned, duration: &str) -> Result<Sum, Failure> {
    if let Some(days) = business_days(duration) {
        if days.abs() > MAX_BUSINESS_DAYS {
            return Err(Failure::too_large(format!(
                "`duration` is over {MAX_BUSINESS_DAYS} business days"
            )));
        }
        let zoned = add_business_days(from, days)?;
        let note = "Monday to Friday; holidays are not known".to_owned();
        let unit = if days.abs() == 1 { "business day" } else { "business days" };
        return Ok(Sum { zoned, added: format!("{days} {unit}"), note: Some(note) });
    }
    let span = parse("duration", duration)?;
    let zoned = from.checked_add(span).map_err(out_of_range)?;
    let by_months = span.get_years() != 0 || span.get_months() != 0;
    let smaller = span.years(0).months(0).fieldwise() != Span::new().fieldwise();
    let note = (by_months && !smaller && zoned.day() != from.day())
        .then(|| "the month is shorter, so this is its last day".to_owned());
    Ok(Sum { zoned, added: in_words(&span), note })
}

/// A duration with its unit, or the failure that says how to write one.
pub(super) fn parse(argument: &str, text: &str) -> Result<Span, Failure> {
    let trimmed = text.trim().trim_start_matches('+').trim_start();
    let parsed = if trimmed.len() > MAX_LENGTH { None } else { Some(trimmed.parse::<Span>()) };
    match parsed {
        Some(Ok(span)) => Ok(span),
        Some(Err(error)) => Err(Failure::invalid_arguments(format!(
            "`{argument}` is `{text}`, which is no duration ({error}); write `3 days`, \
             `1 month 2 hours`, `-90 minutes` or `P1Y2M3DT4H`"
        ))),
        None => Err(Failure::invalid_arguments(format!("`{argument}` is too long for a duration"))),
    }
}

/// `10 business days`, `-3 weekdays`, `1 working day`.
fn business_days(text: &str) -> Option<i64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = text.split_once(char::is_whitespace)?;
    let unit: Vec<&str> = unit.split_whitespace().collect();
    let known = matches!(
        unit.as_slice(),
        ["business" | "working" | "work", "day" | "days"]
            | ["weekday" | "weekdays" | "workday" | "workdays"]
    );
    if known { number.trim_start_matches('+').parse().ok() } else { None }
}

fn add_business_days(from: &Zoned, days: i64) -> Result<Zoned, Failure> {
    let step = days.signum();
    let mut date = from.date();
    // Whole weeks at once; the rest day by day.
    date = date.checked_add((days / 5 * 7).days()).map_err(out_of_range)?;
    let mut left = (days % 5).abs();
    while left > 0 || (days != 0 && is_weekend(date)) {
        let weekend = is_weekend(date);
        date = date.checked_add(step.days()).map_err(out_of_range)?;
        if !is_weekend(date) && (left > 0 || weekend) {
            left = (left - 1).max(0);
        }
    }
    date.to_datetime(from.time()).to_zoned(from.time_zone().clone()).map_err(out_of_range)
}

fn is_weekend(date: Date) -> bool {
    matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday)
}
