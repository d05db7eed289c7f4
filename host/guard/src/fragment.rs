//! A fragment's way through the parser, and back from the parser's offsets to its characters.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use pg_query::protobuf::{KeywordKind, ParseResult, RawStmt, ScanToken, Token};
use pg_query::{Node, NodeEnum};

use crate::MAX_BYTES;
use crate::refusal::{ByteRefusal, Refusal, RefusalCode, shorten};

/// Maximum depth of open brackets.
const MAX_BRACKETS: usize = 200;

/// Lock that allows one parse at a time: see the crate's documentation.
static PARSING: Mutex<()> = Mutex::new(());

/// Runs `work` while no parse is under way, so that the process's standard error is where it
/// belongs: for duplicating its handle, or starting a program that inherits it. `work` must not
/// check fragments itself, which would wait for ever.
pub fn outside_of_parsing<T>(work: impl FnOnce() -> T) -> T {
    let _turn = PARSING.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// A fragment that the lexer has been through, and the start of the statement it is to stand in.
pub(crate) struct Fragment<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<ScanToken>,
    /// The text with spaces for its comments: what is parsed.
    bare: Cow<'a, str>,
    wrapper: &'static str,
}

impl<'a> Fragment<'a> {
    /// Splits the text into tokens and refuses what no fragment may contain.
    pub(crate) fn new(wrapper: &'static str, text: &'a str) -> Result<Self, Refusal> {
        let mut fragment = Fragment { text, tokens: Vec::new(), bare: Cow::Borrowed(text), wrapper };
        fragment.scan().map_err(|refusal| fragment.reject(refusal))?;
        Ok(fragment)
    }

    fn scan(&mut self) -> Result<(), ByteRefusal> {
        if self.text.len() > MAX_BYTES {
            return Err(ByteRefusal::new(
                RefusalCode::TooLong,
                format!("{} bytes of SQL, where {MAX_BYTES} are allowed", self.text.len()),
            )
            .hint("return long values as typed assignments"));
        }
        if let Some(at) = self.text.find('\0') {
            let message = "a NUL character, which no text in Postgres can hold";
            return Err(ByteRefusal::new(RefusalCode::NulCharacter, message).at(at));
        }
        // Postgres's lexer knows no other white space than this.
        if self.text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']).is_empty() {
            return Err(ByteRefusal::new(RefusalCode::Empty, "nothing is there").at(self.text.len()));
        }
        self.tokens = match pg_query::scan_tokens(self.text) {
            Ok(tokens) => tokens,
            Err(error) => return Err(self.lexical(&library_message(error))),
        };
        self.without_comments();
        if self.tokens.is_empty() {
            let message = "nothing is there but a comment";
            return Err(ByteRefusal::new(RefusalCode::Empty, message).at(self.text.len()));
        }
        self.known_space()?;
        self.one_expression()
    }

    /// Refuses white space between tokens that not every version of Postgres knows as such.
    fn known_space(&self) -> Result<(), ByteRefusal> {
        let mut end = 0;
        for token in &self.tokens {
            let between = self.bare.get(end..offset(token.start)).unwrap_or_default();
            if let Some(at) = between.find('\x0b') {
                let refusal = ByteRefusal::new(RefusalCode::Syntax, "a vertical tab");
                return Err(refusal.hint("write a space").at(end + at));
            }
            end = offset(token.end);
        }
        Ok(())
    }

    /// Refuses tokens that end an expression or belong to none, and more brackets than Postgres should nest.
    fn one_expression(&self) -> Result<(), ByteRefusal> {
        let mut brackets = 0_usize;
        for token in &self.tokens {
            let refusal = match Token::try_from(token.token) {
                Ok(Token::Ascii40 | Token::Ascii91) => {
                    brackets += 1;
                    if brackets <= MAX_BRACKETS {
                        continue;
                    }
                    too_deep()
                }
                Ok(Token::Ascii41 | Token::Ascii93) => {
                    brackets = brackets.saturating_sub(1);
                    continue;
                }
                Ok(Token::Ascii59) => {
                    let last = self.tokens.last().is_some_and(|last| last.start == token.start);
                    let refusal = ByteRefusal::new(RefusalCode::SecondStatement, "one fragment only: no `;`");
                    refusal.hint(match last {
                        true => "leave it out",
                        false => "text that holds one stands in single quotes",
                    })
                }
                Ok(Token::Param) => ByteRefusal::new(RefusalCode::Parameter, "there are no parameters here")
                    .hint("write the value itself, text in single quotes"),
                _ => continue,
            };
            return Err(refusal.at(offset(token.start)));
        }
        Ok(())
    }

    /// Takes the comments out, as the lexer found them: spaces stand in their place, so that everything else
    /// stays where it is.
    fn without_comments(&mut self) {
        let comment =
            |token: &ScanToken| token.token == Token::SqlComment as i32 || token.token == Token::CComment as i32;
        if !self.tokens.iter().any(comment) {
            return;
        }
        let mut bare = self.text.as_bytes().to_vec();
        for token in self.tokens.iter().filter(|token| comment(token)) {
            if let Some(bytes) = bare.get_mut(offset(token.start)..offset(token.end)) {
                for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
                    *byte = b' ';
                }
            }
        }
        self.tokens.retain(|token| !comment(token));
        // Of a comment all or no bytes of a character are taken out.
        self.bare = String::from_utf8(bare).map_or(Cow::Borrowed(""), Cow::Owned);
    }

    /// An error of the lexer. Its message ends with the text from where it gave up.
    fn lexical(&self, message: &str) -> ByteRefusal {
        let (what, near) = match message.split_once(" at or near \"") {
            Some((what, near)) => (what, near.strip_suffix('"').unwrap_or(near)),
            None => (message, ""),
        };
        let at = if near.is_empty() {
            // A character that no text holds, written as an escape; or one that cannot be read.
            let escapes = ["\\x00", "\\x0", "\\000", "\\u", "\\U", "\\0", "\\"];
            let found = escapes.iter().find_map(|escape| self.text.find(escape));
            found.unwrap_or_default()
        } else if what.starts_with("unterminated") && self.text.ends_with(near) {
            self.text.len() - near.len()
        } else {
            self.text.find(near).unwrap_or_default()
        };
        let refusal = ByteRefusal::new(RefusalCode::Syntax, what).at(at);
        if what.starts_with("unterminated") {
            refusal.hint("close what is opened there; a quote within text is written twice")
        } else {
            refusal
        }
    }

    /// Parses the wrapper with the fragment in it, and gives its only statement.
    pub(crate) fn parse(&self) -> Result<NodeEnum, ByteRefusal> {
        let tree = parse(self.wrapper, &self.bare).map_err(|error| self.syntax(error))?;
        let ParseResult { version: _, stmts } = tree;
        let Ok([statement]) = <[RawStmt; 1]>::try_from(stmts) else {
            let message = "one fragment only, not several statements";
            return Err(ByteRefusal::new(RefusalCode::SecondStatement, message));
        };
        match statement.stmt.map(|node| *node) {
            Some(Node { node: Some(node) }) => Ok(node),
            _ => Err(ByteRefusal::new(RefusalCode::Construct, "not a fragment")),
        }
    }

    /// Says where the parser's error is. The parser knew, but its Rust face keeps only the message:
    /// so look for the first token with which the text has that error.
    fn syntax(&self, error: ParseError) -> ByteRefusal {
        let message = match error {
            ParseError::Message(message) => message,
            ParseError::TooDeep => return too_deep(),
        };
        let depths = ["stack depth", "memory exhausted", "nested too deeply"];
        if depths.iter().any(|depth| message.contains(depth)) {
            return too_deep();
        }
        if message.starts_with("Failed to open pipe") {
            let message = "too many files are open in this process to check SQL now";
            return ByteRefusal::new(RefusalCode::Unavailable, message).hint("try again");
        }
        let what = message.split_once(" at or near ").map_or(message.as_str(), |(what, _)| what);
        if let Some(what) = message.strip_suffix(" at end of input") {
            return ByteRefusal::new(RefusalCode::Syntax, what)
                .hint("something is missing at the end")
                .at(self.text.len());
        }
        let refusal = ByteRefusal::new(RefusalCode::Syntax, what);
        let (mut low, mut high) = (0, self.tokens.len().saturating_sub(1));
        while low < high {
            let middle = usize::midpoint(low, high);
            let end = self.tokens.get(middle).map_or(0, |token| offset(token.end));
            let part = self.bare.get(..end).unwrap_or_default();
            let same = matches!(parse(self.wrapper, part),
                Err(ParseError::Message(found)) if found == message);
            if same {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let (at, hint) = self.usual_mistake(low);
        match self.tokens.get(at) {
            Some(token) => refusal.hint(hint).at(offset(token.start)),
            None => refusal.hint(hint),
        }
    }

    /// Explains syntax of other languages, or of the statement around the fragment, where the parser fails at a
    /// token: the token's position, and what to write instead.
    fn usual_mistake(&self, at: usize) -> (usize, &'static str) {
        let text = |at: usize| {
            let token = self.tokens.get(at)?;
            self.text.get(offset(token.start)..offset(token.end))
        };
        let is = |at: usize, word: &str| text(at).is_some_and(|text| text.eq_ignore_ascii_case(word));
        if is(0, "where") || is(0, "set") && !is(1, "=") {
            return (0, "leave that word out: only what follows it is asked for");
        }
        if let Some(at) = (0..=at).find(|at| text(*at).is_some_and(|text| text.contains('`'))) {
            return (at, "names stand alone or in double quotes, text in single quotes");
        }
        let here = text(at).unwrap_or_default();
        if let Some(hint) = here.chars().find_map(crate::node::lookalike) {
            return (at, hint);
        }
        let before = at.checked_sub(1).and_then(text).unwrap_or_default();
        for word in [here, before] {
            let hint = match word.to_ascii_lowercase().as_str() {
                "contains" => "write strpos(a1, 'x') > 0 or a1 LIKE '%x%'; of an array 'x' = ANY (tags)",
                "regexp" | "rlike" | "matches" | "=~" => "write ~ for a regular expression",
                "startswith" | "starts" => "write starts_with(a1, 'x') or a1 LIKE 'x%'",
                "endswith" | "ends" => "write a1 LIKE '%x'",
                "xor" => "between truth values write <>",
                "mod" => "write %",
                "div" => "write /, or div(…, …)",
                ":=" => "write =",
                "+=" => "write a1 = a1 + …",
                "-=" => "write a1 = a1 - …",
                "||=" => "write a1 = a1 || …",
                "[" => "names stand without brackets; an array is written ARRAY[…]",
                "==" | "===" => "write =",
                "!" => "write NOT",
                "then" | "else" => "write CASE WHEN … THEN … ELSE … END",
                _ => continue,
            };
            return (at, hint);
        }
        // Operators that bind closer than a comparison.
        let joined = |sign: &str| (0..at).any(|at| is(at, sign));
        let is_reserved =
            (self.tokens.get(at)).is_some_and(|token| token.keyword_kind == KeywordKind::ReservedKeyword as i32);
        let hint = match (joined("&&"), joined("||")) {
            (true, _) => "between conditions write AND, not &&",
            (_, true) => "between conditions write OR, not ||",
            _ if is_reserved => "a word of SQL itself; an attribute of that name is written in double quotes",
            _ => "",
        };
        (at, hint)
    }

    /// The byte offset in the fragment of a node's location in the wrapped statement.
    pub(crate) fn offset(&self, location: i32) -> Option<usize> {
        usize::try_from(location).ok()?.checked_sub(self.wrapper.len()).filter(|at| *at <= self.text.len())
    }

    /// Returns the position of the first of these words outside of any parentheses.
    pub(crate) fn find_word(&self, words: &[Token]) -> Option<usize> {
        let mut depth = 0_usize;
        for token in &self.tokens {
            match Token::try_from(token.token) {
                Ok(Token::Ascii40) => depth += 1,
                Ok(Token::Ascii41) => depth = depth.saturating_sub(1),
                Ok(kind) if depth == 0 && words.contains(&kind) => {
                    return Some(offset(token.start));
                }
                _ => {}
            }
        }
        None
    }

    /// Every word of the text, as the name that it would be.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.tokens.iter().filter_map(|token| {
            let text = self.text.get(offset(token.start)..offset(token.end))?;
            match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                Some(quoted) => Some(quoted.replace("\"\"", "\"")),
                None => text.starts_with(|c: char| c.is_alphabetic() || c == '_').then(|| text.to_lowercase()),
            }
        })
    }

    /// Turns a refusal into what people get to see.
    pub(crate) fn reject(&self, refusal: ByteRefusal) -> Refusal {
        let mut at = refusal.at.unwrap_or_default().min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let token = self
            .tokens
            .iter()
            .find(|token| offset(token.start) <= at && at < offset(token.end))
            .and_then(|token| self.text.get(offset(token.start)..offset(token.end)))
            .unwrap_or_else(|| {
                let rest = &self.text[at..];
                rest.split(char::is_whitespace).next().unwrap_or_default()
            });
        Refusal {
            code: refusal.code,
            message: refusal.message,
            position: self.text[..at].chars().count() + 1,
            token: shorten(token, 60),
            hint: refusal.hint,
        }
    }
}

/// The refusal of too deep a nesting.
pub(crate) fn too_deep() -> ByteRefusal {
    ByteRefusal::new(RefusalCode::TooDeep, format!("nested deeper than {} levels", crate::MAX_DEPTH)).hint(
        "use concat(…) for long chains of ||, IN (…) for long chains of OR; make several steps or conditions of \
     what is nested",
    )
}

enum ParseError {
    Message(String),
    TooDeep,
}

fn parse(wrapper: &str, text: &str) -> Result<ParseResult, ParseError> {
    let mut statement = String::with_capacity(wrapper.len() + text.len());
    statement.push_str(wrapper);
    statement.push_str(text);
    // The library's summary of a tree asserts what it expects; a tree it does not expect is one
    // that is refused anyway.
    let parsed = outside_of_parsing(|| catch_unwind(AssertUnwindSafe(|| pg_query::parse(&statement, 0))));
    match parsed {
        Ok(Ok(result)) => Ok(result.protobuf),
        // The tree is read with a limit on nested messages.
        Ok(Err(pg_query::Error::Decode(_))) => Err(ParseError::TooDeep),
        Ok(Err(error)) => Err(ParseError::Message(library_message(error))),
        Err(_) => Err(ParseError::Message("this is not understood".to_owned())),
    }
}

/// Postgres's own message, without what the library puts before it.
fn library_message(error: pg_query::Error) -> String {
    match error {
        pg_query::Error::Parse(message) | pg_query::Error::Scan(message) => message,
        other => other.to_string(),
    }
}

/// Offsets come as signed numbers.
pub(crate) fn offset(at: i32) -> usize {
    usize::try_from(at).unwrap_or_default()
}
