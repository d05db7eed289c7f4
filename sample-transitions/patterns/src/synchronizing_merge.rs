//! OR split with synchronising merge: any of three branches are chosen, and the next step waits for
//! exactly those.

use wedflow_guest::prelude::*;

use crate::branches::{branches, step_once};

/// The branches that are wanted, each 0 or 1.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Wishes {
    /// The first branch.
    pub want1: i32,
    /// The second branch.
    pub want2: i32,
    /// The third branch.
    pub want3: i32,
}

/// Starts the wanted branches, and all of them where none is.
#[transition(writes = [d1: integer, b1: integer, b2: integer, b3: integer])]
pub fn or_split(wishes: Wishes) -> Change {
    let Wishes { want1, want2, want3 } = wishes;
    match [want1, want2, want3].map(|wish| i32::from(wish != 0)) {
        [0, 0, 0] => set! { d1 = 3, b1 = 1, b2 = 1, b3 = 1 },
        [b1, b2, b3] => set! { d1 = b1 + b2 + b3, b1 = b1, b2 = b2, b3 = b3 },
    }
}

branches!(or_branch_1, or_branch_2, or_branch_3);

step_once! {
    /// Follows once as many branches are done as were chosen.
    or_merge
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn the_wanted_branches_are_started() {
        let split = |want1: i32, want2: i32, want3: i32| {
            testing::call::<or_split>().with("want1", want1).with("want2", want2).with("want3", want3).run()
        };
        assert_eq!(split(1, 0, 1), Ok(set! { d1 = 2, b1 = 1, b2 = 0, b3 = 1 }));
        assert_eq!(split(0, 1, 0), Ok(set! { d1 = 1, b1 = 0, b2 = 1, b3 = 0 }));
        assert_eq!(split(0, 0, 0), Ok(set! { d1 = 3, b1 = 1, b2 = 1, b3 = 1 }));
    }
}
