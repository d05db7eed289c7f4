//! The change that would make a condition hold.

use wedflow_documents::{Clause, ClauseKind, Explanation, Truth};

/// Returns what would have to become true for a condition to hold, over its clauses; none while it holds.
pub(crate) fn change_needed(explanation: &Explanation) -> Option<String> {
    needed(&explanation.clauses, "", true)
}

/// Returns what would have to become true for a clause to be true, or false, as wanted; none if it is.
fn needed(clauses: &[Clause], path: &str, wanted: bool) -> Option<String> {
    let clause = clauses.iter().find(|one| one.path == path)?;
    if clause.value == if wanted { Truth::True } else { Truth::False } {
        return None;
    }
    let of_parts =
        |wanted| parts(clauses, path).filter_map(move |one| needed(clauses, &one.path, wanted));
    let needs_all = match clause.kind {
        ClauseKind::Test if wanted => return Some(clause.text.clone()),
        ClauseKind::Test => return Some(format!("NOT ({})", clause.text)),
        ClauseKind::Not => return of_parts(!wanted).next(),
        ClauseKind::And => wanted,
        ClauseKind::Or => !wanted,
    };
    let parts: Vec<String> = of_parts(wanted).collect();
    let joined = parts.join(if needs_all { " AND " } else { " OR " });
    Some(match path.is_empty() || parts.len() == 1 {
        true => joined,
        false => format!("({joined})"),
    })
}

/// The clauses that a clause is made of.
fn parts<'a>(clauses: &'a [Clause], path: &'a str) -> impl Iterator<Item = &'a Clause> {
    clauses
        .iter()
        .filter(move |one| match one.path.rsplit_once('.') {
            Some((above, _)) => above == path,
            None => path.is_empty() && !one.path.is_empty(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks for the change that clauses need, given as path, kind, text and value.
    fn of(clauses: &[(&str, ClauseKind, &str, Truth)]) -> Option<String> {
        let clauses: Vec<Clause> = clauses
            .iter()
            .map(|&(path, kind, text, value)| Clause {
                path: path.to_owned(),
                kind,
                text: text.to_owned(),
                value,
                fault: None,
                decides: false,
                reads: None,
            })
            .collect();
        needed(&clauses, "", true)
    }

    #[test]
    fn what_has_to_change_is_said_of_clauses_that_are_not_so_yet() {
        let both = [
            ("", ClauseKind::And, "", Truth::False),
            ("1", ClauseKind::Test, "paid", Truth::True),
            ("2", ClauseKind::Or, "", Truth::False),
            ("2.1", ClauseKind::Test, "n > 3", Truth::False),
            ("2.2", ClauseKind::Not, "", Truth::Unknown),
            ("2.2.1", ClauseKind::Test, "a = 'x'", Truth::Unknown),
        ];
        assert_eq!(of(&both).as_deref(), Some("(n > 3 OR NOT (a = 'x'))"));
        assert_eq!(of(&[("", ClauseKind::Test, "n > 3", Truth::True)]), None);
        let neither = [
            ("", ClauseKind::Not, "", Truth::False),
            ("1", ClauseKind::And, "", Truth::True),
            ("1.1", ClauseKind::Test, "a", Truth::True),
            ("1.2", ClauseKind::Test, "b", Truth::True),
        ];
        assert_eq!(of(&neither).as_deref(), Some("(NOT (a) OR NOT (b))"));
    }
}
