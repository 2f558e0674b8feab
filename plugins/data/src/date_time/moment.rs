//! From text to a moment. Only forms with one meaning are read; `03/04/2024` is not.

use hermes_plugin_sdk::prelude::*;
use jiff::civil::{self, ISOWeekDate, Time};
use jiff::fmt::rfc2822;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan, Zoned};

use super::zone;

/// Bytes of a date.
const MAX_LENGTH: usize = 200;

/// A moment and what is to be said about how it was read.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) zoned: Zoned,
    pub(super) note: Option<String>,
}

/// Reads moments the same way for all arguments of a call.
pub(super) struct Reader<'a> {
    pub(super) now: Timestamp,
    /// Where times without an offset are meant; UTC if there is none.
    pub(super) zone: Option<TimeZone>,
    /// For strptime.
    pub(super) format: Option<&'a str>,
}

static PARSER: DateTimeParser = DateTimeParser::new();

impl Reader<'_> {
    /// Reads the argument; absent means now.
    pub(super) fn read(&self, argument: &str, text: Option<&str>) -> Result<Moment, Failure> {
        let text = text.unwrap_or("now").trim();
        if text.len() > MAX_LENGTH {
            return Err(Failure::invalid_arguments(format!("`{argument}` is no date: too long")));
        }
        if let Some(moment) = self.by_name(text)? {
            return Ok(moment);
        }
        if let Some(format) = self.format {
            return self.by_format(argument, text, format);
        }
        self.by_form(text)?.ok_or_else(|| unread(argument, text))
    }

    fn home(&self) -> TimeZone {
        self.zone.clone().unwrap_or(TimeZone::UTC)
    }

    fn by_name(&self, text: &str) -> Result<Option<Moment>, Failure> {
        let now = self.now.to_zoned(self.home());
        let days = match text.to_ascii_lowercase().as_str() {
            "now" => return Ok(Some(Moment { zoned: now, note: None })),
            "today" => 0,
            "tomorrow" => 1,
            "yesterday" => -1,
            _ => return Ok(None),
        };
        let date = now.date().checked_add(days.days()).map_err(out_of_range)?;
        self.local(date.to_datetime(Time::midnight()), self.home()).map(Some)
    }

    fn by_format(&self, argument: &str, text: &str, format: &str) -> Result<Moment, Failure> {
        let wrong = |error: jiff::Error| {
            Failure::invalid_arguments(format!(
                "`{argument}` is `{text}`, which does not fit the format `{format}`: {error}"
            ))
        };
        let parsed = BrokenDownTime::parse(format, text).map_err(wrong)?;
        if let Ok(zoned) = parsed.to_zoned_with(zone::database()) {
            return Ok(self.absolute(zoned));
        }
        if let Ok(timestamp) = parsed.to_timestamp() {
            return Ok(self.absolute(timestamp.to_zoned(TimeZone::UTC)));
        }
        if let Ok(datetime) = parsed.to_datetime() {
            return self.local(datetime, self.home());
        }
        let date = parsed.to_date().map_err(wrong)?;
        self.local(date.to_datetime(Time::midnight()), self.home())
    }

    fn by_form(&self, text: &str) -> Result<Option<Moment>, Failure> {
        if let Some(timestamp) = unix(text) {
            return Ok(Some(self.absolute(timestamp.to_zoned(self.home()))));
        }
        if let Ok(zoned) = PARSER.parse_zoned_with(zone::database(), text) {
            return Ok(Some(Moment { zoned, note: None }));
        }
        // `2024-03-10 14:30 Europe/Paris`
        if let Some((rest, name)) = text.rsplit_once(' ')
            && let Some(named) = zone::known(name)
            && let Some(datetime) = civil(rest.trim())
        {
            return self.local(datetime, named).map(Some);
        }
        if let Ok(pieces) = PARSER.parse_pieces(text)
            && let (Some(offset), Some(time)) = (pieces.to_numeric_offset(), pieces.time())
        {
            let zoned = offset.to_timestamp(pieces.date().to_datetime(time));
            let zoned = zoned.map_err(out_of_range)?.to_zoned(TimeZone::fixed(offset));
            return Ok(Some(self.absolute(zoned)));
        }
        if let Ok(zoned) = rfc2822::parse(text) {
            return Ok(Some(self.absolute(zoned)));
        }
        if let Some(datetime) = civil(text) {
            return self.local(datetime, self.home()).map(Some);
        }
        if let Ok(time) = PARSER.parse_time(text) {
            let today = self.now.to_zoned(self.home()).date();
            return self.local(today.to_datetime(time), self.home()).map(Some);
        }
        Ok(None)
    }

    /// A moment that says its offset, shown in the zone asked for if there is one.
    fn absolute(&self, zoned: Zoned) -> Moment {
        let zoned = match &self.zone {
            Some(zone) => zoned.with_time_zone(zone.clone()),
            None => zoned,
        };
        Moment { zoned, note: None }
    }

    /// What clocks show, which may happen twice or never where they are set forward or back.
    fn local(&self, datetime: civil::DateTime, zone: TimeZone) -> Result<Moment, Failure> {
        let ambiguous = zone.to_ambiguous_zoned(datetime);
        let note = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => None,
            AmbiguousOffset::Gap { .. } => {
                Some("clocks are set forward over this local time; taken as later by that much")
            }
            AmbiguousOffset::Fold { .. } => {
                Some("clocks show this local time twice; taken as the first time")
            }
        };
        let zoned = ambiguous.compatible().map_err(out_of_range)?;
        Ok(Moment { zoned, note: note.map(str::to_owned) })
    }
}

/// The failure for moments beyond what can be represented, whichever limit was met first.
pub(super) fn out_of_range(_: jiff::Error) -> Failure {
    Failure::invalid_arguments("the date or duration is out of range: years go from -9999 to 9999")
}

fn unread(argument: &str, text: &str) -> Failure {
    let iso = text.len() >= 10 && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    let why = match PARSER.parse_datetime(text) {
        // A date of the right form that does not exist is better told so.
        Err(error) if iso => format!("cannot be read ({error})"),
        _ => "is not read here".to_owned(),
    };
    Failure::invalid_arguments(format!(
        "`{argument}` is `{text}`, which {why}; write `2024-03-10`, `2024-03-10 14:30`, \
         `2024-03-10T14:30:00+01:00`, `now`, `today`, a Unix time, or say in `format` how it is written"
    ))
}

/// A date with or without a time, or an ISO week date.
fn civil(text: &str) -> Option<civil::DateTime> {
    if let Ok(datetime) = PARSER.parse_datetime(text) {
        return Some(datetime);
    }
    let week: ISOWeekDate = text.parse().ok()?;
    Some(week.date().to_datetime(Time::midnight()))
}

/// `@` and a number, or at least nine digits. Their count tells seconds from smaller units, as only
/// that gives years of our time.
fn unix(text: &str) -> Option<Timestamp> {
    let (marked, number) = match text.strip_prefix('@') {
        Some(number) => (true, number),
        None => (false, text),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !all_digits(digits) || !all_digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let value: i128 = whole.parse().ok()?;
    let unit = match digits.len() {
        0..=8 if !marked => return None,
        0..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    };
    let part: i128 = format!("{fraction:0<9}").parse().ok()?;
    // A fraction of nanoseconds does not exist; smaller units take none.
    if unit != 1_000_000_000 && part != 0 {
        return None;
    }
    let part = if whole.starts_with('-') { -part } else { part };
    Timestamp::from_nanosecond(value.checked_mul(unit)?.checked_add(part)?).ok()
}
