//! Multi-merge: the branches are not synchronised; the next step runs once for each of them.

use wedflow_guest::prelude::*;

use crate::branches::three_branches;

three_branches!(multi_split, multi_branch_1, multi_branch_2, multi_branch_3);

/// Runs once for each branch that is done. Its trigger's condition still holds after its commit when
/// another branch came in meanwhile, and so it is fired again.
#[transition(writes = [d3: integer])]
pub fn multi_next() -> Change {
    set!("d3 = d3 + 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn next_step_counts_its_runs() {
        assert_eq!(testing::call::<multi_next>().run(), Ok(set!("d3 = d3 + 1")));
    }
}
