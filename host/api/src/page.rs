//! Long lists, a part at a time. A cursor says where the last part ended; it is opaque to clients.

use axum::http::StatusCode;
use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use wedflow_store::StoreError;

use crate::documents::{List, Page};
use crate::problem::Problem;

/// Entries of a part by default.
const USUAL: i64 = 50;
/// The most entries of a part.
const MOST: i64 = 500;

/// The most bytes of a part's entries.
const MOST_BYTES: usize = 4 << 20;
/// Entries that are looked up at once: each may be as large as a state may be.
const STEP: i64 = 16;
/// Entries that are looked up at once after those before were light.
const LIGHT_STEP: i64 = 128;
/// Bytes of an entry that is light.
const LIGHT_BYTES: usize = 4 << 10;

/// Returns the number of entries to answer with.
pub(crate) fn limit(asked: Option<i64>) -> Result<i64, Problem> {
    match asked {
        None => Ok(USUAL),
        Some(limit) if (1..=MOST).contains(&limit) => Ok(limit),
        Some(_) => {
            Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_query", format!("limit is not between 1 and {MOST}"))
                .hint("Ask for a part of that size, and continue with its cursor."))
        }
    }
}

/// Returns the seconds to wait that a request asks for.
pub(crate) fn wait_s(asked: Option<u64>, usual: u64, most: u64) -> Result<u64, Problem> {
    match asked {
        None => Ok(usual),
        Some(wait) if wait <= most => Ok(wait),
        Some(_) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_query",
            format!("wait is not between 0 and {most} seconds"),
        )
        .hint("Wait for so long, and ask again.")),
    }
}

/// Returns a part of a list: at most `limit` entries of at most [`MOST_BYTES`] together, but one at least, and where
/// the next part begins. `fetch` returns rows after a position, `placed` the position of a row and its entry.
pub(crate) async fn part<Row, T, P, Rows>(
    limit: i64,
    from: Option<P>,
    placed: impl Fn(Row) -> (P, T),
    fetch: impl Fn(Option<P>, i64) -> Rows,
) -> Result<(Vec<T>, Option<P>), Problem>
where
    T: Serialize,
    P: Copy,
    Rows: Future<Output = Result<Vec<Row>, StoreError>>,
{
    let (mut items, mut bytes, mut from): (Vec<T>, usize, _) = (Vec::new(), 0, from);
    loop {
        let left = limit - i64::try_from(items.len()).unwrap_or(limit);
        let light = !items.is_empty() && bytes / items.len() < LIGHT_BYTES;
        let count = left.min(if light { LIGHT_STEP } else { STEP });
        let rows = fetch(from, count).await?;
        let full = i64::try_from(rows.len()).is_ok_and(|found| found == count);
        for row in rows {
            let (behind, item) = placed(row);
            bytes += length(&item);
            if bytes > MOST_BYTES && !items.is_empty() {
                return Ok((items, from));
            }
            from = Some(behind);
            items.push(item);
        }
        if !full {
            return Ok((items, None));
        }
        if count == left {
            return Ok((items, from));
        }
    }
}

/// A part of a list that was looked up whole: the entries behind the one of the key that the cursor holds, in
/// the order of their keys.
pub(crate) fn cut<T: Serialize>(page: &Page, mut all: Vec<T>, key: impl Fn(&T) -> String) -> Result<List<T>, Problem> {
    let limit = usize::try_from(limit(page.limit)?).unwrap_or_default();
    all.sort_by_key(&key);
    if let Some(cursor) = &page.cursor {
        let behind = read_cursor(cursor)?;
        all.retain(|item| key(item) > behind);
    }
    let mut bytes = 0;
    let fits = all.iter().take(limit).take_while(|item| {
        bytes += length(item);
        bytes <= MOST_BYTES
    });
    let count = fits.count().max(1);
    let more = all.len() > count;
    all.truncate(count);
    let next = all.last().filter(|_| more).map(|last| text_cursor(&key(last)));
    Ok(List { items: all, next })
}

/// Makes a cursor of a text.
pub(crate) fn text_cursor(text: &str) -> String {
    BASE64URL_NOPAD.encode(text.as_bytes())
}

/// Returns the text of a cursor; none when there is none.
pub(crate) fn text_position(cursor: Option<&str>) -> Result<Option<String>, Problem> {
    cursor.map(read_cursor).transpose()
}

fn read_cursor(cursor: &str) -> Result<String, Problem> {
    let text = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok();
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    text.filter(|text| !text.is_empty() && !text.contains('\0')).ok_or_else(no_cursor)
}

/// Returns the length of an entry as JSON, in bytes.
fn length(item: &impl Serialize) -> usize {
    struct Counted(usize);
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Nothing is written anywhere that could fail.
    let _ = serde_json::to_writer(&mut counted, item);
    counted.0
}

fn no_cursor() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_cursor", "the cursor is none of ours")
        .hint("Use the `next` of the part before, or leave it out to begin.")
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
        let numbers: Vec<i64> = text.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        numbers.try_into().ok()
    };
    match read() {
        Some(numbers) => Ok(Some(numbers)),
        None => Err(no_cursor()),
    }
}

/// A number of a cursor as the database counts; what is beyond its numbers lies beyond the list.
pub(crate) fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize)]
    struct Entry(i64, String);

    async fn first_part(limit: i64, length: usize) -> (usize, Option<i64>) {
        let fetch = async |from: Option<i64>, count: i64| {
            let from = from.unwrap_or(0) + 1;
            Ok((from..(from + count).min(301))
                .map(|number| (number, Entry(number, "x".repeat(length))))
                .collect::<Vec<_>>())
        };
        let (items, next) = part(limit, None, |placed| placed, fetch).await.unwrap_or_else(|_| panic!("a part"));
        (items.len(), next)
    }

    #[tokio::test]
    async fn a_part_is_bounded_in_entries_and_in_bytes() {
        assert_eq!(first_part(200, 10).await, (200, Some(200)));
        assert_eq!(first_part(300, 10).await, (300, Some(300)));
        assert_eq!(first_part(500, 10).await, (300, None));
        let (count, next) = first_part(500, 250_000).await;
        assert!((10..17).contains(&count), "{count}");
        assert_eq!(next, i64::try_from(count).ok());
        assert_eq!(first_part(500, 5 << 20).await, (1, Some(1)));
    }

    #[test]
    fn a_whole_list_is_cut_in_order() {
        let mut page = Page { cursor: None, limit: Some(2) };
        let mut seen = Vec::new();
        loop {
            let all = ["c", "a", "e", "b", "d"].map(str::to_owned).to_vec();
            let list = cut(&page, all, Clone::clone).unwrap_or_else(|_| panic!("a part"));
            seen.extend(list.items);
            match list.next {
                Some(next) => page.cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, ["a", "b", "c", "d", "e"]);
        for bad in ["", "!"] {
            page.cursor = Some(bad.to_owned());
            assert!(cut(&page, vec!["a".to_owned()], Clone::clone).is_err(), "{bad}");
        }
    }

    #[test]
    fn cursors_are_read_back_and_others_refused() {
        assert_eq!(position::<2>(Some(&cursor(&[7, -1]))).ok(), Some(Some([7, -1])));
        assert_eq!(position::<1>(None).ok(), Some(None));
        for bad in ["", "!", "MQ==", &cursor(&[1]), "é"] {
            assert!(position::<2>(Some(bad)).is_err(), "{bad}");
        }
    }
}
