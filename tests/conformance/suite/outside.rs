//! The behaviours of `tests/guests/outside/BEHAVIOURS.md`: files and HTTP by every SDK's functions.

use std::collections::BTreeMap;

use wedflow_model::{Outcome, Scalar, Value};
use wedflow_sandbox::{Answer, Attempt, Content, Exchange, FilesFrom, Granted, HttpAnswer, HttpFrom};

use crate::behaviours::{Behaviour, Checked};
use crate::call::{KEY, Ready};
use wedflow_loader::languages::Language;

pub(crate) const BEHAVIOURS: [Behaviour; 3] = [("files", files), ("http", http), ("unhandled", unhandled)];

fn sets(attempt: &Attempt, wanted: &str) -> Checked {
    match &attempt.outcome {
        Outcome::Assignments(list)
            if list.iter().any(|one| one.value == Value::Scalar(Scalar::Text(wanted.to_owned()))) =>
        {
            Ok(())
        }
        other => Err(format!("not {wanted}: {other:?}")),
    }
}

fn files(guest: &Ready, _: Language) -> Checked {
    let before = BTreeMap::from([("before".to_owned(), b"old".to_vec())]);
    let granted = Granted { files: Some(FilesFrom::Test(before)), http: None };
    let attempt = guest.outside("files", granted)?;
    sets(&attempt, "-|a\u{fc}|old|true false|log=3|name")?;
    let draft = attempt.draft.ok_or("there is no draft")?;
    let (written, removed) = draft.changes();
    if (written.as_slice(), removed.as_slice()) != (&["log"], &["before"]) {
        return Err(format!("wrote {written:?}, removed {removed:?}"));
    }
    Ok(())
}

fn exchange(method: &str, url: &str, body: &str, answer: HttpAnswer) -> Exchange {
    Exchange { method: method.to_owned(), url: url.to_owned(), body: Some(body.as_bytes().to_vec()), answer }
}

fn asks(guest: &Ready, transition: &str, exchanges: Vec<Exchange>) -> Result<Attempt, String> {
    let granted = Granted { files: None, http: Some(HttpFrom::Test(exchanges)) };
    guest.outside(transition, granted)
}

fn refusal(kind: &str) -> HttpAnswer {
    HttpAnswer::Refused(kind.to_owned(), "no answer came".to_owned())
}

fn http(guest: &Ready, _: Language) -> Checked {
    let answered = HttpAnswer::Answered {
        status: 201,
        headers: vec![("content-type".to_owned(), "text/plain".to_owned()), ("receipt".to_owned(), "r1".to_owned())],
        body: Content(b"ok".to_vec()),
    };
    let attempt = asks(
        guest,
        "http",
        vec![
            exchange("POST", "https://pay.example/charge", "\u{fc}", answered),
            exchange("GET", "https://pay.example/slow", "", refusal("timed-out")),
        ],
    )?;
    sets(&attempt, &format!("201|r1|-|ok|{KEY}|timed-out"))?;
    // Headers are in the digest of what was asked: the same in every language.
    let asked = attempt.recording.answers.iter().find_map(|answer| match answer {
        Answer::Http(asked, _) => Some(asked.as_str()),
        _ => None,
    });
    let known = format!("authorization\nBearer \napi_key\nidempotency-key\n{KEY}\n\u{fc}");
    let digest = wedflow_contract::Digest::of(known.as_bytes());
    if asked != Some(format!("POST https://pay.example/charge {digest}").as_str()) {
        return Err(format!("asked {asked:?}, not with {known:?}"));
    }
    Ok(())
}

/// Returns what a refusal comes to that nobody looks at.
fn unhandled(guest: &Ready, language: Language) -> Checked {
    let failed = |attempt: Attempt, retried: bool, part: &str| match attempt.outcome {
        Outcome::Failed { message, retry } if retry == retried && message.contains(part) => Ok(()),
        other => Err(format!("{other:?}")),
    };
    let denied = |transition| guest.outside(transition, Granted::default());
    failed(denied("files_unhandled")?, false, "files = true")?;
    failed(denied("http_unhandled")?, false, "--allow-http")?;
    let unreachable = exchange("GET", "https://pay.example/", "", refusal("unreachable"));
    failed(asks(guest, "http_unhandled", vec![unreachable])?, language != Language::Rust, "no answer came")
}
