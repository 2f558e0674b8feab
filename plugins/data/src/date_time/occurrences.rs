//! When something recurs: every so often, on days of the week, or on the nth such day of a month.

use hermes_plugin_sdk::prelude::*;
use jiff::civil::{self, Date};
use jiff::{Span, ToSpan, Unit, Zoned};
use serde::Serialize;

use super::describe;
use super::distance;
use super::moment::out_of_range;

/// Steps that are tried before giving up.
const MAX_STEPS: i64 = 50_000;

/// A day of the week.
#[arguments]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    fn civil(self) -> civil::Weekday {
        match self {
            Self::Monday => civil::Weekday::Monday,
            Self::Tuesday => civil::Weekday::Tuesday,
            Self::Wednesday => civil::Weekday::Wednesday,
            Self::Thursday => civil::Weekday::Thursday,
            Self::Friday => civil::Weekday::Friday,
            Self::Saturday => civil::Weekday::Saturday,
            Self::Sunday => civil::Weekday::Sunday,
        }
    }
}

/// One time at which it recurs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Occurrence {
    time: String,
    weekday: &'static str,
}

/// How something recurs.
#[derive(Debug)]
pub(super) enum Rule {
    /// At the start and every so often after.
    Every(Span),
    /// On these days, in every so many weeks.
    Weekly(Vec<civil::Weekday>, i64),
    /// On the nth of these days in each month.
    Monthly(Vec<civil::Weekday>, i8),
}

impl Rule {
    /// The rule the arguments give.
    pub(super) fn new(
        every: Option<&str>,
        weekdays: &[Weekday],
        nth: Option<i8>,
    ) -> Result<Self, Failure> {
        let every = every.map(|every| distance::parse("every", every)).transpose()?;
        if every.is_some_and(|every| !every.is_positive()) {
            return Err(Failure::invalid_arguments("`every` must be longer than nothing"));
        }
        let days: Vec<civil::Weekday> = weekdays.iter().map(|day| day.civil()).collect();
        match (every, days.is_empty(), nth) {
            (None, false, Some(nth @ (-1 | 1..=5))) => Ok(Self::Monthly(days, nth)),
            (_, _, Some(nth)) => Err(Failure::invalid_arguments(format!(
                "`nth` is {nth}; it is 1 to 5 or -1 and goes with `weekdays` but not with `every`"
            ))),
            (Some(every), true, None) => Ok(Self::Every(every)),
            (None, false, None) => Ok(Self::Weekly(days, 1)),
            (Some(every), false, None) => {
                let weeks = i64::from(every.get_weeks());
                if every.fieldwise() != Span::new().try_weeks(weeks).unwrap_or_default().fieldwise()
                {
                    return Err(Failure::invalid_arguments(
                        "with `weekdays`, `every` is a number of weeks, such as `2 weeks`",
                    ));
                }
                Ok(Self::Weekly(days, weeks))
            }
            (None, true, None) => Err(Failure::invalid_arguments(
                "`occurrences` needs `every`, such as `1 month`, or `weekdays`",
            )),
        }
    }

    /// The first `count` times later than `after`, counted from `start`.
    pub(super) fn list(
        &self,
        start: &Zoned,
        after: &Zoned,
        count: u32,
    ) -> Result<Vec<Occurrence>, Failure> {
        let mut found = Vec::new();
        let first = self.first_step(start, after)?;
        for step in first..first.saturating_add(MAX_STEPS) {
            for time in self.at_step(start, step)? {
                if &time > after && &time >= start && found.len() < count as usize {
                    let weekday = describe::weekday(time.weekday());
                    found.push(Occurrence { time: describe::rfc_3339(&time), weekday });
                }
            }
            if found.len() == count as usize {
                return Ok(found);
            }
        }
        Err(Failure::too_large(format!(
            "no {count} occurrences within {MAX_STEPS} steps; ask for fewer, or for a wider `every`"
        )))
    }

    /// A step that is certainly not later than `after`.
    fn first_step(&self, start: &Zoned, after: &Zoned) -> Result<i64, Failure> {
        let seconds = start.duration_until(after).as_secs();
        let longest = match self {
            Self::Every(span) => longest(span)?,
            Self::Weekly(..) => return Ok((seconds / 86_400 - 1).max(0)),
            // A month has at most 31 days, so this many have passed.
            Self::Monthly(..) => 31 * 86_400,
        };
        Ok((seconds / longest.max(1) - 1).max(0))
    }

    /// The times of one step: of one repetition, one day or one month.
    fn at_step(&self, start: &Zoned, step: i64) -> Result<Vec<Zoned>, Failure> {
        match self {
            Self::Every(span) => {
                let time = span.checked_mul(step).and_then(|span| start.checked_add(span));
                Ok(vec![time.map_err(out_of_range)?])
            }
            Self::Weekly(days, weeks) => {
                let date = start.date().checked_add(step.days()).map_err(out_of_range)?;
                let monday = i64::from(start.weekday().to_monday_zero_offset());
                let week = (step + monday) / 7;
                if week % weeks != 0 || !days.contains(&date.weekday()) {
                    return Ok(Vec::new());
                }
                Ok(vec![on(date, start)?])
            }
            Self::Monthly(days, nth) => {
                let month = start.date().first_of_month();
                let month = month.checked_add(step.months()).map_err(out_of_range)?;
                let mut dates: Vec<Date> = days
                    .iter()
                    // Not every month has a fifth such day.
                    .filter_map(|&day| month.nth_weekday_of_month(*nth, day).ok())
                    .collect();
                dates.sort_unstable();
                dates.dedup();
                dates.into_iter().map(|date| on(date, start)).collect()
            }
        }
    }
}

/// The date at the time of day of `start`.
fn on(date: Date, start: &Zoned) -> Result<Zoned, Failure> {
    date.to_datetime(start.time()).to_zoned(start.time_zone().clone()).map_err(out_of_range)
}

/// Seconds the span can take at most, whatever months and years it falls on.
fn longest(span: &Span) -> Result<i64, Failure> {
    let months = i64::from(span.get_years()) * 12 + i64::from(span.get_months());
    let days = months * 31 + i64::from(span.get_weeks()) * 7 + i64::from(span.get_days());
    let rest = span.years(0).months(0).weeks(0).days(0);
    let rest = rest.total(Unit::Second).map_err(out_of_range)?;
    #[expect(clippy::cast_possible_truncation, reason = "spans last at most 20 000 years")]
    let rest = rest.ceil() as i64;
    // A day has 25 hours where clocks are set back.
    Ok(days * 90_000 + rest)
}
