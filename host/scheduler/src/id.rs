//! Identities of handlers and execution tokens, and a table keyed by them.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// Identity of a registered handler (the paper's id of a `HandlerObject`, section 3.2).
///
/// Unique within one [`Scheduler`](crate::Scheduler) for its whole life, never used again, and
/// never equal in number to a [`TokenId`] of the same scheduler. Two schedulers number
/// independently of each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerId(pub(crate) u64);

/// Identity of an execution token: one run of a handler, from its event to its end.
///
/// Unique in the same way as [`HandlerId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub(crate) u64);

impl HandlerId {
    /// The id as a number, for logs and for keys of a table.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl TokenId {
    /// The id as a number, for logs and for keys of a table.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for HandlerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "handler {}", self.0)
    }
}

impl fmt::Display for HandlerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "handler {}", self.0)
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token {}", self.0)
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token {}", self.0)
    }
}

/// A table by id. Ids are handed out by us one after another, so nobody can aim them at a bucket
/// and the default hasher's protection (20 ns a look-up) would buy nothing.
pub(crate) type IdTable<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Multiplicative hashing of one `u64`.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The table takes its bucket from the low bits, which a product mixes least.
        self.0 = mixed ^ (mixed >> 32);
    }
}
