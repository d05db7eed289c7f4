//! Splits a source of WSQL into tokens, as SQL has them.

use std::ops::Range;

use winnow::combinator::{alt, opt, repeat};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{any, one_of, take_till, take_until, take_while};

/// A token's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or a name; hyphens within.
    Word,
    /// A name in double quotes; a quote within is doubled.
    Quoted,
    /// A string: `'…'`, `E'…'` or `$tag$…$tag$`.
    Text,
    /// A number, integer or real.
    Number,
    /// Any other character.
    Sign(char),
    /// A string or name that is not closed.
    Open,
    /// A blank or a comment.
    Blank,
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

type Input<'s> = LocatingSlice<&'s str>;

/// Splits a source; blanks and comments are left out.
pub(super) fn lex(source: &str) -> Vec<Token> {
    let mut input = Input::new(source);
    let mut tokens = Vec::new();
    loop {
        let start = input.current_token_start();
        let kind: winnow::Result<TokenKind> = token.parse_next(&mut input);
        let Ok(kind) = kind else { break };
        let span = start..input.current_token_start();
        if kind != TokenKind::Blank {
            tokens.push(Token { kind, span });
        }
    }
    tokens
}

/// Splits a source into its statements, and what follows the last semicolon.
pub fn split(source: &str) -> (Vec<&str>, &str) {
    let mut statements = Vec::new();
    let mut start = 0;
    for token in lex(source) {
        if token.kind == TokenKind::Sign(';') {
            statements.push(source[start..token.span.end].trim());
            start = token.span.end;
        }
    }
    (statements, source[start..].trim_start())
}

/// Returns the first word of a source, in small letters.
pub fn first_word(source: &str) -> Option<String> {
    let first = lex(source).into_iter().next()?;
    (first.kind == TokenKind::Word).then(|| source[first.span].to_lowercase())
}

/// Returns the tokens of a condition with what strings and quoted names stand for, and whether each is a string.
pub(crate) fn condition_words(sql: &str) -> Vec<(String, bool)> {
    let decoded = |token: Token| match token.kind {
        TokenKind::Text => (decode_text(&sql[token.span]), true),
        TokenKind::Quoted => (sql[token.span].trim_matches('"').replace("\"\"", "\""), false),
        TokenKind::Word => (sql[token.span].to_lowercase(), false),
        _ => (sql[token.span].to_owned(), false),
    };
    lex(sql).into_iter().map(decoded).collect()
}

fn token(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    alt((
        take_while(1.., |c: char| c.is_whitespace() || c == '\u{feff}').value(TokenKind::Blank),
        comment,
        escaped_text,
        word,
        text,
        dollar_text,
        quoted,
        number,
        any.map(TokenKind::Sign),
    ))
    .parse_next(input)
}

fn comment(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    alt((
        ("--", take_till(0.., ['\n', '\r'])).value(TokenKind::Blank),
        ("/*", take_until(0.., "*/"), "*/").value(TokenKind::Blank),
    ))
    .parse_next(input)
}

fn word(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    (
        one_of(|c: char| c.is_alphabetic() || c == '_'),
        take_while(0.., is_part),
        repeat::<_, _, (), _, _>(0.., ('-', take_while(1.., is_part))),
    )
        .value(TokenKind::Word)
        .parse_next(input)
}

fn escaped_text(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    let piece = alt((('\\', any).void(), "''".void(), take_while(1.., |c| c != '\'' && c != '\\').void()));
    closed((one_of(['e', 'E']), '\'').void(), piece, '\'', TokenKind::Text).parse_next(input)
}

fn text(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    let piece = alt(("''".void(), take_while(1.., |c| c != '\'').void()));
    closed('\''.void(), piece, '\'', TokenKind::Text).parse_next(input)
}

fn quoted(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    let piece = alt(("\"\"".void(), take_while(1.., |c| c != '"').void()));
    closed('"'.void(), piece, '"', TokenKind::Quoted).parse_next(input)
}

/// Reads pieces between a beginning and an end that may be missing.
fn closed<'s>(
    begin: impl Parser<Input<'s>, (), winnow::error::ContextError>,
    piece: impl Parser<Input<'s>, (), winnow::error::ContextError>,
    end: char,
    kind: TokenKind,
) -> impl Parser<Input<'s>, TokenKind, winnow::error::ContextError> {
    (begin, repeat::<_, _, (), _, _>(0.., piece), opt(end)).map(move |((), (), end)| match end {
        Some(_) => kind,
        None => TokenKind::Open,
    })
}

fn dollar_text(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    let (_, tag, _) = ('$', take_while(0.., |c| is_part(c) && c != '$'), '$').parse_next(input)?;
    let end = format!("${tag}$");
    (take_until(0.., end.as_str()), end.as_str()).value(TokenKind::Text).parse_next(input)
}

fn number(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    (
        opt('-'),
        take_while(1.., '0'..='9'),
        opt(('.', take_while(1.., '0'..='9'))),
        opt((one_of(['e', 'E']), opt(one_of(['+', '-'])), take_while(1.., '0'..='9'))),
    )
        .value(TokenKind::Number)
        .parse_next(input)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text that a string stands for.
pub(super) fn decode_text(token: &str) -> String {
    if let Some(rest) = token.strip_prefix('$') {
        let tag = rest.find('$').map_or(0, |at| at + 2);
        return token[tag..token.len() - tag].to_owned();
    }
    match token.strip_prefix(['e', 'E']) {
        None => token[1..token.len() - 1].replace("''", "'"),
        Some(escaped) => decode_escapes(&escaped[1..escaped.len() - 1]),
    }
}

fn decode_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        match one {
            '\\' => out.extend(rest.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            })),
            '\'' => {
                out.push('\'');
                rest.next();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<(TokenKind, &str)> {
        lex(source).into_iter().map(|token| (token.kind, &source[token.span])).collect()
    }

    #[test]
    fn strings_names_numbers_and_comments_are_as_in_sql() {
        use TokenKind::{Number, Quoted, Sign, Text, Word};
        let source = "WED-FLOW a -- x\n 'it''s' E'a\\'b' $q$ ' $q$ \"A \"\"b\" -2.5e3 /* y */ <";
        assert_eq!(
            kinds(source),
            [
                (Word, "WED-FLOW"),
                (Word, "a"),
                (Text, "'it''s'"),
                (Text, "E'a\\'b'"),
                (Text, "$q$ ' $q$"),
                (Quoted, "\"A \"\"b\""),
                (Number, "-2.5e3"),
                (Sign('<'), "<"),
            ]
        );
        let texts: Vec<String> =
            kinds(source).iter().filter(|(kind, _)| *kind == Text).map(|(_, text)| decode_text(text)).collect();
        assert_eq!(texts, ["it's", "a'b", " ' "]);
    }

    #[test]
    fn semicolons_in_strings_and_comments_split_nothing() {
        assert_eq!(
            split("SELECT ';' -- ; \n; LIST INSTANCES ;\n USE"),
            (vec!["SELECT ';' -- ; \n;", "LIST INSTANCES ;"], "USE")
        );
    }

    #[test]
    fn open_string_reaches_to_the_end() {
        assert_eq!(kinds("a 'b; c")[1], (TokenKind::Open, "'b; c"));
    }
}
