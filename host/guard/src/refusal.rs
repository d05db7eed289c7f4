//! Why a fragment was refused: what, where, and how to mend it.

use std::fmt;

/// A refused fragment. `Display` gives a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Kind of error, stable across versions.
    pub code: RefusalCode,
    /// Description of the error.
    pub message: String,
    /// Character of the fragment, counted from 1; one more than its characters when something is missing at its
    /// end.
    pub position: usize,
    /// The word or sign at that place, at most 60 characters of it; empty at the end.
    pub token: String,
    /// Advice on mending it; empty when there is none to add.
    pub hint: String,
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {}", self.message, self.position)?;
        if !self.token.is_empty() {
            write!(f, ", near `{}`", self.token)?;
        }
        f.write_str(")")?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

/// The kinds of refusal. `Display` gives the name that stands in answers and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalCode {
    /// The fragment holds white space only.
    Empty,
    /// Longer than [`crate::MAX_BYTES`].
    TooLong,
    /// Nested deeper than [`crate::MAX_DEPTH`].
    TooDeep,
    /// More nodes than [`crate::MAX_NODES`].
    TooComplex,
    /// A number with more digits than [`crate::MAX_DIGITS`], or text that could grow without bound.
    TooLarge,
    /// A NUL character.
    NulCharacter,
    /// Not SQL.
    Syntax,
    /// A `;`.
    SecondStatement,
    /// `WHERE`, `FROM`, `RETURNING` and the like after the fragment.
    ExtraClause,
    /// A parameter such as `$1`.
    Parameter,
    /// A name that is no attribute of the flow.
    UnknownAttribute,
    /// An attribute that is set twice.
    DuplicateAttribute,
    /// The instance's identity, which is no attribute.
    Wid,
    /// Something other than a plain attribute on the left of `=`.
    Target,
    /// A name with dots.
    QualifiedName,
    /// `DEFAULT` elsewhere than alone on the right of `=`.
    Default,
    /// A sub-select.
    Subquery,
    /// A function that is not on the list, or not with these arguments.
    Function,
    /// An aggregate or window call.
    Aggregate,
    /// An operator that is not on the list.
    Operator,
    /// A type that is not on the list.
    Type,
    /// Any other part of SQL that is not on the list.
    Construct,
    /// Not the fragment's fault: the process is short of file descriptors, and a later attempt may
    /// succeed.
    Unavailable,
}

impl RefusalCode {
    /// The code's stable name.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Refusal as the tree walk knows it: with a byte offset instead of a character.
#[derive(Debug)]
pub(crate) struct ByteRefusal {
    pub(crate) code: RefusalCode,
    pub(crate) message: String,
    pub(crate) hint: String,
    /// Byte offset into the fragment; nothing when unknown.
    pub(crate) at: Option<usize>,
}

impl ByteRefusal {
    pub(crate) fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        ByteRefusal { code, message: message.into(), hint: String::new(), at: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    pub(crate) fn at(mut self, byte: usize) -> Self {
        self.at = Some(byte);
        self
    }
}

/// The characters of `text`, at most `limit` of them.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
