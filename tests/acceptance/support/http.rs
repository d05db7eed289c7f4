//! The HTTP API of a test's database, and clients of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use wedflow_api::{Server, ServerSettings};
use wedflow_tenancy::{Scope, TokenRequest, issue};

use super::{Database, GENEROUS, on};

/// A served API, stopped with the value.
pub(crate) struct Api {
    server: Option<Server>,
    pub(crate) address: SocketAddr,
    pub(crate) database: Arc<Database>,
}

impl Api {
    /// Serves a test's database.
    pub(crate) fn of(database: &Arc<Database>) -> Self {
        Api::with(database, |_| {})
    }

    /// The same, with other settings.
    pub(crate) fn with(database: &Arc<Database>, change: impl FnOnce(&mut ServerSettings)) -> Self {
        let mut settings = ServerSettings::at(SocketAddr::from(([127, 0, 0, 1], 0)));
        settings.database_connections = 4;
        change(&mut settings);
        let server = on(Server::start(&database.store, &settings)).expect("the API is served");
        Api { address: server.address(), server: Some(server), database: Arc::clone(database) }
    }

    /// A user of a tenant, with a token that may do all that the role may.
    pub(crate) fn user(&self, tenant: &str, name: &str, role: &str) -> Client {
        on(self.database.store.create_user(tenant, name, role)).expect("a user");
        self.token(tenant, name, "all", &[Scope::ALL])
    }

    /// Another token of a user.
    pub(crate) fn token(&self, tenant: &str, user: &str, name: &str, scopes: &[Scope]) -> Client {
        let request = TokenRequest { tenant, user, name, scopes, flows: &[], days: 1 };
        let issued = on(issue(&self.database.store, None, &request)).expect("a token");
        Client::new(self.address, Some(issued.secret.reveal().to_owned()))
    }

    /// Somebody without a token.
    pub(crate) fn nobody(&self) -> Client {
        Client::new(self.address, None)
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            on(server.stop());
        }
    }
}

/// A client.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    pub(crate) token: Option<String>,
    agent: ureq::Agent,
}

/// Response of the API.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Answered {
    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The document.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that it is a problem in the form of RFC 9457 with this status and code.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Json {
        let problem = self.json();
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        assert_eq!((self.status, &problem["status"]), (status, &status.into()), "{self:?}");
        assert_eq!(problem["code"], code, "{self:?}");
        for key in ["type", "title", "detail", "instance", "hint"] {
            assert!(problem[key].as_str().is_some_and(|text| !text.is_empty()), "{key} is missing in {self:?}");
        }
        problem
    }

    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Client {
    fn new(address: SocketAddr, token: Option<String>) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(GENEROUS))
            // One that is kept may be closed by the server in the moment of its next use.
            .max_idle_connections(0)
            .build()
            .into();
        Client { address, token, agent }
    }

    /// A client of somebody else's server.
    pub(crate) fn at(address: SocketAddr, token: &str) -> Self {
        Client::new(address, Some(token.to_owned()))
    }

    /// The same client with another token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Client { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same client without a token.
    pub(crate) fn without_token(&self) -> Self {
        Client { token: None, ..self.clone() }
    }

    /// Sends a request.
    #[track_caller]
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = if body.is_empty() && matches!(method, "GET" | "DELETE") {
            self.agent.run(request.body(()).expect("a request"))
        } else {
            self.agent.run(request.body(body).expect("a request"))
        };
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => panic!("{method} {path}: {error}"),
        };
        Answered {
            status: response.status().as_u16(),
            headers: response
                .headers()
                .iter()
                .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap_or_default().to_owned()))
                .collect(),
            text: response.body_mut().read_to_string().unwrap_or_default(),
        }
    }

    /// GET.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answered {
        self.send("GET", path, &[], b"")
    }

    /// DELETE.
    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> Answered {
        self.send("DELETE", path, &[], b"")
    }

    /// POST, PUT or PATCH of a JSON document.
    #[track_caller]
    pub(crate) fn json(&self, method: &str, path: &str, document: &Json) -> Answered {
        let body = document.to_string();
        let headers = [("content-type", "application/json")];
        self.send(method, path, &headers, body.as_bytes())
    }

    /// POST of a component.
    #[track_caller]
    pub(crate) fn upload(&self, name: &str, bytes: &[u8], headers: &[(&str, &str)]) -> Answered {
        let headers = [&[("content-type", "application/wasm")], headers].concat();
        self.send("POST", &format!("/v1/components/{name}"), &headers, bytes)
    }

    /// Sends bytes as they are; all that is answered until the server closes the connection, or until
    /// `enough` of it came.
    #[track_caller]
    pub(crate) fn raw(&self, bytes: &str, enough: impl Fn(&str) -> bool) -> String {
        let mut stream = TcpStream::connect(self.address).expect("connected");
        stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        stream.write_all(bytes.as_bytes()).expect("sent");
        let until = std::time::Instant::now() + GENEROUS;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        while std::time::Instant::now() < until {
            match stream.read(&mut part) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            if enough(&String::from_utf8_lossy(&answer)) {
                break;
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The lines by which this client would begin a request by hand.
    pub(crate) fn head(&self, request: &str) -> String {
        format!(
            "{request} HTTP/1.1\r\nhost: wedflow\r\nauthorization: Bearer {}\r\n",
            self.token.as_deref().unwrap_or_default()
        )
    }
}
