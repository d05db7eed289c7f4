//! An error for a person: what is wrong, where, how to mend it, and the exit code.

use std::error::Error;

use serde::Serialize;
use wedflow_client::ClientError;
use wedflow_documents as documents;
use wedflow_embedded_postgres::PostgresError;
use wedflow_store::{FragmentPosition, StoreError};

/// Why the command could not do what was asked.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Account>);

/// Contents of a problem.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Account {
    /// Description of the error.
    pub(crate) message: String,
    /// A stable code: a SQLSTATE, or a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// Causes, outermost first, or details.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// Position in a fragment of SQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<FragmentPlace>,
    /// Advice on mending it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The process's exit code.
    pub(crate) exit_code: u8,
}

/// A place in a fragment of SQL.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FragmentPlace {
    /// The fragment.
    pub(crate) fragment: String,
    /// The character, counted from 1.
    pub(crate) position: usize,
}

impl std::ops::Deref for Problem {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.0
    }
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Problem(Box::new(Account {
            message: message.into(),
            code: None,
            details: Vec::new(),
            place: None,
            hint: None,
            exit_code: 1,
        }))
    }

    pub(crate) fn because(mut self, source: impl Error) -> Self {
        let mut next: Option<&dyn Error> = Some(&source);
        while let Some(error) = next {
            let text = error.to_string();
            if !self.details.contains(&text) && !self.message.contains(&text) {
                self.0.details.push(text);
            }
            next = error.source();
        }
        self
    }

    pub(crate) fn details(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.0.details.extend(lines);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn code(mut self, code: &str) -> Self {
        self.0.code = Some(code.to_owned());
        self
    }

    pub(crate) fn place(mut self, place: FragmentPlace) -> Self {
        self.0.place = Some(place);
        self
    }

    pub(crate) fn exit(mut self, exit_code: u8) -> Self {
        self.0.exit_code = exit_code;
        self
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Problem::new(message).exit(2)
    }
}

/// Exit code of a refusal: 3 where something is missing, 5 where the server is stopping, full or out of reach, else 4.
fn exit_of(error: &StoreError, code: &str) -> u8 {
    match code {
        "WF015" | "WF040" | "WF080" => 3,
        // Read-only, and what a pooler in between causes.
        "25006" | "42P05" => 5,
        _ if error.is_transient() => 5,
        _ => 4,
    }
}

/// Words the problem that there is no such thing, with the command that lists those there are.
fn missing(kind: &str, message: String) -> Problem {
    let problem = Problem::new(message).code("not_found").exit(3);
    let problem = match (kind, crate::in_force::tenant()) {
        ("tenant", _) | (_, None) => problem,
        (_, Some(tenant)) => problem.details([format!("looked for in tenant {tenant}")]),
    };
    let command = match kind {
        "flow" => "wed flow list",
        "component" | "earlier version of component" => "wed component list",
        "instance" => "wed instance list FLOW",
        "schedule" => "wed flow schedule list FLOW",
        "hook" => "wed flow hook list FLOW",
        "webhook" => "wed webhook list",
        "setting" => "wed flow config list FLOW",
        "secret" => "wed flow secret list FLOW",
        "tenant" => "wed tenant list",
        "user" => "wed user list",
        "token" => "wed token list",
        "order of tasks" => "wed flow order list FLOW",
        "version" => "wed flow history FLOW",
        "operator" => "wed operator list",
        _ => return problem,
    };
    let things = match kind {
        "earlier version of component" => "components".to_owned(),
        "order of tasks" => "orders".to_owned(),
        other => format!("{other}s"),
    };
    problem.hint(format!("`{command}` shows the {things} there are."))
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let exit_code = error.code().map_or(5, |code| exit_of(&error, code));
        match error {
            // A login or a database that the server refuses.
            StoreError::Refused(refusal) if refusal.code.starts_with("28") || refusal.code == "3D000" => {
                Problem::new(refusal.message).code(&refusal.code).exit(5).hint(
                    "Check user, password and database in DATABASE_URL, or leave it out to use the private \
                     Postgres.",
                )
            }
            StoreError::Refused(refusal) => Problem(Box::new(Account {
                message: refusal.message,
                code: Some(refusal.code),
                details: refusal.detail.into_iter().collect(),
                // Postgres has no hint for most of what it cannot parse.
                hint: refusal.hint.or_else(|| {
                    refusal.place.as_ref().map(|_| {
                        "`wed flow show` lists a flow's attributes; `wed explain conditions` says what a predicate \
                         may hold."
                            .to_owned()
                    })
                }),
                place: refusal
                    .place
                    .map(|FragmentPosition { fragment, position }| FragmentPlace { fragment, position }),
                exit_code,
            })),
            StoreError::NotFound { similar: Some(ref similar), kind, .. } => {
                let hint = format!("Perhaps you mean \"{similar}\".");
                missing(kind, error.to_string()).hint(hint)
            }
            StoreError::NotFound { kind, .. } => missing(kind, error.to_string()),
            StoreError::LastAdmin(_) => {
                Problem::new(error.to_string()).code("last_admin").exit(4).hint("Make another user an admin first.")
            }
            StoreError::Locked { .. } | StoreError::Conflict(_) => Problem::new(error.to_string())
                .code("locked")
                .exit(1)
                .hint("Try again in a moment; `wed status` names who holds locks, and the statement that ends it."),
            StoreError::Unreachable(_) | StoreError::Url(_) | StoreError::TooOld { .. } => {
                Problem::new(error.to_string())
                    .code("database")
                    .exit(5)
                    .hint("Check DATABASE_URL, or leave it out to use the private Postgres.")
            }
            other if other.is_of_server() => Problem::new(other.to_string())
                .code("database")
                .exit(5)
                .hint("The server stopped, or the link to it broke; `wed status` tells whether it is back.")
                .because(other),
            other => Problem::new(other.to_string()).exit(5).because(other),
        }
    }
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(problem) => of_api(*problem),
            ClientError::Unreachable { .. } => Problem::new(error.to_string())
                .code("server")
                .exit(5)
                .hint("Check the server's address; `wed config show` says where it comes from."),
            ClientError::Foreign { .. } => Problem::new(error.to_string())
                .code("foreign")
                .exit(5)
                .hint("Another program may answer there, or a proxy; the API is below /v1."),
            ClientError::Address { .. } => {
                let hint = "Begin it with https:// (http:// on this machine), and leave /v1 out.";
                Problem::usage(error.to_string()).hint(hint)
            }
        }
    }
}

/// Words a refusal of the API. Its hints are about HTTP where the command line has words of its own.
fn of_api(problem: documents::Problem) -> Problem {
    if let Some((kind, _)) =
        (problem.code == "not_found").then(|| problem.detail.strip_prefix("there is no ")?.split_once(" \"")).flatten()
    {
        let told = missing(kind, problem.detail.clone());
        // A hint at another name, rather than at a path of the API.
        return match problem.hint.as_str() {
            hint if hint.is_empty() || hint.starts_with("GET ") => told,
            hint => told.hint(hint),
        };
    }
    let exit_code = match (problem.code.as_str(), problem.status) {
        ("not_found" | "WF015" | "WF040" | "WF080", _) => 3,
        ("locked" | "conflict", _) => 1,
        (_, 429 | 500 | 503 | 504) => 5,
        ("invalid_document" | "invalid_query" | "invalid_json", _) => 2,
        _ => 4,
    };
    let hint = match problem.code.as_str() {
        "locked" | "conflict" => "Try again in a moment; `wed status` names sessions that hold locks.".to_owned(),
        "not_permitted" => format!("{} `wed whoami` says what it may.", problem.hint),
        "no_token" | "invalid_token" => {
            "Log in again (`wed login`), or say --token TOKEN; `wed token create` makes one.".to_owned()
        }
        _ if !problem.hint.starts_with("GET ") => problem.hint,
        _ if problem.place.is_some() => {
            "`wed flow show` lists a flow's attributes; docs/reference/conditions.md says what a predicate may hold."
                .to_owned()
        }
        _ => "`wed --help` lists the commands, `wed COMMAND --help` what one takes.".to_owned(),
    };
    let code = match problem.code.as_str() {
        "quota" => "WF020",
        other => other,
    };
    Problem(Box::new(Account {
        message: problem.detail,
        code: Some(code.to_owned()),
        details: problem.at.map(|at| format!("at {at}")).into_iter().collect(),
        place: problem.place.map(|place| FragmentPlace { fragment: place.fragment, position: place.position }),
        hint: Some(hint).filter(|hint| !hint.is_empty()),
        exit_code,
    }))
}

impl From<PostgresError> for Problem {
    fn from(error: PostgresError) -> Self {
        if matches!(error, PostgresError::Variable { .. }) {
            return Problem::usage(error.to_string());
        }
        Problem::new(error.to_string()).exit(5).because(error)
    }
}

#[cfg(test)]
mod tests {
    use wedflow_store::Refusal;

    use super::*;

    #[test]
    fn exit_codes_follow_what_the_database_said() {
        for (code, exit) in [
            // Missing instance, tenant, work item.
            ("WF040", 3),
            ("WF015", 3),
            ("WF080", 3),
            // Rules of ours and of Postgres.
            ("WF001", 4),
            ("22P02", 4),
            ("57014", 4),
            // The server stops, starts, or is full; a login is refused.
            ("57P01", 5),
            ("57P03", 5),
            ("53300", 5),
            ("28P01", 5),
            ("25006", 5),
        ] {
            let refused = StoreError::Refused(Box::new(Refusal {
                code: code.to_owned(),
                message: String::new(),
                detail: None,
                hint: None,
                place: None,
            }));
            assert_eq!(Problem::from(refused).exit_code, exit, "{code}");
        }
        let admin = StoreError::LastAdmin("ann".to_owned());
        assert_eq!(Problem::from(admin).exit_code, 4);
    }
}
