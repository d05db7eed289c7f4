//! The three branches that thread split, multi-merge, discriminator and N of M share: one transition starts
//! them, and each marks itself done and counts itself.

/// Defines the transition that starts three branches, and the branches, under the names of a pattern.
macro_rules! three_branches {
    ($split:ident, $one:ident, $two:ident, $three:ident) => {
        /// Starts the branches.
        #[transition(writes = [d1: integer, b1: integer, b2: integer, b3: integer])]
        pub fn $split() -> Change {
            set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 }
        }

        /// Branch 1.
        #[transition(writes = [b1: integer, d2: integer])]
        pub fn $one() -> Change {
            set!("b1 = 2, d2 = d2 + 1")
        }

        /// Branch 2.
        #[transition(writes = [b2: integer, d2: integer])]
        pub fn $two() -> Change {
            set!("b2 = 2, d2 = d2 + 1")
        }

        /// Branch 3.
        #[transition(writes = [b3: integer, d2: integer])]
        pub fn $three() -> Change {
            set!("b3 = 2, d2 = d2 + 1")
        }

        #[cfg(test)]
        mod branches {
            use super::*;
            use wedflow_guest::testing;

            #[test]
            fn every_branch_counts_itself_once() {
                assert_eq!(
                    testing::call::<$split>().run(),
                    Ok(set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 })
                );
                assert_eq!(
                    testing::call::<$one>().run(),
                    Ok(set!("b1 = 2, d2 = d2 + 1"))
                );
                assert_eq!(
                    testing::call::<$two>().run(),
                    Ok(set!("b2 = 2, d2 = d2 + 1"))
                );
                assert_eq!(
                    testing::call::<$three>().run(),
                    Ok(set!("b3 = 2, d2 = d2 + 1"))
                );
            }
        }
    };
}
pub(crate) use three_branches;
