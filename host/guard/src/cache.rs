//! Clauses that come again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{CheckedSetClause, FlowAttributes, Rejection};

/// Texts longer than this are not kept: they hardly come twice.
const MAX_KEPT_BYTES: usize = 1024;

/// Checks clauses against one flow's attributes and remembers the last ones, by their exact text.
/// (A fingerprint would not do: it is the same for `a='x'` and `a='x' WHERE true`.)
///
/// It belongs to one version of the flow: when attributes change, make a new one.
#[derive(Debug)]
pub struct SetClauseCache {
    attributes: FlowAttributes,
    capacity: usize,
    kept: Mutex<Kept>,
}

/// Two generations: when the young one is full it becomes the old one, whose clauses are forgotten
/// unless they are asked for again.
#[derive(Debug, Default)]
struct Kept {
    young: HashMap<Box<str>, Arc<CheckedSetClause>>,
    old: HashMap<Box<str>, Arc<CheckedSetClause>>,
}

impl SetClauseCache {
    /// A cache that keeps at most `capacity` clauses, about 1 KiB each.
    pub fn new(attributes: FlowAttributes, capacity: usize) -> Self {
        SetClauseCache {
            attributes,
            capacity,
            kept: Mutex::default(),
        }
    }

    /// The attributes clauses are checked against.
    pub fn attributes(&self) -> &FlowAttributes {
        &self.attributes
    }

    /// As [`CheckedSetClause::parse`]. Rejections are not remembered.
    ///
    /// # Errors
    /// A [`Rejection`] that says what is wrong and where.
    pub fn parse(&self, text: &str) -> Result<Arc<CheckedSetClause>, Rejection> {
        if text.len() > MAX_KEPT_BYTES || self.capacity < 2 {
            return CheckedSetClause::parse(text, &self.attributes).map(Arc::new);
        }
        if let Some(found) = self.find(text) {
            return Ok(found);
        }
        // Without the lock: checking takes a while.
        let clause = Arc::new(CheckedSetClause::parse(text, &self.attributes)?);
        self.keep(text, &clause);
        Ok(clause)
    }

    fn find(&self, text: &str) -> Option<Arc<CheckedSetClause>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.young.get(text) {
            return Some(Arc::clone(found));
        }
        let (key, found) = kept.old.remove_entry(text)?;
        Self::insert(&mut kept, self.capacity, key, Arc::clone(&found));
        Some(found)
    }

    fn keep(&self, text: &str, clause: &Arc<CheckedSetClause>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Self::insert(&mut kept, self.capacity, text.into(), Arc::clone(clause));
    }

    fn insert(kept: &mut Kept, capacity: usize, key: Box<str>, clause: Arc<CheckedSetClause>) {
        if kept.young.len() >= capacity / 2 {
            kept.old = std::mem::take(&mut kept.young);
        }
        kept.young.insert(key, clause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_within_its_capacity_and_keeps_what_is_used() {
        let text = "text".parse().expect("type");
        let cache = SetClauseCache::new(FlowAttributes::new([("a1", text)]), 8);
        let often = cache.parse("a1 = 'often'").expect("clause");
        for n in 0..100 {
            cache.parse(&format!("a1 = '{n}'")).expect("clause");
            let again = cache.parse("a1 = 'often'").expect("clause");
            assert!(Arc::ptr_eq(&often, &again));
        }
        let kept = cache.kept.lock().expect("lock");
        assert!(kept.young.len() + kept.old.len() <= 8);
    }
}
