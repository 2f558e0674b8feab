//! Time zones by name, from the database bundled with the plugin: the sandbox has no files.

use std::sync::OnceLock;

use hermes_plugin_sdk::prelude::*;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// Abbreviations people use for zones, which several zones share and which change in summer.
const ABBREVIATIONS: [(&str, &str); 14] = [
    ("PST", "America/Los_Angeles"),
    ("PDT", "America/Los_Angeles"),
    ("MDT", "America/Denver"),
    ("CST", "America/Chicago or Asia/Shanghai"),
    ("CDT", "America/Chicago"),
    ("EDT", "America/New_York"),
    ("BST", "Europe/London"),
    ("CEST", "Europe/Paris"),
    ("EEST", "Europe/Helsinki"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("SGT", "Asia/Singapore"),
    ("AEST", "Australia/Sydney"),
    ("AEDT", "Australia/Sydney"),
];

/// Zones proposed for a name that is none.
const MAX_PROPOSALS: usize = 5;

/// The bundled database.
pub(super) fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

/// The zone of this name, or a failure that proposes others.
pub(super) fn find(name: &str) -> Result<TimeZone, Failure> {
    known(name).ok_or_else(|| {
        Failure::invalid_arguments(format!("`{name}` is no time zone; {}", proposal(name)))
    })
}

/// The zone of this name, if there is one. `+05:30` is one too.
pub(super) fn known(name: &str) -> Option<TimeZone> {
    let name = name.trim();
    if name.is_empty() || name.len() > 100 {
        return None;
    }
    if name.eq_ignore_ascii_case("utc") || name == "Z" {
        return Some(TimeZone::UTC);
    }
    static PARSER: DateTimeParser = DateTimeParser::new();
    PARSER.parse_time_zone_with(database(), name).ok()
}

fn proposal(name: &str) -> String {
    let upper = name.trim().to_uppercase();
    if let Some((_, zone)) = ABBREVIATIONS.iter().find(|(short, _)| *short == upper) {
        return format!("abbreviations are ambiguous, use {zone}");
    }
    let part = name.trim().to_lowercase().replace(' ', "_");
    let part = part.rsplit('/').next().unwrap_or("");
    if part.len() >= 3 {
        let all = database().available();
        let like = all.filter(|zone| zone.as_str().to_lowercase().contains(part));
        let like: Vec<String> = like.take(MAX_PROPOSALS).map(|zone| zone.to_string()).collect();
        if !like.is_empty() {
            return format!("did you mean {}?", like.join(", "));
        }
    }
    "use an IANA name such as Europe/Paris, or an offset such as +05:30".to_owned()
}
