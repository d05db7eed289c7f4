//! Discriminator, 1 of M: the next step follows the first branch that is done; the others finish
//! without further effect.

use wedflow_guest::prelude::*;

use crate::branches::three_branches;

three_branches!(first_split, first_branch_1, first_branch_2, first_branch_3);

/// Follows the first branch that is done, once.
#[transition(writes = [d3: integer])]
pub fn first_next() -> Change {
    set! { d3 = 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn next_step_marks_itself_done() {
        assert_eq!(testing::call::<first_next>().run(), Ok(set! { d3 = 1 }));
    }
}
