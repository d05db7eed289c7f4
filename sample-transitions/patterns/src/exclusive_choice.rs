//! XOR split and join: one of two branches is taken, and the next step follows whichever it was.

use wedflow_guest::prelude::*;

/// The branch that is wanted.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Wish {
    /// 1 for the left branch, 2 for the right one, 0 to leave it to chance.
    pub choice: i32,
}

/// Takes one of the two branches.
#[transition(writes = [d1: integer])]
pub fn xor_choose(wish: Wish) -> Result<Change, Failure> {
    Ok(match wish.choice {
        0 if random_below(2) == 0 => set! { d1 = 1 },
        0 => set! { d1 = 2 },
        1 | 2 => set! { d1 = wish.choice },
        other => fail!("there is no branch {other}"),
    })
}

/// The left branch.
#[transition(writes = [d2: integer])]
pub fn xor_left() -> Change {
    set! { d2 = 1 }
}

/// The right branch.
#[transition(writes = [d2: integer])]
pub fn xor_right() -> Change {
    set! { d2 = 2 }
}

/// Follows either branch.
#[transition(writes = [d3: integer])]
pub fn xor_join() -> Change {
    set! { d3 = 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn the_wish_decides_and_chance_where_there_is_none() {
        let _server = testing::Server::new().random([0, u64::MAX]);
        let choose = |choice: i32| testing::call::<xor_choose>().with("choice", choice).run();
        assert_eq!(choose(1), Ok(set! { d1 = 1 }));
        assert_eq!(choose(2), Ok(set! { d1 = 2 }));
        assert_eq!(choose(0), Ok(set! { d1 = 1 }));
        assert_eq!(choose(0), Ok(set! { d1 = 2 }));
        assert!(choose(3).is_err());
    }

    #[test]
    fn either_branch_leaves_its_mark() {
        assert_eq!(testing::call::<xor_left>().run(), Ok(set! { d2 = 1 }));
        assert_eq!(testing::call::<xor_right>().run(), Ok(set! { d2 = 2 }));
        assert_eq!(testing::call::<xor_join>().run(), Ok(set! { d3 = 1 }));
    }
}
