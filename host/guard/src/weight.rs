//! Values of a fragment as the walk sees them, and their weights by the words of the table. The database computes
//! the same (`wed.weigh`).

use crate::catalog::{self, CATALOG};
use crate::kind::{Base, Kind};

/// The most that a fragment weighs.
pub(crate) const MAX_WEIGHT: u64 = 1600;
/// Factor by which a document grows as text, and text as a document.
const AS_TEXT: u64 = 6;
const AS_DOCUMENT: u64 = 3;
/// The size of what a capped function makes: 4 MiB.
const CAPPED: u64 = 16;
/// A size that no sum goes beyond.
const LARGEST: u64 = 1_000_000;

/// Bound on a value's size, in rows of 256 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Size {
    /// Size as text, within documents too.
    pub(crate) text: u64,
    /// Size of what documents and arrays hold in addition.
    pub(crate) documents: u64,
}

/// Kinds of values that are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Narrow,
    Text,
    Document,
}

fn form(kind: Kind) -> Form {
    match kind.base {
        _ if kind.array => Form::Document,
        Base::Jsonb => Form::Document,
        Base::Text | Base::Varchar | Base::Bpchar | Base::Json | Base::Bytea | Base::Unknown => Form::Text,
        _ => Form::Narrow,
    }
}

/// An expression that was walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    /// Bound on the size of its value.
    pub(crate) size: Size,
    /// True if it holds no attribute.
    pub(crate) constant: bool,
    /// Length that its type says: `n` of `varchar(n)` and `char(n)`.
    pub(crate) limit: Option<i64>,
}

impl Seen {
    /// A value that is not weighed.
    pub(crate) fn narrow(kind: Kind, constant: bool) -> Seen {
        Seen { kind, size: Size::default(), constant, limit: None }
    }

    /// The value of an attribute.
    pub(crate) fn of_attribute(kind: Kind) -> Seen {
        Seen { kind, size: Size::of_attribute(kind), constant: false, limit: None }
    }

    pub(crate) fn truth() -> Seen {
        Seen::narrow(Kind::BOOL, false)
    }
}

impl Size {
    /// The size of an attribute.
    pub(crate) fn of_attribute(kind: Kind) -> Size {
        Size { text: (form(kind) == Form::Text).into(), documents: (form(kind) == Form::Document).into() }
    }

    /// The largest of several values of which one is taken.
    pub(crate) fn largest(kind: Kind, seen: &[Seen]) -> Size {
        let most = seen.iter().map(|seen| seen.size.text.max(seen.size.documents)).max().unwrap_or(0);
        match form(kind) {
            Form::Narrow => Size::default(),
            Form::Text => Size { text: most, documents: 0 },
            Form::Document => Size { text: 0, documents: most },
        }
    }
}

/// The sizes of a call's operands together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Operands {
    /// Text of those that are text.
    plain: u64,
    /// Text in those that are documents.
    within: u64,
    /// Size of the other contents of documents.
    deep: u64,
}

impl Operands {
    pub(crate) fn of(seen: &[Seen]) -> Operands {
        let mut sum = Operands::default();
        for seen in seen {
            let Size { text, documents } = seen.size;
            match form(seen.kind) {
                Form::Document => {
                    sum.within = (sum.within + text).min(LARGEST);
                    sum.deep = (sum.deep + documents).min(LARGEST);
                }
                _ => sum.plain = (sum.plain + text).min(LARGEST),
            }
        }
        sum
    }

    /// The same where each is put in several times, and something around it.
    pub(crate) fn formatted(self, times: usize) -> Operands {
        let times = times as u64;
        Operands {
            plain: (self.plain * times + 1).min(LARGEST),
            within: (self.within * times).min(LARGEST),
            deep: (self.deep * times).min(LARGEST),
        }
    }

    /// The weight of a call on these, and the size of its result.
    pub(crate) fn made(self, makes: &str, kind: Kind) -> (u64, Size) {
        let Operands { plain, within, deep } = self;
        let form = form(kind);
        let makes = match (makes, form) {
            ("", Form::Narrow) => "narrow",
            ("", _) => "copy",
            (makes, _) => makes,
        };
        let weights = catalog::makes(makes);
        if makes == "capped" {
            let text = if form == Form::Text { CAPPED } else { 0 };
            let documents = if form == Form::Document { CAPPED } else { 0 };
            return (weights.text, Size { text, documents });
        }
        let weight = weights.text * (plain + within) + weights.documents * deep;
        let size = match form {
            _ if makes == "narrow" => Size::default(),
            Form::Narrow => Size::default(),
            Form::Text => Size { text: plain + AS_TEXT * (within + deep), documents: 0 },
            Form::Document if makes == "parse" => Size { text: within, documents: AS_DOCUMENT * plain + deep },
            Form::Document => Size { text: plain + within, documents: deep },
        };
        (weight, size)
    }

    /// The weight and size of a part that is taken out: all is read, whatever the part is.
    pub(crate) fn part(self, kind: Kind) -> (u64, Size) {
        let (weight, size) = self.made("copy", kind);
        if form(kind) != Form::Text {
            return (weight, size);
        }
        let text = self.plain + self.within + self.deep;
        (weight, Size { text, documents: 0 })
    }
}

/// Returns how a cast makes its value, as the table names it; none if it is the same value.
pub(crate) fn cast(from: Kind, to: Kind) -> Option<&'static str> {
    let name = match (form(from), form(to)) {
        (Form::Text, Form::Document) => "text_to_document",
        (Form::Document, Form::Text) => "document_to_text",
        (Form::Document, Form::Document) if from != to => "document_to_document",
        (Form::Text, Form::Text) if !is_same_text(from, to) => "text_to_other_text",
        _ => return None,
    };
    CATALOG.casts.get(name).map(String::as_str)
}

/// Returns true where Postgres takes text of one type for another as it is.
fn is_same_text(from: Kind, to: Kind) -> bool {
    let stays = |base| matches!(base, Base::Text | Base::Varchar);
    from == to || from.is_unknown() || stays(from.base) && (stays(to.base) || to.base == Base::Bpchar)
}

/// Returns the size of a value that is taken for another type as it is.
pub(crate) fn kept(size: Size, to: Kind) -> Size {
    match form(to) {
        Form::Narrow => Size::default(),
        _ => size,
    }
}
