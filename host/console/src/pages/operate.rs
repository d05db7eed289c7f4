//! Acts of operators on an instance or a flow.

use axum::extract::Path;
use wedflow_documents::{AssumedAct, GoBack, OperatorAct, Pause, Reason, SetState, Skip};
use wedflow_model::Wid;

use super::flow::detail;
use super::{flow_address, instance_address, status_word};
use crate::failure::Failure;
use crate::frame::{Answer, onward};
use crate::session::{Sent, Session};

/// Does to an instance what a form says.
pub(crate) async fn instance(session: Session, Path((flow, wid)): Path<(String, Wid)>, sent: Sent) -> Answer {
    let failed = session.failed();
    let language = session.language;
    let client = &session.client;
    let reason = Reason { reason: sent.text("reason").to_owned() };
    let message = match sent.text("act") {
        "retry" => {
            let retried = client.retry(&flow, wid, &reason).await.map_err(&failed)?;
            format!("{} {}", language.say("Retried; fired or hurried:"), retried.transitions.join(", "))
        }
        "cancel" => {
            client.cancel(&flow, wid, &reason).await.map_err(&failed)?;
            language.say("It was cancelled.").to_owned()
        }
        "skip" => {
            let skip = Skip { transition: sent.text("transition").to_owned(), reason: reason.reason };
            let done = client.skip(&flow, wid, &skip).await.map_err(&failed)?;
            format!("{} {}", language.say("The job was dropped; the instance is"), status_word(language, done.status))
        }
        "back" => {
            let to = sent.text("to").parse().map_err(|_| Failure::broken(language))?;
            let back = GoBack { to, reason: reason.reason };
            let going = client.go_back(&flow, wid, &back).await.map_err(&failed)?;
            format!("{} {}", language.say("Going back; steps to undo:"), going.steps)
        }
        act @ ("pause" | "resume") => {
            let done = client.pause_instance(&flow, wid, act == "pause", &reason).await.map_err(&failed)?;
            pause_words(language, done.paused).to_owned()
        }
        "set" => set(&session, &flow, wid, &sent).await?,
        "preview-skip" => foresee(&session, &flow, wid, &sent, OperatorAct::Skip).await?,
        "preview-cancel" => foresee(&session, &flow, wid, &sent, OperatorAct::Cancel).await?,
        "preview-back" => foresee(&session, &flow, wid, &sent, OperatorAct::Back).await?,
        _ => return Err(Failure::broken(language)),
    };
    Ok(onward(&instance_address(&flow, wid), &message))
}

/// Says what an act would do to an instance, and changes nothing.
async fn foresee(session: &Session, flow: &str, wid: Wid, sent: &Sent, act: OperatorAct) -> Result<String, Failure> {
    let say = |text| session.language.say(text);
    let assumed = AssumedAct { act, transition: sent.given("transition"), to: sent.text("to").parse().ok() };
    let foreseen = session.client.foresee_act(flow, wid, &assumed).await;
    let foreseen = foreseen.map_err(session.failed())?;
    let becomes = status_word(session.language, foreseen.becomes);
    let mut told = format!("{} {} {becomes}.", say("Nothing was changed."), say("The instance would be"));
    let undone = foreseen.undoes.iter().map(|one| format!("{} ({})", one.transition, one.seq));
    let undone: Vec<String> = undone.collect();
    for (words, names) in [
        (say("Dropped:"), &foreseen.drops),
        (say("Pending:"), &foreseen.pending),
        (say("Compensations, of steps:"), &undone),
    ] {
        if !names.is_empty() {
            told.push_str(&format!(" {words} {}.", names.join(", ")));
        }
    }
    Ok(told)
}

fn pause_words(language: crate::words::Language, paused: bool) -> &'static str {
    match paused {
        true => language.say("It is paused."),
        false => language.say("It is not paused any more."),
    }
}

/// Sets attributes of an exception by hand.
async fn set(session: &Session, flow: &str, wid: Wid, sent: &Sent) -> Result<String, Failure> {
    let detail = detail(session, flow).await?;
    let state = super::what_if::changed(session, &detail, sent)?;
    let set = SetState { state, reason: sent.text("reason").to_owned() };
    let done = session.client.set_state(flow, wid, &set).await.map_err(session.failed())?;
    let language = session.language;
    Ok(format!("{} {}", language.say("Its state was set; the instance is"), status_word(language, done.status)))
}

/// Pauses or resumes a flow.
pub(crate) async fn flow(session: Session, Path(flow): Path<String>, sent: Sent) -> Answer {
    let scope = Pause { trigger: sent.given("trigger"), reason: sent.text("reason").to_owned() };
    let pause = sent.text("act") == "pause";
    let done = session.client.pause_flow(&flow, pause, &scope).await.map_err(session.failed())?;
    Ok(onward(&flow_address(&flow), pause_words(session.language, done.paused)))
}
