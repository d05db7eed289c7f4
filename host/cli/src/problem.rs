//! What went wrong, for a person: what, where, how to mend it, and the exit code.

use std::error::Error;

use serde::Serialize;
use wedflow_store::{Place, StoreError};

/// Why the command could not do what was asked.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// What is wrong.
    pub(crate) message: String,
    /// A stable code: a SQLSTATE, or a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// Causes, outermost first, or details.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// The fragment of SQL and the character in it, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<(String, usize)>,
    /// How to mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The process's exit code.
    pub(crate) exit_code: u8,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Problem {
            message: message.into(),
            code: None,
            details: Vec::new(),
            place: None,
            hint: None,
            exit_code: 1,
        }
    }

    pub(crate) fn because(mut self, source: impl Error) -> Self {
        let mut next: Option<&dyn Error> = Some(&source);
        while let Some(error) = next {
            let text = error.to_string();
            if !self.details.contains(&text) && !self.message.contains(&text) {
                self.details.push(text);
            }
            next = error.source();
        }
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Problem {
            exit_code: 2,
            ..Problem::new(message)
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => Problem {
                message: refusal.message,
                code: Some(refusal.code),
                details: refusal.detail.into_iter().collect(),
                place: refusal
                    .place
                    .map(|Place { fragment, position }| (fragment, position)),
                hint: refusal.hint,
                exit_code: 4,
            },
            StoreError::NotFound { kind, .. } => Problem {
                code: Some("not_found".into()),
                exit_code: 3,
                hint: match kind {
                    "flow" => Some("`wed flow list` shows the flows there are.".into()),
                    "component" => {
                        Some("`wed component list` shows the components there are.".into())
                    }
                    "instance" => {
                        Some("`wed instance list FLOW` shows the instances there are.".into())
                    }
                    _ => None,
                },
                ..Problem::new(error.to_string())
            },
            StoreError::Unreachable(_) | StoreError::Url(_) | StoreError::TooOld { .. } => {
                Problem {
                    code: Some("database".into()),
                    exit_code: 5,
                    ..Problem::new(error.to_string())
                }
                .hint("Check DATABASE_URL, or leave it out to use the private Postgres.")
            }
            other => Problem {
                exit_code: 5,
                ..Problem::new(other.to_string())
            }
            .because(other),
        }
    }
}

impl From<wedflow_cluster::ClusterError> for Problem {
    fn from(error: wedflow_cluster::ClusterError) -> Self {
        Problem {
            exit_code: 5,
            ..Problem::new(error.to_string())
        }
        .because(error)
    }
}
