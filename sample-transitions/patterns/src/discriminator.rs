//! Discriminator, 1 of M: the next step follows the first branch that is done; the others finish
//! without further effect.

use wedflow_guest::prelude::*;

use crate::branches::{step_once, three_branches};

three_branches!(first_split, first_branch_1, first_branch_2, first_branch_3);

step_once! {
    /// Follows the first branch that is done, once.
    first_next
}
