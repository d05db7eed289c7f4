//! Clauses of nothing but plain names and plain constants, split into tokens without Postgres's lexer, which took a
//! third of the time in which they are judged.

use pg_query::protobuf::Token;

/// The tokens of a clause such as `step = 5, note = 'it''s'`, each as the lexer would give it, but for a word that is
/// none of the constants; nothing where any other character stands in it than these need. Two that the lexer would
/// read as one, as in `1e5` and `e'x'`, have no comma and no sign between them, so they are no assignments.
pub(crate) fn tokens(text: &str) -> Option<Vec<(Token, &str)>> {
    let bytes = text.as_bytes();
    let until = |from: usize, ends: &dyn Fn(u8) -> bool| {
        (bytes[from..].iter().position(|c| ends(*c))).map_or(bytes.len(), |length| from + length)
    };
    let mut tokens = Vec::with_capacity(8);
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let (token, end) = match first {
            // White space that every version of Postgres knows as such.
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                at += 1;
                continue;
            }
            b',' => (Token::Ascii44, at + 1),
            b'=' => (Token::Ascii61, at + 1),
            b'-' => (Token::Ascii45, at + 1),
            b'\'' => (Token::Sconst, quoted(bytes, at)?),
            b'0'..=b'9' => {
                let end = until(at, &|c| !c.is_ascii_digit());
                match bytes.get(end) {
                    Some(b'.') => {
                        let behind = until(end + 1, &|c| !c.is_ascii_digit());
                        (behind > end + 1).then_some((Token::Fconst, behind))?
                    }
                    _ => {
                        let small = text[at..end].parse::<i32>().is_ok();
                        (if small { Token::Iconst } else { Token::Fconst }, end)
                    }
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let end = until(at, &|c| !(c.is_ascii_alphanumeric() || c == b'_'));
                let word = &text[at..end];
                let constants = [("null", Token::NullP), ("true", Token::TrueP), ("false", Token::FalseP)];
                let constant = (constants.iter()).find(|(name, _)| word.eq_ignore_ascii_case(name));
                (constant.map_or(Token::Ident, |(_, token)| *token), end)
            }
            _ => return None,
        };
        tokens.push((token, &text[at..end]));
        at = end;
    }
    Some(tokens)
}

/// Returns the end of a text in plain quotes that begins at `from`; none if it has no end, or holds what no text
/// may.
fn quoted(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match bytes.get(at)? {
            0 => return None,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return Some(at + 1),
            _ => at += 1,
        }
    }
}
