//! Access of a guest outside the call, if granted: the interfaces `wed:flow/files` and `wed:flow/http`, answered by
//! the host, by a test, or from a recording.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{ComponentType, Lift, Linker, Lower, WasmList, WasmStr};
use wasmtime::{AsContext, AsContextMut, StoreContextMut};
use wedflow_capability::Place;
use wedflow_capability::files::{Draft, FileError, Files, MAX_FILE};
use wedflow_capability::http::{FetchError, Http, MAX_BODY, MAX_HEADERS, Request};
use wedflow_contract::{Digest, FILES_INTERFACE, HTTP_INTERFACE};
use wedflow_model::Wid;

use crate::answers::{Content, FileAnswer, HttpAnswer};
use crate::state::State;

/// Bytes of a refusal's message that a guest receives.
const MOST_MESSAGE: usize = 1_000;

/// Recorded name of a request or file operation that was refused before it was looked at.
const NOT_GRANTED: &str = "not granted";

/// Access that operator and flow both grant a transition.
#[derive(Debug, Clone, Default)]
pub struct Granted {
    /// The files of its instances.
    pub files: Option<FilesFrom>,
    /// HTTP.
    pub http: Option<HttpFrom>,
}

/// Source of the answers about files.
#[derive(Debug, Clone)]
pub enum FilesFrom {
    /// The host's.
    Host {
        /// Files of the host.
        files: Files,
        /// A name of the flow that no other flow of any database has.
        flow: Arc<str>,
    },
    /// A test's: what is there before. What is written goes nowhere.
    Test(BTreeMap<String, Vec<u8>>),
}

/// Source of the answers to HTTP requests.
#[derive(Debug, Clone)]
pub enum HttpFrom {
    /// The network.
    Network {
        /// Requests that the operator permits.
        http: Http,
        /// Places that the flow allows.
        allowed: Arc<[Place]>,
    },
    /// A test: these, in this order, and nothing else.
    Test(Vec<Exchange>),
}

/// A request that a test expects, and what it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// The URL, as it is asked for.
    pub url: String,
    /// The body; any when absent.
    pub body: Option<Vec<u8>>,
    /// The answer.
    pub answer: HttpAnswer,
}

/// Access of one call.
#[derive(Default)]
pub(crate) struct Outside {
    /// Draft of the instance's files; none if files are not granted, or while a thread that may block holds it.
    pub(crate) draft: Option<Draft>,
    http: Option<HttpHere>,
    /// Key of the state that fired the transition.
    key: String,
}

enum HttpHere {
    Network { http: Http, allowed: Arc<[Place]> },
    Test(Arc<Mutex<VecDeque<Exchange>>>),
}

impl Outside {
    pub(crate) fn new(granted: &Granted, wid: Wid, key: &str) -> Self {
        Outside {
            draft: granted.files.as_ref().map(|from| match from {
                FilesFrom::Host { files, flow } => files.draft(flow, wid.get()),
                FilesFrom::Test(before) => Draft::in_memory(before.clone()),
            }),
            http: granted.http.as_ref().map(|from| match from {
                HttpFrom::Network { http, allowed } => HttpHere::Network {
                    http: http.clone(),
                    allowed: Arc::clone(allowed),
                },
                HttpFrom::Test(exchanges) => {
                    HttpHere::Test(Arc::new(Mutex::new(exchanges.iter().cloned().collect())))
                }
            }),
            key: key.to_owned(),
        }
    }
}

#[derive(ComponentType, Lower, Clone, Copy)]
#[component(enum)]
#[repr(u8)]
enum FileErrorKind {
    #[component(name = "denied")]
    Denied,
    #[component(name = "name")]
    Name,
    #[component(name = "no-room")]
    NoRoom,
    #[component(name = "unavailable")]
    Unavailable,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct FileErrorHere {
    #[component(name = "kind")]
    kind: FileErrorKind,
    #[component(name = "message")]
    message: String,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct FileHere {
    #[component(name = "name")]
    name: String,
    #[component(name = "size")]
    size: u64,
}

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

type Store<'a> = StoreContextMut<'a, State>;
type Answered<'a, T> = Box<dyn Future<Output = wasmtime::Result<T>> + Send + 'a>;
type FileResult<T> = (Result<T, FileErrorHere>,);

/// Defines the functions of both interfaces.
pub(crate) fn define(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut files = linker.instance(FILES_INTERFACE)?;
    files.func_wrap_async("read", read)?;
    files.func_wrap_async("write", |store, asked| {
        written(store, "write", asked, Draft::write)
    })?;
    files.func_wrap_async("append", |store, asked| {
        written(store, "append", asked, Draft::append)
    })?;
    files.func_wrap_async("remove", remove)?;
    files.func_wrap_async("all", all)?;
    let mut http = linker.instance(HTTP_INTERFACE)?;
    http.func_wrap_async("fetch", fetch)?;
    http.func_wrap("key", |mut store: Store<'_>, (): ()| {
        let state = store.data_mut();
        state.count_host_call("key")?;
        let key = state.answers.key(&state.outside.key);
        Ok((key,))
    })?;
    Ok(())
}

fn read(mut store: Store<'_>, (name,): (WasmStr,)) -> Answered<'_, FileResult<Option<Vec<u8>>>> {
    Box::new(async move {
        store.data_mut().count_host_call("read")?;
        let name = name.to_str(store.as_context())?.into_owned();
        charge(&mut store, name.len())?;
        let asked = format!("read {name}");
        let answer = filed(&mut store, asked, move |draft| {
            Ok(FileAnswer::Content(draft.read(&name)?.map(Content)))
        })
        .await;
        if let FileAnswer::Content(Some(content)) = &answer {
            charge(&mut store, content.0.len())?;
        }
        Ok((match answer {
            FileAnswer::Content(content) => Ok(content.map(|content| content.0)),
            other => Err(refused(other)),
        },))
    })
}

fn written<'a>(
    mut store: Store<'a>,
    what: &'static str,
    (name, content): (WasmStr, WasmList<u8>),
    act: fn(&mut Draft, &str, &[u8]) -> Result<(), FileError>,
) -> Answered<'a, FileResult<()>> {
    Box::new(async move {
        store.data_mut().count_host_call(what)?;
        if let Some(refusal) = not_granted(&mut store) {
            return Ok((Err(refused(refusal)),));
        }
        let name = name.to_str(store.as_context())?.into_owned();
        let content = content.as_le_slice(store.as_context());
        if content.len() as u64 > MAX_FILE {
            let size = content.len();
            return Ok((Err(FileErrorHere {
                kind: FileErrorKind::NoRoom,
                message: format!("{size} bytes are too many: a file has {MAX_FILE} at most"),
            }),));
        }
        let content = content.to_vec();
        charge(&mut store, name.len() + content.len())?;
        let asked = format!("{what} {name} {}", Digest::of(&content));
        let answer = filed(&mut store, asked, move |draft| {
            act(draft, &name, &content)?;
            Ok(FileAnswer::Done)
        })
        .await;
        Ok((match answer {
            FileAnswer::Done => Ok(()),
            other => Err(refused(other)),
        },))
    })
}

fn remove(mut store: Store<'_>, (name,): (WasmStr,)) -> Answered<'_, FileResult<bool>> {
    Box::new(async move {
        store.data_mut().count_host_call("remove")?;
        let name = name.to_str(store.as_context())?.into_owned();
        charge(&mut store, name.len())?;
        let asked = format!("remove {name}");
        let answer = filed(&mut store, asked, move |draft| {
            Ok(FileAnswer::Removed(draft.remove(&name)?))
        })
        .await;
        Ok((match answer {
            FileAnswer::Removed(was) => Ok(was),
            other => Err(refused(other)),
        },))
    })
}

fn all(mut store: Store<'_>, (): ()) -> Answered<'_, FileResult<Vec<FileHere>>> {
    Box::new(async move {
        store.data_mut().count_host_call("all")?;
        let answer = filed(&mut store, "all".to_owned(), |draft| {
            Ok(FileAnswer::All(draft.list()?))
        })
        .await;
        Ok((match answer {
            FileAnswer::All(files) => Ok(files
                .into_iter()
                .map(|(name, size)| FileHere { name, size })
                .collect()),
            other => Err(refused(other)),
        },))
    })
}

/// Message of a refusal: files are not granted.
const FILES_NOT_GRANTED: &str = "files are not granted: the operator gives hosts a place for them (--files), and the \
    flow grants them to a transition (`files = true` in flow.toml)";

/// The refusal of an act with a file where none is granted, before anything is copied out of the guest; none where
/// files are granted, or a record holds the act.
fn not_granted(store: &mut Store<'_>) -> Option<FileAnswer> {
    let state = store.data_mut();
    if state.outside.draft.is_some() || !state.answers.files_may_be_refused(NOT_GRANTED) {
        return None;
    }
    if let Some(recorded) = state.answers.filed(NOT_GRANTED) {
        return Some(recorded);
    }
    let answer = FileAnswer::Refused("denied".to_owned(), FILES_NOT_GRANTED.to_owned());
    state.answers.keep_file(NOT_GRANTED.to_owned(), &answer);
    Some(answer)
}

/// Asks the record, or the files on a thread that may block.
async fn filed(
    store: &mut Store<'_>,
    asked: String,
    act: impl FnOnce(&mut Draft) -> Result<FileAnswer, FileError> + Send + 'static,
) -> FileAnswer {
    let state = store.data_mut();
    let asked = match &state.provided {
        Some(provided) => provided.mask(&asked).into_owned(),
        None => asked,
    };
    if let Some(recorded) = state.answers.filed(&asked) {
        return recorded;
    }
    let answer = match state.outside.draft.take() {
        None => FileAnswer::Refused("denied".to_owned(), FILES_NOT_GRANTED.to_owned()),
        Some(mut draft) => {
            state.turns.release();
            let done = tokio::task::spawn_blocking(move || {
                let answer = act(&mut draft);
                (draft, answer)
            })
            .await;
            match done {
                Ok((draft, answer)) => {
                    store.data_mut().outside.draft = Some(draft);
                    answer.unwrap_or_else(|error| {
                        let kind = match error {
                            FileError::Name(_) => "name",
                            FileError::NoRoom(_) => "no-room",
                            FileError::Disk(_) => "unavailable",
                        };
                        FileAnswer::Refused(kind.to_owned(), error.to_string())
                    })
                }
                Err(error) => FileAnswer::Refused("unavailable".to_owned(), error.to_string()),
            }
        }
    };
    let state = store.data_mut();
    let answer = masked_and_cut(answer, state.provided.as_deref());
    state.answers.keep_file(asked, &answer);
    answer
}

/// Masks the message of a refusal, in which a name may be anything, and cuts it then.
fn masked_and_cut(answer: FileAnswer, provided: Option<&crate::Provided>) -> FileAnswer {
    let (kind, message) = match answer {
        FileAnswer::Refused(kind, message) => (kind, message),
        other => return other,
    };
    let mut message = match provided {
        Some(provided) => provided.mask(&message).into_owned(),
        None => message,
    };
    message.truncate(message.floor_char_boundary(MOST_MESSAGE));
    FileAnswer::Refused(kind, message)
}

fn refused(answer: FileAnswer) -> FileErrorHere {
    let (kind, message) = match answer {
        FileAnswer::Refused(kind, message) => (kind, message),
        _ => (String::new(), "the record holds another answer".to_owned()),
    };
    FileErrorHere {
        kind: match kind.as_str() {
            "denied" => FileErrorKind::Denied,
            "name" => FileErrorKind::Name,
            "no-room" => FileErrorKind::NoRoom,
            _ => FileErrorKind::Unavailable,
        },
        message,
    }
}

fn fetch(
    mut store: Store<'_>,
    (request,): (RequestHere,),
) -> Answered<'_, (Result<ResponseHere, FetchErrorHere>,)> {
    Box::new(async move {
        store.data_mut().count_host_call("fetch")?;
        if let Some(refusal) = http_not_granted(&mut store) {
            return Ok((Err(unanswered(refusal)),));
        }
        let answer = match copied(&mut store, &request)? {
            Ok((request, asked)) => fetched(&mut store, request, asked).await,
            Err(refusal) => refusal,
        };
        Ok((match answer {
            HttpAnswer::Answered {
                status,
                headers,
                body,
            } => Ok(ResponseHere {
                status,
                headers,
                body: body.0,
            }),
            refusal @ HttpAnswer::Refused(..) => Err(unanswered(refusal)),
        },))
    })
}

fn unanswered(answer: HttpAnswer) -> FetchErrorHere {
    let (kind, message) = match answer {
        HttpAnswer::Refused(kind, message) => (kind, message),
        HttpAnswer::Answered { .. } => {
            (String::new(), "the record holds another answer".to_owned())
        }
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
    if state.outside.http.is_some() || !state.answers.http_may_be_refused(NOT_GRANTED) {
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

/// The fuel that a byte costs which the host copies, masks or digests for a guest.
const FUEL_PER_BYTE: u64 = 8;

/// Charges a guest for what the host does for it, by bytes.
pub(crate) fn charge(store: &mut Store<'_>, bytes: usize) -> wasmtime::Result<()> {
    let cost = (bytes as u64).saturating_mul(FUEL_PER_BYTE);
    match store.get_fuel()?.checked_sub(cost) {
        Some(left) => store.set_fuel(left),
        None => {
            store.set_fuel(0)?;
            Err(wasmtime::Trap::OutOfFuel.into())
        }
    }
}

/// A request out of the guest's memory, with its secrets put in, and how it is known in a record, without.
fn copied(
    store: &mut Store<'_>,
    request: &RequestHere,
) -> wasmtime::Result<Result<(Request, String), HttpAnswer>> {
    if let Some(refused) = refuse_too_large(store, request) {
        return Ok(Err(refused));
    }
    let body = request.body.as_le_slice(store.as_context()).to_vec();
    charge(store, body.len())?;
    let given = request
        .headers
        .iter(store.as_context_mut())?
        .collect::<wasmtime::Result<Vec<HeaderHere>>>()?;
    let method = copy_text(store, &request.method)?;
    let url = copy_text(store, &request.url)?;
    let Headers {
        sent,
        mut known,
        confidential,
    } = match copy_headers(store, &given)? {
        Ok(headers) => headers,
        Err(refused) => return Ok(Err(refused)),
    };
    // What it is known by holds no secret, nor anything from which one could be guessed.
    known.push_str(&mask(store, &String::from_utf8_lossy(&body)));
    let asked = format!(
        "{} {} {}",
        mask(store, &method),
        mask(store, &url),
        Digest::of(known.as_bytes())
    );
    Ok(Ok((
        Request {
            method,
            url,
            headers: sent,
            body,
            confidential,
        },
        asked,
    )))
}

/// Refuses a request with too many headers or too long a body, before anything is copied.
fn refuse_too_large(store: &Store<'_>, request: &RequestHere) -> Option<HttpAnswer> {
    let headers = request.headers.len();
    let body = request.body.as_le_slice(store.as_context()).len();
    let message = if headers > MAX_HEADERS {
        format!("{headers} headers are too many: a request has {MAX_HEADERS} at most")
    } else if body > MAX_BODY {
        format!("{body} bytes are too many: a body has {MAX_BODY} at most")
    } else {
        return None;
    };
    Some(HttpAnswer::Refused("too-large".to_owned(), message))
}

/// Headers of a request.
struct Headers {
    /// Names and values as sent, with secrets.
    sent: Vec<(String, String)>,
    /// Text by which they are known in a record: values are masked, and a secret is its name.
    known: String,
    /// True if a header holds a secret.
    confidential: bool,
}

/// Copies headers out of the guest's memory and appends the secrets that they name.
fn copy_headers(
    store: &Store<'_>,
    given: &[HeaderHere],
) -> wasmtime::Result<Result<Headers, HttpAnswer>> {
    let mut headers = Headers {
        sent: Vec::with_capacity(given.len()),
        known: String::new(),
        confidential: false,
    };
    // A record or a test needs no secret.
    let is_sent = matches!(store.data().outside.http, Some(HttpHere::Network { .. }));
    for header in given {
        let name = copy_text(store, &header.name)?;
        let mut value = copy_text(store, &header.value)?;
        let masked = mask(store, &value);
        headers.known.push_str(&format!("{name}\n{masked}\n"));
        if let Some(secret) = &header.secret {
            let secret = copy_text(store, secret)?;
            headers.known.push_str(&format!("{secret}\n"));
            headers.confidential = true;
            if is_sent {
                let provided = store.data().provided.as_ref();
                match provided.and_then(|provided| provided.secret_to_send(&secret)) {
                    Some(found) => value.push_str(found),
                    None => return Ok(Err(no_secret(&secret))),
                }
            }
        }
        headers.sent.push((name, value));
    }
    Ok(Ok(headers))
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
fn mask(store: &Store<'_>, text: &str) -> String {
    match &store.data().provided {
        Some(provided) => provided.mask(text).into_owned(),
        None => text.to_owned(),
    }
}

/// Asks the record, the test, or the network.
async fn fetched(store: &mut Store<'_>, request: Request, asked: String) -> HttpAnswer {
    let state = store.data_mut();
    if let Some(recorded) = state.answers.fetched(&asked) {
        return recorded;
    }
    let answer = match &state.outside.http {
        None => HttpAnswer::Refused("denied".to_owned(), HTTP_NOT_GRANTED.to_owned()),
        Some(HttpHere::Test(exchanges)) => {
            let mut exchanges = exchanges.lock().unwrap_or_else(PoisonError::into_inner);
            expected(&mut exchanges, &request)
        }
        Some(HttpHere::Network { http, allowed }) => {
            let (http, allowed) = (http.clone(), Arc::clone(allowed));
            state.turns.release();
            match http.fetch(&allowed, request).await {
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
            }
        }
    };
    let state = store.data_mut();
    let answer = match &state.provided {
        Some(provided) if provided.masks() => masked(answer, provided),
        _ => answer,
    };
    state.answers.keep_http(asked, &answer);
    answer
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
            format!(
                "the test expects no request (more), and this is {} {}",
                request.method, request.url
            ),
        ),
    }
}

/// The answer without secrets that the other side sent back: the guest need not know those it only sends.
fn masked(answer: HttpAnswer, provided: &crate::Provided) -> HttpAnswer {
    match answer {
        HttpAnswer::Answered {
            status,
            headers,
            body,
        } => HttpAnswer::Answered {
            status,
            headers: headers
                .into_iter()
                .map(|(name, value)| {
                    (
                        provided.mask(&name).into_owned(),
                        provided.mask(&value).into_owned(),
                    )
                })
                .collect(),
            body: Content(provided.mask_bytes(body.0)),
        },
        HttpAnswer::Refused(kind, message) => {
            HttpAnswer::Refused(kind, provided.mask(&message).into_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_the_name_of_a_file_is_masked_before_the_message_is_cut() {
        let secret = "SECRET-VALUE-0123456789";
        let secrets = [("key".to_owned(), secret.to_owned())].into();
        let provided = crate::Provided::new(Default::default(), secrets);
        for before in MOST_MESSAGE - secret.len()..=MOST_MESSAGE {
            let message = format!("{}{secret}", "n".repeat(before));
            let refused = FileAnswer::Refused("name".to_owned(), message);
            let FileAnswer::Refused(_, said) = masked_and_cut(refused, Some(&provided)) else {
                panic!("a refusal stays one");
            };
            assert!(
                said.len() <= MOST_MESSAGE && !said.contains("SEC"),
                "{before}: {said}"
            );
        }
    }
}
