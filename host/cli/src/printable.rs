//! Texts as a terminal may have them: what tenants wrote moves no cursor, and shows in the order in which it is
//! written.

use std::borrow::Cow;

/// Writes characters that a terminal obeys instead of showing them as escapes (`\u000d`); line ends, tabs and colours
/// stay. A JSON document means the same afterwards.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_obeyed) {
        let (before, from) = rest.split_at(at);
        cleaned.push_str(before);
        let length = match (colour(from), from.strip_prefix("\r\n")) {
            (Some(length), _) => {
                cleaned.push_str(&from[..length]);
                length
            }
            (None, Some(_)) => {
                cleaned.push('\n');
                2
            }
            (None, None) => {
                let obeyed = from.chars().next().unwrap_or_default();
                cleaned.push_str(&escaped(obeyed));
                obeyed.len_utf8()
            }
        };
        rest = &from[length..];
    }
    cleaned.push_str(rest);
    Cow::Owned(cleaned)
}

/// Writes a text of others, such as a cell of a table: as [`printable`], and without colours.
pub(crate) fn uncoloured(text: &str) -> Cow<'_, str> {
    match text.contains('\u{1b}') {
        true => Cow::Owned(printable(&text.replace('\u{1b}', &escaped('\u{1b}'))).into_owned()),
        false => printable(text),
    }
}

fn escaped(character: char) -> String {
    format!("\\u{:04x}", u32::from(character))
}

/// Returns true for control characters, and for those that change the direction of what follows.
fn is_obeyed(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    let is_direction = matches!(character, '\u{200e}' | '\u{200f}' | '\u{61c}')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_line_end = matches!(character, '\u{2028}' | '\u{2029}');
    is_control || is_direction || is_line_end
}

/// Returns the bytes of the sequence that a text begins with, where that sets a colour or a weight; none for one that
/// hides what follows.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    let hides = parameters[..end].split(';').any(|one| one == "8");
    (parameters[end..].starts_with('m') && !hides).then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_and_colours_stay() {
        assert_eq!(printable("a\tb\r\nc é \u{1f600}"), "a\tb\nc é \u{1f600}");
        assert_eq!(printable("paid\rdue"), "paid\\u000ddue");
        assert_eq!(printable("\u{202e}evil\u{2069}"), "\\u202eevil\\u2069");
        assert_eq!(printable("\u{9b}2J\u{1b}]0;x\u{7}"), "\\u009b2J\\u001b]0;x\\u0007");
        assert_eq!(printable("\u{1b}[1;31mred\u{1b}[0m\u{1b}[2J"), "\u{1b}[1;31mred\u{1b}[0m\\u001b[2J");
        assert_eq!(printable("\u{1b}[8mhidden\u{1b}["), "\\u001b[8mhidden\\u001b[");
        assert_eq!(uncoloured("\u{1b}[31mred\r"), "\\u001b[31mred\\u000d");
        let document = serde_json::json!({ "message": "\u{202e}\u{9b}\r" });
        let read: serde_json::Value = serde_json::from_str(&printable(&document.to_string())).expect("JSON");
        assert_eq!(read, document);
    }
}
