//! Locks of this crate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock whether or not its holder panicked: every critical section of this crate leaves
/// its data whole.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
