//! Thread split and merge: the same work is done three times side by side, and the next step waits
//! until the count says so.

use wedflow_guest::prelude::*;

use crate::branches::three_branches;

three_branches!(thread_split, thread_1, thread_2, thread_3);

/// Continues once all three have counted themselves.
#[transition(writes = [d3: integer])]
pub fn thread_merge() -> Change {
    set! { d3 = 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn merge_ends_the_instance() {
        assert_eq!(testing::call::<thread_merge>().run(), Ok(set! { d3 = 1 }));
    }
}
