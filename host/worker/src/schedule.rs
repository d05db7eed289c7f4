//! Cron schedules: when the next instance is to be started.
//!
//! Patterns have five fields, or six with seconds in front, as Vixie cron has them, or are a nickname such as `@daily`.
//! A time that daylight saving leaves out is moved to the first moment behind the gap, and one that comes twice runs
//! once. A pattern of every hour runs by the time that passes.

use std::sync::LazyLock;
use std::time::Duration;

use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

/// Maximum bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 200;

/// The first occurrence of a pattern in a zone after an instant; none when there is none any more. Instants are in
/// microseconds since 1970.
///
/// # Errors
/// What is wrong with the pattern or the zone.
pub fn next(cron: &str, zone: &str, after_us: i64) -> Result<Option<i64>, String> {
    if cron.len() > PATTERN_BYTES_MAX {
        let (length, most) = (cron.len(), PATTERN_BYTES_MAX);
        return Err(format!("the pattern has {length} bytes, and {most} are allowed"));
    }
    refuse_names(cron)?;
    let pattern = CronParser::builder()
        .seconds(Seconds::Optional)
        .build()
        .parse(cron)
        .map_err(|error| format!("\"{cron}\" is no cron pattern: {error}"))?;
    let zone = zone_named(zone)?;
    let after = Timestamp::from_microsecond(after_us).map_err(|error| error.to_string())?.to_zoned(zone);
    let found = match is_of_every_hour(cron) {
        true => pattern.find_next_occurrence(&after, false),
        false => next_by_the_clock(&pattern, &after),
    };
    match found {
        Ok(next) => Ok(Some(next.timestamp().as_microsecond())),
        // No such day in the years that are looked at.
        Err(CronError::TimeSearchLimitExceeded) => Ok(None),
        Err(error) => Err(format!("\"{cron}\" has no next time: {error}")),
    }
}

/// Names that stand for another zone on each host.
const ZONES_OF_HOSTS: [&str; 3] = ["localtime", "posixrules", "factory"];

/// The data of all zones, which the program brings with it: every host knows the same.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The time zone of a name.
fn zone_named(name: &str) -> Result<TimeZone, String> {
    let found = match ZONES_OF_HOSTS.contains(&name.to_lowercase().as_str()) {
        true => None,
        false => ZONES.get(name).ok(),
    };
    found.ok_or_else(|| format!("there is no time zone \"{name}\"; write one such as Europe/Berlin"))
}

/// Returns true if a pattern leaves the hour open.
fn is_of_every_hour(cron: &str) -> bool {
    let fields: Vec<&str> = cron.split_whitespace().collect();
    match fields.as_slice() {
        [nickname] => nickname.eq_ignore_ascii_case("@hourly"),
        [.., hour, _, _, _] => hour.starts_with('*'),
        _ => false,
    }
}

/// The first occurrence behind an instant, by what a clock on the wall of its zone shows.
fn next_by_the_clock(pattern: &Cron, after: &Zoned) -> Result<Zoned, CronError> {
    let zone = after.time_zone();
    // The same reading of the clock where no clock is ever put forward or back.
    let mut read = TimeZone::UTC.to_zoned(after.datetime()).map_err(|_| CronError::InvalidTime)?;
    loop {
        read = pattern.find_next_occurrence(&read, false)?;
        let next = instant_of(zone, read.datetime()).ok_or(CronError::InvalidTime)?;
        // Of a reading that comes twice the first one counts, and may have been.
        if next > after.timestamp() {
            return Ok(next.to_zoned(zone.clone()));
        }
    }
}

/// The instant at which a zone's clocks show a time: the first of two, the end of the gap where there is none.
fn instant_of(zone: &TimeZone, time: DateTime) -> Option<Timestamp> {
    let shown = zone.to_ambiguous_zoned(time);
    match shown.offset() {
        AmbiguousOffset::Gap { .. } => {
            let behind = shown.later().ok()?.timestamp();
            // The first time that is left out is the gap's end itself, and only what is before an instant precedes it.
            let gap = zone.preceding(behind + Duration::from_nanos(1)).next()?;
            Some(gap.timestamp())
        }
        _ => Some(shown.earlier().ok()?.timestamp()),
    }
}

const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "L"];

/// Refuses names in fields that have none, which the parser takes as numbers: `MON` as minute 1.
fn refuse_names(cron: &str) -> Result<(), String> {
    let fields: Vec<&str> = cron.split_whitespace().collect();
    for (from_end, field) in fields.iter().rev().enumerate() {
        let (allowed, what) = match from_end {
            0 => (WEEKDAYS, "weekdays"),
            1 => (MONTHS, "months"),
            2 => (["L", "W", "LW"].as_slice(), "days of a month"),
            _ => ([].as_slice(), "times of a day"),
        };
        let words = field.split(|other: char| !other.is_alphabetic());
        let is_name = |word: &&str| !word.is_empty() && fields.len() > 1;
        for word in words.filter(is_name) {
            if !allowed.contains(&word.to_uppercase().as_str()) {
                return Err(format!(
                    "\"{cron}\" is no cron pattern: \"{word}\" stands where {what} do; the fields are minute, hour, \
                     day, month and weekday, with seconds in front where there are six"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next occurrence as RFC 3339 in UTC.
    fn after(cron: &str, zone: &str, instant: &str) -> String {
        let instant: Timestamp = instant.parse().expect("an instant");
        let next = next(cron, zone, instant.as_microsecond()).expect("a pattern").expect("an occurrence");
        Timestamp::from_microsecond(next).expect("an instant").to_string()
    }

    #[test]
    fn occurrences_follow_the_zone() {
        assert_eq!(after("0 9 * * *", "Europe/Berlin", "2026-01-10T08:00:00Z"), "2026-01-11T08:00:00Z");
        assert_eq!(after("0 9 * * *", "Europe/Berlin", "2026-07-10T06:59:59Z"), "2026-07-10T07:00:00Z");
    }

    #[test]
    fn time_left_out_by_daylight_saving_runs_behind_the_gap() {
        // 02:30 does not exist on 29 March 2026 in Berlin.
        assert_eq!(after("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"), "2026-03-29T01:00:00Z");
    }

    #[test]
    fn time_that_comes_twice_runs_once() {
        let first = after("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z");
        assert_eq!(first, "2026-10-25T00:30:00Z");
        assert_eq!(after("30 2 * * *", "Europe/Berlin", &first), "2026-10-26T01:30:00Z");
    }

    #[test]
    fn several_times_of_a_day_run_once_each_whatever_the_clocks_do() {
        let zone = "Europe/Berlin";
        let at = |cron: &str, day: &str| {
            let (mut times, mut instant) = (Vec::new(), format!("{day}T22:30:00Z"));
            for _ in 0..3 {
                instant = after(cron, zone, &instant);
                times.push(instant.clone());
            }
            times
        };
        assert_eq!(
            at("0 2,14 * * *", "2026-03-28"),
            ["2026-03-29T01:00:00Z", "2026-03-29T12:00:00Z", "2026-03-30T00:00:00Z"]
        );
        assert_eq!(
            at("0 2,14 * * *", "2026-10-24"),
            ["2026-10-25T00:00:00Z", "2026-10-25T13:00:00Z", "2026-10-26T01:00:00Z"]
        );
        // Both of the times that are left out are the end of the gap.
        assert_eq!(at("*/30 2 * * *", "2026-03-28")[..2], ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]);
        assert_eq!(
            at("*/30 2 * * *", "2026-10-24"),
            ["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"]
        );
        assert_eq!(after("*/30 2 * * *", zone, "2026-10-25T01:10:00Z"), "2026-10-26T01:00:00Z");
    }

    #[test]
    fn pattern_of_every_hour_runs_by_the_time_that_passes() {
        let times: Vec<String> = (0..4)
            .scan("2026-10-24T23:30:00Z".to_owned(), |instant, _| {
                *instant = after("0 * * * *", "Europe/Berlin", instant);
                Some(instant.clone())
            })
            .collect();
        assert_eq!(
            times,
            ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z", "2026-10-25T03:00:00Z"]
        );
    }

    #[test]
    fn bad_patterns_and_zones_are_named() {
        assert!(next("61 * * * *", "UTC", 0).is_err());
        for wrong in ["MON * * * *", "0 MON * * *", "0 0 MAR * *", "0 0 * MON *", "0 0 * * JAN"] {
            let refused = next(wrong, "UTC", 0).expect_err("refused");
            assert!(refused.contains("stands where"), "{refused}");
        }
        for right in ["0 9 * * MON-fri", "0 9 L * *", "0 9 15W JAN,feb 5L", "@daily", "@hourly"] {
            assert!(next(right, "UTC", 0).is_ok(), "{right}");
        }
        for zone in ["Mars/Olympus", "localtime", "Factory", "posixrules"] {
            assert!(next("* * * * *", zone, 0).is_err(), "{zone}");
        }
    }
}
