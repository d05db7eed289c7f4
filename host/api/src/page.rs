//! Long lists, a part at a time. A cursor says where the last part ended; it is opaque to clients.

use axum::http::StatusCode;
use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::Problem;

/// Entries of a part when nothing is said.
const USUAL: i64 = 50;
/// The most entries of a part.
const MOST: i64 = 500;

/// Which part of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// Where the part before ended: its `next`.
    pub(crate) cursor: Option<String>,
    /// At most so many entries, 1 to 500.
    pub(crate) limit: Option<i64>,
}

/// How many entries.
pub(crate) fn limit(asked: Option<i64>) -> Result<i64, Problem> {
    match asked {
        None => Ok(USUAL),
        Some(limit) if (1..=MOST).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_query",
            format!("limit is not between 1 and {MOST}"),
        )
        .hint("Ask for a part of that size, and go on with its cursor.")),
    }
}

/// A cursor of some numbers.
pub(crate) fn cursor(numbers: &[i64]) -> String {
    let text: Vec<String> = numbers.iter().map(i64::to_string).collect();
    BASE64URL_NOPAD.encode(text.join(",").as_bytes())
}

/// The numbers of a cursor; none when there is none.
pub(crate) fn position<const N: usize>(cursor: Option<&str>) -> Result<Option<[i64; N]>, Problem> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    let read = || -> Option<[i64; N]> {
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let numbers: Vec<i64> = text
            .split(',')
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        numbers.try_into().ok()
    };
    match read() {
        Some(numbers) => Ok(Some(numbers)),
        None => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_cursor",
            "the cursor is none of ours",
        )
        .hint("Use the `next` of the part before, or leave it out to begin.")),
    }
}

/// A number of a cursor as the database counts; what is beyond its numbers lies beyond the list.
pub(crate) fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_back_and_others_refused() {
        assert_eq!(
            position::<2>(Some(&cursor(&[7, -1]))).ok(),
            Some(Some([7, -1]))
        );
        assert_eq!(position::<1>(None).ok(), Some(None));
        for bad in ["", "!", "MQ==", &cursor(&[1]), "é"] {
            assert!(position::<2>(Some(bad)).is_err(), "{bad}");
        }
    }
}
