//! Thread split and merge: the same work is done three times side by side, and the next step waits
//! until the count says so.

use wedflow_guest::prelude::*;

/// Starts the three threads.
#[transition(writes = [d1: integer, b1: integer, b2: integer, b3: integer])]
pub fn thread_split() -> Change {
    set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 }
}

/// Thread 1.
#[transition(writes = [b1: integer, d2: integer])]
pub fn thread_1() -> Change {
    set!("b1 = 2, d2 = d2 + 1")
}

/// Thread 2.
#[transition(writes = [b2: integer, d2: integer])]
pub fn thread_2() -> Change {
    set!("b2 = 2, d2 = d2 + 1")
}

/// Thread 3.
#[transition(writes = [b3: integer, d2: integer])]
pub fn thread_3() -> Change {
    set!("b3 = 2, d2 = d2 + 1")
}

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
    fn every_branch_counts_itself_once() {
        assert_eq!(
            testing::call::<thread_1>().run(),
            Ok(set!("b1 = 2, d2 = d2 + 1"))
        );
        assert_eq!(
            testing::call::<thread_2>().run(),
            Ok(set!("b2 = 2, d2 = d2 + 1"))
        );
        assert_eq!(
            testing::call::<thread_3>().run(),
            Ok(set!("b3 = 2, d2 = d2 + 1"))
        );
    }

    #[test]
    fn before_and_after_the_branches() {
        assert_eq!(
            testing::call::<thread_split>().run(),
            Ok(set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 })
        );
        assert_eq!(testing::call::<thread_merge>().run(), Ok(set! { d3 = 1 }));
    }
}
