//! The whole check of a transition's answer: the host applies it before any of it reaches the database, and the
//! author's tools apply it in the same words.

use std::collections::BTreeSet;
use std::sync::Arc;

use wedflow_model::Assignment;

use crate::{CheckedSetClause, SetClauseCache};

/// Characters of a refused clause that its refusal shows.
const SHOWN: usize = 300;

impl SetClauseCache {
    /// Checks a SET clause that a transition returned; `writes` are the attributes that it declares to
    /// set, where it declares any. `mask` takes out of a clause what a refusal must not show; it is
    /// asked before the clause is cut, since half a secret is one too.
    ///
    /// # Errors
    /// Why it is refused, for a person.
    pub fn judge_clause(
        &self,
        text: &str,
        writes: Option<&BTreeSet<String>>,
        mask: impl FnOnce(&str) -> String,
    ) -> Result<Arc<CheckedSetClause>, String> {
        let clause = self.parse(text).map_err(|refusal| {
            let shown = mask(text);
            // What the refusal quotes may be half of a secret, which would not be masked.
            let why = if shown == text { refusal.to_string() } else { refusal.code.as_str().to_owned() };
            format!("the returned clause is refused: {why}; it was: SET {}", shortened(&shown))
        })?;
        within(&clause, writes)?;
        Ok(clause)
    }

    /// The same for typed assignments.
    ///
    /// # Errors
    /// Why they are refused, for a person.
    pub fn judge_assignments(
        &self,
        list: &[Assignment],
        writes: Option<&BTreeSet<String>>,
    ) -> Result<Arc<CheckedSetClause>, String> {
        if list.is_empty() {
            return Err("the transition returned no assignment; to leave the state as it is, abort".to_owned());
        }
        let clause = CheckedSetClause::from_assignments(list, self.attributes())
            .map_err(|refusal| format!("the returned assignments are refused: {refusal}"))?;
        within(&clause, writes)?;
        Ok(Arc::new(clause))
    }
}

fn within(clause: &CheckedSetClause, writes: Option<&BTreeSet<String>>) -> Result<(), String> {
    let Some(writes) = writes else {
        return Ok(());
    };
    match clause.attributes_written().find(|name| !writes.contains(*name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "the transition sets \"{name}\", which it does not declare to write; it declares {}",
            writes.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        )),
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
