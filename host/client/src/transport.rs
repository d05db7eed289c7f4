//! Carriers of requests: HTTPS with a token, or the API's service in this process.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tower_service::Service;

use crate::error::ClientError;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Any error, as a reason.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The body of an answer, as it comes.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;
/// An answer whose body is still to be read.
pub type Answer = Response<Body>;
/// A request as it is sent.
pub type Sent = Request<Full<Bytes>>;
/// An answer on its way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Answer, BoxError>> + Send + 'a>>;

/// Carrier of requests. Their addresses are paths.
pub trait Transport: Send + Sync {
    /// Sends a request. An error means that no answer came; the request may have arrived.
    fn send(&self, request: Sent) -> Sending<'_>;

    /// Returns the server's address, for messages.
    fn server(&self) -> &str;
}

impl fmt::Debug for dyn Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Transport({})", self.server())
    }
}

/// A server that is reached by HTTP, with a token; connections are kept and used again.
pub struct Https {
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    server: String,
    host: HeaderValue,
    authorization: HeaderValue,
}

impl Https {
    /// Speaks to `server` (`https://host`, `http://host:port`) with a token. `authorities` holds certificates in PEM
    /// that are trusted besides those that Mozilla trusts.
    ///
    /// # Errors
    /// [`ClientError::Address`] when the address, the token or the certificates cannot be used.
    pub fn new(server: &str, token: &str, authorities: Option<&[u8]>) -> Result<Self, ClientError> {
        let server = server.trim_end_matches('/');
        let unusable = |reason: String| ClientError::Address { server: server.to_owned(), reason };
        let uri: Uri = (server.parse()).map_err(|_| unusable("it is no URL".to_owned()))?;
        let place = match (uri.scheme_str(), uri.authority(), uri.path()) {
            (Some("http" | "https"), Some(place), "" | "/") => place.clone(),
            (Some("http" | "https"), Some(_), path) => {
                return Err(unusable(format!("leave out {path}")));
            }
            _ => {
                return Err(unusable("it does not begin with http:// or https://".to_owned()));
            }
        };
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| unusable("the token holds what no token does".to_owned()))?;
        authorization.set_sensitive(true);
        let host = HeaderValue::from_str(place.as_str()).map_err(|e| unusable(e.to_string()))?;
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let tls = HttpsConnectorBuilder::new()
            .with_tls_config(trust(authorities).map_err(unusable)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Ok(Https {
            pool: Pool::builder(TokioExecutor::new()).build(tls),
            server: server.to_owned(),
            host,
            authorization,
        })
    }
}

/// Makes the settings of TLS: the authorities that Mozilla trusts, and those of a text in PEM.
fn trust(authorities: Option<&[u8]>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for certificate in CertificateDer::pem_slice_iter(authorities.unwrap_or_default()) {
        let certificate = certificate.map_err(|error| format!("its authorities: {error}"))?;
        (roots.add(certificate)).map_err(|error| format!("its authorities: {error}"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let settings = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(settings.with_root_certificates(roots).with_no_client_auth())
}

impl Transport for Https {
    fn send(&self, mut request: Sent) -> Sending<'_> {
        let address = format!("{}{}", self.server, request.uri());
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(AUTHORIZATION, self.authorization.clone());
        Box::pin(async move {
            *request.uri_mut() = address.parse()?;
            let answer = self.pool.request(request).await;
            Ok(answer.map_err(root)?.map(boxed))
        })
    }

    fn server(&self) -> &str {
        &self.server
    }
}

/// Returns the innermost reason: the outer ones say only that there is one.
fn root(error: hyper_util::client::legacy::Error) -> BoxError {
    let mut reason: &dyn std::error::Error = &error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string().into()
}

/// The API's service, called in this process: no socket, no token.
#[derive(Debug, Clone)]
pub struct InProcess<S> {
    service: S,
    name: String,
}

impl<S> InProcess<S> {
    /// Calls a service; `name` stands for its address in messages.
    pub fn new(service: S, name: &str) -> Self {
        InProcess { service, name: name.to_owned() }
    }
}

impl<S, B> Transport for InProcess<S>
where
    S: Service<Sent, Response = Response<B>, Error = Infallible> + Clone + Send + Sync,
    S::Future: Send,
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn send(&self, mut request: Sent) -> Sending<'_> {
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_static("in.process"));
        let mut service = self.service.clone();
        Box::pin(async move {
            std::future::poll_fn(|context| service.poll_ready(context)).await?;
            Ok(service.call(request).await?.map(boxed))
        })
    }

    fn server(&self) -> &str {
        &self.name
    }
}

/// Hides the type of a body.
fn boxed<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}
