//! Random fragments: mostly of the allowed grammar and of fitting types, some not, some hostile. Without a
//! database the host's guard must not panic and must write what it accepts so that it reads the same;
//! with one, Postgres is the judge of what is accepted.
//!
//! `WEDFLOW_FUZZ` says how many (`make fuzz`: a million); `WEDFLOW_FUZZ_SEED` repeats a run.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use wedflow_guard::{CheckedPredicate, CheckedSetClause};

use super::{TOO_LONG, attribute_table, attributes, flow, hostile_rows, longest, statement};
use crate::support::session::{Refusal, Session};

/// Number of fragments, unless the environment says otherwise.
const FEW: usize = 20_000;
/// Of how many fragments one is tried on a server.
const ONE_IN: usize = 40;

fn count() -> usize {
    std::env::var("WEDFLOW_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(FEW)
}

fn seed() -> u64 {
    let seed = std::env::var("WEDFLOW_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(rand::random);
    println!("WEDFLOW_FUZZ_SEED={seed}");
    seed
}

/// Kinds of expressions.
const KINDS: [&str; 10] =
    ["text", "integer", "numeric", "float", "boolean", "timestamptz", "date", "interval", "jsonb", "text[]"];

/// Makes fragments.
struct Maker {
    random: StdRng,
}

impl Maker {
    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.choose(&mut self.random).copied().unwrap_or_default()
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.random_ratio(1, of)
    }

    /// Makes a fragment that must never be accepted, whatever surrounds it.
    fn hostile(&mut self) -> String {
        self.pick(&[
            "(select 1)",
            "pg_sleep(9)",
            "wid",
            "ctid",
            "current_user",
            "$1",
            "(select passwd from pg_shadow)",
            "'x'; drop table wed_flow; --",
            "1 /* ",
            "a1; -- ",
            "nextval('wed.fence')",
            "repeat('x', 1000000000)",
            "10 ^ 100000",
            "1e131000",
            "count(*)",
            "unnest(tags)",
            "a1 ~ '(a+)+$'",
            "set_config('role', 'none', false)::text",
            "'pg_shadow'::regclass::text",
            "a1 operator(pg_catalog.||) a2",
            "wed_flow.wid",
            "row(1, 2)",
            "default",
            "pg_advisory_lock(1)::text",
            "$x$ $x$ $y$",
            "E'\\",
            "'",
            "\"",
            ")",
            "(",
            "a1 collate \"C\"",
            "random() over ()",
            "lo_import('/etc/passwd')",
            "generate_series(1, 9)",
            "regexp_replace(a1, '(.*)*', '')",
            "a1::xml",
            "xmlparse(content a1)",
        ])
        .to_owned()
    }

    fn text(&mut self) -> String {
        let inner: String = (0..self.random.random_range(0..6))
            .map(|_| {
                *['a', 'b', '1', 'e', '\'', '\\', '%', '_', '$', ';', '-', 'ü', '😀', ' ', '"', '{']
                    .choose(&mut self.random)
                    .unwrap_or(&'a')
            })
            .collect();
        match self.random.random_range(0..5) {
            0 => format!("E'{}'", inner.replace('\\', "\\\\").replace('\'', "\\'")),
            1 if !inner.contains('$') => format!("$q${inner}$q$"),
            _ => format!("'{}'", inner.replace('\'', "''")),
        }
    }

    /// A regular expression, mostly one that is read.
    fn pattern(&mut self, depth: u32) -> String {
        let mut all = String::new();
        for _ in 0..self.random.random_range(1..4) {
            let one = if depth > 0 && self.chance(3) {
                format!("({})", self.pattern(depth - 1))
            } else {
                self.pick(&[
                    "a",
                    "b",
                    "e",
                    "1",
                    ".",
                    "[a-z]",
                    "[^%]",
                    "\\d",
                    "\\w",
                    "\\.",
                    "$",
                    "^",
                    "|",
                    "\\1",
                    "(?=a)",
                    "[",
                    "[[:alpha:]]",
                    "%",
                    "_",
                    "\u{fc}",
                ])
                .to_owned()
            };
            let times = self.pick(&["", "", "", "*", "+", "?", "{3}", "{2,9}", "{0,200}", "{1,}", "*?", "**"]);
            all.push_str(&one);
            all.push_str(times);
        }
        all
    }

    /// The same as a constant.
    fn quoted_pattern(&mut self) -> String {
        format!("'{}'", self.pattern(2).replace('\'', "''"))
    }

    fn leaf(&mut self, kind: &str) -> String {
        match kind {
            "text" => match self.random.random_range(0..3) {
                0 => self.text(),
                _ => self.pick(&["a1", "a2", "\"order\"", "größe", "'1e131000'", "null"]).to_owned(),
            },
            "integer" => {
                self.pick(&["d2", "1", "-3", "0", "2147483647", "big::integer", "ints[1]", "0x1F", "1_0"]).to_owned()
            }
            "numeric" => self.pick(&["n1", "1.5", "-0.001", "1e30", "nums[1]", "big", ".5"]).to_owned(),
            "float" => self.pick(&["f", "1.5::float", "d2::float"]).to_owned(),
            "boolean" => self.pick(&["ok", "true", "false", "null", "a1 is null"]).to_owned(),
            "timestamptz" => {
                self.pick(&["at", "now()", "current_timestamp", "'2024-02-29T12:00:00Z'::timestamptz"]).to_owned()
            }
            "date" => self.pick(&["day", "current_date", "date '2024-02-29'"]).to_owned(),
            "interval" => self.pick(&["span", "interval '1 day'", "make_interval(days => 3)"]).to_owned(),
            "jsonb" => self.pick(&["doc", "'{\"a\": [1, {\"b\": null}]}'::jsonb", "jsonb '[]'"]).to_owned(),
            _ => self.pick(&["tags", "array['x', 'y']", "'{a,b}'::text[]"]).to_owned(),
        }
    }

    fn make(&mut self, kind: &str, depth: u32) -> String {
        if self.chance(200) {
            return self.hostile();
        }
        if depth == 0 || self.chance(6) {
            return self.leaf(kind);
        }
        let kind = if self.chance(60) { self.pick(&KINDS) } else { kind };
        let d = depth - 1;
        let form = self.random.random_range(0..8);
        match (form, kind) {
            (0, _) => format!(
                "case when {} then {} else {} end",
                self.make("boolean", d),
                self.make(kind, d),
                self.make(kind, d)
            ),
            (1, _) => format!("coalesce({}, {})", self.make(kind, d), self.make(kind, d)),
            (2, "text") => {
                let other = self.pick(&KINDS);
                format!("({})::text", self.make(other, d))
            }
            (2, _) => format!("nullif({}, {})", self.make(kind, d), self.make(kind, d)),
            (3, "text" | "integer" | "numeric" | "timestamptz") => {
                format!("greatest({}, {})", self.make(kind, d), self.make(kind, d))
            }
            (_, "text") if self.chance(20) => format!("({}) collate \"C\"", self.make("text", d)),
            (_, "boolean") if self.chance(8) => self.range_test(d),
            (_, "date") if self.chance(8) => {
                format!("upper(daterange({}, {}))", self.make("date", d), self.make("date", d))
            }
            (_, "text") => match self.random.random_range(0..20) {
                form @ 0..10 => self.text_call(form, d),
                form @ 10..18 => self.composed_text(form, d),
                18 => self.cast_text(d),
                _ => self.mixed_text(d),
            },
            (_, "integer") => self.integer_call(d),
            (_, "numeric") => self.numeric_call(d),
            (_, "float") => {
                format!("({}) {} ({})", self.make("float", d), self.pick(&["+", "-", "*", "/"]), self.make("float", d))
            }
            (_, "boolean") => self.boolean_call(d),
            (_, "timestamptz") => self.time_call(d),
            (_, "date") => format!("({}) + ({})", self.make("date", d), self.make("integer", d)),
            (_, "interval") => format!("({}) * ({})", self.make("interval", d), self.make("float", d)),
            (_, "jsonb") => self.document_call(d),
            _ => self.array_call(d),
        }
    }

    /// Makes a condition over ranges, rows and a named operator.
    fn range_test(&mut self, d: u32) -> String {
        match self.random.random_range(0..5) {
            0 => format!(
                "daterange({}, {}, '[]') @> ({})",
                self.make("date", d),
                self.make("date", d),
                self.make("date", d)
            ),
            1 => format!(
                "tstzrange({}, {}) && tstzrange({}, null)",
                self.make("timestamptz", d),
                self.make("timestamptz", d),
                self.make("timestamptz", d)
            ),
            2 => format!(
                "({}) <@ int4range({}, {})",
                self.make("integer", d),
                self.make("integer", d),
                self.make("integer", d)
            ),
            3 => format!("({}, {}) is null", self.make("text", d), self.make("jsonb", d)),
            _ => format!("({}) operator(pg_catalog.=) ({})", self.make("jsonb", d), self.make("jsonb", d)),
        }
    }

    /// Makes an expression of type integer.
    fn integer_call(&mut self, d: u32) -> String {
        match self.random.random_range(0..6) {
            0 | 1 => format!(
                "({}) {} ({})",
                self.make("integer", d),
                self.pick(&["+", "-", "*", "/", "%", "&", "|"]),
                self.make("integer", d)
            ),
            2 => format!("length({})", self.make("text", d)),
            3 => format!("position({} in {})", self.make("text", d), self.make("text", d)),
            4 => format!("({})::integer", self.make("text", d)),
            _ => format!("cardinality({})", self.make("text[]", d)),
        }
    }

    /// Makes an expression of type numeric.
    fn numeric_call(&mut self, d: u32) -> String {
        match self.random.random_range(0..9) {
            0..2 => format!(
                "({}) {} ({})",
                self.make("numeric", d),
                self.pick(&["+", "-", "*", "/", "%"]),
                self.make("numeric", d)
            ),
            2 => format!("round({}, {})", self.make("numeric", d), self.make("integer", d)),
            3 => format!("({})::numeric", self.make("text", d)),
            4 => format!("power({}, 3)", self.make("numeric", d)),
            5 => format!("({}) ^ ({})", self.make("numeric", d), self.make("numeric", d)),
            6 => format!("power({}, {})", self.make("numeric", d), self.make("integer", d)),
            7 => format!("{}({})", self.pick(&["exp", "ln", "log", "sqrt"]), self.make("numeric", d)),
            _ => format!("(({}) -> 'n')::numeric", self.make("jsonb", d)),
        }
    }

    /// Makes a condition.
    fn boolean_call(&mut self, d: u32) -> String {
        match self.random.random_range(0..15) {
            14 => self.among(d),
            0 | 1 => format!("({}) and ({})", self.make("boolean", d), self.make("boolean", d)),
            2 => format!("({}) or not ({})", self.make("boolean", d), self.make("boolean", d)),
            3 | 4 => {
                let kind = self.pick(&KINDS);
                let sign = self.pick(&["=", "<>", "<", ">=", "is distinct from"]);
                format!("({}) {sign} ({})", self.make(kind, d), self.make(kind, d))
            }
            5 => format!("({}) {} ({})", self.make("text", d), self.pick(&["like", "not ilike"]), self.make("text", d)),
            6 => format!("({}) in ({}, {})", self.make("integer", d), self.make("integer", d), self.make("numeric", d)),
            7 => format!("({}) @> ({})", self.make("jsonb", d), self.make("jsonb", d)),
            8 => format!("({}) = any ({})", self.make("text", d), self.make("text[]", d)),
            9 | 10 => format!(
                "({}) {} {}",
                self.make("text", d),
                self.pick(&["~", "!~", "~*", "!~*", "similar to", "not similar to"]),
                self.quoted_pattern()
            ),
            11 => format!("regexp_count({}, {}) > 1", self.make("text", d), self.quoted_pattern()),
            12 => format!("({}) like any (array['%a', {}])", self.make("text", d), self.text()),
            _ => format!(
                "({}) between ({}) and ({})",
                self.make("numeric", d),
                self.make("integer", d),
                self.make("numeric", d)
            ),
        }
    }

    /// Makes an expression of type timestamptz.
    fn time_call(&mut self, d: u32) -> String {
        match self.random.random_range(0..3) {
            0 => format!("({}) + ({})", self.make("timestamptz", d), self.make("interval", d)),
            1 => format!("date_trunc('month', {})", self.make("timestamptz", d)),
            _ => format!("({}) - ({})", self.make("timestamptz", d), self.make("interval", d)),
        }
    }

    /// Makes a document.
    fn document_call(&mut self, d: u32) -> String {
        match self.random.random_range(0..4) {
            0 => format!("({}) -> {}", self.make("jsonb", d), self.make("text", d)),
            1 => format!("({}) || ({})", self.make("jsonb", d), self.make("jsonb", d)),
            2 => format!(
                "jsonb_set({}, {}, to_jsonb({}))",
                self.make("jsonb", d),
                self.make("text[]", d),
                self.make("numeric", d)
            ),
            _ => format!("jsonb_build_object('k', {})", self.make("numeric", d)),
        }
    }

    /// Makes an array of text.
    fn array_call(&mut self, d: u32) -> String {
        match self.random.random_range(0..5) {
            0 => format!("array_append({}, {})", self.make("text[]", d), self.make("text", d)),
            1 => format!("string_to_array({}, {})", self.make("text", d), self.make("text", d)),
            2 => format!("array[array[{}, {}], {}]", self.make("text", d), self.cast_text(d), self.make("text[]", d)),
            3 => format!(
                "array[{}, {}]::{}",
                self.make("text", d),
                self.cast_text(d),
                self.pick(&["varchar(3)[]", "text[]", "char(5)[]::text[]"])
            ),
            _ => format!("array[{}, {}]", self.make("text", d), self.make("text", d)),
        }
    }

    /// Makes a text by an operator or a call of few operands.
    fn text_call(&mut self, form: u32, d: u32) -> String {
        match form {
            0..3 => format!("{} || {}", self.make("text", d), self.make("text", d)),
            3 => format!("replace({}, {}, {})", self.make("text", d), self.make("text", d), self.make("text", d)),
            4 => format!("lower({})", self.make("text", d)),
            5 => format!("substring({} from {} for 5)", self.make("text", d), self.make("integer", d)),
            6 => format!("trim(both {} from {})", self.make("text", d), self.make("text", d)),
            7 => format!("split_part({}, {}, 2)", self.make("text", d), self.make("text", d)),
            8 => format!("lpad({}, 7, '0')", self.make("text", d)),
            _ => format!("({}) ->> {}", self.make("jsonb", d), self.make("text", d)),
        }
    }

    /// Makes a text by a call that may be large: formats, patterns, repetitions.
    fn composed_text(&mut self, form: u32, d: u32) -> String {
        match form {
            10 => format!("to_char({}, {})", self.make("numeric", d), self.make("text", d)),
            11 => format!(
                "regexp_replace({}, {}, {}, {})",
                self.make("text", d),
                self.quoted_pattern(),
                self.make("text", d),
                self.pick(&["'g'", "''", "'gi'", "'x'", "a2"])
            ),
            12 => format!("substring({} from {})", self.make("text", d), self.quoted_pattern()),
            13 => format!(
                "format({}, {}, {})",
                self.pick(&["'%s-%s'", "'%2$s%1$s%1$s'", "'%-900s%s'", "'%s %s %s'", "a1", "'%*s'"]),
                self.make("text", d),
                self.make("integer", d)
            ),
            14 => format!("repeat({}, {})", self.make("text", d), self.make("integer", d)),
            15 => format!("rpad({}, {}, {})", self.make("text", d), self.make("integer", d), self.make("text", d)),
            16 => format!(
                "encode(sha256(({})::bytea), {})",
                self.make("text", d),
                self.pick(&["'hex'", "'base64'", "'escape'"])
            ),
            _ => format!("array_to_string({}, {})", self.make("text[]", d), self.make("text", d)),
        }
    }

    /// Makes a condition, often of few parts.
    fn condition(&mut self) -> String {
        let depth = self.random.random_range(1..4);
        self.make("boolean", depth)
    }

    /// Makes a text by a cast that Postgres may leave out, merge or write otherwise.
    fn cast_text(&mut self, d: u32) -> String {
        let kind = self.pick(&["text", "text", "jsonb", "text[]", "integer"]);
        let first = self.pick(&["char(5)", "varchar(3)", "bpchar", "varchar", "text", "json"]);
        let then = self.pick(&["", "", "::text", "::varchar(3)", "::char(5)", "::varchar"]);
        format!("({})::{first}{then}", self.make(kind, d))
    }

    /// Makes a text that one of several values is, not all of the same type.
    fn mixed_text(&mut self, d: u32) -> String {
        let typed = self.pick(&["char(5)", "varchar(3)", "char(5)", "bpchar"]);
        let (one, other) = (self.make("text", d), self.make("text", d));
        match self.random.random_range(0..5) {
            0 => format!("coalesce(({one})::{typed}, {other})"),
            1 => format!("greatest({other}, ({one})::{typed})"),
            2 => format!("case {other} when ({one})::{typed} then a1::{typed} else a2 end"),
            3 => format!("nullif(({one})::{typed}, {other})"),
            _ => format!("(array[({one})::{typed}, {other}])[1]"),
        }
    }

    /// Makes a condition that a value is among others.
    fn among(&mut self, d: u32) -> String {
        let kind = self.pick(&["text", "jsonb", "text[]", "integer", "numeric"]);
        let not = self.pick(&["", "not "]);
        let values: Vec<String> = (0..self.random.random_range(1..5))
            .map(|_| match kind {
                "text" if self.chance(3) => self.cast_text(d),
                "text" if self.chance(3) => "case when true then 'x' else 'y' end".to_owned(),
                _ if self.chance(2) => self.leaf(kind),
                _ => self.make(kind, d),
            })
            .collect();
        format!("({}) {not}in ({})", self.make(kind, d), values.join(", "))
    }

    /// A fragment, and whether it is a clause.
    fn fragment(&mut self) -> (&'static str, String) {
        let depth = self.random.random_range(1..5);
        let mut text = if self.chance(2) {
            self.make("boolean", depth)
        } else {
            let kind = self.pick(&KINDS);
            let (name, _) = attribute_table().find(|(_, one)| *one == kind).expect("an attribute of each kind");
            let value = self.make(kind, depth);
            let mut clause = format!("{name} = {value}");
            if self.chance(4) {
                clause.push_str(", a3 = ");
                clause.push_str(&self.make("text", depth));
            }
            if self.chance(50) {
                clause.push_str(self.pick(&[
                    " where true",
                    "; select 1",
                    " returning 1",
                    " from pg_class",
                    ", wid = 1",
                    " --",
                ]));
            }
            // Some characters more or less.
            if self.chance(30) {
                self.scramble(&mut clause);
            }
            return ("set", clause);
        };
        if self.chance(30) {
            self.scramble(&mut text);
        }
        ("where", text)
    }

    fn scramble(&mut self, text: &mut String) {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..self.random.random_range(1..4) {
            let at = self.random.random_range(0..=chars.len());
            match self.random.random_range(0..3) {
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 if at < chars.len() => chars.swap(0, at),
                _ => chars.insert(
                    at,
                    *['\'', '"', '(', ')', ';', '-', '/', '*', '$', '\\', '\0', 'é', '.', ',']
                        .choose(&mut self.random)
                        .unwrap_or(&' '),
                ),
            }
        }
        *text = chars.into_iter().collect();
    }
}

/// Number of fragments for each condition that the database weighs.
const WEIGHED_ONE_IN: usize = 5;

/// A host says which condition the database will refuse for its weight.
#[harness::test]
fn random_conditions_weigh_alike_in_both_guards() {
    let mut maker = Maker { random: StdRng::seed_from_u64(seed()) };
    let flow = flow();
    let mut owner = flow.database.owner();
    let shape = owner.line("SELECT shape_schema FROM wed.flow");
    let attributes = attributes();
    let (mut weighed, mut apart) = (0, Vec::new());
    let total = count() / WEIGHED_ONE_IN;
    while weighed < total && apart.len() < 40 {
        let text = maker.condition();
        let Ok(predicate) = CheckedPredicate::parse(&text, &attributes) else {
            continue;
        };
        let weight = "SELECT weight FROM wed.check_predicate($1, 999999, $2)";
        match owner.query_one(weight, &[&shape, &text]) {
            Ok(row) => {
                weighed += 1;
                let weight: i32 = row.get(0);
                if u64::try_from(weight) != Ok(predicate.weight()) {
                    let host = predicate.weight();
                    apart.push(format!("{text}: host {host}, database {weight}"));
                }
            }
            // Constants that only the database computes may be wrong or too large.
            Err(error) => {
                let refusal = Refusal::of(&error);
                if refusal.code.starts_with("42") || refusal.message.contains("weighs") {
                    apart.push(format!("{text}: {refusal:?}"));
                }
            }
        }
    }
    println!("{weighed} random conditions weighed by both");
    assert!(apart.is_empty(), "{}\n{}", apart.len(), apart.join("\n"));
}

#[harness::test]
fn random_fragments_neither_panic_nor_change_when_written_anew() {
    let mut maker = Maker { random: StdRng::seed_from_u64(seed()) };
    let attributes = attributes();
    let (mut accepted, total) = (0, count());
    for _ in 0..total {
        let (kind, text) = maker.fragment();
        if kind == "set" {
            if let Ok(clause) = CheckedSetClause::parse(&text, &attributes) {
                accepted += 1;
                let sql = clause.to_string();
                let again = CheckedSetClause::parse(&sql, &attributes);
                assert_eq!(Ok(&clause), again.as_ref(), "{text}\n{sql}");
            }
        } else if let Ok(predicate) = CheckedPredicate::parse(&text, &attributes) {
            accepted += 1;
            let again = CheckedPredicate::parse(predicate.sql(), &attributes);
            assert_eq!(Ok(&predicate), again.as_ref(), "{text}");
        }
    }
    println!("{total} random fragments, {accepted} accepted");
    assert!(accepted * 5 > total, "{accepted} of {total}");
}

/// Defines a condition, and takes it back. Constants are folded when a condition is defined: one beyond a bound is
/// refused there.
fn defined_or_refused(definer: &mut Session, session: &mut Session, text: &str, sql: &str) {
    definer.run("BEGIN");
    let defined = definer.execute("INSERT INTO wed_trig (trname, cpred) VALUES ('t', $1)", &[&text]);
    if let Err(error) = defined {
        let refusal = Refusal::of(&error);
        let planned = session.batch_execute(&format!("EXPLAIN {sql}"));
        let planned = planned.map_err(|error| Refusal::of(&error).message);
        // A text that is folded into a number of very many digits is refused when it is written out.
        let is_long = refusal.message == "a number of the predicate is too large";
        assert!(is_long || planned == Err(refusal.message.clone()), "{text}: {refusal:?}, {planned:?}");
    }
    definer.run("ROLLBACK");
}

#[harness::test]
fn what_is_accepted_of_random_fragments_stays_in_its_row() {
    let mut maker = Maker { random: StdRng::seed_from_u64(seed()) };
    let flow = flow();
    let mut definer = flow.session();
    let mut session = hostile_rows(&flow);
    // What may not change by any of it: who the session is, what it has locked, what else there is.
    let surroundings = "SELECT current_user, session_user, current_setting('search_path'), \
     current_setting('statement_timeout'),
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), (SELECT count(*) \
        FROM pg_class),
        (SELECT count(*) FROM wed.tenant), (SELECT count(*) FROM wed.flow), (SELECT count(*) FROM \
        pg_listening_channels())";
    let before = session.line(surroundings);
    let (mut tried, mut slowest) = (0, (Duration::ZERO, String::new()));
    let total = count() / ONE_IN;
    while tried < total {
        let (kind, text) = maker.fragment();
        let Some(sql) = statement(kind, &text, "hostile") else {
            continue;
        };
        tried += 1;
        // Postgres takes what the guard takes, but for constants that only it can read.
        if let Err(error) = session.prepare(&sql) {
            let refusal = Refusal::of(&error);
            assert!(refusal.code.starts_with("22"), "{text}\n{sql}\n{refusal:?}");
            continue;
        }
        if kind == "where" {
            defined_or_refused(&mut definer, &mut session, &text, &sql);
        }
        let took = longest(&mut session, &sql);
        assert!(took < TOO_LONG, "{text} took {took:?}");
        slowest = slowest.max((took, text.clone()));
        if kind == "set" {
            let one = format!("{sql} WHERE wid = 5");
            session.run("BEGIN");
            if session.batch_execute(&one).is_ok() {
                assert_eq!(session.line(surroundings), before, "{text}");
                let others = session.number(
                    "SELECT count(*) FROM hostile WHERE wid <> 5 AND xmin::text::bigint = \
                     (pg_current_xact_id()::text::bigint % 4294967296)",
                );
                assert_eq!(others, 0, "{text}");
            }
            session.run("ROLLBACK");
        }
        assert_eq!(session.line(surroundings), before, "{text}");
    }
    println!("{tried} accepted fragments tried on a server; the slowest took {:?}: {:.300}", slowest.0, slowest.1);
}
