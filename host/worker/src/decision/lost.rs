//! Answers that were lost: jobs that are leased to this host without its knowing, because the answer to the claim or
//! the commit that leased them never came.

use foldhash::HashSet;
use wedflow_model::LeaseToken;

/// Findings of the last search for jobs that this host does not know to be its own.
#[derive(Debug, Default)]
pub struct LostAnswers {
    tokens: HashSet<LeaseToken>,
}

impl LostAnswers {
    /// Takes in the jobs found by a search, and returns those to take up: unknown twice running, so that an answer on
    /// its way is not taken for a lost one.
    pub fn found<J>(&mut self, unknown: Vec<J>, token: impl Fn(&J) -> LeaseToken) -> Vec<J> {
        let (lost, new): (Vec<_>, Vec<_>) = (unknown.into_iter()).partition(|one| self.tokens.contains(&token(one)));
        self.tokens = new.iter().map(token).collect();
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_taken_up_when_it_is_unknown_twice_running() {
        let mut answers = LostAnswers::default();
        let mut found = |tokens: &[i64]| answers.found(tokens.to_vec(), |token| LeaseToken::new(*token));
        assert!(found(&[1, 2]).is_empty());
        assert_eq!(found(&[2, 3]), [2]);
        assert!(found(&[1]).is_empty());
        assert_eq!(found(&[1, 3]), [1]);
    }
}
