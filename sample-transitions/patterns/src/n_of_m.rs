//! N of M: the next step follows as soon as two of the three branches are done; the third finishes
//! without further effect.

use wedflow_guest::prelude::*;

use crate::branches::{step_once, three_branches};

three_branches!(some_split, some_branch_1, some_branch_2, some_branch_3);

step_once! {
    /// Follows the second branch that is done, once.
    some_next
}
