//! Attributes that each trigger of a definition reads and writes, by its text alone: for a picture of what no database
//! has yet.

use std::collections::{BTreeMap, BTreeSet};

use wedflow_model::FlowDefinition;

use crate::wsql::condition_words;

/// A trigger with its attributes; the final condition last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketched {
    /// Name of the trigger; `final` for the final condition.
    pub trigger: String,
    /// Attributes that its condition reads.
    pub reads: BTreeSet<String>,
    /// Attributes among them that only hold it back: it asks that they still be null, or have their default.
    pub guards: BTreeSet<String>,
    /// Attributes that its transition writes, as declared.
    pub writes: BTreeSet<String>,
}

/// Lists the triggers of a definition with what they read and write.
pub fn sketch(flow: &FlowDefinition) -> Vec<Sketched> {
    let defaults: BTreeMap<&str, Option<&str>> =
        (flow.attributes.iter()).map(|one| (one.name.as_str(), one.default.as_deref())).collect();
    let of = |name: &str, when: &str, writes: BTreeSet<String>| {
        let (reads, guards) = read_by(when, &defaults);
        Sketched { trigger: name.to_owned(), reads, guards, writes }
    };
    let mut all: Vec<Sketched> = (flow.triggers.iter())
        .map(|one| of(&one.name, &one.when, one.writes.iter().flatten().cloned().collect()))
        .collect();
    if let Some(when) = &flow.final_condition {
        all.push(of("final", when, BTreeSet::new()));
    }
    all
}

/// The attributes that a condition reads, and those of them that only hold it back.
fn read_by(when: &str, defaults: &BTreeMap<&str, Option<&str>>) -> (BTreeSet<String>, BTreeSet<String>) {
    let words = condition_words(when);
    let (mut reads, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (at, (word, is_text)) in words.iter().enumerate() {
        let Some((name, default)) = defaults.get_key_value(word.as_str()).filter(|_| !is_text) else {
            continue;
        };
        reads.insert((*name).to_owned());
        let next = |ahead: usize| words.get(at + ahead).map_or("", |(word, _)| word.as_str());
        let is_null = next(1).eq_ignore_ascii_case("is") && next(2).eq_ignore_ascii_case("null");
        let is_default = next(1) == "=" && default.is_some_and(|default| next(2) == default);
        let is_negated = at > 0 && words[at - 1].0.eq_ignore_ascii_case("not");
        if is_negated || !(is_null || is_default) {
            others.insert((*name).to_owned());
        }
    }
    let guards = reads.difference(&others).cloned().collect();
    (reads, guards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_holds_a_trigger_back_is_told_from_what_fires_it() {
        let flow: FlowDefinition = serde_json::from_value(serde_json::json!({
            "name": "f", "final": "sent is not null",
            "attribute": [{ "name": "paid", "default": "no" }, { "name": "packed" }, { "name": "sent" }],
            "trigger": [
                { "name": "t", "transition": "t", "writes": ["packed"],
                  "when": "paid = 'yes' and packed is null and 'sent' <> 'x'" },
            ],
        }))
        .expect("a flow");
        let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        let found = sketch(&flow);
        assert_eq!(names(&found[0].reads), "packed paid");
        assert_eq!(names(&found[0].guards), "packed");
        assert_eq!((names(&found[1].reads).as_str(), names(&found[1].guards).as_str()), ("sent", ""));
    }
}
