//! Long answers in parts: an assistant has little room for what it reads.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use wedflow_client::Request;
use wedflow_documents::{List, Page};

use super::Fault;
use crate::door::Door;

/// Maximum bytes of a part.
const PART_BYTES_MAX: usize = 4_000;
/// Maximum bytes of a reason why there is no answer.
const REASON_BYTES_MAX: usize = 1_000;
/// Entries that a list has at most in a part.
const ENTRIES_MAX: i64 = 32;

/// Returns a part of a text, counted from 1, and says which one of how many it is.
pub(super) fn part(text: &str, wanted: Option<u32>) -> Result<String, Fault> {
    let wanted = wanted.unwrap_or(1);
    if text.len() <= PART_BYTES_MAX && wanted == 1 {
        return Ok(text.to_owned());
    }
    let parts = split(text);
    let count = parts.len();
    let at = usize::try_from(wanted).unwrap_or(usize::MAX);
    match at.checked_sub(1).and_then(|at| parts.get(at)) {
        Some(part) if at == count => Ok(format!("{part}\n[part {at} of {count}: the last]")),
        Some(part) => Ok(format!("{part}\n[cut: part {at} of {count}; ask again with part {}]", at + 1)),
        None => Err(Fault::Arguments(format!("there is no part {wanted}; the answer has {count}"))),
    }
}

/// Shortens a text that has no further parts, such as a reason.
pub(super) fn beginning(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= REASON_BYTES_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Splits a text into parts, at ends of lines where there are any in the second half of a part.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while rest.len() > PART_BYTES_MAX {
        let mut end = PART_BYTES_MAX;
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let line = rest[..end].rfind('\n').map(|at| at + 1);
        let end = line.filter(|at| *at > end / 2).unwrap_or(end);
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

/// Returns a part of a document.
pub(super) fn document(document: &impl Serialize, wanted: Option<u32>) -> Result<String, Fault> {
    part(&json!(document).to_string(), wanted)
}

/// Returns as many entries of a list as fit into a part, from a cursor on, and the cursor of the next ones.
pub(super) async fn entries<T: DeserializeOwned + Serialize>(
    door: &Door,
    request: &Request,
    cursor: Option<String>,
) -> Result<String, Fault> {
    let mut limit = ENTRIES_MAX;
    loop {
        let page = Page { cursor: cursor.clone(), limit: Some(limit) };
        let list: List<T> = door.call(request.clone().query(&page)).await?;
        let mut answer = json!({ "items": list.items });
        if let Some(next) = list.next {
            answer["cut"] = "there are more; ask again with this cursor".into();
            answer["cursor"] = next.into();
        }
        let text = answer.to_string();
        match (text.len() <= PART_BYTES_MAX, limit) {
            (true, _) => return Ok(text),
            // A single entry that is too long is shown from its beginning.
            (false, 1) => {
                let cut = format!("[cut: the first of {} bytes]", text.len());
                let cursor = answer["cursor"].take();
                return Ok(format!("{}\n{cut} cursor: {cursor}", split(&text)[0]));
            }
            (false, _) => limit /= 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_text() {
        let text = "é".repeat(3_000) + "\n" + &"line\n".repeat(2_000);
        let parts = split(&text);
        assert_eq!(parts.concat(), text);
        assert!(parts.iter().all(|part| part.len() <= PART_BYTES_MAX));
        let count = parts.len();
        let first = part(&text, None).ok().expect("a part");
        assert!(first.ends_with(&format!("part 1 of {count}; ask again with part 2]")));
        let last = part(&text, u32::try_from(count).ok()).ok().expect("a part");
        assert!(last.ends_with("the last]"), "{last}");
        assert!(part(&text, Some(99)).is_err() && part(&text, Some(0)).is_err());
        assert_eq!(part("short", None).ok().as_deref(), Some("short"));
    }
}
