//! Server-sent events: read as they come, and resumed behind the last one after a cut.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::StatusCode;

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;
use crate::transport::Body;

/// Longest silence of a stream: the server says every 15 s that it lives.
const SILENCE: Duration = Duration::from_secs(45);
/// Pause before a stream is opened again.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of times that a stream may break without a new event before that is an error.
const CUTS_MAX: u32 = 8;
/// Most bytes of a line.
const LINE_BYTES_MAX: usize = 16 << 20;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id, behind which the stream can be opened again.
    pub id: Option<String>,
    /// Kind of event.
    pub kind: String,
    /// Document of the event, as JSON.
    pub data: String,
}

/// News from an open stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// An event.
    Event(Event),
    /// A comment: the server lives.
    Life,
}

/// A stream of events.
#[derive(Debug)]
pub struct Events {
    client: Client,
    request: Request,
    last: Option<String>,
    body: Option<Body>,
    buffer: Vec<u8>,
    cuts: u32,
}

impl Client {
    /// Opens a stream of events, behind the event `last`. Nothing is sent before the first event is waited for.
    pub fn events(&self, request: Request, last: Option<&str>) -> Events {
        Events {
            client: self.clone(),
            request: request.header("accept", "text/event-stream"),
            last: last.map(str::to_owned),
            body: None,
            buffer: Vec::new(),
            cuts: 0,
        }
    }
}

impl Events {
    /// Waits for the next event; none: the server says that there will be no more.
    ///
    /// # Errors
    /// [`ClientError`] when the stream is refused, or breaks again and again.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if self.body.is_none() && !self.open().await? {
                return Ok(None);
            }
            match self.heard().await {
                Ok(Heard::Event(event)) => return Ok(Some(event)),
                Ok(Heard::Life) => {}
                Err(error) => {
                    self.cuts += 1;
                    if self.cuts > CUTS_MAX {
                        return Err(error);
                    }
                    tokio::time::sleep(PAUSE * self.cuts).await;
                }
            }
        }
    }

    /// Waits for an event or a sign of life of the open stream.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] when the stream is not open, ends or breaks.
    pub async fn heard(&mut self) -> Result<Heard, ClientError> {
        loop {
            if let Some(heard) = self.buffered() {
                if let Heard::Event(event) = &heard {
                    self.cuts = 0;
                    if event.id.is_some() {
                        self.last.clone_from(&event.id);
                    }
                }
                return Ok(heard);
            }
            let reason = match &mut self.body {
                None => "the stream is not open".to_owned(),
                Some(body) => match tokio::time::timeout(SILENCE, body.frame()).await {
                    Ok(Some(Ok(frame))) => {
                        if let Some(bytes) = frame.data_ref() {
                            self.buffer.extend_from_slice(bytes);
                        }
                        if self.buffer.len() <= LINE_BYTES_MAX {
                            continue;
                        }
                        "an event is too long".to_owned()
                    }
                    // The server ends each stream after a while, and is asked again.
                    Ok(None) => "the stream ended".to_owned(),
                    Ok(Some(Err(error))) => error.to_string(),
                    Err(_) => "it is silent".to_owned(),
                },
            };
            self.body = None;
            self.buffer.clear();
            return Err(self.client.unreachable(reason));
        }
    }

    /// Opens the stream behind the last event. Returns false when there will be no more.
    ///
    /// # Errors
    /// [`ClientError`] when the stream is refused.
    pub async fn open(&mut self) -> Result<bool, ClientError> {
        let mut request = self.request.clone();
        if let Some(last) = &self.last {
            request = request.header("last-event-id", last);
        }
        let answer = self.client.answered(&request).await?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(false);
        }
        self.body = Some(answer.into_body());
        Ok(true)
    }

    /// Takes an event or a comment that came whole from the buffer.
    fn buffered(&mut self) -> Option<Heard> {
        let end = self.buffer.windows(2).position(|two| two == b"\n\n")?;
        let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
        let event = parsed(&String::from_utf8_lossy(&block));
        Some(event.map_or(Heard::Life, Heard::Event))
    }
}

/// Reads an event; none from a comment, by which the server says that it lives.
fn parsed(block: &str) -> Option<Event> {
    let mut event = Event { id: None, kind: "message".to_owned(), data: String::new() };
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => event.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut event.kind),
            "data" => {
                if !event.data.is_empty() {
                    event.data.push('\n');
                }
                event.data.push_str(value);
            }
            _ => {}
        }
    }
    (!event.data.is_empty()).then_some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_and_a_sign_of_life_is_none() {
        let event = parsed("event: trace\nid: 7\ndata: {\"a\":\ndata: 1}\n\n").expect("an event");
        assert_eq!(
            (event.kind.as_str(), event.id.as_deref(), event.data.as_str()),
            ("trace", Some("7"), "{\"a\":\n1}")
        );
        assert_eq!(parsed(":\n\n"), None);
    }
}
