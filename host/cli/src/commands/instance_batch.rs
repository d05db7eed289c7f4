//! `wed instance batch`: an action on all instances that match, counted first, done a thousand at a time.

use wedflow_documents::{Batch, Batched};

use crate::answer::counted;
use crate::arguments::BatchArguments;
use crate::commands::instance::{attributes_of, held_values};
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Instances that are named at most.
const NAMED_MAX: usize = 20;

pub(crate) async fn run(arguments: &BatchArguments, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let flow = arguments.flow.as_str();
    let mut batch = read(arguments, door).await?;
    let spinner = terminal.spinner_if_slow("looking for the instances");
    let mut all = door.batch(flow, &batch).await?;
    let mut last = all.instances.last().copied();
    while let (true, Some(after)) = (all.applied, last) {
        spinner.set_message(format!("{} of {}", all.done.len() + all.refused.len(), all.matching));
        batch.after = Some(after);
        let part = door.batch(flow, &batch).await?;
        last = part.instances.last().copied();
        all.instances.extend(part.instances);
        all.done.extend(part.done);
        all.refused.extend(part.refused);
    }
    spinner.finish_and_clear();
    terminal.answer(&all, || say(&all, terminal));
    Ok(())
}

/// Reads the instances and the action that are meant.
async fn read(arguments: &BatchArguments, door: &Door) -> Result<Batch, Problem> {
    let (flow, matching) = (arguments.flow.as_str(), &arguments.matching);
    let attributes = attributes_of(door, flow).await?;
    let values = |words: &[String]| {
        let values = held_values(flow, &attributes, words)?;
        Ok::<_, Problem>((!values.is_empty()).then_some(values))
    };
    Ok(Batch {
        act: arguments.act.into(),
        values: values(&arguments.set)?,
        status: matching.status.map(Into::into),
        state: values(&matching.holding)?,
        r#where: matching.condition.clone(),
        transition: matching.transition.clone(),
        changed_since: matching.changed_since.clone(),
        started_before: matching.started_before.clone(),
        after: None,
        reason: arguments.reason.clone(),
        apply: arguments.yes,
    })
}

fn say(all: &Batched, terminal: &Terminal) {
    let named = |wids: &[wedflow_model::Wid]| {
        let shown = wids.iter().take(NAMED_MAX).map(ToString::to_string);
        let more = if wids.len() > NAMED_MAX { ", …" } else { "" };
        shown.collect::<Vec<_>>().join(", ") + more
    };
    let verb = if all.matching == 1 { "matches" } else { "match" };
    terminal.line(&format!("{} {verb}.", counted(all.matching, "instance")));
    if !all.applied {
        if !all.instances.is_empty() {
            terminal.line(&named(&all.instances));
        }
        terminal.say("Nothing was done. To do it: the same with --yes");
        return;
    }
    terminal.line(&format!("Done to {}; refused {}.", all.done.len(), all.refused.len()));
    for one in all.refused.iter().take(NAMED_MAX) {
        terminal.line(&format!("  {}: {}", one.wid, one.reason));
    }
}
