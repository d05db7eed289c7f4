//! Functions that a guest may call: those of `wed:flow/http`.

use std::collections::VecDeque;
use std::sync::PoisonError;

use wasmtime::component::{ComponentType, Lift, Linker, Lower, WasmList, WasmStr};
use wasmtime::{AsContext, AsContextMut};
use wedflow_capability::http::{FetchError, MAX_BODY, MAX_HEADERS, Request};
use wedflow_contract::{Digest, HTTP_INTERFACE};

use crate::answers::{Content, HttpAnswer};
use crate::outside::{Exchange, HttpHere, NOT_GRANTED};
use crate::provided::Provided;
use crate::state::{Answered, FUEL_PER_FETCH, State, Store, charge, charge_fuel, count_host_call};
use crate::wire::{Asked, Question, Reply};

#[derive(ComponentType, Lower, Clone, Copy)]
#[component(enum)]
#[repr(u8)]
enum FetchErrorKind {
    #[component(name = "denied")]
    Denied,
    #[component(name = "invalid")]
    Invalid,
    #[component(name = "too-large")]
    TooLarge,
    #[component(name = "unreachable")]
    Unreachable,
    #[component(name = "timed-out")]
    TimedOut,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct FetchErrorHere {
    #[component(name = "kind")]
    kind: FetchErrorKind,
    #[component(name = "message")]
    message: String,
}

#[derive(ComponentType, Lift)]
#[component(record)]
struct HeaderHere {
    #[component(name = "name")]
    name: WasmStr,
    #[component(name = "value")]
    value: WasmStr,
    #[component(name = "secret")]
    secret: Option<WasmStr>,
}

/// Still in the guest's memory: what is too large is never copied.
#[derive(ComponentType, Lift)]
#[component(record)]
struct RequestHere {
    #[component(name = "method")]
    method: WasmStr,
    #[component(name = "url")]
    url: WasmStr,
    #[component(name = "headers")]
    headers: WasmList<HeaderHere>,
    #[component(name = "body")]
    body: WasmList<u8>,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct ResponseHere {
    #[component(name = "status")]
    status: u16,
    #[component(name = "headers")]
    headers: Vec<(String, String)>,
    #[component(name = "body")]
    body: Vec<u8>,
}

/// Passes of the host over each byte of a request's body, as charged.
const BODY_PASSES: usize = 8;

/// Defines the functions.
pub(crate) fn define(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut http = linker.instance(HTTP_INTERFACE)?;
    http.func_wrap_async("fetch", fetch)?;
    http.func_wrap("key", |mut store: Store<'_>, (): ()| {
        count_host_call(&mut store, "key")?;
        let state = store.data_mut();
        let key = state.answers.key(&state.outside.key);
        Ok((key,))
    })
}

fn fetch(mut store: Store<'_>, (request,): (RequestHere,)) -> Answered<'_, (Result<ResponseHere, FetchErrorHere>,)> {
    Box::new(async move {
        count_host_call(&mut store, "fetch")?;
        if let Some(refusal) = http_not_granted(&mut store) {
            return Ok((Err(unanswered(refusal)),));
        }
        charge_fuel(&mut store, FUEL_PER_FETCH)?;
        let answer = match copied(&mut store, &request)? {
            Ok(asked) => fetched(&mut store, asked).await,
            Err(refusal) => refusal,
        };
        if let HttpAnswer::Answered { body, .. } = &answer {
            charge(&mut store, body.0.len())?;
        }
        Ok((match answer {
            HttpAnswer::Answered { status, headers, body } => Ok(ResponseHere { status, headers, body: body.0 }),
            refusal @ HttpAnswer::Refused(..) => Err(unanswered(refusal)),
        },))
    })
}

fn unanswered(answer: HttpAnswer) -> FetchErrorHere {
    let (kind, message) = match answer {
        HttpAnswer::Refused(kind, message) => (kind, message),
        HttpAnswer::Answered { .. } => (String::new(), "the record holds another answer".to_owned()),
    };
    FetchErrorHere {
        kind: match kind.as_str() {
            "denied" => FetchErrorKind::Denied,
            "invalid" => FetchErrorKind::Invalid,
            "too-large" => FetchErrorKind::TooLarge,
            "timed-out" => FetchErrorKind::TimedOut,
            _ => FetchErrorKind::Unreachable,
        },
        message,
    }
}

/// The refusal of a request where none is granted, before anything is copied out of the guest; none where HTTP is
/// granted, or a record holds the request.
fn http_not_granted(store: &mut Store<'_>) -> Option<HttpAnswer> {
    let state = store.data_mut();
    if state.outside.has_http() || !state.answers.http_may_be_refused(NOT_GRANTED) {
        return None;
    }
    if let Some(recorded) = state.answers.fetched(NOT_GRANTED) {
        return Some(recorded);
    }
    let answer = HttpAnswer::Refused("denied".to_owned(), HTTP_NOT_GRANTED.to_owned());
    state.answers.keep_http(NOT_GRANTED.to_owned(), &answer);
    Some(answer)
}

/// Message of a refusal: HTTP is not granted.
const HTTP_NOT_GRANTED: &str = "HTTP is not granted: the operator allows hosts and ports (--allow-http), and the flow \
    allows them to a transition (`http` in flow.toml)";

/// A request out of the guest's memory.
fn copied(store: &mut Store<'_>, request: &RequestHere) -> wasmtime::Result<Result<Asked, HttpAnswer>> {
    let length = request.body.as_le_slice(store.as_context()).len();
    if let Some(refused) = refuse_too_large(request.headers.len(), length) {
        return Ok(Err(refused));
    }
    let body = request.body.as_le_slice(store.as_context()).to_vec();
    // It is read as text, masked and digested.
    charge(store, body.len().saturating_mul(BODY_PASSES))?;
    let given = request.headers.iter(store.as_context_mut())?.collect::<wasmtime::Result<Vec<HeaderHere>>>()?;
    let text = |text: &WasmStr| copy_text(store, text);
    let headers = (given.iter()).map(|header| {
        let secret = header.secret.as_ref().map(text).transpose()?;
        Ok((text(&header.name)?, text(&header.value)?, secret))
    });
    Ok(Ok(Asked {
        headers: headers.collect::<wasmtime::Result<_>>()?,
        method: text(&request.method)?,
        url: text(&request.url)?,
        body,
    }))
}

/// Refuses a request with too many headers or too long a body, before anything is copied.
fn refuse_too_large(headers: usize, body: usize) -> Option<HttpAnswer> {
    let message = if headers > MAX_HEADERS {
        format!("{headers} headers are too many: a request has {MAX_HEADERS} at most")
    } else if body > MAX_BODY {
        format!("{body} bytes are too many: a body has {MAX_BODY} at most")
    } else {
        return None;
    };
    Some(HttpAnswer::Refused("too-large".to_owned(), message))
}

/// Puts the secrets into a request. With it comes the text by which it is known in a record, without.
pub(crate) fn complete(
    asked: Asked,
    http: Option<&HttpHere>,
    provided: Option<&Provided>,
    traceparent: Option<&str>,
) -> Result<(Request, String), HttpAnswer> {
    if let Some(refused) = refuse_too_large(asked.headers.len(), asked.body.len()) {
        return Err(refused);
    }
    // A record or a test needs no secret.
    let is_sent = matches!(http, Some(HttpHere::Network { .. }));
    let mut headers = Vec::with_capacity(asked.headers.len());
    // What it is known by holds no secret, nor anything from which one could be guessed.
    let mut known = String::new();
    let mut confidential = false;
    for (name, mut value, secret) in asked.headers {
        let masked = mask(provided, &value);
        known.push_str(&format!("{name}\n{masked}\n"));
        if let Some(secret) = secret {
            known.push_str(&format!("{secret}\n"));
            confidential = true;
            if is_sent {
                match provided.and_then(|provided| provided.secret_to_send(&secret)) {
                    Some(found) => value.push_str(found),
                    None => return Err(no_secret(&secret)),
                }
            }
        }
        headers.push((name, value));
    }
    if is_sent {
        add_traceparent(traceparent, &mut headers);
    }
    known.push_str(&mask(provided, &String::from_utf8_lossy(&asked.body)));
    let known =
        format!("{} {} {}", mask(provided, &asked.method), mask(provided, &asked.url), Digest::of(known.as_bytes()));
    let request = Request { method: asked.method, url: asked.url, headers, body: asked.body, confidential };
    Ok((request, known))
}

/// Adds the header with which the receiver continues the attempt's trace, unless the guest set one. Recordings omit it.
fn add_traceparent(traceparent: Option<&str>, sent: &mut Vec<(String, String)>) {
    const NAME: &str = "traceparent";
    let has_room = sent.len() < MAX_HEADERS && !sent.iter().any(|(name, _)| name.eq_ignore_ascii_case(NAME));
    if let (Some(value), true) = (traceparent, has_room) {
        sent.push((NAME.to_owned(), value.to_owned()));
    }
}

/// Refuses a request that names a secret which the transition may not send.
fn no_secret(secret: &str) -> HttpAnswer {
    HttpAnswer::Refused(
        "invalid".to_owned(),
        format!("there is no secret `{secret}` that is granted to this transition"),
    )
}

/// Copies a text out of the guest's memory.
fn copy_text(store: &Store<'_>, text: &WasmStr) -> wasmtime::Result<String> {
    text.to_str(store.as_context()).map(String::from)
}

/// Masks the flow's secrets in a text.
fn mask(provided: Option<&Provided>, text: &str) -> String {
    match provided {
        Some(provided) => provided.mask(text).into_owned(),
        None => text.to_owned(),
    }
}

/// Asks the host of this guest process, the record, the test, or the network.
async fn fetched(store: &mut Store<'_>, asked: Asked) -> HttpAnswer {
    let state = store.data_mut();
    if let Some(asker) = state.outside.asker.clone() {
        state.slices.release();
        let answered = asker.ask(Question::Fetch(asked)).await;
        let Some(Reply::Fetch(known, answer)) = answered else {
            return HttpAnswer::Refused("unreachable".to_owned(), "the host is gone".to_owned());
        };
        if let Some(known) = known {
            store.data_mut().answers.keep_http(known, &answer);
        }
        return answer;
    }
    let provided = state.provided.as_deref();
    let (http, traceparent) = (&state.outside.http, &state.outside.traceparent);
    let (request, known) = match complete(asked, http.as_ref(), provided, traceparent.as_deref()) {
        Ok(completed) => completed,
        Err(refusal) => return refusal,
    };
    if let Some(recorded) = state.answers.fetched(&known) {
        return recorded;
    }
    if matches!(http, Some(HttpHere::Network { .. })) {
        state.slices.release();
    }
    let answer = answer(state.outside.http.as_ref(), request, state.provided.as_deref()).await;
    state.answers.keep_http(known, &answer);
    answer
}

/// Asks the test, or the network. The answer holds no secret that the other side sent back.
pub(crate) async fn answer(http: Option<&HttpHere>, request: Request, provided: Option<&Provided>) -> HttpAnswer {
    let answer = match http {
        None => HttpAnswer::Refused("denied".to_owned(), HTTP_NOT_GRANTED.to_owned()),
        Some(HttpHere::Test(exchanges)) => {
            let mut exchanges = exchanges.lock().unwrap_or_else(PoisonError::into_inner);
            expected(&mut exchanges, &request)
        }
        Some(HttpHere::Network { http, allowed }) => match http.fetch(allowed, request).await {
            Ok(response) => HttpAnswer::Answered {
                status: response.status,
                headers: response.headers,
                body: Content(response.body),
            },
            Err(error) => {
                let kind = match error {
                    FetchError::Denied(_) => "denied",
                    FetchError::Invalid(_) => "invalid",
                    FetchError::TooLarge(_) => "too-large",
                    FetchError::Unreachable(_) => "unreachable",
                    FetchError::TimedOut(_) => "timed-out",
                };
                HttpAnswer::Refused(kind.to_owned(), error.to_string())
            }
        },
    };
    match provided {
        Some(provided) if provided.masks() => masked(answer, provided),
        _ => answer,
    }
}

/// The answer of a test, if the request is the next that it expects.
fn expected(exchanges: &mut VecDeque<Exchange>, request: &Request) -> HttpAnswer {
    let fits = |one: &Exchange| {
        one.method == request.method
            && one.url == request.url
            && one.body.as_ref().is_none_or(|body| *body == request.body)
    };
    match exchanges.front() {
        Some(next) if fits(next) => match exchanges.pop_front() {
            Some(next) => next.answer,
            None => HttpAnswer::Refused("unreachable".to_owned(), String::new()),
        },
        Some(next) => HttpAnswer::Refused(
            "denied".to_owned(),
            format!(
                "the test expects {} {} next, not {} {}, or another body",
                next.method, next.url, request.method, request.url
            ),
        ),
        None => HttpAnswer::Refused(
            "denied".to_owned(),
            format!("the test expects no request (more), and this is {} {}", request.method, request.url),
        ),
    }
}

/// The answer without secrets that the other side sent back: the guest need not know those it only sends.
fn masked(answer: HttpAnswer, provided: &Provided) -> HttpAnswer {
    match answer {
        HttpAnswer::Answered { status, headers, body } => HttpAnswer::Answered {
            status,
            headers: headers
                .into_iter()
                .map(|(name, value)| (provided.mask(&name).into_owned(), provided.mask(&value).into_owned()))
                .collect(),
            body: Content(provided.mask_bytes(body.0)),
        },
        HttpAnswer::Refused(kind, message) => HttpAnswer::Refused(kind, provided.mask(&message).into_owned()),
    }
}
