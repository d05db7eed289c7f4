//! HTTPS to the outside: whose certificates are believed, and what is for one tenant only.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use wedflow_worker::{HostSettings, SecretKey};

use super::outside::{host, one_step, told};
use crate::support::{Database, on, repository};

const CANARY: &str = "canary-tls-31c7f0";

/// A file of the tests' own certificates (`data/make.sh`).
fn data(name: &str) -> std::path::PathBuf {
    repository("tests/acceptance/data").join(name)
}

/// A server of HTTPS that answers "welcome", and what it was sent.
struct Secure {
    port: u16,
    seen: Arc<Mutex<String>>,
}

impl Secure {
    fn new() -> Self {
        let chain = CertificateDer::pem_file_iter(data("server.pem"))
            .expect("the certificate")
            .collect::<Result<Vec<_>, _>>()
            .expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(data("server.key")).expect("the key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("they fit");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let seen = Arc::new(Mutex::new(String::new()));
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who does not trust us says no more.
                let _ = answer(stream, &config, &noted);
            }
        });
        Secure { port, seen }
    }

    fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn seen(&self) -> String {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(stream: TcpStream, config: &Arc<ServerConfig>, noted: &Mutex<String>) -> std::io::Result<()> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    let mut bytes = [0; 16 << 10];
    let read = stream.read(&mut bytes)?;
    noted.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(&bytes[..read]));
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nwelcome")?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn trusting(name: &str, place: &str) -> HostSettings {
    let mut settings = host(name, None, &[place.to_owned()]);
    settings.outside.authorities = Some(data("authority.pem"));
    settings
}

#[harness::test]
fn a_certificate_must_be_of_somebody_who_is_trusted() {
    let database = Database::new();
    let server = Secure::new();
    let flow = one_step(&database, "fetch", &format!("http = ['{}']", server.place()));
    let url = format!("https://{}/", server.place());
    let running = database.host(host("wary", None, &[server.place()]));
    let seen = told(&flow, &["GET", &url, ""]);
    assert!(seen.contains("Unreachable") && seen.contains("UnknownIssuer"), "{seen}");
    assert_eq!(server.seen(), "", "nothing was sent to it");
    on(running.stop());
    let running = database.host(trusting("trusting", &server.place()));
    let seen = told(&flow, &["GET", &url, ""]);
    assert!(seen.starts_with("200 ") && seen.ends_with("welcome"), "{seen}");
    // A name that the certificate does not hold.
    on(running.stop());
    let named = format!("localhost:{}", server.port);
    // The addresses that the name has are private ones: both sides allow them by number.
    let numbers = [server.place(), format!("[::1]:{}", server.port)];
    let flow = one_step(&database, "fetch", &format!("http = ['{named}', '{}', '{}']", numbers[0], numbers[1]));
    let mut settings = trusting("naming", &named);
    for address in numbers {
        settings.outside.http.push(address.parse().expect("a place"));
    }
    let running = database.host(settings);
    let seen = told(&flow, &["GET", &format!("https://{named}/"), ""]);
    assert!(seen.contains("Unreachable") && seen.contains("not valid for name"), "{seen}");
    on(running.stop());
}

#[harness::test]
fn a_secret_in_a_header_travels_by_tls() {
    let database = Database::new();
    let server = Secure::new();
    let named = format!("localhost:{}", server.port);
    let grant = format!("http = ['{}', '{named}']", server.place());
    let flow = one_step(&database, "fetch", &grant);
    let key = SecretKey::from_hex(&"5a".repeat(32)).expect("a key");
    let (ciphertext, nonce) = key.seal(flow.id, "key", CANARY).expect("sealed");
    on(database.store.put_secret(flow.id, "key", &ciphertext, &nonce)).expect("stored");
    let transitions = ["fetch".to_owned()];
    // To be sent, not to be read.
    assert!(on(database.store.let_send_secret(flow.id, "key", &transitions)).expect("granted"));
    let mut settings = trusting("sealed", &server.place());
    settings.outside.http.push(named.parse().expect("a place"));
    let running = database.host(settings);
    let send = |url: &str| told(&flow, &["POST", url, "x", "authorization", "Bearer ", "key"]);
    // To a name it goes by TLS or not at all.
    let seen = send(&format!("http://{named}/"));
    assert!(seen.contains("without TLS"), "{seen}");
    assert!(!server.seen().contains(CANARY));
    let seen = send(&format!("https://{}/", server.place()));
    assert!(seen.starts_with("200 "), "{seen}");
    let header = format!("authorization: Bearer {CANARY}\r\n");
    assert!(server.seen().contains(&header), "{}", server.seen());
    on(running.stop());
}

#[harness::test]
fn a_file_without_authorities_is_no_setting() {
    let database = Database::new();
    for wrong in ["server.key", "make.sh", "none.pem"] {
        let mut settings = host("careless", None, &[]);
        settings.outside.authorities = Some(data(wrong));
        let started = on(wedflow_worker::Host::start(database.store.clone(), settings));
        assert!(started.is_err(), "{wrong}");
    }
}

#[harness::test]
fn a_place_may_be_for_one_tenant_only() {
    let database = Database::new();
    let server = Secure::new();
    let flow = one_step(&database, "fetch", &format!("http = ['{}']", server.place()));
    let url = format!("https://{}/", server.place());
    for (tenant, says) in [("other", "this host does not allow"), ("default", "200 ")] {
        let permission = format!("{tenant}/{}", server.place());
        let running = database.host(trusting("choosy", &permission));
        let seen = told(&flow, &["GET", &url, ""]);
        assert!(seen.contains(says), "{tenant}: {seen}");
        on(running.stop());
    }
}
