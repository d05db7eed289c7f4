//! `wed replay`: an attempt run again, by the same component or by another, on what was recorded.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anstyle::AnsiColor;
use serde_json::{Map, Value as Json, json};
use wedflow_authoring::{Call, Called, Difference, Subject, Verdict, Workbench, differences_between, write_fixture};
use wedflow_documents::{Recording, ShadowRun, ThingThatDiffers};
use wedflow_model::{AttributeType, FlowId, Outcome, Value, Wid};
use wedflow_store::Store;

use crate::answer::counted;
use crate::arguments::ReplayArguments;
use crate::calls;
use crate::commands::instance::attributes_of;

use crate::commands::run::{load, secrets_in};
use crate::commands::test::fixture_problem;
use crate::door::Door;
use crate::problem::Problem;
use crate::secret_key;
use crate::shadow::{self, call_of, name_of, secrets_asked};
use crate::terminal::{Terminal, hide};

/// Differing attempts that a shadow run shows one by one.
const SHOWN: usize = 10;

/// Text that replaces a value that must not reach a file.
const MASK: &str = "***";

/// Attempt to replay, and its inputs.
struct Replay<'a> {
    door: &'a Door,
    terminal: &'a Terminal,
    workbench: Workbench,
    flow: &'a str,
    attributes: Vec<(String, AttributeType)>,
    /// The flow's own secrets, each with the transitions that may ask for it.
    granted: Vec<(String, String, Vec<String>)>,
    /// Secrets from a file, which come first.
    secrets: BTreeMap<String, String>,
    /// Components by name and version.
    subjects: HashMap<(String, i32), Subject>,
}

/// Selection of an attempt.
#[derive(Debug, PartialEq)]
enum Which {
    /// The one that wrote this state.
    Seq(i32),
    /// The one of this number, which changed nothing.
    Number(i64),
    /// The last one, or the last that fits.
    Last,
}

/// Comparison of a replay with the recorded attempt.
enum Sameness {
    /// The same, and how that is known.
    Same(String),
    /// Different.
    Different(Vec<Difference>),
}

/// Runs an attempt again. `store` has the flow's own secrets, where the database is at hand.
pub(crate) async fn run(
    arguments: &ReplayArguments,
    store: Option<&Store>,
    door: &Door,
    terminal: &Terminal,
) -> Result<(), Problem> {
    let (flow, wid, which) = target(&arguments.target)?;
    let attributes = attributes_of(door, flow).await?;
    let granted = match store {
        Some(store) => {
            let flow_id = store.flow(&door.tenant, flow).await?.flow_id;
            granted_secrets(store, flow_id).await?
        }
        None => Vec::new(),
    };
    let mut replay = Replay {
        door,
        terminal,
        workbench: Workbench::new()?,
        flow,
        attributes,
        granted,
        secrets: match &arguments.secret_file {
            Some(file) => secrets_in(file)?,
            None => BTreeMap::new(),
        },
        subjects: HashMap::new(),
    };
    let secrets = replay.granted.iter().map(|(_, secret, _)| secret);
    hide(
        secrets
            .chain(replay.secrets.values())
            .enumerate()
            .map(|(at, secret)| (at.to_string(), secret.clone()))
            .collect(),
    );
    if let Some(count) = arguments.last {
        return replay.shadow(arguments, wid, count).await;
    }
    let Some(wid) = wid else {
        return Err(Problem::usage("say which instance is meant")
            .hint("For example: wed replay orders/17#4, or wed replay orders 17; --last N for many."));
    };
    let attempt = replay.find(wid, &which, arguments).await?;
    replay.one(wid, &attempt, arguments).await
}

/// A flow's secrets, opened with the operator's key; none where there is no key, or not the right one. What
/// is shown of a call has them masked.
async fn granted_secrets(store: &Store, flow_id: FlowId) -> Result<Vec<(String, String, Vec<String>)>, Problem> {
    let sealed = store.secrets(flow_id).await?;
    if sealed.is_empty() {
        return Ok(Vec::new());
    }
    let Some(key) = secret_key::existing()? else {
        return Ok(Vec::new());
    };
    Ok(sealed
        .into_iter()
        .filter_map(|one| {
            let secret = key.open(flow_id, &one).ok()?;
            Some((one.name, secret, one.transitions))
        })
        .collect())
}

/// Reads `orders/17#4`, `orders 17 4`, `orders 17`, `orders`.
fn target(words: &[String]) -> Result<(&str, Option<Wid>, Which), Problem> {
    let wrong = || {
        Problem::usage(format!("`{}` names no attempt", words.join(" ")))
            .hint("For example: orders/17#4, as `wed job logs` prints it; or orders 17; or orders 17 4")
    };
    let parts: Vec<&str> = words.iter().flat_map(|word| word.split(['/', '#'])).collect();
    let wid = |text: &str| text.parse::<Wid>().map_err(|_| wrong());
    let which = |text: &str| match text.strip_prefix('a') {
        Some(id) => id.parse().map(Which::Number).map_err(|_| wrong()),
        None => text.parse().map(Which::Seq).map_err(|_| wrong()),
    };
    match parts.as_slice() {
        [flow] => Ok((flow, None, Which::Last)),
        [flow, number] => Ok((flow, Some(wid(number)?), Which::Last)),
        [flow, number, one] => Ok((flow, Some(wid(number)?), which(one)?)),
        _ => Err(wrong()),
    }
}

impl Replay<'_> {
    /// The attempt that is meant.
    async fn find(&self, wid: Wid, which: &Which, arguments: &ReplayArguments) -> Result<Recording, Problem> {
        let attempts = self.door.attempts(self.flow, wid).await?;
        let found = attempts.into_iter().rfind(|attempt| {
            (match which {
                Which::Seq(seq) => attempt.seq == Some(*seq),
                Which::Number(number) => attempt.number == Some(*number),
                Which::Last => true,
            }) && arguments.transition.as_ref().is_none_or(|transition| *transition == attempt.transition)
                && arguments.attempt.is_none_or(|number| number == attempt.attempt)
        });
        let found = found.ok_or_else(|| {
            Problem::new(format!("no host made such an attempt at instance {wid} of {}", self.flow))
                .code("not_found")
                .exit(3)
                .hint(format!(
                    "`wed job logs {} {wid}` lists the attempts. What external workers did cannot be replayed.",
                    self.flow
                ))
        })?;
        let name = (found.seq, found.number);
        Ok(self.door.recording(self.flow, wid, name).await?)
    }

    /// The call that an attempt was.
    fn call(&self, wid: Wid, attempt: &Recording) -> Result<Call, Problem> {
        let secrets = self.secrets_of(&attempt.transition);
        call_of((self.flow, wid), attempt, &self.attributes, secrets).map_err(|why| {
            let id = identifier(self.flow, wid, attempt);
            Problem::new(format!("{id} cannot be run again: {why}")).code("not_replayable")
        })
    }

    /// Calls the component that made an attempt.
    async fn again(&mut self, attempt: &Recording, call: &Call) -> Result<Called, Problem> {
        let (Some(name), Some(version)) = (&attempt.component, attempt.version) else {
            return Err(Problem::new(format!("it is not known which component ran `{}`", attempt.transition))
                .code("not_replayable"));
        };
        let number = (name.clone(), version);
        if !self.subjects.contains_key(&number) {
            let bytes = self.door.component_bytes(name, version).await?;
            let spinner = self.terminal.spinner_if_slow("compiling the component");
            let subject = self.workbench.load(&bytes).await;
            spinner.finish_and_clear();
            self.subjects.insert(number.clone(), subject?);
        }
        let subject = &self.subjects[&number];
        Ok(self.workbench.call(subject, call).await?)
    }

    async fn one(&mut self, wid: Wid, attempt: &Recording, arguments: &ReplayArguments) -> Result<(), Problem> {
        let id = identifier(self.flow, wid, attempt);
        let call = self.call(wid, attempt)?;
        let called = self.again(attempt, &call).await?;
        let other = match &arguments.with {
            Some(file) => {
                let subject = load(&self.workbench, file, self.terminal).await?;
                Some(self.workbench.call(&subject, &call).await?)
            }
            None => None,
        };
        let sameness = compare(attempt, &called);
        let missing = self.missing_secrets(attempt);
        if let Some(file) = &arguments.fixture {
            self.save(file, &id, attempt, &call, arguments).await?;
        }
        let between = other.as_ref().map(|other| differences_between(&called, other));
        let document = json!({
            "id": id,
            "attempt": attempt,
            "replayed": calls::document(&called),
            "same": matches!(sameness, Sameness::Same(_)),
            "differences": match &sameness { Sameness::Different(list) => Some(list), _ => None },
            "missing_secrets": missing,
            "with": other.as_ref().map(calls::document),
            "differences_with": between,
            "fixture": arguments.fixture,
        });
        let terminal = self.terminal;
        terminal.answer(&document, || {
            terminal.line(&headline(&id, attempt));
            calls::print_answer(&called, terminal);
            calls::print_logs(&called, "  ", terminal);
            print_sameness(&sameness, terminal);
            for name in &missing {
                terminal.line(&format!(
                    "it asked for the secret `{name}`, which is not here: give it with --secret-file, or the \
                     operator's key in WEDFLOW_SECRET_KEY"
                ));
            }
            if let (Some(other), Some(between), Some(file)) = (&other, &between, &arguments.with) {
                terminal.line(&format!("with {}:", file.display()));
                calls::print_answer(other, terminal);
                calls::print_logs(other, "  ", terminal);
                if between.is_empty() {
                    terminal.line("the same answer from both");
                } else {
                    calls::print_differences(between, ("before", "with it"), "  ", terminal);
                }
                if other.beyond_recording {
                    terminal.line("  it asked the host for more than was recorded; that was made up");
                }
            }
            if let Some(file) = &arguments.fixture {
                terminal.line(&format!("saved as {}", file.display()));
            }
        });
        verdict(&sameness, between.as_deref(), attempt)
    }

    /// Returns the secrets that a transition may ask for: the flow's own that were granted to it, and those of the
    /// file.
    fn secrets_of(&self, transition: &str) -> BTreeMap<String, String> {
        let mut secrets: BTreeMap<String, String> = self
            .granted
            .iter()
            .filter(|(_, _, to)| to.iter().any(|one| one == transition))
            .map(|(name, secret, _)| (name.clone(), secret.clone()))
            .collect();
        secrets.extend(self.secrets.clone());
        secrets
    }

    /// Secrets that the attempt asked for and that neither the flow nor a file gave.
    fn missing_secrets(&self, attempt: &Recording) -> Vec<String> {
        let there = self.secrets_of(&attempt.transition);
        let mut missing = secrets_asked(attempt);
        missing.retain(|name| !there.contains_key(name));
        missing
    }

    /// Saves the attempt as a fixture: what is not for a file is masked, in the state as well, and what
    /// is expected is what the masked call comes to.
    async fn save(
        &mut self,
        file: &Path,
        id: &str,
        attempt: &Recording,
        call: &Call,
        arguments: &ReplayArguments,
    ) -> Result<(), Problem> {
        let mut masked = call.clone();
        masked.payload = None;
        for (name, value) in &mut masked.state {
            if arguments.mask.contains(name) {
                *value = match value {
                    Json::String(_) => Json::from(MASK),
                    _ => Json::Null,
                };
            }
            for secret in call.secrets.values().filter(|secret| !secret.is_empty()) {
                mask_in(value, secret);
            }
        }
        for secret in masked.secrets.values_mut() {
            *secret = MASK.to_owned();
        }
        for name in self.missing_secrets(attempt) {
            masked.secrets.insert(name, MASK.to_owned());
        }
        let called = self.again(attempt, &masked).await?;
        write_fixture(file, &format!("Recorded: {id}"), &masked, Some(&called)).map_err(fixture_problem)
    }

    /// Runs another component over the last attempts at a transition, and says where it differs.
    async fn shadow(&mut self, arguments: &ReplayArguments, wid: Option<Wid>, count: i64) -> Result<(), Problem> {
        let (Some(transition), Some(file), None) = (&arguments.transition, &arguments.with, wid) else {
            return Err(Problem::usage("--last runs a new version over many attempts")
                .hint("For example: wed replay orders --last 100 --transition pack --with build/parcel.wasm"));
        };
        let subject = load(&self.workbench, file, self.terminal).await?;
        let last = self.door.last_attempts(self.flow, transition, count).await?;
        let mut run = ShadowRun { transition: transition.clone(), attempts: last.len(), ..ShadowRun::default() };
        for one in &last {
            let (wid, name) = (one.wid, (one.seq, one.number));
            let attempt = self.door.recording(self.flow, wid, name).await?;
            let secrets = self.secrets_of(&attempt.transition);
            match call_of((self.flow, wid), &attempt, &self.attributes, secrets) {
                Ok(call) => {
                    let before = self.again(&attempt, &call).await?;
                    let with = self.workbench.call(&subject, &call).await?;
                    let id = identifier(self.flow, wid, &attempt);
                    shadow::add(&mut run, id, &before, &with);
                }
                Err(why) => *run.not_replayable.entry(why.to_owned()).or_default() += 1,
            }
        }
        let terminal = self.terminal;
        let mut document = serde_json::to_value(&run).unwrap_or_default();
        document["with"] = json!(file);
        terminal.answer(&document, || print_shadow(&run, terminal));
        if run.different == 0 {
            Ok(())
        } else {
            Err(Problem::new("the two versions answer differently").code("different"))
        }
    }
}

/// Holds a replay against what is on record of the attempt.
fn compare(attempt: &Recording, called: &Called) -> Sameness {
    if called.beyond_recording {
        return Sameness::Different(vec![Difference {
            what: "answers".to_owned(),
            expected: None,
            actual: Some("it asked the host for more than was recorded".to_owned()),
        }]);
    }
    // How far a guest comes within its time depends on the machine.
    if attempt.outcome == "timed_out" && matches!(called.outcome, Outcome::TimedOut | Outcome::OutOfFuel) {
        return Sameness::Same("it does not come to an end now either".to_owned());
    }
    if let Some(digest) = &attempt.digest {
        let now = called.digest();
        return if *digest == now {
            Sameness::Same(format!("the same answer, byte for byte (SHA-256 {}…)", &digest[..12.min(digest.len())]))
        } else {
            Sameness::Different(vec![Difference {
                what: "answer".to_owned(),
                expected: Some(format!("SHA-256 {digest}")),
                actual: Some(format!("SHA-256 {now}: {}", called.answer())),
            }])
        };
    }
    let Some(seq) = attempt.seq else {
        let said = attempt.message.clone().unwrap_or_default();
        return if attempt.outcome == called.name() {
            Sameness::Same(format!("the same outcome, {}", attempt.outcome))
        } else {
            Sameness::Different(vec![Difference {
                what: "outcome".to_owned(),
                expected: Some(format!("{}: {said}", attempt.outcome)),
                actual: Some(called.answer()),
            }])
        };
    };
    let state: Map<String, Json> =
        (attempt.written.as_deref()).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    effect(called, &state, seq)
}

fn print_shadow(run: &ShadowRun, terminal: &Terminal) {
    for one in run.differences.iter().take(SHOWN) {
        terminal.line(&one.id);
        let differing = |one: &ThingThatDiffers| Difference {
            what: one.what.clone(),
            expected: one.expected.clone(),
            actual: one.actual.clone(),
        };
        let differences: Vec<Difference> = one.differences.iter().map(differing).collect();
        calls::print_differences(&differences, ("before", "with it"), "  ", terminal);
    }
    if run.different > SHOWN {
        terminal.line(&format!("… and {} more", run.different - SHOWN));
    }
    let style = match run.different {
        0 => calls::colour(AnsiColor::Green),
        _ => calls::colour(AnsiColor::Yellow),
    };
    terminal.line(&format!(
        "{style}{} at {}: {} the same, {} different{style:#}",
        counted(run.attempts, "attempt"),
        run.transition,
        run.same,
        run.different
    ));
    for one in &run.outcomes {
        terminal.line(&format!("  {} before, with it {}: {}", one.before, one.with, one.attempts));
    }
    // The end of a call is printed above already, where only it differs.
    let told: usize = run.outcomes.iter().map(|one| one.attempts).sum();
    for (what, times) in run.by.iter().filter(|(what, times)| *what != "answer" || **times > told) {
        terminal.line(&format!("  {what}: {times}"));
    }
    for (why, times) in &run.not_replayable {
        terminal.line(&format!("  not run again, {times}: {why}"));
    }
}

/// Names an attempt as `wed job logs` does.
fn identifier(flow: &str, wid: Wid, attempt: &Recording) -> String {
    name_of(flow, wid, attempt.seq, attempt.number)
}

/// Refuses an answer that differs: from the other version's, or from what is on record.
fn verdict(sameness: &Sameness, between: Option<&[Difference]>, attempt: &Recording) -> Result<(), Problem> {
    match (sameness, between) {
        (_, Some(between)) if !between.is_empty() => {
            Err(Problem::new("the two versions answer differently").code("different"))
        }
        (Sameness::Different(_), None) => {
            Err(Problem::new("the attempt does not come to the same when it is run again").code("different").hint(
                if attempt.exact {
                    "The flow's attributes may have changed since, or a secret."
                } else {
                    "Which version of the component ran is not on record; it may have been another."
                },
            ))
        }
        _ => Ok(()),
    }
}

fn headline(id: &str, attempt: &Recording) -> String {
    let component = match (&attempt.component, attempt.version) {
        (Some(name), Some(version)) => {
            format!("component {name} v{version}{}", if attempt.exact { "" } else { " (the newest then)" })
        }
        _ => "an unknown component".to_owned(),
    };
    format!(
        "{id}  {}, attempt {}, {component}, on state {}",
        attempt.transition,
        attempt.attempt,
        attempt.from_seq.map_or_else(|| "?".to_owned(), |seq| seq.to_string()),
    )
}

fn print_sameness(sameness: &Sameness, terminal: &Terminal) {
    match sameness {
        Sameness::Same(how) => {
            let green = calls::colour(AnsiColor::Green);
            terminal.line(&format!("{green}{how}{green:#}"));
        }
        Sameness::Different(differences) => {
            calls::print_differences(differences, ("was", "is"), "  ", terminal);
        }
    }
}

/// Holds what a replay sets against the state that was committed. Expressions were evaluated by the
/// database; what they came to then cannot be told from here.
fn effect(called: &Called, state: &Map<String, Json>, seq: i32) -> Sameness {
    let Verdict::Change(clause) = &called.verdict else {
        return Sameness::Different(vec![Difference {
            what: "answer".to_owned(),
            expected: Some(format!("the change to state {seq}")),
            actual: Some(called.answer()),
        }]);
    };
    let mut differences = Vec::new();
    let mut expressions = 0;
    for assignment in clause.assignments() {
        let wedflow_authoring::CheckedValue::Literal(literal) = &assignment.value else {
            expressions += 1;
            continue;
        };
        let committed = called
            .attributes
            .iter()
            .find(|(name, _)| **name == *assignment.attribute)
            .zip(state.get(&*assignment.attribute))
            .and_then(|((_, kind), value)| {
                let canonical = |json: &Json| Value::from_json(kind, json).ok();
                // The literal by the same way as the state's value, so that notations do not matter.
                let own = literal.as_ref().map_or(Json::Null, |text| {
                    serde_json::from_str(text)
                        .ok()
                        .filter(|json| canonical(json).is_some())
                        .unwrap_or_else(|| Json::from(text.as_str()))
                });
                (canonical(value) != canonical(&own)).then(|| Difference {
                    what: assignment.attribute.to_string(),
                    expected: Some(value.to_string()),
                    actual: literal.clone(),
                })
            });
        differences.extend(committed);
    }
    if !differences.is_empty() {
        return Sameness::Different(differences);
    }
    let rest = match expressions {
        0 => String::new(),
        n => format!("; {n} computed by SQL then, not compared"),
    };
    Sameness::Same(format!("the same values as in state {seq}{rest}"))
}

/// Masks a text wherever it stands in a value.
fn mask_in(value: &mut Json, secret: &str) {
    match value {
        Json::String(text) if text.contains(secret) => *text = text.replace(secret, MASK),
        Json::Array(list) => list.iter_mut().for_each(|one| mask_in(one, secret)),
        Json::Object(map) => map.values_mut().for_each(|one| mask_in(one, secret)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_named_in_several_ways() {
        let read = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            target(&words).map(|(flow, wid, which)| (flow.to_owned(), wid, which)).ok()
        };
        let named = |number: Option<i32>, which| Some(("orders".to_owned(), number.map(Wid::new), which));
        assert_eq!(read("orders/17#4"), named(Some(17), Which::Seq(4)));
        assert_eq!(read("orders/17#a98"), named(Some(17), Which::Number(98)));
        assert_eq!(read("orders 17 4"), named(Some(17), Which::Seq(4)));
        assert_eq!(read("orders 17"), named(Some(17), Which::Last));
        assert_eq!(read("orders"), named(None, Which::Last));
        assert_eq!(read("orders/x"), None);
        assert_eq!(read("orders 1 2 3"), None);
    }
}
