//! The tool `date_time`: what a date is, in which zone, how far from another, and when next. Left
//! out: holidays, which differ from country to country, and calendars other than the Gregorian.

mod describe;
mod distance;
mod moment;
mod occurrences;
mod zone;

use hermes_plugin_sdk::prelude::*;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use describe::Described;
use distance::Distance;
use moment::{Moment, Reader};
use occurrences::{Occurrence, Rule, Weekday};

/// Zones a moment is converted to at once.
const MAX_ZONES: usize = 50;

/// Occurrences unless the model asks otherwise.
const DEFAULT_COUNT: u32 = 5;

/// Occurrences a call may list.
const MAX_COUNT: u32 = 100;

/// What to do.
#[arguments]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    /// Tell everything about `at`: weekday, ISO week, UTC, Unix time; and convert it to `to_zones`.
    #[default]
    Describe,
    /// Add `duration` to `at`.
    Add,
    /// Tell how far it is from `at` to `until`.
    Difference,
    /// List when something recurs, by `every`, `weekdays` or `nth`.
    Occurrences,
}

/// Arguments of `date_time`.
#[arguments]
pub(crate) struct DateTime {
    /// What to do.
    #[serde(default)]
    operation: Operation,
    /// The date or time: `now`, `today`, `tomorrow`, `yesterday`, `2024-03-10`, `2024-03-10 14:30`,
    /// `14:30`, `2024-03-10T14:30:00Z`, `2024-03-10 14:30 Europe/Paris`, `2024-W10-7`, a Unix time
    /// (`1710068400`), or an RFC 2822 date. Default: now.
    at: Option<String>,
    /// IANA zone such as `Europe/Paris`, or an offset such as `+05:30`: where times without an
    /// offset are meant, and in which the answer is given. Default: UTC.
    zone: Option<String>,
    /// `describe`: zones to convert to.
    #[serde(default)]
    to_zones: Vec<String>,
    /// `add`: such as `3 days`, `-2 hours 30 minutes`, `1 month`, `P1Y2M`, `10 business days`.
    duration: Option<String>,
    /// `difference`: the other date or time, written like `at`. Default: now.
    until: Option<String>,
    /// `occurrences`: a duration such as `2 weeks` or `1 month`, counted from `at`.
    every: Option<String>,
    /// `occurrences`: on these days; with `every` in weeks, only in those weeks.
    #[serde(default)]
    weekdays: Vec<Weekday>,
    /// `occurrences`: the first (1) to fifth (5) or last (-1) of `weekdays` in each month.
    #[schemars(range(min = -1, max = 5))]
    nth: Option<i8>,
    /// `occurrences`: list only those later than this, written like `at`. Default: `at`.
    after: Option<String>,
    /// `occurrences`: how many, at most 100. Default: 5.
    #[schemars(range(min = 1, max = 100))]
    count: Option<u32>,
    /// How `at`, `until` and `after` are written, as for strptime: `%d/%m/%Y %H:%M`.
    format: Option<String>,
}

/// What `date_time` answers.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Described {
        #[serde(flatten)]
        described: Described,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        converted: Vec<Described>,
    },
    Added {
        from: String,
        added: String,
        #[serde(flatten)]
        described: Described,
    },
    Distance(Distance),
    Occurrences {
        occurrences: Vec<Occurrence>,
    },
}

/// Dates and times: parse, convert between zones, add durations, differences, weekday, ISO week,
/// recurrences, and what time it is now. Use it instead of calculating dates yourself.
#[tool(read_only, idempotent, parallel_safe, timeout_ms = 10000)]
pub(crate) fn date_time(arguments: DateTime) -> Result<Json<Answer>, Failure> {
    answer(&arguments, Timestamp::now()).map(Json)
}

fn answer(arguments: &DateTime, now: Timestamp) -> Result<Answer, Failure> {
    let zone = match &arguments.zone {
        Some(name) => Some(zone::find(name)?),
        None => None,
    };
    let reader = Reader { now, zone, format: arguments.format.as_deref() };
    let at = reader.read("at", arguments.at.as_deref())?;
    match arguments.operation {
        Operation::Describe => describe(at, &arguments.to_zones),
        Operation::Add => add(at, arguments.duration.as_deref()),
        Operation::Difference => {
            let until = reader.read("until", arguments.until.as_deref())?;
            distance::between(&at, &until).map(Answer::Distance)
        }
        Operation::Occurrences => {
            let after = match &arguments.after {
                Some(after) => reader.read("after", Some(after))?.zoned,
                None => at.zoned.clone(),
            };
            let rule = Rule::new(arguments.every.as_deref(), &arguments.weekdays, arguments.nth)?;
            let count = arguments.count.unwrap_or(DEFAULT_COUNT).min(MAX_COUNT);
            let occurrences = rule.list(&at.zoned, &after, count)?;
            Ok(Answer::Occurrences { occurrences })
        }
    }
}

fn describe(at: Moment, zones: &[String]) -> Result<Answer, Failure> {
    if zones.len() > MAX_ZONES {
        return Err(Failure::too_large(format!("`to_zones` has more than {MAX_ZONES} zones")));
    }
    let to_zone = |name: &String| -> Result<Described, Failure> {
        let zone: TimeZone = zone::find(name)?;
        Ok(Described::of(&at.zoned.with_time_zone(zone), None))
    };
    let converted = zones.iter().map(to_zone).collect::<Result<_, _>>()?;
    Ok(Answer::Described { described: Described::of(&at.zoned, at.note), converted })
}

fn add(at: Moment, duration: Option<&str>) -> Result<Answer, Failure> {
    let Some(duration) = duration else {
        return Err(Failure::invalid_arguments("`add` needs a `duration`, such as `3 days`"));
    };
    let sum = distance::add(&at.zoned, duration)?;
    let note = match (at.note, sum.note) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    };
    Ok(Answer::Added {
        from: describe::rfc_3339(&at.zoned),
        added: sum.added,
        described: Described::of(&sum.zoned, note),
    })
}

#[cfg(test)]
mod tests;
