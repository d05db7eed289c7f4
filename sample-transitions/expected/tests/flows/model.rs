//! Algorithm 1 of the WED-SQL papers in the small: what a new state fires, when an instance is final
//! or an exception, and every order in which pending transitions may commit.

use std::collections::BTreeMap;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};
use sample_expectations::TraceRow;
use serde_json::{Map, Value as Json};
use wedflow_guest::testing::{Outcome, Server};
use wedflow_guest::{Date, Scalar, Timestamp, Value};
use wedflow_model::{FlowDefinition, ScalarType};

use crate::transitions::{Callable, Sample};

/// A state: one value for each attribute, in the flow's order.
type Row = Vec<Sql>;

/// A flow with the transitions that it may fire.
pub(crate) struct Model<'a> {
    flow: &'a FlowDefinition,
    /// In the order of the flow's triggers.
    transitions: Vec<&'a Callable>,
    database: Connection,
}

/// An instance.
#[derive(Clone)]
struct Instance {
    state: Row,
    /// By position of the trigger: the state that fired it, and the attempts made.
    pending: BTreeMap<usize, (Row, u32)>,
    rows: Vec<TraceRow>,
    /// The index of the pending trigger that was taken at each step.
    order: Vec<usize>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(flow: &'a FlowDefinition, sample: &'a Sample) -> Self {
        let database = Connection::open_in_memory().expect("database");
        let columns: Vec<String> = flow
            .attributes
            .iter()
            .map(|attribute| {
                let kind = match attribute.kind.scalar {
                    ScalarType::Integer | ScalarType::Bigint | ScalarType::Boolean => "INTEGER",
                    ScalarType::Numeric | ScalarType::Float => "NUMERIC",
                    _ => "TEXT",
                };
                format!("\"{}\" {kind}", attribute.name)
            })
            .collect();
        database.execute_batch(&format!("CREATE TABLE state ({})", columns.join(", "))).expect("table");
        let transitions = flow
            .triggers
            .iter()
            .map(|trigger| {
                sample
                    .transitions
                    .iter()
                    .find(|callable| callable.declaration.transition == trigger.transition)
                    .unwrap_or_else(|| panic!("no transition {}", trigger.transition))
            })
            .collect();
        Model { flow, transitions, database }
    }

    /// Plays an instance in up to `limit` orders and hands each trace to `check`: all orders if they
    /// are no more, else half of them in sequence and half at random. Chance within transitions
    /// differs from order to order.
    pub(crate) fn play(
        &self,
        insert: &BTreeMap<String, toml::Value>,
        limit: usize,
        mut check: impl FnMut(&[TraceRow], &[usize]),
    ) {
        let start = self.start(insert);
        let mut left = limit / 2;
        self.play_all(start.clone(), &mut left, &mut check);
        if left == 0 {
            for seed in 0..(limit / 2) as u64 {
                let server = Server::new().seed(seed);
                let mut instance = start.clone();
                while !instance.pending.is_empty() && !ended(&instance) {
                    let choice = wedflow_guest::random_below(instance.pending.len() as u64);
                    let at = instance.pending.keys().copied().nth(choice as usize);
                    self.step(&mut instance, at.expect("a pending trigger"));
                }
                drop(server);
                check(&instance.rows, &instance.order);
            }
        }
    }

    fn play_all(&self, instance: Instance, left: &mut usize, check: &mut impl FnMut(&[TraceRow], &[usize])) {
        if *left == 0 {
            return;
        }
        if ended(&instance) {
            *left -= 1;
            check(&instance.rows, &instance.order);
            return;
        }
        assert!(instance.order.len() < 10_000, "{:?}", instance.rows);
        for at in instance.pending.keys().copied().collect::<Vec<_>>() {
            let mut next = instance.clone();
            let seed = (*left * 1_000 + instance.order.len()) as u64;
            let _server = Server::new().seed(seed);
            self.step(&mut next, at);
            self.play_all(next, left, check);
        }
    }

    fn start(&self, insert: &BTreeMap<String, toml::Value>) -> Instance {
        for name in insert.keys() {
            assert!(self.flow.attributes.iter().any(|a| a.name == *name), "no attribute {name}");
        }
        let given =
            self.flow.attributes.iter().map(|attribute| match (insert.get(&attribute.name), &attribute.default) {
                (Some(toml::Value::String(text)), _) => Sql::Text(text.clone()),
                (Some(toml::Value::Integer(n)), _) => Sql::Integer(*n),
                (Some(toml::Value::Float(n)), _) => Sql::Real(*n),
                (Some(toml::Value::Boolean(truth)), _) => Sql::Integer((*truth).into()),
                (Some(other), _) => panic!("cannot insert {other}"),
                (None, Some(text)) => Sql::Text(text.clone()),
                (None, None) => Sql::Null,
            });
        let mut instance =
            Instance { state: Vec::new(), pending: BTreeMap::new(), rows: Vec::new(), order: Vec::new() };
        let marks = vec!["?"; self.flow.attributes.len()].join(", ");
        self.database.execute("DELETE FROM state", []).expect("delete");
        self.database.execute(&format!("INSERT INTO state VALUES ({marks})"), params_from_iter(given)).expect("insert");
        instance.state = self.stored();
        self.enter(&mut instance, None);
        instance
    }

    /// The row in the table, as the columns' types make it.
    fn stored(&self) -> Row {
        let columns = self.flow.attributes.len();
        self.database
            .query_row("SELECT * FROM state", [], |row| (0..columns).map(|at| row.get(at)).collect())
            .expect("state")
    }

    fn store(&self, state: &Row) {
        let names: Vec<String> =
            self.flow.attributes.iter().map(|attribute| format!("\"{}\" = ?", attribute.name)).collect();
        self.database
            .execute(&format!("UPDATE state SET {}", names.join(", ")), params_from_iter(state))
            .expect("store");
    }

    fn holds(&self, condition: &str) -> bool {
        self.database
            .query_row(&format!("SELECT ({}) IS TRUE FROM state", without_casts(condition)), [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{condition}: {error}"))
    }

    /// The instance has a new state: what it fires, whether it is final, whether it is stuck.
    fn enter(&self, instance: &mut Instance, trw: Option<&str>) {
        self.store(&instance.state);
        let last = self.flow.final_condition.as_deref();
        let is_final = last.is_some_and(|condition| self.holds(condition));
        let mut trf = Vec::new();
        let status = if is_final {
            assert!(instance.pending.is_empty(), "final while transitions are pending: {:#?}", instance.rows);
            "F"
        } else {
            for (at, trigger) in self.flow.triggers.iter().enumerate() {
                if !instance.pending.contains_key(&at) && self.holds(&trigger.when) {
                    instance.pending.insert(at, (instance.state.clone(), 0));
                    trf.push(trigger.transition.clone());
                }
            }
            assert!(!instance.pending.is_empty(), "nothing is fired and nothing pending: {:#?}", instance.rows);
            "R"
        };
        self.trace(instance, trw, trf, status);
    }

    fn trace(&self, instance: &mut Instance, trw: Option<&str>, trf: Vec<String>, status: &str) {
        let state = self
            .flow
            .attributes
            .iter()
            .zip(&instance.state)
            .map(|(attribute, value)| {
                let json = match value {
                    Sql::Null => Json::Null,
                    Sql::Integer(n) if attribute.kind.scalar == ScalarType::Boolean => (*n != 0).into(),
                    Sql::Integer(n) => (*n).into(),
                    Sql::Real(n) => (*n).into(),
                    Sql::Text(text) => text.clone().into(),
                    Sql::Blob(_) => unreachable!("no column holds a blob"),
                };
                (attribute.name.clone(), json)
            })
            .collect::<Map<_, _>>();
        instance.rows.push(TraceRow {
            wid: 1,
            seq: instance.rows.len() as i64 + 1,
            trw: trw.map(Into::into),
            trf,
            status: status.into(),
            state,
        });
    }

    /// Asserts that a transition wrote no attribute but those that it declares.
    fn assert_declared(&self, at: usize, old: &[Sql], new: &[Sql]) {
        if let Some(writes) = &self.transitions[at].declaration.writes {
            for (attribute, (old, new)) in self.flow.attributes.iter().zip(old.iter().zip(new)) {
                assert!(
                    old == new || writes.iter().any(|write| write.name == attribute.name),
                    "{} wrote {}",
                    self.flow.triggers[at].transition,
                    attribute.name
                );
            }
        }
    }

    /// Performs a pending transition and commits it.
    fn step(&self, instance: &mut Instance, at: usize) {
        instance.order.push(at);
        let trigger = &self.flow.triggers[at];
        let (payload, attempts) = instance.pending.remove(&at).expect("pending");
        self.store(&instance.state);
        assert!(
            self.holds(&trigger.when),
            "the condition of {} no longer holds when it is claimed: {:#?}",
            trigger.name,
            instance.rows
        );
        let named: Vec<(String, Value)> = self
            .flow
            .attributes
            .iter()
            .zip(&payload)
            .map(|(attribute, value)| (attribute.name.clone(), to_guest(&attribute.kind.scalar, value)))
            .collect();
        let transition = self.transitions[at];
        match (transition.perform)(&named, attempts + 1) {
            Outcome::SetClause(clause) => {
                self.database
                    .execute(&format!("UPDATE state SET {}", without_casts(&clause)), [])
                    .unwrap_or_else(|error| panic!("{clause}: {error}"));
            }
            Outcome::Assignments(assignments) => {
                let writes = transition.declaration.writes.as_deref().expect("writes");
                for assignment in assignments {
                    let name = &writes[assignment.attribute as usize].name;
                    self.database
                        .execute(&format!("UPDATE state SET \"{name}\" = ?"), [from_guest(&assignment.value)])
                        .expect("assignment");
                }
            }
            Outcome::Fail(failure) if failure.retry && attempts + 1 < trigger.attempts.unwrap_or(3) as u32 => {
                instance.pending.insert(at, (payload, attempts + 1));
                return;
            }
            Outcome::Fail(_) => {
                self.trace(instance, Some("_ABORT"), vec!["_EXCPT".into()], "E");
                return;
            }
            Outcome::Abort(abort) => panic!("no sample aborts: {}", abort.reason),
        }
        let state = self.stored();
        self.assert_declared(at, &instance.state, &state);
        instance.state = state;
        self.enter(instance, Some(&trigger.transition));
    }
}

fn ended(instance: &Instance) -> bool {
    instance.rows.last().is_some_and(|row| row.status != "R")
}

fn to_guest(kind: &ScalarType, value: &Sql) -> Value {
    Value::Scalar(match (kind, value) {
        (_, Sql::Null) => Scalar::Null,
        (ScalarType::Text | ScalarType::Enum(_), Sql::Text(text)) => Scalar::Text(text.clone()),
        (ScalarType::Integer, Sql::Integer(n)) => Scalar::Integer(i32::try_from(*n).expect("32 bits")),
        (ScalarType::Boolean, Sql::Integer(n)) => Scalar::Boolean(*n != 0),
        (ScalarType::Numeric, Sql::Integer(n)) => Scalar::Numeric(n.to_string()),
        (ScalarType::Numeric, Sql::Real(n)) => Scalar::Numeric(n.to_string()),
        (ScalarType::Uuid, Sql::Text(text)) => Scalar::Uuid(text.clone()),
        // No sample reads one; it only is among the state's values.
        (ScalarType::Timestamptz, Sql::Text(_)) => Scalar::Null,
        (kind, value) => panic!("a {} as {value:?}", kind.name()),
    })
}

fn from_guest(value: &Value) -> Sql {
    match value {
        Value::Scalar(scalar) => match scalar {
            Scalar::Null => Sql::Null,
            Scalar::Text(text)
            | Scalar::Numeric(text)
            | Scalar::Interval(text)
            | Scalar::Uuid(text)
            | Scalar::Jsonb(text) => Sql::Text(text.clone()),
            Scalar::Integer(n) => Sql::Integer((*n).into()),
            Scalar::Bigint(n) => Sql::Integer(*n),
            Scalar::Float(n) => Sql::Real(*n),
            Scalar::Boolean(truth) => Sql::Integer((*truth).into()),
            Scalar::Timestamptz(micros) => Sql::Text(Timestamp::from_micros(*micros).to_string()),
            Scalar::Date(days) => Sql::Text(Date::from_days(*days).to_string()),
        },
        Value::List(_) => panic!("SQLite has no arrays"),
    }
}

/// Postgres's `operand::type` as the `CAST` that SQLite knows. The operand is a name, a string or a
/// bracket.
fn without_casts(sql: &str) -> String {
    let mut sql = sql.to_owned();
    while let Some(at) = sql.find("::") {
        let before = sql[..at].trim_end();
        let start = match before.chars().last() {
            Some(')') => {
                let mut depth = 0;
                before
                    .char_indices()
                    .rev()
                    .find(|(_, c)| {
                        depth += match c {
                            ')' => 1,
                            '(' => -1,
                            _ => 0,
                        };
                        depth == 0
                    })
                    .map_or(0, |(start, _)| start)
            }
            Some(quote @ ('\'' | '"')) => before[..before.len() - 1].rfind(quote).unwrap_or(0),
            _ => before.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1),
        };
        let kind_end = sql[at + 2..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(sql.len(), |end| at + 2 + end);
        let cast = format!("CAST({} AS {})", &sql[start..at], &sql[at + 2..kind_end]);
        sql.replace_range(start..kind_end, &cast);
    }
    sql
}

#[test]
fn casts_are_rewritten() {
    for (postgres, sqlite) in [
        ("a1::integer < 3", "CAST(a1 AS integer) < 3"),
        ("a1 = (a1::integer + 1)::text", "a1 = CAST((CAST(a1 AS integer) + 1) AS text)"),
        ("n = '5'::bigint", "n = CAST('5' AS bigint)"),
    ] {
        assert_eq!(without_casts(postgres), sqlite);
    }
}
