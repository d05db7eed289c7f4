//! A defect of the runtime, planted by a test.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Function of a test that a guest process calls when a guest asks for a setting: it stands for a defect of the
/// runtime, by which a guest does in its process what it likes.
pub type Planted = fn(&str) -> Option<String>;

static PLANTED: OnceLock<Planted> = OnceLock::new();

/// True in a guest process.
static IS_GUEST: AtomicBool = AtomicBool::new(false);

/// Plants a function for guests to call. For tests alone: the program `wed` plants none.
#[doc(hidden)]
pub fn plant(function: Planted) {
    let _ = PLANTED.set(function);
}

/// Says that this is a guest process, where what is planted works.
pub(crate) fn works_here() {
    IS_GUEST.store(true, Ordering::Relaxed);
}

/// Returns the answer of the planted function, if there is one.
pub(crate) fn planted(key: &str) -> Option<String> {
    let planted = PLANTED.get()?;
    IS_GUEST.load(Ordering::Relaxed).then(|| planted(key))?
}
