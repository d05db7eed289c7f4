//! The three branches that thread split, multi-merge, discriminator, N of M and synchronising merge share: each marks
//! itself done and counts itself. All but the last start them by one transition, too.

/// Defines the three branches under the names of a pattern.
macro_rules! branches {
    ($one:ident, $two:ident, $three:ident) => {
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
                assert_eq!(testing::call::<$one>().run(), Ok(set!("b1 = 2, d2 = d2 + 1")));
                assert_eq!(testing::call::<$two>().run(), Ok(set!("b2 = 2, d2 = d2 + 1")));
                assert_eq!(testing::call::<$three>().run(), Ok(set!("b3 = 2, d2 = d2 + 1")));
            }
        }
    };
}
pub(crate) use branches;

/// Defines the transition that starts three branches, and the branches, under the names of a pattern.
macro_rules! three_branches {
    ($split:ident, $one:ident, $two:ident, $three:ident) => {
        /// Starts the branches.
        #[transition(writes = [d1: integer, b1: integer, b2: integer, b3: integer])]
        pub fn $split() -> Change {
            set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 }
        }

        $crate::branches::branches!($one, $two, $three);

        #[cfg(test)]
        mod split {
            use super::*;
            use wedflow_guest::testing;

            #[test]
            fn split_starts_every_branch() {
                assert_eq!(testing::call::<$split>().run(), Ok(set! { d1 = 1, b1 = 1, b2 = 1, b3 = 1 }));
            }
        }
    };
}
pub(crate) use three_branches;

/// Defines the step after the branches that runs once, under the name of a pattern.
macro_rules! step_once {
    ($(#[$($doc:tt)*])* $step:ident) => {
        $(#[$($doc)*])*
        #[transition(writes = [d3: integer])]
        pub fn $step() -> Change {
            set! { d3 = 1 }
        }

        #[cfg(test)]
        mod step {
            use super::*;
            use wedflow_guest::testing;

            #[test]
            fn step_marks_itself_done() {
                assert_eq!(testing::call::<$step>().run(), Ok(set! { d3 = 1 }));
            }
        }
    };
}
pub(crate) use step_once;
