//! Multi-merge: the branches are not synchronised; the next step runs once for each of them.

use wedflow_guest::prelude::*;

/// Starts the branches.
#[transition(writes = [d1: integer, b1: integer, b2: integer, b3: integer])]
pub fn multi_split() -> Change {
    set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 }
}

/// Branch 1.
#[transition(writes = [b1: integer, d2: integer])]
pub fn multi_branch_1() -> Change {
    set!("b1 = 2, d2 = d2 + 1")
}

/// Branch 2.
#[transition(writes = [b2: integer, d2: integer])]
pub fn multi_branch_2() -> Change {
    set!("b2 = 2, d2 = d2 + 1")
}

/// Branch 3.
#[transition(writes = [b3: integer, d2: integer])]
pub fn multi_branch_3() -> Change {
    set!("b3 = 2, d2 = d2 + 1")
}

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
    fn every_branch_counts_itself_once() {
        assert_eq!(
            testing::call::<multi_branch_1>().run(),
            Ok(set!("b1 = 2, d2 = d2 + 1"))
        );
        assert_eq!(
            testing::call::<multi_branch_2>().run(),
            Ok(set!("b2 = 2, d2 = d2 + 1"))
        );
        assert_eq!(
            testing::call::<multi_branch_3>().run(),
            Ok(set!("b3 = 2, d2 = d2 + 1"))
        );
    }

    #[test]
    fn before_and_after_the_branches() {
        assert_eq!(
            testing::call::<multi_split>().run(),
            Ok(set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 })
        );
        assert_eq!(testing::call::<multi_next>().run(), Ok(set!("d3 = d3 + 1")));
    }
}
