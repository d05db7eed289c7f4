//! SQL written anew, in two forms: as its author would read it, and as it is run.

use std::fmt;

/// Where the functions are that refuse values which would take too long.
const SCHEMA: &str = "wed_bounded.";

/// An expression written from checked nodes. What keeps hostile values from holding a backend
/// ([`Written::guarded`]) stands in the text behind a NUL, which no fragment can hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written(String);

/// What is put in where the expression is run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Guard {
    /// `wed_bounded.number(`: refuses text that stands for a number of too many digits.
    Number,
    /// `wed_bounded.short(`: refuses a value that is too long to be searched for.
    Short,
    /// `wed_bounded.few(`: refuses more characters than a text is looked through for one by one.
    Few,
    /// `wed_bounded.moment(`: refuses text that stands for a point in time in a zone of one's own making.
    Moment,
    /// `wed_bounded.matched(`: refuses a text that is too long for a regular expression.
    Matched,
    /// `wed_bounded.matched_often(`: one that is looked through for all matches.
    MatchedOften,
    /// `wed_bounded.` before a function's name: its own that looks at its arguments together.
    Function,
    /// `wed_bounded.power(`, before the operands of `^`, which then is a comma.
    Power,
    /// The sign `^` between these.
    Raised,
    /// The bracket that closes what has opened one.
    End,
}

impl Written {
    pub(crate) fn push(&mut self, c: char) {
        self.0.push(c);
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(crate) fn guard(&mut self, guard: Guard) {
        self.0.push('\0');
        self.0.push(match guard {
            Guard::Number => 'n',
            Guard::Short => 's',
            Guard::Few => 'w',
            Guard::Moment => 't',
            Guard::Matched => 'm',
            Guard::MatchedOften => 'o',
            Guard::Function => 'f',
            Guard::Power => 'p',
            Guard::Raised => '^',
            Guard::End => 'e',
        });
    }

    /// What was written since it was `before`.
    pub(crate) fn after(&self, before: &Written) -> String {
        self.0.get(before.0.len()..).unwrap_or_default().to_owned()
    }

    /// To write to.
    pub(crate) fn text(&mut self) -> &mut String {
        &mut self.0
    }

    /// The form that is run.
    pub(crate) fn guarded(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        let mut parts = self.0.split('\0');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let mut chars = part.chars();
            match chars.next() {
                Some('n') => text.extend([SCHEMA, "number("]),
                Some('s') => text.extend([SCHEMA, "short("]),
                Some('w') => text.extend([SCHEMA, "few("]),
                Some('t') => text.extend([SCHEMA, "moment("]),
                Some('m') => text.extend([SCHEMA, "matched("]),
                Some('o') => text.extend([SCHEMA, "matched_often("]),
                Some('f') => text.push_str(SCHEMA),
                Some('p') => text.extend([SCHEMA, "power("]),
                Some('^') => text.push(','),
                _ => text.push(')'),
            }
            text.push_str(chars.as_str());
        }
        text
    }
}

/// The form that is read.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.0.split('\0');
        f.write_str(parts.next().unwrap_or_default())?;
        for part in parts {
            if part.starts_with('^') {
                f.write_str(" ^")?;
            }
            f.write_str(part.get(1..).unwrap_or_default())?;
        }
        Ok(())
    }
}
