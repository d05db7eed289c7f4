//! Clauses that come again and again.

use std::sync::Arc;

use foldhash::fast::RandomState;
use quick_cache::UnitWeighter;
use quick_cache::sync::{Cache, DefaultLifecycle};

use crate::{CheckedSetClause, FlowAttributes, Refusal};

/// Texts longer than this are not kept: they hardly come twice.
const MAX_KEPT_BYTES: usize = 1024;

/// Checks clauses against one flow's attributes and remembers some, by their exact text.
/// (A fingerprint would not do: it is the same for `a='x'` and `a='x' WHERE true`.)
///
/// Most clauses hold values of their own and never come again: the cache's policy drops those before it drops
/// one that was asked for twice.
///
/// It belongs to one version of the flow: when attributes change, make a new one.
#[derive(Debug)]
pub struct SetClauseCache {
    attributes: FlowAttributes,
    kept: Cache<Box<str>, Arc<CheckedSetClause>, UnitWeighter, RandomState>,
}

impl SetClauseCache {
    /// A cache that keeps at most `capacity` clauses, about 1 KiB each.
    pub fn new(attributes: FlowAttributes, capacity: usize) -> Self {
        SetClauseCache {
            attributes,
            kept: Cache::with(
                capacity,
                capacity as u64,
                UnitWeighter,
                RandomState::default(),
                DefaultLifecycle::default(),
            ),
        }
    }

    /// The attributes clauses are checked against.
    pub fn attributes(&self) -> &FlowAttributes {
        &self.attributes
    }

    /// As [`CheckedSetClause::parse`]. Refusals are not remembered.
    ///
    /// # Errors
    /// A [`Refusal`] that says what is wrong and where.
    pub fn parse(&self, text: &str) -> Result<Arc<CheckedSetClause>, Refusal> {
        if text.len() > MAX_KEPT_BYTES {
            return CheckedSetClause::parse(text, &self.attributes).map(Arc::new);
        }
        if let Some(clause) = self.kept.get(text) {
            return Ok(clause);
        }
        let clause = CheckedSetClause::parse(text, &self.attributes).map(Arc::new)?;
        self.kept.insert(text.into(), Arc::clone(&clause));
        Ok(clause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(capacity: usize) -> SetClauseCache {
        let text = "text".parse().expect("type");
        SetClauseCache::new(FlowAttributes::new([("a1", text)]), capacity)
    }

    #[test]
    fn what_comes_twice_is_kept_and_what_comes_once_does_not_drive_it_out() {
        let cache = cache(8);
        cache.parse("a1 = 'often'").expect("clause");
        let often = cache.parse("a1 = 'often'").expect("clause");
        for n in 0..100 {
            cache.parse(&format!("a1 = '{n}'")).expect("clause");
            let again = cache.parse("a1 = 'often'").expect("clause");
            assert!(Arc::ptr_eq(&often, &again));
        }
    }

    #[test]
    fn a_full_cache_answers_each_text_with_its_own_clause() {
        let cache = cache(1);
        for _ in 0..3 {
            for text in ["a1 = 'x'", "a1 = 'x'", "a1 = 'y'", "a1 = 'y'"] {
                let clause = cache.parse(text).expect("clause");
                assert_eq!(clause.to_string(), text);
            }
            cache.parse("a1 = 'x' WHERE true").expect_err("not a clause");
        }
    }
}
