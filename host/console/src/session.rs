//! Signing in: a person has a token of the API, by a form or by a link that works once. The browser keeps it in a
//! cookie that no script reads and no other site sends; forms carry a proof that they are ours.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Router, http};
use http_body_util::Full;
use hyper::body::Bytes;
use maud::Markup;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use wedflow_client::{Client, InProcess, Sending, Transport};
use wedflow_documents::Me;

use crate::ROOT;
use crate::cookies::{SAID, SEEN, SESSION, cookie};
use crate::failure::Failure;
use crate::parts::{LiveParts, PartKey};
use crate::words::Language;

/// Time for which a link signs in.
const LINK_LIFE: Duration = Duration::from_secs(600);
/// Most links that have not been used.
const LINKS_MAX: usize = 64;

/// Links that sign in once. Clones share them.
#[derive(Clone, Default)]
pub struct Links(Arc<Mutex<HashMap<String, Link>>>);

/// A link that has not been used.
struct Link {
    token: String,
    until: Instant,
}

impl Links {
    /// Makes a path that signs in once, within ten minutes, with a token.
    pub fn make(&self, token: &str) -> String {
        let code = format!("{:032x}", rand::random::<u128>());
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|_, link| link.until > Instant::now());
        if links.len() < LINKS_MAX {
            let link = Link { token: token.to_owned(), until: Instant::now() + LINK_LIFE };
            links.insert(digest(&code), link);
        }
        format!("{ROOT}/enter?code={code}")
    }

    /// Takes the token of a link; none if the link was used, or is too old.
    pub(crate) fn take(&self, code: &str) -> Option<String> {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let link = links.remove(&digest(code))?;
        (link.until > Instant::now()).then_some(link.token)
    }
}

/// State of all pages: the API in this process, the links that sign in, live parts that pages share.
#[derive(Clone)]
pub(crate) struct Console {
    pub(crate) api: Router,
    pub(crate) links: Links,
    pub(crate) parts: LiveParts,
}

impl Console {
    /// A client that asks with a token.
    pub(crate) fn client(&self, token: &str) -> Option<Client> {
        self.with_token(token).map(Client::new)
    }

    /// The API, asked with a token.
    pub(crate) fn with_token(&self, token: &str) -> Option<WithToken> {
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        authorization.set_sensitive(true);
        Some(WithToken { api: InProcess::new(self.api.clone(), "the server"), authorization })
    }
}

/// The API in this process, asked with a token.
pub(crate) struct WithToken {
    api: InProcess<Router>,
    authorization: HeaderValue,
}

impl Transport for WithToken {
    fn send(&self, mut request: http::Request<Full<Bytes>>) -> Sending<'_> {
        let headers = request.headers_mut();
        headers.insert(header::AUTHORIZATION, self.authorization.clone());
        self.api.send(request)
    }

    fn server(&self) -> &str {
        self.api.server()
    }
}

/// A person who is signed in.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) me: Me,
    pub(crate) language: Language,
    /// Path of the page, with its query.
    pub(crate) path: String,
    /// Proof that a form is ours.
    pub(crate) proof: String,
    /// Message that an act left.
    pub(crate) said: Option<String>,
    /// Number of the newest message of work that the person looked at.
    pub(crate) seen: i64,
    parts: LiveParts,
}

impl Session {
    /// Returns true when role and scopes allow an action, such as `jobs:write`.
    pub(crate) fn may(&self, action: &str) -> bool {
        self.me.may.iter().any(|one| one == action)
    }

    /// Returns the live part at an address, which may be one that was computed for another page a moment ago. Its
    /// content depends on the address, the tenant, the rights and the language alone.
    pub(crate) async fn shared<E>(
        &self,
        address: &str,
        compute: impl Future<Output = Result<Markup, E>>,
    ) -> Result<Arc<Markup>, E> {
        let key = PartKey::new(address, &self.me, self.language);
        self.parts.share(&key, &self.proof, compute).await
    }

    /// Computes the live part at an address for a page that is opened, and for those that ask for it next.
    pub(crate) async fn renewed<E>(
        &self,
        address: &str,
        compute: impl Future<Output = Result<Markup, E>>,
    ) -> Result<Arc<Markup>, E> {
        let key = PartKey::new(address, &self.me, self.language);
        self.parts.renew(key, &self.proof, compute).await
    }
}

impl FromRequestParts<Console> for Session {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let language = Language::of(&parts.headers);
        let whole = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        let path = whole.path_and_query().map_or_else(String::new, ToString::to_string);
        let away = || {
            let back = match parts.method {
                http::Method::GET => format!("?to={}", crate::shown::part(&path)),
                _ => String::new(),
            };
            Redirect::to(&format!("{ROOT}/sign-in{back}")).into_response()
        };
        let token = cookie(&parts.headers, SESSION).ok_or_else(away)?;
        let client = console.client(&token).ok_or_else(away)?;
        let me = match client.me().await {
            Ok(me) => me,
            Err(error) if matches!(error.code(), Some("invalid_token" | "no_token")) => {
                return Err(away());
            }
            Err(error) => return Err(Failure::of(error, language).into_response()),
        };
        Ok(Session {
            client,
            seen: seen_by(&me, &parts.headers),
            me,
            language,
            path,
            proof: proof(&token),
            parts: console.parts.clone(),
            said: cookie(&parts.headers, SAID).map(|text| percent_decode_str(&text).decode_utf8_lossy().into_owned()),
        })
    }
}

/// The cookie that says up to which message a person looked.
pub(crate) fn seen(me: &Me, message: i64) -> String {
    let whose = digest(&format!("{} {}", me.tenant, me.user));
    format!("{SEEN}={whose}.{message}; Path={ROOT}; Max-Age=31536000; HttpOnly; SameSite=Strict")
}

/// Returns the number of the newest message that a person looked at in this browser.
fn seen_by(me: &Me, headers: &HeaderMap) -> i64 {
    let whose = digest(&format!("{} {}", me.tenant, me.user));
    let kept = cookie(headers, SEEN).unwrap_or_default();
    let number = kept.strip_prefix(&whose).map(|rest| rest.trim_start_matches('.'));
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// The proof that a form comes from a page of this session: nobody knows it who does not have the token.
pub(crate) fn proof(token: &str) -> String {
    digest(&format!("a form of the console\n{token}"))
}

/// The SHA-256 of a text, in hexadecimal.
fn digest(text: &str) -> String {
    let mut hexadecimal = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // Writing to a text cannot fail.
        let _ = write!(hexadecimal, "{byte:02x}");
    }
    hexadecimal
}

/// Fields of a form of ours. One without proof, or from another site, is refused.
pub(crate) struct Sent(pub(crate) HashMap<String, String>);

impl Sent {
    /// A field's text without space around it; empty if it is absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |text| text.trim())
    }

    /// A field's text; none if it is absent or empty.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        Some(self.text(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }
}

impl axum::extract::FromRequest<Console> for Sent {
    type Rejection = Response;

    async fn from_request(request: axum::extract::Request, _: &Console) -> Result<Self, Response> {
        let language = Language::of(request.headers());
        let token = cookie(request.headers(), SESSION).unwrap_or_default();
        let is_ours = from_here(request.headers());
        let form = axum::Form::<HashMap<String, String>>::from_request(request, &()).await;
        let Ok(axum::Form(fields)) = form else {
            return Err(Failure::broken(language).into_response());
        };
        let given = fields.get("proof").map_or("", String::as_str);
        if !is_ours || token.is_empty() || digest(given) != digest(&proof(&token)) {
            return Err(Failure::foreign(language).into_response());
        }
        Ok(Sent(fields))
    }
}

/// Returns true when a script of ours sends the request: it has the proof of its page.
pub(crate) fn is_own_script(headers: &HeaderMap) -> bool {
    let token = cookie(headers, SESSION).unwrap_or_default();
    let given = headers.get("x-proof").and_then(|value| value.to_str().ok());
    from_here(headers) && !token.is_empty() && digest(given.unwrap_or_default()) == digest(&proof(&token))
}

/// Returns true unless the browser says that another site sends the form.
pub(crate) fn from_here(headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    if !matches!(site, None | Some("same-origin" | "none")) {
        return false;
    }
    match (text(header::ORIGIN), text(header::HOST)) {
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, place)| place == host),
        _ => true,
    }
}
