//! SQL written anew, in two forms: as its author would read it, and as it is run.

use std::fmt;

/// Schema of the bounded functions and operators.
const SCHEMA: &str = "wed_bounded.";

/// An expression written from checked nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written {
    read: String,
    run: String,
}

/// Offset in the form that is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offset(usize);

impl Written {
    pub(crate) fn push(&mut self, c: char) {
        self.read.push(c);
        self.run.push(c);
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        self.read.push_str(text);
        self.run.push_str(text);
    }

    /// Returns the offset of the next text.
    pub(crate) fn offset(&self) -> Offset {
        Offset(self.run.len())
    }

    /// Makes the call at a place, a function's name or a cast's operand, one of the bounded functions.
    pub(crate) fn bound_call(&mut self, at: Offset, function: &str) {
        self.run.insert_str(at.0, &format!("{SCHEMA}{function}"));
    }

    /// Makes what is written between two offsets the operator of the bounded ones.
    pub(crate) fn bound_operator(&mut self, from: Offset, to: Offset, sign: &str) {
        let operator = format!(" OPERATOR({SCHEMA}{sign}) ");
        self.run.replace_range(from.0..to.0, &operator);
    }

    /// Closes a bracket that only the form to be run has.
    pub(crate) fn close_call(&mut self) {
        self.run.push(')');
    }

    /// Runs what stands from a place on as the operands of a call, with a comma instead of what is between two offsets.
    pub(crate) fn run_as_call(&mut self, function: &str, from: Offset, comma: Option<(Offset, Offset)>) {
        if let Some((before, after)) = comma {
            self.run.replace_range(before.0..after.0, ", ");
        }
        self.run.insert_str(from.0, &format!("{function}("));
        self.run.push(')');
    }

    /// The form that is run.
    pub(crate) fn guarded(&self) -> String {
        self.run.clone()
    }
}

/// The form that is read.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.read)
    }
}
