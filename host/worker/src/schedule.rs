//! Cron schedules: when the next instance is to be started.
//!
//! Patterns have five fields, or six with seconds in front, as Vixie cron has them. A time that daylight saving leaves
//! out is moved to the first moment behind the gap; one that comes twice runs once.

use croner::parser::{CronParser, Seconds};
use jiff::{Timestamp, tz::TimeZone};
use wedflow_store::{Store, StoreError};

/// Maximum number of instances that one look starts.
const STARTS_MAX: usize = 1_000;

/// The first occurrence of a pattern in a zone after an instant; none when there is none any more. Instants are in
/// microseconds since 1970.
///
/// # Errors
/// What is wrong with the pattern or the zone.
pub fn next(cron: &str, zone: &str, after_us: i64) -> Result<Option<i64>, String> {
    let pattern = CronParser::builder()
        .seconds(Seconds::Optional)
        .build()
        .parse(cron)
        .map_err(|error| format!("\"{cron}\" is no cron pattern: {error}"))?;
    let zone = TimeZone::get(zone).map_err(|_| {
        format!("there is no time zone \"{zone}\"; write one such as Europe/Berlin")
    })?;
    let after = Timestamp::from_microsecond(after_us)
        .map_err(|error| error.to_string())?
        .to_zoned(zone);
    match pattern.find_next_occurrence(&after, false) {
        Ok(next) => Ok(Some(next.timestamp().as_microsecond())),
        // No such day in the years that are looked at.
        Err(croner::errors::CronError::TimeSearchLimitExceeded) => Ok(None),
        Err(error) => Err(format!("\"{cron}\" has no next time: {error}")),
    }
}

/// Starts the instances that are due by the schedules of the database. Returns how many.
///
/// # Errors
/// Those of the connection.
pub async fn start_due(store: &Store) -> Result<usize, StoreError> {
    let mut started = 0;
    while started < STARTS_MAX {
        match store.fire_schedule(next).await? {
            None => break,
            Some(fired) => started += usize::from(fired),
        }
    }
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next occurrence as RFC 3339 in UTC.
    fn after(cron: &str, zone: &str, instant: &str) -> String {
        let instant: Timestamp = instant.parse().expect("an instant");
        let next = next(cron, zone, instant.as_microsecond())
            .expect("a pattern")
            .expect("an occurrence");
        Timestamp::from_microsecond(next)
            .expect("an instant")
            .to_string()
    }

    #[test]
    fn occurrences_follow_the_zone() {
        assert_eq!(
            after("0 9 * * *", "Europe/Berlin", "2026-01-10T08:00:00Z"),
            "2026-01-11T08:00:00Z"
        );
        assert_eq!(
            after("0 9 * * *", "Europe/Berlin", "2026-07-10T06:59:59Z"),
            "2026-07-10T07:00:00Z"
        );
    }

    #[test]
    fn time_left_out_by_daylight_saving_runs_behind_the_gap() {
        // 02:30 does not exist on 29 March 2026 in Berlin.
        assert_eq!(
            after("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"),
            "2026-03-29T01:00:00Z"
        );
    }

    #[test]
    fn time_that_comes_twice_runs_once() {
        let first = after("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z");
        assert_eq!(first, "2026-10-25T00:30:00Z");
        assert_eq!(
            after("30 2 * * *", "Europe/Berlin", &first),
            "2026-10-26T01:30:00Z"
        );
    }

    #[test]
    fn bad_patterns_and_zones_are_named() {
        assert!(next("61 * * * *", "UTC", 0).is_err());
        assert!(next("* * * * *", "Mars/Olympus", 0).is_err());
    }
}
