//! N of M: the next step follows as soon as two of the three branches are done; the third finishes
//! without further effect.

use wedflow_guest::prelude::*;

use crate::branches::three_branches;

three_branches!(some_split, some_branch_1, some_branch_2, some_branch_3);

/// Follows the second branch that is done, once.
#[transition(writes = [d3: integer])]
pub fn some_next() -> Change {
    set! { d3 = 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn next_step_marks_itself_done() {
        assert_eq!(testing::call::<some_next>().run(), Ok(set! { d3 = 1 }));
    }
}
