//! The guests of `tests/guests`, built when they are first asked for.

use std::sync::LazyLock;

use wedflow_loader::built;

/// Transitions that misbehave, one each, and small ones that do not. The flow they fit is [`super::flow`].
pub(crate) fn hostile() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| built("hostile"));
    &BYTES
}

/// A guest with the standard library, whose transition `clause` sets what it does not declare to write.
pub(crate) fn ordinary() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| built("ordinary"));
    &BYTES
}
