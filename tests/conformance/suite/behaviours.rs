//! The behaviours of `tests/guests/conformance/BEHAVIOURS.md`, one function each.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use wedflow_contract::{Declaration, DeclaredKind};
use wedflow_guard::{CheckedSetClause, CheckedValue, FlowAttributes};
use wedflow_model::{Assignment, AttributeType, Limits, Outcome, Scalar, Severity, TrapKind, Value};

use wedflow_sandbox::AnswersFrom;

use crate::call::{Call, DEADLINE, RANDOM, Ready, flow};
use crate::equal::same;
use wedflow_loader::languages::Language;

pub(crate) type Checked = Result<(), String>;

/// A behaviour: its name and what holds it.
pub(crate) type Behaviour = (&'static str, fn(&Ready, Language) -> Checked);

pub(crate) const BEHAVIOURS: [Behaviour; 27] = [
    ("manifest", manifest),
    ("declarations", declarations),
    ("echo", echo),
    ("nulls", nulls),
    ("required", required),
    ("unicode", unicode),
    ("large", large),
    ("names", names),
    ("job", job),
    ("assign", assign),
    ("clause", clause),
    ("mixed", mixed),
    ("abort", abort),
    ("fail", fail),
    ("error", error),
    ("refused_writes", refused_writes),
    ("no_such_transition", no_such_transition),
    ("loop", endless),
    ("recursion", recursion),
    ("memory", memory),
    ("log", log),
    ("print", print),
    ("sleep", sleep),
    ("now_random", now_random),
    ("library", library),
    ("config_secret", config_secret),
    ("fresh", fresh),
];

const STATES: &str = include_str!("../../guests/conformance/values.jsonl");

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn ended(guest: &Ready, call: &Call<'_>, wanted: impl Fn(&Outcome) -> bool) -> Result<Outcome, String> {
    let attempt = guest.call(call)?;
    if wanted(&attempt.outcome) {
        Ok(attempt.outcome)
    } else {
        Err(format!("`{}` ended otherwise: {:?}, logs {:?}", call.transition, attempt.outcome, attempt.logs))
    }
}

fn assigned(guest: &Ready, call: &Call<'_>) -> Result<Vec<Assignment>, String> {
    match ended(guest, call, |outcome| matches!(outcome, Outcome::Assignments(_)))? {
        Outcome::Assignments(list) => Ok(list),
        other => Err(format!("{other:?}")),
    }
}

/// That a call assigns just this.
fn assigns(guest: &Ready, call: &Call<'_>, wanted: &[(&str, Value)]) -> Checked {
    let list = assigned(guest, call)?;
    let fits = list.len() == wanted.len()
        && wanted.iter().all(|(name, value)| list.iter().any(|one| one.attribute == *name && same(&one.value, value)));
    expect(fits, || format!("`{}` assigned {list:?} instead of {wanted:?}", call.transition))
}

fn failed(guest: &Ready, call: &Call<'_>, retry: bool, parts: &[&str]) -> Checked {
    ended(guest, call, |outcome| {
        matches!(outcome, Outcome::Failed { message, retry: may }
            if *may == retry && parts.iter().all(|part| message.contains(part)))
    })
    .map(drop)
}

fn text(text: &str) -> Value {
    Value::Scalar(Scalar::Text(text.to_owned()))
}

fn integer(n: i32) -> Value {
    Value::Scalar(Scalar::Integer(n))
}

fn manifest(guest: &Ready, language: Language) -> Checked {
    let manifest = &guest.manifest;
    expect(manifest.name == "conformance", || format!("its name is {:?}", manifest.name))?;
    expect(manifest.sdk.starts_with(&format!("{language} ")), || format!("its sdk is {:?}", manifest.sdk))?;
    let one = guest.declaration("manifest")?;
    let all = one.description == "Says all there is to say"
        && one.condition.as_deref() == Some("a_integer < 3")
        && one.timeout == Some(Duration::from_millis(1500))
        && one.fuel == Some(1_000_000_000)
        && one.memory == Some(64 << 20);
    expect(all, || format!("{one:?}"))?;
    let other = manifest.transitions.iter().find(|one| {
        one.transition != "manifest"
            && (one.condition.is_some() || one.timeout.is_some() || one.fuel.is_some() || one.memory.is_some())
    });
    expect(other.is_none(), || format!("{other:?}"))?;
    assigns(guest, &Call::of("manifest").on(r#"{"a_integer": 1}"#), &[("a_integer", integer(2))])
}

/// Attributes that a transition declares, by name; none for those that declare no list.
type List<'a> = Option<&'a [&'a str]>;

/// Holds that a transition declares these attributes, each with a type that its flow's attribute has.
fn declares(one: &Declaration, flow: &[(String, AttributeType)], reads: List<'_>, writes: List<'_>) -> Checked {
    let transition = &one.transition;
    for (what, declared, wanted) in [("reads", &one.reads, reads), ("writes", &one.writes, writes)] {
        let names: Option<Vec<&str>> =
            declared.as_ref().map(|list| list.iter().map(|attribute| attribute.name.as_str()).collect());
        expect(names.as_deref() == wanted, || format!("`{transition}` {what} {names:?} instead of {wanted:?}"))?;
        for attribute in declared.iter().flatten() {
            let Some((_, kind)) = flow.iter().find(|(name, _)| *name == attribute.name) else {
                continue;
            };
            let typed = attribute.kind != DeclaredKind::Any || attribute.name.contains("enum");
            expect(typed && attribute.kind.accepts(kind), || {
                format!("`{transition}` {what} `{}` as {}", attribute.name, attribute.kind)
            })?;
        }
    }
    Ok(())
}

/// Holds that what is read and written is declared, by name and type, in order.
fn declarations(guest: &Ready, _: Language) -> Checked {
    let flow = flow();
    let all: Vec<&str> = flow.iter().map(|(name, _)| name.as_str()).collect();
    let ten: Vec<String> = (1..=10).map(|n| format!("t{n}")).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    let none: List<'_> = Some(&[]);
    let table: [(&str, List<'_>, List<'_>); 30] = [
        ("echo", Some(&all), Some(&all)),
        ("nulls", Some(&all), Some(&["a_integer", "a_text"])),
        ("required", Some(&["a_text"]), Some(&["a_text"])),
        ("unicode", Some(&["a_text"]), Some(&["a_text", "a_integer"])),
        ("large", Some(&["a_text", "l_text"]), Some(&["a_bigint", "a_text"])),
        ("names", None, Some(&["a_text"])),
        ("job", none, Some(&["a_text", "a_timestamptz"])),
        ("assign", none, Some(&["a_integer", "a_numeric", "a_text", "l_integer"])),
        ("clause", none, None),
        (
            "mixed",
            Some(&["a_text", "a_numeric", "a_float", "a_timestamptz", "a_date"]),
            Some(&["a_text", "a_numeric", "a_float", "a_timestamptz", "a_date", "a_integer"]),
        ),
        ("abort", none, none),
        ("abort_after", none, none),
        ("fail", none, none),
        ("fail_for_good", none, none),
        ("error", none, none),
        ("undeclared", none, Some(&["a_integer"])),
        ("wrong_type", none, Some(&["a_integer"])),
        ("out_of_range", none, Some(&["a_integer"])),
        ("loop", none, none),
        ("recursion", none, none),
        ("memory", none, none),
        ("log", none, none),
        ("print", none, none),
        ("sleep", none, Some(&["a_bigint"])),
        ("sleep_for_ever", none, none),
        ("now_random", none, Some(&["a_timestamptz", "a_bigint"])),
        ("library", none, Some(&["a_text"])),
        ("config_secret", none, Some(&["a_text"])),
        ("fresh", none, Some(&["a_integer"])),
        ("clause_of_ten", Some(&ten), None),
    ];
    for (transition, reads, writes) in table {
        let one = guest.declaration(transition)?;
        declares(one, &flow, reads, writes)?;
    }
    let more = guest.manifest.transitions.len();
    expect(more == table.len() + 1, || format!("it declares {more} transitions"))
}

fn echo(guest: &Ready, _: Language) -> Checked {
    let flow = flow();
    let bound = guest.bound("echo", &flow)?;
    let mut wrong = Vec::new();
    for line in STATES.lines() {
        let state: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let attempt = guest.attempt(&bound, &Call::of("echo").on(line));
        let Outcome::Assignments(list) = &attempt.outcome else {
            wrong.push(format!("{line}: {:?}", attempt.outcome));
            continue;
        };
        if list.len() != flow.len() {
            wrong.push(format!("{line}: {} assignments", list.len()));
        }
        for (name, kind) in &flow {
            let sent =
                Value::from_json(kind, state.get(name).unwrap_or(&Json::Null)).map_err(|error| error.to_string())?;
            let back = list.iter().find(|one| one.attribute == *name).map(|one| &one.value);
            if !back.is_some_and(|back| same(back, &sent)) {
                wrong.push(format!("{name}: {sent:?} came back as {back:?}"));
            }
        }
    }
    expect(wrong.is_empty(), || wrong.join("\n"))
}

fn nulls(guest: &Ready, _: Language) -> Checked {
    let null = ("a_text", Value::NULL);
    assigns(guest, &Call::of("nulls"), &[("a_integer", integer(24)), null.clone()])?;
    let state = r#"{"a_text": "", "l_text": [null], "a_boolean": false, "a_integer": 0}"#;
    assigns(guest, &Call::of("nulls").on(state), &[("a_integer", integer(20)), null])
}

fn required(guest: &Ready, _: Language) -> Checked {
    assigns(guest, &Call::of("required").on(r#"{"a_text": ""}"#), &[("a_text", text(""))])?;
    failed(guest, &Call::of("required"), false, &["a_text"])
}

fn unicode(guest: &Ready, _: Language) -> Checked {
    let call = Call::of("unicode").on(r#"{"a_text": "é漢🦀👩‍👩‍👧"}"#);
    assigns(guest, &call, &[("a_text", text("é漢🦀👩‍👩‍👧 ✓ 𝄞")), ("a_integer", integer(8))])
}

fn large(guest: &Ready, _: Language) -> Checked {
    let long = "abcdefghij".repeat(100_000);
    let many = vec!["\"0123456789\""; 20_000].join(",");
    let state = format!(r#"{{"a_text": "{long}", "l_text": [{many}]}}"#);
    let wanted = [("a_bigint", Value::Scalar(Scalar::Bigint(1_200_000))), ("a_text", text(&long[..100_000]))];
    assigns(guest, &Call::of("large").on(&state), &wanted)?;
    // A null has no bytes; whether what is left of it is null or empty is the guest's.
    let list = assigned(guest, &Call::of("large"))?;
    let none = list.iter().any(|one| one.value == Value::Scalar(Scalar::Bigint(0)));
    expect(none && list.len() == 2, || format!("{list:?}"))
}

fn names(guest: &Ready, _: Language) -> Checked {
    let names: Vec<String> = flow().into_iter().map(|(name, _)| name).collect();
    assigns(guest, &Call::of("names"), &[("a_text", text(&names.join(",")))])
}

fn job(guest: &Ready, _: Language) -> Checked {
    let wanted = [
        ("a_text", text("conformance 7 fired job 2")),
        ("a_timestamptz", Value::Scalar(Scalar::Timestamptz(DEADLINE))),
    ];
    assigns(guest, &Call::of("job"), &wanted)
}

fn assign(guest: &Ready, _: Language) -> Checked {
    let wanted = [
        ("a_integer", integer(7)),
        ("a_numeric", Value::Scalar(Scalar::Numeric("1.50".to_owned()))),
        ("a_text", text("it's")),
        ("l_integer", Value::Array(vec![Scalar::Integer(1), Scalar::Null, Scalar::Integer(3)])),
    ];
    assigns(guest, &Call::of("assign"), &wanted)
}

fn clause(guest: &Ready, _: Language) -> Checked {
    ended(
        guest,
        &Call::of("clause"),
        |outcome| matches!(outcome, Outcome::Clause(clause) if clause == "a_text='done', a_integer=a_integer+1"),
    )
    .map(drop)
}

fn mixed(guest: &Ready, _: Language) -> Checked {
    for hostile in [
        "plain",
        "",
        "'; DROP TABLE x; --",
        "it's \"quoted\" \\ \\' $$ $1 {x} %s",
        "two\nlines\r\n\t/* no */ -- comment",
        "é漢🦀",
    ] {
        for number in ["0", "-1.50", "1234567890123456789012345678.0123456789"] {
            let state = json!({ "a_text": hostile, "a_float": 0.1, "a_date": "2024-02-29",
                "a_timestamptz": "2026-11-21T13:30:00.123456+05:30" });
            let state = state.to_string().replacen('{', &format!("{{\"a_numeric\": {number},"), 1);
            let values = mixed_values(guest, &state)?;
            let value = |name: &str| values.get(name).cloned().unwrap_or_default();
            expect(value("a_text") == hostile, || format!("{values:?}"))?;
            expect(value("a_numeric").contains(number.trim_start_matches('-')), || format!("{values:?}"))?;
            expect(value("a_integer").contains("a_integer + 1"), || format!("{values:?}"))?;
        }
    }
    let floats = "0 -0.0 1 0.1 -2.5 5e-324 2.2250738585072014e-308 1.7976931348623157e308 1e23 \
                  123456789.123456789 9007199254740993 NaN Infinity -Infinity";
    for float in floats.split_whitespace() {
        let wanted: f64 = float.parse().map_err(|_| "no float".to_owned())?;
        // JSON has no numbers for the last three.
        let sent = if wanted.is_finite() { float.to_owned() } else { format!("\"{float}\"") };
        let state = json!({ "a_text": "", "a_numeric": 0, "a_date": "2024-02-29",
            "a_timestamptz": "2026-11-21T13:30:00.123456+05:30" })
        .to_string()
        .replacen('{', &format!("{{\"a_float\": {sent},"), 1);
        let values = mixed_values(guest, &state)?;
        let back = literal(&values["a_float"]).parse::<f64>();
        let same = back.is_ok_and(|back| back.to_bits() == wanted.to_bits() || (back.is_nan() && wanted.is_nan()));
        expect(same, || format!("{float} came back in {values:?}"))?;
    }
    let moments = [
        ("2024-02-29", "2026-11-21T13:30:00.123456+00:00"),
        ("1969-12-31", "1969-12-31T23:59:59.999999+00:00"),
        ("0001-01-01", "0001-01-01T00:00:00+00:00"),
        ("9999-12-30", "9999-12-30T21:59:59.999999+00:00"),
        ("infinity", "infinity"),
        ("-infinity", "-infinity"),
    ];
    for (date, moment) in moments {
        let state = json!({ "a_date": date, "a_timestamptz": moment, "a_text": "", "a_numeric": 0, "a_float": 1 });
        let values = mixed_values(guest, &state.to_string())?;
        for (name, sent) in [("a_date", date), ("a_timestamptz", moment)] {
            let kind: AttributeType = name[2..].parse().map_err(|_| "no type".to_owned())?;
            let read = |text: &str| Value::from_json(&kind, &Json::from(text));
            let back = read(&literal(&values[name]));
            expect(back.is_ok() && back == read(sent), || format!("{sent} came back as {back:?} in {values:?}"))?;
        }
    }
    Ok(())
}

/// Returns what `mixed` sets, as the guard reads it: values as text, expressions as SQL.
fn mixed_values(guest: &Ready, state: &str) -> Result<BTreeMap<String, String>, String> {
    let attributes = FlowAttributes::new(flow());
    let Outcome::Clause(clause) =
        ended(guest, &Call::of("mixed").on(state), |outcome| matches!(outcome, Outcome::Clause(_)))?
    else {
        return Err("no clause".to_owned());
    };
    let checked = CheckedSetClause::parse(&clause, &attributes).map_err(|error| format!("{clause}: {error}"))?;
    let values: BTreeMap<String, String> = checked
        .assignments()
        .iter()
        .map(|one| {
            let value = match &one.value {
                CheckedValue::Literal(literal) => literal.clone().unwrap_or_default(),
                // A cast to the attribute's own type may stand around a literal.
                CheckedValue::Expression { sql, .. } => sql.clone(),
                CheckedValue::Default => "DEFAULT".to_owned(),
            };
            (one.attribute.to_string(), value)
        })
        .collect();
    expect(values.len() == 6, || format!("{clause} sets {values:?}"))?;
    Ok(values)
}

/// Returns what stands between the quotes of a literal, if it has any.
fn literal(sql: &str) -> String {
    match (sql.find('\''), sql.rfind('\'')) {
        (Some(from), Some(to)) if from < to => sql[from + 1..to].to_owned(),
        _ => sql.trim_matches(['(', ')']).to_owned(),
    }
}

fn abort(guest: &Ready, _: Language) -> Checked {
    for (transition, why, when) in
        [("abort", "not yet", None), ("abort_after", "in a minute", Some(Duration::from_millis(90_500)))]
    {
        ended(
            guest,
            &Call::of(transition),
            |outcome| matches!(outcome, Outcome::Aborted { reason, after } if reason == why && *after == when),
        )?;
    }
    Ok(())
}

fn fail(guest: &Ready, _: Language) -> Checked {
    for (transition, said, may) in [("fail", "no stock", true), ("fail_for_good", "no such customer", false)] {
        ended(
            guest,
            &Call::of(transition),
            |outcome| matches!(outcome, Outcome::Failed { message, retry } if message == said && *retry == may),
        )?;
    }
    Ok(())
}

fn error(guest: &Ready, language: Language) -> Checked {
    const SAID: &str = "index 7 is not there";
    let attempt = guest.call(&Call::of("error"))?;
    let holds = match (language, &attempt.outcome) {
        (Language::Rust | Language::C, Outcome::Trapped { kind: TrapKind::Unreachable, .. }) => {
            attempt.logs.lines.iter().any(|line| line.severity == Severity::Error && line.message.contains(SAID))
        }
        (Language::Rust | Language::C, _) => false,
        (_, Outcome::Failed { message, retry: true }) => message.contains(SAID) && message.contains("pick"),
        _ => false,
    };
    expect(holds, || format!("{attempt:?}"))
}

fn refused_writes(guest: &Ready, _: Language) -> Checked {
    failed(guest, &Call::of("undeclared"), false, &["a_text"])?;
    failed(guest, &Call::of("wrong_type"), false, &["a_integer"])?;
    failed(guest, &Call::of("out_of_range"), false, &["a_integer"])
}

fn no_such_transition(guest: &Ready, _: Language) -> Checked {
    let declaration = wedflow_contract::Declaration {
        transition: "nowhere".to_owned(),
        reads: Some(Vec::new()),
        writes: Some(Vec::new()),
        ..wedflow_contract::Declaration::default()
    };
    let bound = guest.component.bind(&declaration, &flow()).map_err(|error| error.to_string())?;
    let attempt = guest.attempt(&bound, &Call::of("nowhere"));
    let holds = matches!(&attempt.outcome, Outcome::Failed { message, retry: false } if message.contains("nowhere"));
    expect(holds, || format!("{:?}", attempt.outcome))
}

fn endless(guest: &Ready, _: Language) -> Checked {
    let begun = Instant::now();
    let timeout = Duration::from_millis(300);
    ended(guest, &Call { timeout, ..Call::of("loop") }, |outcome| *outcome == Outcome::TimedOut)?;
    // A busy machine may be late; a guest that is not stopped never ends.
    expect(begun.elapsed() < Duration::from_secs(30), || format!("it took {:?}", begun.elapsed()))?;
    let limits = Limits { fuel: 100_000_000, ..Limits::default() };
    ended(guest, &Call { limits, ..Call::of("loop") }, |outcome| *outcome == Outcome::OutOfFuel).map(drop)
}

fn recursion(guest: &Ready, language: Language) -> Checked {
    ended(guest, &Call::of("recursion"), |outcome| match (language, outcome) {
        (Language::Python | Language::JavaScript, Outcome::Failed { retry, message }) => {
            *retry && message.contains("recursion")
        }
        (Language::Python | Language::JavaScript, _) => false,
        (Language::Go, Outcome::OverMemory { .. } | Outcome::Trapped { .. }) => true,
        (_, Outcome::Trapped { kind, .. }) => {
            matches!(kind, TrapKind::StackOverflow | TrapKind::MemoryOutOfBounds)
        }
        _ => false,
    })
    .map(drop)
}

fn memory(guest: &Ready, _: Language) -> Checked {
    ended(guest, &Call::of("memory"), |outcome| matches!(outcome, Outcome::OverMemory { .. })).map(drop)
}

fn log(guest: &Ready, _: Language) -> Checked {
    let attempt = guest.call(&Call::of("log"))?;
    let lines: Vec<_> =
        attempt.logs.lines.iter().map(|line| (line.severity, line.message.as_str(), line.fields.clone())).collect();
    let fields = [("from", "a"), ("to", "ü")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let wanted = [
        (Severity::Debug, "d", Vec::new()),
        (Severity::Info, "i", Vec::new()),
        (Severity::Warn, "w", Vec::new()),
        (Severity::Error, "e", Vec::new()),
        (Severity::Info, "moved", fields.to_vec()),
    ];
    expect(lines == wanted, || format!("{lines:?}"))
}

fn print(guest: &Ready, language: Language) -> Checked {
    let attempt = guest.call(&Call::of("print"))?;
    let aborted = matches!(&attempt.outcome, Outcome::Aborted { reason, .. } if reason == "printed");
    let printed = attempt.logs.lines.iter().any(|line| line.message.contains("printed"));
    let needed = matches!(language, Language::Python | Language::JavaScript);
    expect(aborted && (printed || !needed), || format!("{attempt:?}"))
}

fn sleep(guest: &Ready, _: Language) -> Checked {
    let list = assigned(guest, &Call::of("sleep"))?;
    let slept = matches!(
        list.as_slice(),
        [Assignment { value: Value::Scalar(Scalar::Bigint(took)), .. }] if *took >= 20_000
    );
    expect(slept, || format!("{list:?}"))?;
    let timeout = Duration::from_millis(200);
    ended(guest, &Call { timeout, ..Call::of("sleep_for_ever") }, |outcome| *outcome == Outcome::TimedOut).map(drop)
}

fn now_random(guest: &Ready, _: Language) -> Checked {
    let micros =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let before = micros();
    let list = assigned(guest, &Call::of("now_random"))?;
    let after = micros();
    let value = |name: &str| list.iter().find(|one| one.attribute == name).map(|one| &one.value);
    let time = matches!(value("a_timestamptz"), Some(Value::Scalar(Scalar::Timestamptz(at)))
        if (before..=after).contains(&u128::try_from(*at).unwrap_or_default()));
    let drawn = value("a_bigint") == Some(&Value::Scalar(Scalar::Bigint(RANDOM.cast_signed())));
    expect(time && drawn, || format!("{before}..{after}: {list:?}"))
}

/// Time and chance by a language's own library are the host's, so that they are on record.
fn library(guest: &Ready, _: Language) -> Checked {
    let said = |from: AnswersFrom| -> Result<(String, wedflow_sandbox::Attempt), String> {
        let attempt = guest.answered("library", from)?;
        match &attempt.outcome {
            Outcome::Assignments(list) => match list.as_slice() {
                [Assignment { value: Value::Scalar(Scalar::Text(text)), .. }] => Ok((text.clone(), attempt)),
                other => Err(format!("{other:?}")),
            },
            other => Err(format!("{other:?}")),
        }
    };
    let (first, attempt) = said(AnswersFrom::Host)?;
    expect(!attempt.recording.is_empty() && !attempt.recording.overflowed, || format!("{:?}", attempt.recording))?;
    let (again, replayed) = said(AnswersFrom::Recording(attempt.recording.answers.clone()))?;
    expect(again == first && !replayed.beyond_recording, || {
        format!("{first} and then {again}: {:?}", attempt.recording)
    })?;
    let test = |seed| AnswersFrom::Test { now: 1_600_000_000_000_000, seed };
    let (one, _) = said(test(1))?;
    let (same, _) = said(test(1))?;
    let (other, _) = said(test(2))?;
    let told = one.split(' ').next().unwrap_or_default();
    let parts = |text: &str| text.split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>();
    let all_others = parts(&one).iter().zip(parts(&other)).all(|(one, other)| *one != other);
    expect(told == "1600000000000000" && one == same && all_others, || format!("{one}, {same}, {other}"))
}

fn config_secret(guest: &Ready, _: Language) -> Checked {
    assigns(guest, &Call::of("config_secret"), &[("a_text", text("eu|-|6|-"))])
}

fn fresh(guest: &Ready, _: Language) -> Checked {
    for _ in 0..2 {
        assigns(guest, &Call::of("fresh"), &[("a_integer", integer(1))])?;
    }
    Ok(())
}

/// The flow of `clause_of_ten`.
pub(crate) fn flow_of_ten() -> Vec<(String, AttributeType)> {
    (1..=10).map(|n| (format!("t{n}"), "text".parse().expect("a type"))).collect()
}
