//! The guest that reaches outside, in Rust; `../../BEHAVIOURS.md` says what each transition does.

#![no_std]

use wedflow_guest::files::FileErrorKind;
use wedflow_guest::http::{FetchErrorKind, Request};
use wedflow_guest::prelude::*;

#[transition(name = "files", writes = [a_text: text])]
fn of_the_instance() -> Result<Change, Failure> {
    let text = |name| files::read_text(name).map(|text| text.unwrap_or_else(|| "-".into()));
    let absent = text("absent")?;
    files::write("log", "a")?;
    files::append("log", "ü")?;
    let log = text("log")?;
    let before = text("before")?;
    let removed = format!("{} {}", files::remove("before")?, files::remove("before")?);
    let all: Vec<String> = files::all()?
        .iter()
        .map(|file| format!("{}={}", file.name, file.size))
        .collect();
    let kind = match files::write("../x", "") {
        Err(error) if error.kind == FileErrorKind::Name => "name",
        _ => "another",
    };
    Ok(set! { a_text = [absent, log, before, removed, all.join(","), kind.into()].join("|") })
}

#[transition(writes = [a_text: text])]
fn files_unhandled() -> Result<Change, Failure> {
    files::write("x", "")?;
    Ok(set! { a_text = "written" })
}

#[transition(name = "http", writes = [a_text: text])]
fn to_named_hosts() -> Result<Change, Failure> {
    let key = http::key();
    let response = Request::post("https://pay.example/charge")
        .header_secret("authorization", "Bearer ", "api_key")
        .header("idempotency-key", &key)
        .body("ü")
        .send()?;
    let kind = match Request::get("https://pay.example/slow").send() {
        Err(error) if error.kind == FetchErrorKind::TimedOut => "timed-out",
        _ => "another",
    };
    let header = |name| response.header(name).unwrap_or("-");
    Ok(set! {
        a_text = format!(
            "{}|{}|{}|{}|{key}|{kind}",
            response.status,
            header("receipt"),
            header("absent"),
            response.text()
        )
    })
}

#[transition(writes = [a_text: text])]
fn http_unhandled() -> Result<Change, Failure> {
    let response = Request::get("https://pay.example/").send()?;
    Ok(set! { a_text = response.text() })
}

wedflow_guest::export!(of_the_instance, files_unhandled, to_named_hosts, http_unhandled);
