//! Thread split and merge: the same work is done three times side by side, and the next step waits
//! until the count says so.

use wedflow_guest::prelude::*;

use crate::branches::{step_once, three_branches};

three_branches!(thread_split, thread_1, thread_2, thread_3);

step_once! {
    /// Continues once all three have counted themselves.
    thread_merge
}
