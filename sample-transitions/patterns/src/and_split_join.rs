//! AND split and join: two branches of different work, each with a mark of its own, and a step that
//! waits for both.

use wedflow_guest::prelude::*;

/// Starts the branches.
#[transition(writes = [d1: integer, b1: integer, b2: integer])]
pub fn and_split() -> Change {
    set! { d1 = 1, b1 = 1, b2 = 1 }
}

/// The first branch.
#[transition(writes = [b1: integer])]
pub fn and_branch_1() -> Change {
    set! { b1 = 2 }
}

/// The second branch.
#[transition(writes = [b2: integer])]
pub fn and_branch_2() -> Change {
    set! { b2 = 2 }
}

/// Follows both branches.
#[transition(writes = [d3: integer])]
pub fn and_join() -> Change {
    set! { d3 = 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn each_step_leaves_its_own_mark() {
        assert_eq!(testing::call::<and_split>().run(), Ok(set! { d1 = 1, b1 = 1, b2 = 1 }));
        assert_eq!(testing::call::<and_branch_1>().run(), Ok(set! { b1 = 2 }));
        assert_eq!(testing::call::<and_branch_2>().run(), Ok(set! { b2 = 2 }));
        assert_eq!(testing::call::<and_join>().run(), Ok(set! { d3 = 1 }));
    }
}
