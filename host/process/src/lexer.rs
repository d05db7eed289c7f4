//! Splits a source into tokens and comments.

use std::ops::Range;

use winnow::combinator::{alt, opt, repeat};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{any, one_of, rest, take_till, take_until, take_while};

use crate::diagnostic::Diagnostic;
use crate::syntax::Comment;

/// A token's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A keyword or a name; hyphens within.
    Word,
    /// A string in double quotes; a quote within is doubled.
    Text,
    /// A number, integer or real.
    Number,
    /// `->`.
    Arrow,
    /// A sign of `{ } ( ) : ; ,`.
    Sign(char),
    /// A comment.
    Comment,
    /// Text that is no token, or is not closed.
    Wrong(&'static str),
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Range<usize>,
}

/// Tokens, comments and errors of a source.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

type Input<'s> = LocatingSlice<&'s str>;

/// Splits a source.
pub(crate) fn lex(source: &str) -> Lexed {
    let mut input = Input::new(source);
    let mut lexed = Lexed::default();
    let mut open_line = None;
    loop {
        let blanks: winnow::Result<&str> = take_while(0.., is_blank).parse_next(&mut input);
        let start = input.current_token_start();
        let kind: winnow::Result<TokenKind> = token.parse_next(&mut input);
        let (Ok(_), Ok(kind)) = (blanks, kind) else {
            break;
        };
        let span = start..input.current_token_start();
        let text = &source[span.clone()];
        match kind {
            TokenKind::Comment => lexed.comments.push(Comment {
                text: text.trim_end().to_owned(),
                trailing: follows_something(source, start),
                span,
            }),
            TokenKind::Wrong(what) => lexed.diagnostics.push(wrong(what, text, span, open_line.take(), source)),
            _ => {
                if kind == TokenKind::Text && text.contains('\n') {
                    open_line.get_or_insert(start);
                }
                lexed.tokens.push(Token { kind, span });
            }
        }
    }
    lexed
}

fn wrong(what: &'static str, text: &str, span: Range<usize>, open_line: Option<usize>, source: &str) -> Diagnostic {
    match what {
        "string" => {
            let mut diagnostic = Diagnostic::error(span.start..span.start + 1, "this string is not closed");
            diagnostic.expected = vec!["'\"'".to_owned()];
            let hint = match open_line {
                Some(at) => format!(
                    "Close it with a double quote. The first string that spans lines begins in line {}; \
                     perhaps its quote is missing.",
                    source[..at].matches('\n').count() + 1
                ),
                None => "Close it with a double quote.".to_owned(),
            };
            diagnostic.hint(hint)
        }
        "comment" => {
            let mut diagnostic = Diagnostic::error(span.start..span.start + 2, "this comment is not closed");
            diagnostic.expected = vec!["'*/'".to_owned()];
            diagnostic
        }
        _ => {
            let diagnostic =
                Diagnostic::error(span, format!("the character {} is not part of the language", text.escape_debug()));
            match text {
                "“" | "”" | "„" | "'" | "‘" | "’" => {
                    diagnostic.hint("Strings stand in straight double quotes: \"…\".")
                }
                "=" | ">" | "→" => diagnostic.hint("A dependence is written Task -> STATE."),
                _ => diagnostic,
            }
        }
    }
}

fn token(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    alt((
        word,
        text,
        comment,
        number,
        "->".value(TokenKind::Arrow),
        one_of(['{', '}', '(', ')', ':', ';', ',']).map(TokenKind::Sign),
        any.value(TokenKind::Wrong("character")),
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

fn text(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    ('"', repeat::<_, _, (), _, _>(0.., alt((take_while(1.., |c| c != '"').void(), "\"\"".void()))), opt('"'))
        .map(|(_, (), closed)| match closed {
            Some(_) => TokenKind::Text,
            None => TokenKind::Wrong("string"),
        })
        .parse_next(input)
}

fn comment(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    alt((
        ("//", take_till(0.., ['\n', '\r'])).value(TokenKind::Comment),
        ("/*", take_until(0.., "*/"), "*/").value(TokenKind::Comment),
        ("/*", rest).value(TokenKind::Wrong("comment")),
    ))
    .parse_next(input)
}

fn number(input: &mut Input<'_>) -> winnow::Result<TokenKind> {
    (opt('-'), take_while(1.., '0'..='9'), opt(('.', take_while(1.., '0'..='9'))))
        .value(TokenKind::Number)
        .parse_next(input)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn follows_something(source: &str, start: usize) -> bool {
    source[..start].rsplit('\n').next().is_some_and(|line| !line.chars().all(is_blank))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        lex(source).tokens.iter().map(|token| &source[token.span.clone()]).collect()
    }

    #[test]
    fn hyphens_belong_to_names_and_arrows_do_not() {
        assert_eq!(
            words("SUB-WORKFLOW a-b: Semi-automatic A->READY"),
            ["SUB-WORKFLOW", "a-b", ":", "Semi-automatic", "A", "->", "READY"]
        );
    }

    #[test]
    fn quotes_are_doubled_within_strings() {
        assert_eq!(words("\"a \"\"b\"\" c\" \"\""), ["\"a \"\"b\"\" c\"", "\"\""]);
    }

    #[test]
    fn numbers_are_integers_or_reals() {
        assert_eq!(words("10 -2 3.25 48HOURS"), ["10", "-2", "3.25", "48", "HOURS"]);
    }

    #[test]
    fn comments_are_no_tokens() {
        let lexed = lex("a // b ; c\n/* d\n e */ f");
        assert_eq!(lexed.tokens.len(), 2);
        assert!(lexed.comments[0].trailing);
        assert!(!lexed.comments[1].trailing);
        assert_eq!(lexed.comments[1].text, "/* d\n e */");
    }

    #[test]
    fn open_string_is_an_error_at_its_quote() {
        let lexed = lex("NAME \"abc;\n}");
        assert_eq!(lexed.diagnostics[0].span, 5..6);
        assert_eq!(lexed.diagnostics[0].message, "this string is not closed");
    }
}
