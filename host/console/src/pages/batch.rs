//! Batches: an action on all instances that a search finds, counted first, done a thousand at a time.

use axum::extract::Path;
use maud::{Markup, html};
use wedflow_documents::{Act, Batch, Batched, FlowDetail};
use wedflow_model::Wid;

use super::flow::{detail, of_flow};
use super::instances::{SEARCHED, filter_of};
use super::{Query, flow_address, instance_address, more};
use crate::failure::Failure;
use crate::frame::{Answer, hidden};
use crate::session::{Sent, Session};
use crate::shown::number;

/// Instances that a page names.
const NAMED_MAX: usize = 20;
/// Actions: words in forms and on pages.
const ACTS: [(&str, &str, Act); 5] = [
    ("retry", "Retry", Act::Retry),
    ("pause", "Pause", Act::Pause),
    ("resume", "Resume", Act::Resume),
    ("skip", "Skip the job", Act::Skip),
    ("cancel", "Cancel", Act::Cancel),
];

/// Counts the instances that a form means, or acts on the next thousand of them.
pub(crate) async fn run(session: Session, Path(flow): Path<String>, sent: Sent) -> Answer {
    let detail = detail(&session, &flow).await?;
    let batch = read(&session, &detail, &sent)?;
    let answer = session.client.batch(&flow, &batch).await;
    let answer = answer.map_err(session.failed())?;
    let done = sent.text("done").parse().unwrap_or(0) + answer.done.len();
    let total = match answer.applied {
        true => sent.text("total").parse().unwrap_or(answer.matching),
        false => answer.matching,
    };
    let content = html! {
        (result(&session, &detail, &answer, (done, total)))
        (form(&session, &detail, &sent.0, Some(Step { answer: &answer, done, total })))
    };
    Ok(of_flow(&session, &detail, "/instances", &content))
}

/// Reads what a form asks for.
fn read(session: &Session, flow: &FlowDetail, sent: &Sent) -> Result<Batch, Failure> {
    let filter = filter_of(session, flow, &Query(sent.0.clone()))?;
    let act = ACTS.iter().find(|(code, ..)| *code == sent.text("act"));
    let (.., act) = act.ok_or_else(|| Failure::broken(session.language))?;
    Ok(Batch {
        act: *act,
        values: None,
        status: filter.status,
        state: filter.state.and_then(|text| serde_json::from_str(&text).ok()),
        r#where: filter.r#where,
        transition: sent.given("transition"),
        changed_since: filter.changed_since,
        started_before: None,
        after: sent.text("after").parse::<Wid>().ok(),
        reason: sent.text("reason").to_owned(),
        apply: sent.text("apply") == "yes",
    })
}

/// A step of a batch: what it answered, how many were done so far, of how many.
pub(crate) struct Step<'a> {
    answer: &'a Batched,
    done: usize,
    total: i64,
}

/// The form: it counts first; what was counted can be acted on, a thousand at a time.
pub(crate) fn form(
    session: &Session,
    flow: &FlowDetail,
    fields: &std::collections::HashMap<String, String>,
    step: Option<Step<'_>>,
) -> Markup {
    let say = |text| session.language.say(text);
    let field = |name: &str| fields.get(name).map_or("", String::as_str);
    let chosen = ACTS.iter().find(|(code, ..)| *code == field("act")).map_or("", |(_, word, _)| *word);
    let transitions = flow.triggers.iter().filter_map(|one| one.transition.as_deref());
    let rest = step.as_ref().and_then(|step| match step.answer.applied {
        true => step.answer.instances.last().filter(|_| step.answer.instances.len() >= 1_000),
        false => None,
    });
    let counted = step.as_ref().filter(|step| !step.answer.applied && step.answer.matching > 0);
    html! {
        details open[step.is_some()] {
            summary { (say("Act on all that this search finds")) }
            form class="line" method="post" action=(format!("{}/instances", flow_address(&flow.name))) {
                (hidden(session))
                @for name in SEARCHED { input type="hidden" name=(name) value=(field(name)); }
                label {
                    (say("Action"))
                    select name="act" {
                        @for (code, word, _) in ACTS {
                            option value=(code) selected[field("act") == code] { (say(word)) }
                        }
                    }
                }
                label {
                    (say("With a pending job of"))
                    select name="transition" {
                        option value="" { (say("any transition")) }
                        @for one in transitions { option selected[field("transition") == one] { (one) } }
                    }
                }
                label { (say("Reason, for the trace and the audit log")) input name="reason" value=(field("reason")); }
                button class="strong" { (say("Count them")) }
                @if let Some(step) = counted {
                    input type="hidden" name="total" value=(step.total);
                    button class="bad" name="apply" value="yes" data-ask=(say("Do it to all of them?")) {
                        (say(chosen)) ": " (number(step.total))
                    }
                }
                @if let (Some(step), Some(last)) = (&step, rest) {
                    input type="hidden" name="total" value=(step.total);
                    input type="hidden" name="done" value=(step.done);
                    input type="hidden" name="after" value=(last);
                    button class="bad" name="apply" value="yes" { (say("Continue with the next thousand")) }
                }
            }
        }
    }
}

/// Section with the number that was counted, or done.
fn result(session: &Session, flow: &FlowDetail, answer: &Batched, (done, total): (usize, i64)) -> Markup {
    let say = |text| session.language.say(text);
    let done = i64::try_from(done).unwrap_or(i64::MAX);
    html! {
        section aria-live="polite" {
            @if answer.applied {
                p class="said" { (number(done)) " " (say("of")) " " (number(total)) " " (say("are done.")) }
                progress value=(done) max=(total.max(1)) aria-label=(say("Progress")) {}
            } @else {
                p class="said" { (number(answer.matching)) " " (say("match.")) " " (say("Nothing was changed yet.")) }
                p { @for wid in answer.instances.iter().take(NAMED_MAX) {
                    a href=(instance_address(&flow.name, wid)) { (wid) } " "
                } }
                @if answer.instances.len() > NAMED_MAX {
                    (more(session, NAMED_MAX, Some(number(answer.matching)), None))
                }
            }
            @for one in answer.refused.iter().take(NAMED_MAX) {
                p class="note" { a href=(instance_address(&flow.name, one.wid)) { (one.wid) } ": " (one.reason) }
            }
            @if answer.refused.len() > NAMED_MAX {
                (more(session, NAMED_MAX, Some(answer.refused.len().to_string()), None))
            }
        }
    }
}
