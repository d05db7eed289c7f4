//! A connection to Postgres as a client of ours would have it, with answers that read well in a test.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use postgres::error::ErrorPosition;
use postgres::{Client, NoTls, SimpleQueryMessage};

use super::Database;

/// A refused statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: String,
    pub(crate) hint: String,
    /// The query that the server itself ran, and the character in it, counted from 1.
    pub(crate) inside: Option<(String, u32)>,
}

impl Refusal {
    /// The refusal that an error is.
    pub(crate) fn of(error: &postgres::Error) -> Self {
        let error = error.as_db_error().unwrap_or_else(|| panic!("no refusal of the server, but: {error}"));
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Refusal {
            code: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: text(error.detail()),
            hint: text(error.hint()),
            inside: match error.position() {
                Some(ErrorPosition::Internal { position, query }) => Some((query.clone(), *position)),
                _ => None,
            },
        }
    }

    /// Asserts the SQLSTATE.
    #[track_caller]
    pub(crate) fn expect(self, code: &str) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// A session. That of a test's database keeps the database.
pub(crate) struct Session {
    client: Client,
    database: Option<Arc<Database>>,
}

impl Deref for Session {
    type Target = Client;
    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Session {
    /// Connects as the owner of the test's database that this session is on.
    #[track_caller]
    pub(crate) fn owner(&self) -> Self {
        let database = self.database.as_ref().expect("a test's database");
        database.owner()
    }

    /// Connects.
    #[track_caller]
    pub(crate) fn open(url: &str) -> Self {
        let client = Client::connect(url, NoTls).unwrap_or_else(|error| panic!("{url}: {error:?}"));
        Session { client, database: None }
    }

    /// Connects to a test's database, which is there as long as the session.
    #[track_caller]
    pub(crate) fn on(database: &Arc<Database>, url: &str) -> Self {
        Session { database: Some(Arc::clone(database)), ..Session::open(url) }
    }

    /// Runs statements that must succeed.
    #[track_caller]
    pub(crate) fn run(&mut self, sql: &str) {
        if let Err(error) = self.client.batch_execute(sql) {
            panic!("{sql}\n{}", brief(&error));
        }
    }

    /// Runs statements of which the last must be refused; ends the transaction that it was refused in.
    #[track_caller]
    pub(crate) fn refused(&mut self, sql: &str) -> Refusal {
        match self.tried(sql) {
            None => panic!("this was not refused: {sql}"),
            Some(refusal) => refusal,
        }
    }

    /// Runs statements of which the last may be refused, and gives the refusal; ends the transaction that it was
    /// refused in.
    #[track_caller]
    pub(crate) fn tried(&mut self, sql: &str) -> Option<Refusal> {
        let refusal = Refusal::of(&self.client.batch_execute(sql).err()?);
        self.run("ROLLBACK");
        Some(refusal)
    }

    /// The rows of a query, each as its columns' texts with `|` between them and `·` for null.
    #[track_caller]
    pub(crate) fn lines(&mut self, sql: &str) -> Vec<String> {
        let messages = match self.client.simple_query(sql) {
            Ok(messages) => messages,
            Err(error) => panic!("{sql}\n{}", brief(&error)),
        };
        messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|at| row.get(at).unwrap_or("·")).collect::<Vec<_>>().join("|"))
                }
                _ => None,
            })
            .collect()
    }

    /// The one row of a query, as [`Session::lines`] writes it.
    #[track_caller]
    pub(crate) fn line(&mut self, sql: &str) -> String {
        let mut lines = self.lines(sql);
        assert_eq!(lines.len(), 1, "one row expected of {sql}: {lines:?}");
        lines.remove(0)
    }

    /// The number that a query answers.
    #[track_caller]
    pub(crate) fn number(&mut self, sql: &str) -> i64 {
        let line = self.line(sql);
        line.parse().unwrap_or_else(|_| panic!("no number: {line}, of {sql}"))
    }

    /// Does what is due of a kind of chore. Returns how many things were done.
    #[track_caller]
    pub(crate) fn chores(&mut self, kind: &str) -> i64 {
        self.number(&format!(
            "SELECT coalesce(sum(cardinality(array_remove(wed.do_chores('{kind}', c), 'false'))), 0) \
             FROM wed.find_chores('{kind}') c"
        ))
    }

    /// Starts an instance with the defaults; its number.
    #[track_caller]
    pub(crate) fn start(&mut self) -> i64 {
        self.number("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
    }

    /// Takes the papers' lock of a pending transition, in the transaction that is open.
    #[track_caller]
    pub(crate) fn take(&mut self, wid: i64, transition: &str) -> bool {
        let answer = self.lines(&format!(
            "SELECT pg_try_advisory_xact_lock(wid, tgid) FROM job_pool WHERE wid = {wid} AND trname = '{transition}'"
        ));
        answer == ["t"]
    }

    /// Finishes a pending transition by the papers' protocol.
    #[track_caller]
    pub(crate) fn finish(&mut self, wid: i64, transition: &str, clause: &str) {
        self.run("BEGIN");
        assert!(self.take(wid, transition), "{transition} of {wid} is not to be had");
        self.run(&format!("UPDATE wed_flow SET {clause} WHERE wid = {wid}"));
        self.run("COMMIT");
    }

    /// Begins a transaction, takes a lock, and gives the refusal of an UPDATE in it.
    #[track_caller]
    pub(crate) fn finish_refused(&mut self, wid: i64, transition: &str, clause: &str) -> Refusal {
        self.run("BEGIN");
        assert!(self.take(wid, transition), "{transition} of {wid} is not to be had");
        self.refused(&format!("UPDATE wed_flow SET {clause} WHERE wid = {wid}"))
    }

    /// The trace of an instance: `trw -> {trf} status`.
    #[track_caller]
    pub(crate) fn trace(&mut self, wid: i64) -> Vec<String> {
        self.lines(&format!(
            "SELECT coalesce(trw, '') || ' -> ' || trf::text || ' ' || status::text FROM wed_trace WHERE wid = \
             {wid} ORDER BY seq"
        ))
        .into_iter()
        .map(|line| line.trim().to_owned())
        .collect()
    }

    /// The names of an instance's pending transitions, in order.
    #[track_caller]
    pub(crate) fn pending(&mut self, wid: i64) -> Vec<String> {
        self.lines(&format!("SELECT trname FROM job_pool WHERE wid = {wid} ORDER BY trname"))
    }

    /// The status of an instance.
    #[track_caller]
    pub(crate) fn status(&mut self, wid: i64) -> String {
        self.line(&format!("SELECT status FROM wed_instance WHERE wid = {wid}"))
    }
}

/// An error in a line.
fn brief(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(_) => format!("{:?}", Refusal::of(error)),
        None => error.to_string(),
    }
}
