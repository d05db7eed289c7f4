//! The link over HTTP: it comes back when the server says so.

use std::io::{Read, Write};
use std::net::TcpListener;

use wedflow_away::{AwayError, Link, Wire};

/// A server that answers each request with the next of these.
fn server(answers: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for (answer, client) in answers.into_iter().zip(listener.incoming()) {
            let mut client = client.expect("a client");
            let mut seen: Vec<u8> = Vec::new();
            let mut buffer = [0; 1024];
            while !seen.windows(4).any(|four| four == b"\r\n\r\n") {
                let count = client.read(&mut buffer).expect("a request");
                seen.extend(&buffer[..count]);
            }
            client.write_all(answer.as_bytes()).expect("answered");
        }
    });
    base
}

fn answer(status: &str, header: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{header}content-type: application/problem+json\r\ncontent-length: {}\r\nconnection: \
         close\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn request_that_comes_too_soon_is_made_again() {
    let problem = r#"{"type":"urn:wedflow:problem:rate","code":"rate","status":429,"detail":"too soon"}"#;
    let base = server(vec![
        answer("429 Too Many Requests", "retry-after: 1\r\n", problem),
        answer("503 Service Unavailable", "retry-after: 0\r\n", "<html>"),
        answer("200 OK", "", r#"{"items": []}"#),
    ]);
    let link = Link::new(&base, "t");
    let list = link.call("GET", "/v1/work/items", None, "items");
    assert!(list.is_ok(), "{list:?}");
}

#[test]
fn refusal_without_a_time_is_told_and_a_page_is_none() {
    let problem = r#"{"type":"urn:wedflow:problem:scope","code":"scope","status":403,"detail":"not yours"}"#;
    let base = server(vec![
        answer("403 Forbidden", "", problem),
        answer("403 Forbidden", "", "<html>Log in</html>"),
        answer("200 OK", "", "<html>Log in</html>"),
    ]);
    let link = Link::new(&base, "t");
    let told = link.call("GET", "/v1/work/items", None, "items");
    assert!(matches!(told, Err(AwayError::Refused(_))), "{told:?}");
    for _ in 0..2 {
        let told = link.call("GET", "/v1/work/items", None, "items");
        assert!(matches!(told, Err(AwayError::Cut(_))), "{told:?}");
    }
}
