//! Measures the cost of a check: `cargo run --release -p wedflow-guard --example check_cost`.

use std::hint::black_box;
use std::time::Instant;

use wedflow_guard::{CheckedPredicate, CheckedSetClause, FlowAttributes, SetClauseCache};

const ROUNDS: u32 = 20_000;

fn measure(what: &str, mut work: impl FnMut()) {
    for _ in 0..ROUNDS / 10 {
        work();
    }
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            work();
        }
        best = best.min(begun.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    println!("{best:8.2} us  {what}");
}

fn main() {
    let text = || "text".parse().expect("a type");
    let names = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10"];
    let attributes = FlowAttributes::new(names.map(|name| (name, text())));
    let cache = SetClauseCache::new(attributes.clone(), 1000);
    for clause in [
        "a2='done'",
        "a2='done', a3='ready', a4='17'",
        "a1=(a1::integer + 1)::text",
        "a2='done', a3='ready', a4=(a4::integer+1)::text",
        "a1=case when a2='x' and a3 is not null then lower(a4) else coalesce(a5, 'none') end",
    ] {
        measure(clause, || {
            black_box(CheckedSetClause::parse(black_box(clause), &attributes)).expect("accepted");
        });
    }
    let clause = "a2='done', a3='ready', a4=(a4::integer+1)::text";
    measure("the fourth, from the cache", || {
        black_box(cache.parse(black_box(clause))).expect("accepted");
    });
    let condition = "a1='ready' and (a2 is not null) and (a3 is not null)";
    measure(condition, || {
        black_box(CheckedPredicate::parse(black_box(condition), &attributes)).expect("accepted");
    });
    measure("a2='done' WHERE true (refused)", || {
        black_box(CheckedSetClause::parse("a2='done' WHERE true", &attributes)).expect_err("refused");
    });
}
