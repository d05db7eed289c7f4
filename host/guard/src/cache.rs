//! Clauses that come again and again.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;

use crate::{CheckedSetClause, FlowAttributes, Rejection};

/// Texts longer than this are not kept: they hardly come twice.
const MAX_KEPT_BYTES: usize = 1024;

/// Checks clauses against one flow's attributes and remembers some, by their exact text.
/// (A fingerprint would not do: it is the same for `a='x'` and `a='x' WHERE true`.)
///
/// Most clauses hold values of their own and never come again, so one is kept only when its text comes
/// a second time; the first leaves no more than a number behind.
///
/// It belongs to one version of the flow: when attributes change, make a new one.
#[derive(Debug)]
pub struct SetClauseCache {
    attributes: FlowAttributes,
    hasher: RandomState,
    places: Box<[Mutex<Place>]>,
}

/// Clauses whose texts have the same place follow each other in it.
#[derive(Debug, Default)]
struct Place {
    /// The hash of the text that was here last.
    seen: u64,
    kept: Option<(Box<str>, Arc<CheckedSetClause>)>,
}

impl SetClauseCache {
    /// A cache that keeps at most `capacity` clauses, about 1 KiB each.
    pub fn new(attributes: FlowAttributes, capacity: usize) -> Self {
        SetClauseCache {
            attributes,
            hasher: RandomState::default(),
            places: std::iter::repeat_with(Mutex::default)
                .take(capacity)
                .collect(),
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
        let check = || CheckedSetClause::parse(text, &self.attributes).map(Arc::new);
        if text.len() > MAX_KEPT_BYTES || self.places.is_empty() {
            return check();
        }
        let hash = self.hasher.hash_one(text);
        let at = usize::try_from(hash % self.places.len() as u64).unwrap_or(0);
        let locked = || {
            self.places[at]
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let again = {
            let mut place = locked();
            match &place.kept {
                Some((kept, clause)) if **kept == *text => return Ok(Arc::clone(clause)),
                _ => std::mem::replace(&mut place.seen, hash) == hash,
            }
        };
        // Without the lock: checking takes a while.
        let clause = check()?;
        if again {
            locked().kept = Some((text.into(), Arc::clone(&clause)));
        }
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
    fn texts_that_share_a_place_are_told_apart() {
        let cache = cache(1);
        for _ in 0..3 {
            for text in ["a1 = 'x'", "a1 = 'x'", "a1 = 'y'", "a1 = 'y'"] {
                let clause = cache.parse(text).expect("clause");
                assert_eq!(clause.to_string(), text);
            }
            cache
                .parse("a1 = 'x' WHERE true")
                .expect_err("not a clause");
        }
    }
}
