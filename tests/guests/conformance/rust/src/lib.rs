//! The conformance guest in Rust; `../../BEHAVIOURS.md` says what each transition does.

#![no_std]

use core::hint::black_box;
use core::sync::atomic::{AtomicI32, Ordering};

use wedflow_guest::prelude::*;

/// The 24 attributes, as fields and in `echo`.
macro_rules! everything {
    ($($name:ident: $type:ty => ($($kind:tt)+)),+ $(,)?) => {
        /// All attributes, each of which may be null.
        #[derive(State)]
        struct All { $($name: Option<$type>),+ }

        /// Assigns every attribute its own value.
        #[transition(writes = [$($name: $($kind)+),+])]
        fn echo(all: All) -> Change {
            set! { $($name = all.$name),+ }
        }

        impl All {
            fn nulls(&self) -> i32 {
                [$(self.$name.is_none()),+].into_iter().map(i32::from).sum()
            }
        }
    };
}

everything! {
    a_text: String => (text),
    a_enum: String => (text),
    a_integer: i32 => (integer),
    a_bigint: i64 => (bigint),
    a_numeric: Numeric => (numeric),
    a_float: f64 => (float),
    a_boolean: bool => (boolean),
    a_timestamptz: Timestamp => (timestamptz),
    a_date: Date => (date),
    a_interval: Interval => (interval),
    a_uuid: Uuid => (uuid),
    a_jsonb: Json => (jsonb),
    l_text: Vec<Option<String>> => (text[]),
    l_enum: Vec<Option<String>> => (text[]),
    l_integer: Vec<Option<i32>> => (integer[]),
    l_bigint: Vec<Option<i64>> => (bigint[]),
    l_numeric: Vec<Option<Numeric>> => (numeric[]),
    l_float: Vec<Option<f64>> => (float[]),
    l_boolean: Vec<Option<bool>> => (boolean[]),
    l_timestamptz: Vec<Option<Timestamp>> => (timestamptz[]),
    l_date: Vec<Option<Date>> => (date[]),
    l_interval: Vec<Option<Interval>> => (interval[]),
    l_uuid: Vec<Option<Uuid>> => (uuid[]),
    l_jsonb: Vec<Option<Json>> => (jsonb[]),
}

#[transition(writes = [a_integer: integer, a_text: text])]
fn nulls(all: All) -> Change {
    set! { a_integer = all.nulls(), a_text = Null }
}

#[derive(State)]
struct Text {
    a_text: String,
}

#[transition(writes = [a_text: text])]
fn required(state: Text) -> Change {
    set! { a_text = state.a_text }
}

#[transition(writes = [a_text: text, a_integer: integer])]
fn unicode(state: Text) -> Change {
    let points = state.a_text.chars().count() as i64;
    set! { a_text = format!("{} ✓ 𝄞", state.a_text), a_integer = points }
}

#[derive(State)]
struct Texts {
    a_text: Option<String>,
    l_text: Option<Vec<Option<String>>>,
}

#[transition(writes = [a_bigint: bigint, a_text: text])]
fn large(state: Texts) -> Change {
    let list = state.l_text.unwrap_or_default();
    let bytes: usize = list.iter().flatten().map(String::len).sum();
    let bytes = bytes + state.a_text.as_ref().map_or(0, String::len);
    let start = state.a_text.map(|text| {
        let end = text.len().min(100_000);
        text[..end].to_owned()
    });
    set! { a_bigint = bytes as i64, a_text = start }
}

#[transition(writes = [a_text: text])]
fn names(row: Row) -> Change {
    let names: Vec<&str> = row.iter().map(|(name, _)| name).collect();
    set! { a_text = names.join(",") }
}

#[transition(name = "job", writes = [a_text: text, a_timestamptz: timestamptz])]
fn about_the_job(job: &Job) -> Change {
    let about = format!(
        "{} {} {} {} {}",
        job.flow, job.wid, job.trigger, job.transition, job.attempt
    );
    set! { a_text = about, a_timestamptz = job.deadline }
}

#[transition(writes = [a_integer: integer, a_numeric: numeric, a_text: text, l_integer: integer[]])]
fn assign() -> Result<Change, Failure> {
    Ok(set! {
        a_integer = 7,
        a_numeric = "1.50".parse::<Numeric>()?,
        a_text = "it's",
        l_integer = vec![Some(1), None, Some(3)]
    })
}

#[transition]
fn clause() -> Change {
    set!("a_text='done', a_integer=a_integer+1")
}

#[derive(State)]
struct Both {
    a_text: Option<String>,
    a_numeric: Option<Numeric>,
    a_float: Option<f64>,
    a_timestamptz: Option<Timestamp>,
    a_date: Option<Date>,
}

#[transition(writes = [a_text: text, a_numeric: numeric, a_float: float, a_timestamptz: timestamptz,
    a_date: date, a_integer: integer])]
fn mixed(state: Both) -> Change {
    set! {
        a_text = state.a_text,
        a_numeric = state.a_numeric,
        a_float = state.a_float,
        a_timestamptz = state.a_timestamptz,
        a_date = state.a_date,
        a_integer = sql!("a_integer + 1")
    }
}

#[transition(name = "abort", writes = [])]
fn not_yet() -> Result<Change, Failure> {
    abort!("not yet")
}

#[transition(writes = [])]
fn abort_after() -> Result<Change, Failure> {
    abort!(after = Duration::from_millis(90_500); "in a minute")
}

#[transition(name = "fail", writes = [])]
fn no_stock() -> Result<Change, Failure> {
    retry!("no stock")
}

#[transition(writes = [])]
fn fail_for_good() -> Result<Change, Failure> {
    fail!("no such customer")
}

#[inline(never)]
fn pick(list: &[i32], index: usize) -> i32 {
    match list.get(index) {
        Some(found) => *found,
        None => panic!("index {index} is not there"),
    }
}

#[transition(name = "error", writes = [])]
fn failing() -> Change {
    set! { a_integer = pick(&[1, 2, 3], black_box(7)) }
}

#[transition(writes = [a_integer: integer])]
fn undeclared() -> Change {
    set! { a_text = "x" }
}

#[transition(writes = [a_integer: integer])]
fn wrong_type() -> Change {
    set! { a_integer = "x" }
}

#[transition(writes = [a_integer: integer])]
fn out_of_range() -> Change {
    set! { a_integer = 2_147_483_648_i64 }
}

#[transition(name = "loop", writes = [])]
fn for_ever() -> Change {
    loop {
        black_box(());
    }
}

#[inline(never)]
#[allow(unconditional_recursion)]
fn deeper(n: u64) -> u64 {
    deeper(black_box(n + 1)).rotate_left(3) ^ n
}

#[transition(writes = [])]
fn recursion() -> Change {
    set! { a_integer = deeper(0) as i64 }
}

#[transition(writes = [])]
fn memory() -> Change {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        held.push(black_box(vec![1; 1 << 20]));
    }
}

#[transition(name = "log", writes = [])]
fn log_lines() -> Result<Change, Failure> {
    debug!("d");
    info!("i");
    warn!("w");
    error!("e");
    info!("moved"; from = "a", to = "ü");
    abort!("logged")
}

#[transition(writes = [])]
fn print() -> Result<Change, Failure> {
    abort!("printed")
}

#[transition(name = "sleep", writes = [a_bigint: bigint])]
fn nap() -> Change {
    let before = now();
    sleep(Duration::from_millis(20));
    set! { a_bigint = now().as_micros() - before.as_micros() }
}

#[transition(writes = [])]
fn sleep_for_ever() -> Result<Change, Failure> {
    sleep(Duration::from_secs(86_400));
    abort!("")
}

#[transition(writes = [a_timestamptz: timestamptz, a_bigint: bigint])]
fn now_random() -> Change {
    set! { a_timestamptz = now(), a_bigint = random() as i64 }
}

#[transition(writes = [a_text: text])]
fn library() -> Change {
    set! { a_text = format!("{} {}", now().as_micros(), random()) }
}

#[transition(writes = [a_text: text])]
fn config_secret() -> Change {
    let setting = |key| config(key).unwrap_or_else(|| "-".into());
    let bytes = |name| secret(name).map_or_else(|| "-".into(), |secret| secret.len().to_string());
    let all = [
        setting("region"),
        setting("absent"),
        bytes("api_key"),
        bytes("absent"),
    ];
    set! { a_text = all.join("|") }
}

static CALLS: AtomicI32 = AtomicI32::new(0);

#[transition(writes = [a_integer: integer])]
fn fresh() -> Change {
    set! { a_integer = CALLS.fetch_add(1, Ordering::Relaxed) + 1 }
}

#[derive(State)]
#[expect(dead_code, reason = "handed over to be measured, and not looked at")]
struct Ten {
    t1: String,
    t2: String,
    t3: String,
    t4: String,
    t5: String,
    t6: String,
    t7: String,
    t8: String,
    t9: String,
    t10: String,
}

#[transition]
fn clause_of_ten(state: Ten) -> Change {
    let t1 = state.t1;
    set!("t1={t1}, t2='done'")
}

#[derive(State)]
struct Integer {
    a_integer: i32,
}

/// Says all there is to say
#[transition(
    writes = [a_integer: integer],
    condition = "a_integer < 3",
    timeout = "1500 ms",
    fuel = 1_000_000_000,
    memory = "64 MiB"
)]
fn manifest(state: Integer) -> Change {
    set! { a_integer = i64::from(state.a_integer) + 1 }
}

wedflow_guest::export!(
    echo,
    nulls,
    required,
    unicode,
    large,
    names,
    about_the_job,
    assign,
    clause,
    mixed,
    not_yet,
    abort_after,
    no_stock,
    fail_for_good,
    failing,
    undeclared,
    wrong_type,
    out_of_range,
    for_ever,
    recursion,
    memory,
    log_lines,
    print,
    nap,
    sleep_for_ever,
    now_random,
    library,
    config_secret,
    fresh,
    clause_of_ten,
    manifest,
);
