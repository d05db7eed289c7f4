//! Types of attributes that Rust's core library does not have.

use alloc::format;
use alloc::string::{String, ToString};
use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, Sub};
use core::str::FromStr;
use core::time::Duration;

/// Text that is not the notation of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    what: &'static str,
    text: String,
}

impl ParseError {
    fn new(what: &'static str, text: &str) -> Self {
        ParseError { what, text: text.chars().take(80).collect() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {}", self.text, self.what)
    }
}

impl core::error::Error for ParseError {}

/// `numeric`: an exact decimal number, kept as text so that nothing is rounded.
///
/// Numbers are compared by value (`1.0` equals `1.00`; `NaN` is the largest, as in Postgres).
/// Compute in SQL (`sql!("price * {quantity}")`), where it is exact.
#[derive(Debug, Clone)]
pub struct Numeric(String);

impl Numeric {
    pub(crate) fn from_server(text: String) -> Self {
        Numeric(text)
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// The number's decimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The nearest double, for estimates. Very long numbers lose digits.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Sign and rank among the special values, then integer and fraction digits without padding.
    fn parts(&self) -> (i8, &str, &str) {
        match self.0.as_str() {
            "NaN" => return (3, "", ""),
            "Infinity" => return (2, "", ""),
            "-Infinity" => return (-2, "", ""),
            _ => {}
        }
        let (negative, digits) = match self.0.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, self.0.strip_prefix('+').unwrap_or(&self.0)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let sign = match (whole.is_empty() && fraction.is_empty(), negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        (sign, whole, fraction)
    }
}

impl FromStr for Numeric {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let special = matches!(text, "NaN" | "Infinity" | "-Infinity");
        if special
            || plain(whole) && plain(fraction) && !(whole.is_empty() && fraction.is_empty()) && !digits.is_empty()
        {
            Ok(Numeric(text.into()))
        } else {
            Err(ParseError::new("numeric", text))
        }
    }
}

impl From<i32> for Numeric {
    fn from(number: i32) -> Self {
        Numeric(number.to_string())
    }
}

impl From<i64> for Numeric {
    fn from(number: i64) -> Self {
        Numeric(number.to_string())
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Self) -> Ordering {
        let (sign, whole, fraction) = self.parts();
        let (other_sign, other_whole, other_fraction) = other.parts();
        sign.cmp(&other_sign).then_with(|| {
            let magnitude = whole
                .len()
                .cmp(&other_whole.len())
                .then_with(|| whole.cmp(other_whole))
                .then_with(|| fraction.cmp(other_fraction));
            if sign < 0 { magnitude.reverse() } else { magnitude }
        })
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// `timestamptz`: a moment, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Postgres's `infinity`: later than any other.
    pub const INFINITY: Timestamp = Timestamp(i64::MAX);
    /// Postgres's `-infinity`: earlier than any other.
    pub const NEG_INFINITY: Timestamp = Timestamp(i64::MIN);

    /// The moment that many microseconds after 1970-01-01T00:00:00Z.
    pub const fn from_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The time from `earlier` until this moment; nothing when `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The day it falls on in UTC.
    pub fn date(self) -> Date {
        match self {
            Timestamp::INFINITY => Date::INFINITY,
            Timestamp::NEG_INFINITY => Date::NEG_INFINITY,
            Timestamp(micros) => {
                let days = micros.div_euclid(MICROS_PER_SECOND * SECONDS_PER_DAY);
                // 64 bits of microseconds hold no more than 2^28 days.
                Date(days as i32)
            }
        }
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Duration) -> Timestamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(micros))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, span: Duration) -> Timestamp {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_sub(micros))
    }
}

/// ISO 8601 in UTC, as Postgres reads it.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Timestamp::INFINITY => f.write_str("infinity"),
            Timestamp::NEG_INFINITY => f.write_str("-infinity"),
            Timestamp(micros) => {
                let (seconds, micros) = (micros.div_euclid(MICROS_PER_SECOND), micros.rem_euclid(MICROS_PER_SECOND));
                let time = seconds.rem_euclid(SECONDS_PER_DAY);
                let (year, month, day) = civil(seconds.div_euclid(SECONDS_PER_DAY));
                let (shown, era) = era(year);
                write!(f, "{shown:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60)?;
                if micros != 0 {
                    write!(f, ".{micros:06}")?;
                }
                write!(f, "Z{era}")
            }
        }
    }
}

/// `date`: a day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// Postgres's `infinity`: later than any other.
    pub const INFINITY: Date = Date(i32::MAX);
    /// Postgres's `-infinity`: earlier than any other.
    pub const NEG_INFINITY: Date = Date(i32::MIN);

    /// The day that many days after 1970-01-01.
    pub const fn from_days(days: i32) -> Self {
        Date(days)
    }

    /// Days since 1970-01-01.
    pub const fn as_days(self) -> i32 {
        self.0
    }

    /// That many days later (earlier when negative).
    pub const fn plus_days(self, days: i32) -> Self {
        Date(self.0.saturating_add(days))
    }
}

/// ISO 8601.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Date::INFINITY => f.write_str("infinity"),
            Date::NEG_INFINITY => f.write_str("-infinity"),
            Date(days) => {
                let (year, month, day) = civil(i64::from(days));
                let (shown, era) = era(year);
                write!(f, "{shown:04}-{month:02}-{day:02}{era}")
            }
        }
    }
}

/// Year (0 is 1 BC), month and day of the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the leap day comes last; an era is 400 years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Tells how Postgres writes a year: before year 1 it counts backwards and says BC.
fn era(year: i64) -> (i64, &'static str) {
    if year > 0 { (year, "") } else { (1 - year, " BC") }
}

/// `interval`: a span of time as text that Postgres reads, months and days separate from seconds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Interval(String);

impl Interval {
    /// An interval in any notation that Postgres reads: `P1DT2H`, `1 day 2 hours`.
    pub fn new(text: impl Into<String>) -> Self {
        Interval(text.into())
    }

    pub(crate) fn from_server(text: String) -> Self {
        Interval(text)
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// The text; the server sends ISO 8601.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Duration> for Interval {
    fn from(span: Duration) -> Self {
        Interval(match (span.as_secs(), span.subsec_micros()) {
            (seconds, 0) => format!("PT{seconds}S"),
            (seconds, micros) => format!("PT{seconds}.{micros:06}S"),
        })
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `uuid`, in its text form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(String);

impl Uuid {
    pub(crate) fn from_server(text: String) -> Self {
        Uuid(text)
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// The text, in lower case with hyphens when it comes from the server.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Uuid {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let fits = text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        if fits { Ok(Uuid(text.to_ascii_lowercase())) } else { Err(ParseError::new("uuid", text)) }
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `jsonb`, as JSON text. Read and write it with a JSON crate of your choice.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Json(String);

impl Json {
    /// A JSON document; the server refuses text that is none.
    pub fn new(text: impl Into<String>) -> Self {
        Json(text.into())
    }

    pub(crate) fn from_server(text: String) -> Self {
        Json(text)
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_written_as_postgres_reads_them() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00Z"),
            (1_735_689_599_999_999, "2024-12-31T23:59:59.999999Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (-62_135_596_800_000_001, "0001-12-31T23:59:59.999999Z BC"),
            (i64::MAX, "infinity"),
            (i64::MIN, "-infinity"),
        ];
        for (micros, text) in cases {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
        }
        assert_eq!(Timestamp::from_micros(-1).date().to_string(), "1969-12-31");
        assert_eq!(Date::from_days(19_782).to_string(), "2024-02-29");
    }

    #[test]
    fn numerics_compare_by_value() {
        let number = |text: &str| text.parse::<Numeric>().expect("a number");
        let ascending =
            ["-Infinity", "-100", "-99.5", "-0.01", "0", "0.009", "0.01", "9", "10.5", "100", "Infinity", "NaN"];
        for pair in ascending.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        }
        assert_eq!(number("1.0"), number("+01.00"));
        assert_eq!(number("-0.0"), number("0"));
        for wrong in ["", ".", "-", "1e5", "1.2.3", "one", "١"] {
            assert!(wrong.parse::<Numeric>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_random_uuid_is_of_version_4() {
        let uuid = Uuid::random();
        assert_eq!(uuid.as_str().parse::<Uuid>(), Ok(uuid.clone()));
        assert_eq!(&uuid.as_str()[14..15], "4");
        assert!(matches!(&uuid.as_str()[19..20], "8" | "9" | "a" | "b"));
    }

    #[test]
    fn durations_become_intervals() {
        assert_eq!(Interval::from(Duration::from_millis(1500)).as_str(), "PT1.500000S");
        assert_eq!(Interval::from(Duration::from_secs(90)).as_str(), "PT90S");
    }
}
