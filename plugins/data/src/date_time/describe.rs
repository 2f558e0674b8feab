//! Everything about a moment in one zone.

use jiff::Zoned;
use serde::Serialize;

/// A moment as it is told.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Described {
    /// RFC 3339.
    time: String,
    zone: String,
    weekday: &'static str,
    utc: String,
    /// Seconds since 1970, rounded down.
    unix: i64,
    iso_week: String,
    day_of_year: i16,
    days_in_month: i8,
    leap_year: bool,
    daylight_saving: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Described {
    /// Describes a moment.
    pub(super) fn of(zoned: &Zoned, note: Option<String>) -> Self {
        let timestamp = zoned.timestamp();
        let week = zoned.date().iso_week_date();
        let zone = match zoned.time_zone().iana_name() {
            Some(name) => name.to_owned(),
            // The end of the time, such as `+05:30`.
            None => {
                let time = rfc_3339(zoned);
                time.get(time.len().saturating_sub(6)..).unwrap_or_default().to_owned()
            }
        };
        Self {
            time: rfc_3339(zoned),
            zone,
            weekday: weekday(zoned.weekday()),
            utc: timestamp.to_string(),
            unix: timestamp.as_second() - i64::from(timestamp.subsec_nanosecond() < 0),
            iso_week: format!(
                "{:04}-W{:02}-{}",
                week.year(),
                week.week(),
                week.weekday().to_monday_one_offset()
            ),
            day_of_year: zoned.day_of_year(),
            days_in_month: zoned.days_in_month(),
            leap_year: zoned.in_leap_year(),
            daylight_saving: zoned.time_zone().to_offset_info(timestamp).dst().is_dst(),
            note,
        }
    }
}

/// The time with its offset, without the zone's name.
pub(super) fn rfc_3339(zoned: &Zoned) -> String {
    zoned.timestamp().display_with_offset(zoned.offset()).to_string()
}

/// The English name.
pub(super) fn weekday(day: jiff::civil::Weekday) -> &'static str {
    use jiff::civil::Weekday;
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}
