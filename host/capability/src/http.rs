//! HTTP to hosts that operator and flow both name. What is checked is connected to: a name is resolved once,
//! every address it has must be public (or permitted by number), and the connection goes to one of these.
//! Redirects are answered, not followed.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::{Host, Url};

use crate::{HostPort, Trust, is_public};

/// Headers that a request and an answer may have.
pub const MAX_HEADERS: usize = 64;
/// Bytes of all headers of a request, and of the head of an answer.
pub const MAX_HEAD: usize = 32 << 10;
/// Bytes of an address.
pub const MAX_URL: usize = 8 << 10;
/// Bytes of a body, sent or received.
pub const MAX_BODY: usize = 1 << 20;
/// Maximum time to connect to one address of a host.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// Maximum time of a request altogether, within its transition's own.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(60);

/// Maximum time to find a name when a request is only looked over.
const CHECK_TIME_MAX: Duration = Duration::from_secs(2);

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST` and so on, in capitals.
    pub method: String,
    /// The target, with scheme and host.
    pub url: String,
    /// Headers by name, in order.
    pub headers: Vec<(String, String)>,
    /// The body; may be empty.
    pub body: Vec<u8>,
    /// True if it holds a secret: then it travels by TLS, or to an address that is permitted by number.
    pub confidential: bool,
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Headers by name in small letters, in order; those that are no text are left out.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request that came to no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Operator or flow do not allow it.
    #[error("{0}")]
    Denied(String),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// Something is larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// No connection, or none that lasts.
    #[error("{0}")]
    Unreachable(String),
    /// The request took too long.
    #[error("{0}")]
    TimedOut(String),
}

/// Hosts and ports that the operator lets the flows of a host reach.
#[derive(Debug, Clone, Default)]
pub struct Http {
    permits: Arc<[HostPort]>,
    trust: Trust,
}

impl Http {
    /// The operator permits these hosts and ports. One that is an address may be a private one.
    pub fn new(permits: impl IntoIterator<Item = HostPort>) -> Self {
        Http { permits: permits.into_iter().collect(), trust: Trust::default() }
    }

    /// The same, believing other certificates.
    #[must_use]
    pub fn trusting(self, trust: Trust) -> Self {
        Http { trust, ..self }
    }

    /// Returns whether nothing is permitted.
    pub fn is_empty(&self) -> bool {
        self.permits.is_empty()
    }

    /// Makes one request, for a flow that allows hosts and ports in `allowed`. Dropping the future ends the
    /// connection.
    ///
    /// # Errors
    /// [`FetchError`], which says why there is no answer.
    pub async fn fetch(&self, allowed: &[HostPort], request: Request) -> Result<Response, FetchError> {
        self.answer(allowed, request, Answer::Whole).await
    }

    /// Makes one request as [`Http::fetch`] does, and waits for the head of its answer alone. Returns the status.
    ///
    /// # Errors
    /// As [`Http::fetch`].
    pub async fn status(&self, allowed: &[HostPort], request: Request) -> Result<u16, FetchError> {
        let answer = self.answer(allowed, request, Answer::Head).await?;
        Ok(answer.status)
    }

    /// Looks a request over as [`Http::fetch`] does, without a connection: whether it may be made at all. A name that
    /// is not found in time is left to the request.
    ///
    /// # Errors
    /// [`FetchError::Denied`], [`FetchError::Invalid`] or [`FetchError::TooLarge`].
    pub async fn check(&self, allowed: &[HostPort], request: Request) -> Result<(), FetchError> {
        let (peer, ..) = checked(request)?;
        self.permit(&peer, allowed)?;
        match tokio::time::timeout(CHECK_TIME_MAX, self.addresses(&peer, allowed)).await {
            Ok(Err(denied @ FetchError::Denied(_))) => Err(denied),
            _ => Ok(()),
        }
    }

    /// Refuses a place that flow and operator do not both allow.
    fn permit(&self, peer: &HostPort, allowed: &[HostPort]) -> Result<(), FetchError> {
        if !allowed.contains(peer) {
            return Err(FetchError::Denied(format!(
                "the flow does not allow HTTP to {peer}; list it in `http` of the transition in flow.toml"
            )));
        }
        if !self.permits.contains(peer) {
            return Err(FetchError::Denied(format!(
                "this host does not allow HTTP to {peer}; its operator does, with --allow-http {peer}, or \
                 --allow-http TENANT/{peer}"
            )));
        }
        Ok(())
    }

    async fn answer(&self, allowed: &[HostPort], request: Request, wanted: Answer) -> Result<Response, FetchError> {
        let (peer, secure, request) = checked(request)?;
        self.permit(&peer, allowed)?;
        match tokio::time::timeout(REQUEST_TIME_MAX, self.exchange(&peer, allowed, (secure, wanted), request)).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(FetchError::TimedOut(format!("{peer} did not answer within {} s", REQUEST_TIME_MAX.as_secs())))
            }
        }
    }

    async fn exchange(
        &self,
        peer: &HostPort,
        allowed: &[HostPort],
        (secure, wanted): (bool, Answer),
        request: hyper::Request<Full<Bytes>>,
    ) -> Result<Response, FetchError> {
        let stream = self.connect(peer, allowed).await?;
        if !secure {
            return send(stream, peer, request, wanted).await;
        }
        let name = peer.host().to_string();
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = rustls::pki_types::ServerName::try_from(name)
            .map_err(|_| FetchError::Invalid(format!("{peer} cannot be named in TLS")))?;
        let stream = tokio_rustls::TlsConnector::from(self.trust.config())
            .connect(name, stream)
            .await
            .map_err(|error| FetchError::Unreachable(format!("no TLS with {peer}: {error}")))?;
        send(stream, peer, request, wanted).await
    }

    /// Connects to one of the addresses that were checked.
    async fn connect(&self, peer: &HostPort, allowed: &[HostPort]) -> Result<TcpStream, FetchError> {
        let addresses = self.addresses(peer, allowed).await?;
        let mut last = None;
        for address in addresses {
            match tokio::time::timeout(CONNECT_TIME_MAX, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Small requests should not wait for more.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = Some(error.to_string()),
                Err(_) => last = Some("no answer".to_owned()),
            }
        }
        let why = last.unwrap_or_else(|| "it has no address".to_owned());
        Err(FetchError::Unreachable(format!("{peer} is not reached: {why}")))
    }

    /// The addresses of a host, all of which may be reached.
    async fn addresses(&self, peer: &HostPort, allowed: &[HostPort]) -> Result<Vec<SocketAddr>, FetchError> {
        let port = peer.port();
        let addresses: Vec<SocketAddr> = match peer.host() {
            // Permitted by number: the operator has looked at it.
            Host::Ipv4(address) => return Ok(vec![(*address, port).into()]),
            Host::Ipv6(address) => return Ok(vec![(*address, port).into()]),
            Host::Domain(name) => tokio::net::lookup_host((name.as_str(), port))
                .await
                .map_err(|error| FetchError::Unreachable(format!("{name} is not found: {error}")))?
                .collect(),
        };
        // One bad address is enough: whoever answers for the name may put the good ones there for show. A private one
        // is allowed by number, by the operator and by the flow: else who answers for a name chooses among them.
        match addresses.iter().find(|address| {
            let by_number = HostPort::at(**address);
            let allowed = self.permits.contains(&by_number) && allowed.contains(&by_number);
            !is_public(address.ip()) && !allowed
        }) {
            Some(address) => Err(FetchError::Denied(format!(
                "{peer} has the private address {}, which operator and flow have not both allowed by number",
                address.ip()
            ))),
            None => Ok(addresses),
        }
    }
}

/// Looks a request over; where it goes, whether by TLS, and what is sent.
fn checked(request: Request) -> Result<(HostPort, bool, hyper::Request<Full<Bytes>>), FetchError> {
    let invalid = |what: String| FetchError::Invalid(what);
    if request.url.len() > MAX_URL {
        return Err(FetchError::TooLarge(format!("the URL has more than {MAX_URL} bytes")));
    }
    if request.body.len() > MAX_BODY {
        return Err(FetchError::TooLarge(format!(
            "the request's body has {} bytes where {MAX_BODY} are allowed",
            request.body.len()
        )));
    }
    let url = Url::parse(&request.url).map_err(|error| invalid(format!("this is no URL: {error}")))?;
    let secure = match url.scheme() {
        "https" => true,
        "http" => false,
        other => {
            return Err(invalid(format!("`{other}` is not served; http and https are")));
        }
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("the URL holds a user or password; send a header, with a secret by its name".to_owned()));
    }
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err(invalid("the URL names no host".to_owned()));
    };
    let peer = HostPort::new(host.to_owned(), port);
    if request.confidential && !secure && matches!(peer.host(), Host::Domain(_)) {
        return Err(invalid(format!("a secret is not sent to {peer} without TLS; use https")));
    }
    let method = Method::from_bytes(request.method.as_bytes())
        .ok()
        .filter(|method| *method != Method::CONNECT)
        .ok_or_else(|| invalid("this is no method that can be sent".to_owned()))?;
    let mut target = url.path().to_owned();
    if let Some(query) = url.query() {
        target.push('?');
        target.push_str(query);
    }
    let target: Uri = target.parse().map_err(|error| invalid(format!("the URL's path cannot be sent: {error}")))?;
    let mut built = hyper::Request::new(Full::new(Bytes::from(request.body)));
    *built.method_mut() = method;
    *built.uri_mut() = target;
    *built.headers_mut() = headers(&request.headers)?;
    let named = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    };
    let named = HeaderValue::try_from(named).map_err(|_| invalid("the URL's host cannot be sent".to_owned()))?;
    built.headers_mut().insert(header::HOST, named);
    Ok((peer, secure, built))
}

/// The headers of a request, without those that are the connection's own.
fn headers(given: &[(String, String)]) -> Result<HeaderMap, FetchError> {
    let bytes: usize = given.iter().map(|(name, value)| name.len() + value.len()).sum();
    if given.len() > MAX_HEADERS || bytes > MAX_HEAD {
        return Err(FetchError::TooLarge(format!(
            "the request has {} headers of {bytes} bytes where {MAX_HEADERS} of {MAX_HEAD} are allowed",
            given.len()
        )));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let known = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| FetchError::Invalid("a header's name cannot be sent".to_owned()))?;
        let own = matches!(
            known.as_str(),
            "host"
                | "connection"
                | "content-length"
                | "transfer-encoding"
                | "upgrade"
                | "te"
                | "trailer"
                | "expect"
                | "keep-alive"
        ) || known.as_str().starts_with("proxy-");
        if own {
            return Err(FetchError::Invalid(format!("the header `{known}` is the host's own to set")));
        }
        // The value is not shown: it may be a secret.
        let value = HeaderValue::from_str(value)
            .map_err(|_| FetchError::Invalid(format!("the value of the header `{known}` cannot be sent")))?;
        headers.append(known, value);
    }
    Ok(headers)
}

/// Part of an answer that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Head,
    Whole,
}

/// Sends a request on a connection of its own, and reads the answer.
async fn send<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: &HostPort,
    request: hyper::Request<Full<Bytes>>,
    wanted: Answer,
) -> Result<Response, FetchError> {
    let broken = |error: hyper::Error| {
        if error.is_parse_too_large() {
            FetchError::TooLarge(format!(
                "the head of the answer of {peer} is larger than {MAX_HEADERS} headers or {MAX_HEAD} bytes"
            ))
        } else {
            FetchError::Unreachable(format!("{peer} did not answer: {error}"))
        }
    };
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let exchange = async move {
        let response = sender.send_request(request).await.map_err(broken)?;
        let (head, body) = response.into_parts();
        let most = match wanted {
            Answer::Whole => MAX_BODY,
            Answer::Head => return Ok(response_of(&head, Vec::new())),
        };
        let body = Limited::new(body, most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                FetchError::TooLarge(format!("the answer of {peer} has more than {MAX_BODY} bytes"))
            } else {
                FetchError::Unreachable(format!("the answer of {peer} was cut off: {error}"))
            }
        })?;
        Ok(response_of(&head, body.to_bytes().to_vec()))
    };
    driven(exchange, connection).await
}

fn response_of(head: &hyper::http::response::Parts, body: Vec<u8>) -> Response {
    let text = |value: &HeaderValue| value.to_str().map(str::to_owned).ok();
    Response {
        status: head.status.as_u16(),
        headers: (head.headers.iter()).filter_map(|(name, value)| Some((name.to_string(), text(value)?))).collect(),
        body,
    }
}

/// Awaits an exchange while its connection is driven by the same task, so that both end together.
async fn driven<T>(exchange: impl Future<Output = T>, connection: impl Future) -> T {
    tokio::pin!(exchange, connection);
    tokio::select! {
        answer = &mut exchange => return answer,
        _ = &mut connection => {}
    }
    exchange.await
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    fn request(url: &str) -> Request {
        Request { method: "GET".into(), url: url.into(), headers: Vec::new(), body: Vec::new(), confidential: false }
    }

    /// A server that answers each connection with the same bytes; what it was sent comes back.
    fn server(answer: Vec<u8>) -> (u16, std::sync::mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let (seen, saw) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let mut head = [0; 4096];
                let read = stream.read(&mut head).unwrap_or(0);
                let _ = seen.send(String::from_utf8_lossy(&head[..read]).into_owned());
                let _ = stream.write_all(&answer);
            }
        });
        (port, saw)
    }

    fn fetch(permits: &[&str], allowed: &[&str], request: Request) -> Result<Response, FetchError> {
        let peers =
            |list: &[&str]| -> Vec<HostPort> { list.iter().map(|text| text.parse().expect("a peer")).collect() };
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
            .block_on(Http::new(peers(permits)).fetch(&peers(allowed), request))
    }

    #[test]
    fn both_must_allow_and_private_addresses_are_permitted_by_number_only() {
        let (port, saw) = server(b"HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: 2\r\n\r\nhi".to_vec());
        let number = format!("127.0.0.1:{port}");
        let name = format!("localhost:{port}");
        let url = format!("http://{number}/path?q=1");
        let answer = fetch(&[&number], &[&number], request(&url)).expect("an answer");
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"hi"[..]));
        assert!(answer.headers.contains(&("x-a".into(), "b".into())));
        let seen = saw.recv().expect("a request");
        assert!(seen.starts_with("GET /path?q=1 HTTP/1.1\r\n"), "{seen}");
        assert!(seen.contains(&format!("host: {number}\r\n")), "{seen}");
        // The same address in other notations is the same peer.
        fetch(&[&number], &[&number], request(&format!("http://0x7f000001:{port}/"))).expect("an answer");
        for (permits, allowed) in [
            (&[][..], &[number.as_str()][..]),
            (&[number.as_str()], &[]),
            (&[name.as_str()], &[number.as_str()]),
            (&["127.0.0.1:1"], &[number.as_str()]),
        ] {
            let refused = fetch(permits, allowed, request(&url)).expect_err("refused");
            assert!(matches!(refused, FetchError::Denied(_)), "{refused}");
        }
        // A name with a private address, and the same with that address permitted.
        let by_name = format!("http://{name}/");
        let refused = fetch(&[&name], &[&name], request(&by_name)).expect_err("refused");
        assert!(refused.to_string().contains("private address"), "{refused}");
        let six = format!("[::1]:{port}");
        let refused = fetch(&[&name, &number, &six], &[&name], request(&by_name)).expect_err("refused");
        assert!(refused.to_string().contains("private address"), "{refused}");
        let all = [&*name, &number, &six];
        match fetch(&all, &all, request(&by_name)) {
            Ok(answer) => assert_eq!(answer.status, 200),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn who_wants_the_head_alone_waits_for_no_body() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let peer = listener.local_addr().expect("its address").to_string();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 4096]);
                // More than is taken of a body, and never sent.
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n");
                kept.push(stream);
            }
        });
        let peers: Vec<HostPort> = vec![peer.parse().expect("a peer")];
        let http = Http::new(peers.clone());
        let asked = http.status(&peers, request(&format!("http://{peer}/")));
        let status =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(asked);
        assert_eq!(status.expect("a status"), 200);
    }

    #[test]
    fn a_redirect_is_answered_and_goes_nowhere() {
        let (inner, saw) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret".to_vec());
        let moved = format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:{inner}/\r\ncontent-length: 0\r\n\r\n");
        let (port, _) = server(moved.into_bytes());
        let peer = format!("127.0.0.1:{port}");
        let answer = fetch(&[&peer], &[&peer], request(&format!("http://{peer}/"))).expect("an answer");
        assert_eq!(answer.status, 302);
        assert!(saw.try_recv().is_err(), "the redirect was followed");
    }

    #[test]
    fn answers_are_bounded() {
        let mut long = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        long.resize(MAX_BODY + 100, b'x');
        let mut many = b"HTTP/1.1 200 OK\r\n".to_vec();
        for n in 0..MAX_HEADERS + 1 {
            many.extend(format!("h{n}: 1\r\n").into_bytes());
        }
        many.extend(b"content-length: 0\r\n\r\n");
        let mut wide = b"HTTP/1.1 200 OK\r\nh: ".to_vec();
        wide.resize(MAX_HEAD * 2, b'x');
        for answer in [long, many, wide] {
            let (port, _) = server(answer);
            let peer = format!("127.0.0.1:{port}");
            let refused = fetch(&[&peer], &[&peer], request(&format!("http://{peer}/"))).expect_err("refused");
            assert!(matches!(refused, FetchError::TooLarge(_)), "{refused}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        let peer = "127.0.0.1:9";
        for (change, says) in [
            (request("ftp://127.0.0.1:9/"), "http and https"),
            (request("http://a:b@127.0.0.1:9/"), "user or password"),
            (request("nothing"), "no URL"),
            (Request { confidential: true, ..request("http://example.com:9/") }, "without TLS"),
            (Request { method: "CONNECT".into(), ..request("http://127.0.0.1:9/") }, "no method"),
            (
                Request { headers: vec![("Host".into(), "other".into())], ..request("http://127.0.0.1:9/") },
                "own to set",
            ),
            (
                Request { headers: vec![("x".into(), "a\r\nb: c".into())], ..request("http://127.0.0.1:9/") },
                "cannot be sent",
            ),
            (Request { body: vec![0; MAX_BODY + 1], ..request("http://127.0.0.1:9/") }, "body"),
        ] {
            let refused = fetch(&[peer], &[peer], change).expect_err("refused");
            assert!(refused.to_string().contains(says), "{refused}");
        }
    }
}
