//! The example flow of the WED-SQL papers: two transitions side by side, and a third that waits for
//! both.

#![no_std]

use wedflow_guest::prelude::*;

/// Does the work of a2.
#[transition(name = "tr_a2", writes = [a2: text])]
pub fn set_a2() -> Change {
    set! { a2 = "done" }
}

/// Does the work of a3.
#[transition(name = "tr_a3", writes = [a3: text])]
pub fn set_a3() -> Change {
    set! { a3 = "done" }
}

/// The input of the last transition.
#[derive(State, Debug, Clone, PartialEq)]
pub struct Results {
    /// The result of `tr_a2`.
    pub a2: String,
    /// The result of `tr_a3`.
    pub a3: String,
}

/// Ends the instance once both are done.
#[transition(name = "tr_final", writes = [a1: text])]
pub fn finish(results: Results, job: &Job) -> Change {
    info!("instance {} ends", job.wid; a2 = results.a2, a3 = results.a3);
    // A clause works as well as typed values; the server checks both against `writes`.
    set!("a1 = 'done'")
}

wedflow_guest::export!(set_a2, set_a3, finish);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn the_two_are_independent() {
        assert_eq!(testing::call::<set_a2>().run(), Ok(set! { a2 = "done" }));
        assert_eq!(testing::call::<set_a3>().run(), Ok(set! { a3 = "done" }));
    }

    #[test]
    fn the_last_one_reads_what_they_left() {
        let server = testing::Server::new();
        let answer = testing::call::<finish>().with_text("a2", "done").with_text("a3", "done").run();
        assert_eq!(answer, Ok(set!("a1 = 'done'")));
        assert_eq!(server.logs(), ["info: instance 1 ends a2=done a3=done"]);
    }

    #[test]
    fn a_missing_result_is_a_failure_and_no_trap() {
        let failure = testing::call::<finish>().with_text("a2", "done").run().expect_err("a3 is null");
        assert!(failure.message().contains("`a3` is null"), "{failure:?}");
    }
}
