//! Three counters side by side. Each transition fires itself again until its counter is full.

#![no_std]

use wedflow_guest::prelude::*;

// A transition is handed the state that fired it, and by the time it commits the state may have
// moved on. So it counts in SQL, on the attribute as it is then, and reads nothing.

/// Counts a1.
#[transition(name = "tr_a1", writes = [a1: text])]
pub fn count_a1() -> Change {
    set!("a1 = (a1::integer + 1)::text")
}

/// Counts a2.
#[transition(name = "tr_a2", writes = [a2: text])]
pub fn count_a2() -> Change {
    set!("a2 = (a2::integer + 1)::text")
}

/// Counts a3.
#[transition(name = "tr_a3", writes = [a3: text])]
pub fn count_a3() -> Change {
    set!("a3 = (a3::integer + 1)::text")
}

wedflow_guest::export!(count_a1, count_a2, count_a3);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn each_counts_its_own_attribute_in_sql() {
        let clauses =
            [testing::call::<count_a1>().run(), testing::call::<count_a2>().run(), testing::call::<count_a3>().run()];
        for (clause, attribute) in clauses.into_iter().zip(["a1", "a2", "a3"]) {
            assert_eq!(
                clause.map(|change| change.to_string()),
                Ok(format!("{attribute} = ({attribute}::integer + 1)::text"))
            );
        }
    }
}
