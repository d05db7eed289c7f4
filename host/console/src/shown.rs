//! Values, times and figures as people read them.

use jiff::{Span, Timestamp};
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Most characters of a value in a table.
const VALUE_MAX: usize = 400;

/// Characters that a part of an address holds as they are.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A part of an address.
pub(crate) fn part(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// A value in a table. Null looks different from the text `null`.
pub(crate) fn value(value: &Value) -> Markup {
    match value {
        Value::Null => html! { span class="null" { "null" } },
        Value::String(text) => html! { span class="text" { (cut(text)) } },
        other => html! { code { (cut(&other.to_string())) } },
    }
}

/// A span of time as people write it (`1m 30s`); what is no span of ISO 8601, as it is.
pub(crate) fn span(text: &str) -> String {
    text.parse::<Span>().map_or_else(|_| text.to_owned(), |span| format!("{span:#}"))
}

/// A text in which what stands between backticks is code.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for (at, piece) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// Cuts a long text.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A moment, to the second, in UTC.
pub(crate) fn time(moment: &str) -> Markup {
    let short = moment.parse::<Timestamp>().map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    html! { time datetime=(moment) { (short.unwrap_or_else(|_| moment.to_owned())) } }
}

/// A duration of microseconds.
pub(crate) fn microseconds(us: i64) -> String {
    match us {
        0..=999 => format!("{us} µs"),
        1_000..=999_999 => format!("{} ms", us / 1_000),
        _ => format!("{}.{} s", us / 1_000_000, us % 1_000_000 / 100_000),
    }
}

/// A duration of seconds, in its largest unit of which there are two.
pub(crate) fn seconds(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A number of bytes.
pub(crate) fn bytes(bytes: i64) -> String {
    match bytes {
        0..=1_023 => format!("{bytes} B"),
        1_024..=1_048_575 => format!("{} KiB", bytes / 1_024),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

/// A number that may be an estimate: then it is rounded to three digits, and says so.
pub(crate) fn about(figure: i64, is_estimated: bool) -> String {
    if !is_estimated {
        return number(figure);
    }
    let digits = figure.unsigned_abs().max(1).ilog10();
    let unit = 10_i64.pow(digits.saturating_sub(2));
    format!("≈\u{202f}{}", number((figure + unit / 2) / unit * unit))
}

/// A number with separators of thousands.
pub(crate) fn number(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    if number < 0 { format!("-{grouped}") } else { grouped }
}
