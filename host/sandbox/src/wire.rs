//! Messages between a host and its guest processes, and the socket that they go over: each a length of four bytes and
//! the message in postcard's form.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{ErrorKind, Result};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use wedflow_contract::{Binding, Digest, Manifest};
use wedflow_model::{Limits, Wid};

use crate::answers::{Answer, FileAnswer, HttpAnswer};
use crate::attempt::Attempt;
use crate::error::DescribeError;

/// Bytes that are read from a socket at once.
const READ_BYTES: usize = 64 << 10;

/// Bytes of the length before each message.
const LENGTH_BYTES: usize = 4;

/// Number under which a process tells of itself, which is no call's.
pub(crate) const PROCESS: u64 = 0;

/// Message of a host.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToGuest<'a> {
    /// Load a component.
    Load(Box<Code<'a>>),
    /// Keep a bound transition under its number.
    Bind(Box<Transition<'a>>),
    /// Ask a component what it can do, as a call of this number.
    Describe(u64, Digest),
    /// Run a bound transition.
    Run(Box<Call<'a>>),
    /// The answer to a call's question.
    Answer(u64, Reply),
    /// End a call.
    End(u64),
    /// Answer with [`FromGuest::Beat`].
    Beat,
}

/// Compiled code of a component, and what decides where it has room.
#[derive(Serialize, Deserialize)]
pub(crate) struct Code<'a> {
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    pub(crate) instances: u64,
    pub(crate) memories: u64,
    pub(crate) tables: u64,
    pub(crate) code: Cow<'a, [u8]>,
}

/// A bound transition, with the settings and secrets that it may read.
#[derive(Serialize, Deserialize)]
pub(crate) struct Transition<'a> {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
    pub(crate) binding: Cow<'a, Binding>,
    pub(crate) settings: Cow<'a, HashMap<String, String>>,
    pub(crate) secrets: HashMap<String, String>,
    /// True if files are granted.
    pub(crate) files: bool,
    /// True if HTTP is granted.
    pub(crate) http: bool,
}

/// Call of a bound transition.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call<'a> {
    pub(crate) call: u64,
    pub(crate) bound: u64,
    pub(crate) flow: Cow<'a, str>,
    pub(crate) wid: Wid,
    pub(crate) trigger: Cow<'a, str>,
    pub(crate) attempt: u32,
    pub(crate) deadline: i64,
    pub(crate) payload: Cow<'a, str>,
    pub(crate) key: Cow<'a, str>,
    pub(crate) timeout_us: u64,
    pub(crate) limits: Cow<'a, Limits>,
    /// Answers of a record that is played back, instead of the host's.
    pub(crate) played: Option<Cow<'a, [Answer]>>,
}

/// Message of a guest process about one of its calls, or itself.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromGuest {
    /// The process stands behind its walls, or why it does not.
    Walls(std::result::Result<(), String>),
    /// The process attends to its socket.
    Beat,
    /// The guest asks the host, and waits.
    Ask(Question),
    /// The guest computes.
    Computes,
    /// The guest computes no more.
    Rests,
    /// The guest gives its time slice back.
    SliceOver,
    /// The call has ended.
    Ended(Box<Attempt>),
    /// A component's answer to `describe`.
    Described(std::result::Result<Box<Manifest>, DescribeError>),
}

/// Question of a guest that only the host can answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    /// A time slice; a long one if true.
    Slice(bool),
    /// Growth of memory, in bytes.
    Memory(u64),
    /// An operation on a file.
    File(FileAct),
    /// A request over HTTP.
    Fetch(Asked),
}

/// Answer to a [`Question`]. With files and HTTP goes the text by which the question is known in a recording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Slice,
    Memory(bool),
    File(String, FileAnswer),
    Fetch(Option<String>, HttpAnswer),
}

/// Operation on a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FileAct {
    Read(String),
    Write(String, Vec<u8>),
    Append(String, Vec<u8>),
    Remove(String),
    All,
}

/// Request of a guest, in which secrets stand by name.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) url: String,
    /// Names, values, and the secrets whose values follow them.
    pub(crate) headers: Vec<(String, String, Option<String>)>,
    pub(crate) body: Vec<u8>,
}

/// Messages that wait to be sent. Those that come together go out together.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Vec<u8>>,
    ready: Notify,
}

impl Outbox {
    /// Adds a message.
    pub(crate) fn put(&self, message: &impl Serialize) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.len();
        let mut buffer = std::mem::take(&mut *waiting);
        buffer.extend_from_slice(&[0; LENGTH_BYTES]);
        // Writing into memory does not fail; if it did, the other side would find a message that is none.
        let mut buffer = postcard::to_extend(message, buffer).unwrap_or_default();
        let length = buffer.len().saturating_sub(at + LENGTH_BYTES);
        let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        if let Some(place) = buffer.get_mut(at..at + LENGTH_BYTES) {
            place.copy_from_slice(&length);
        }
        *waiting = buffer;
        drop(waiting);
        self.ready.notify_one();
    }

    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Sends what is in the outbox and gives each message that comes to `take`, until the other side is gone or `take`
/// refuses a message. A message of more than `longest` bytes is refused.
pub(crate) async fn exchange(
    stream: &UnixStream,
    outbox: &Outbox,
    longest: usize,
    mut take: impl FnMut(&[u8]) -> Option<()>,
) -> Result<()> {
    let mut received = Vec::new();
    let mut sending: (Vec<u8>, usize) = (Vec::new(), 0);
    loop {
        let is_sent = sending.1 == sending.0.len();
        tokio::select! {
            ready = stream.readable() => {
                ready?;
                if !receive(stream, &mut received, longest, &mut take)? {
                    return Ok(());
                }
            }
            () = outbox.ready.notified(), if is_sent => {
                sending = (outbox.take(), 0);
                send(stream, &mut sending)?;
            }
            ready = stream.writable(), if !is_sent => {
                ready?;
                send(stream, &mut sending)?;
            }
        }
    }
}

/// Sends as much as the socket takes.
fn send(stream: &UnixStream, (bytes, sent): &mut (Vec<u8>, usize)) -> Result<()> {
    while *sent < bytes.len() {
        match stream.try_write(&bytes[*sent..]) {
            Ok(count) => *sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes what has come; false when nothing comes any more, or a message is refused.
fn receive(
    stream: &UnixStream,
    received: &mut Vec<u8>,
    longest: usize,
    take: &mut impl FnMut(&[u8]) -> Option<()>,
) -> Result<bool> {
    received.reserve(READ_BYTES);
    match stream.try_read_buf(received) {
        Ok(0) => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
        Err(error) => return Err(error),
    }
    let mut begin = 0;
    while let Some((length, rest)) = received[begin..].split_first_chunk::<LENGTH_BYTES>() {
        let length = u32::from_le_bytes(*length) as usize;
        if length > longest {
            return Ok(false);
        }
        let Some(message) = rest.get(..length) else {
            // The rest of a long one comes in one go.
            received.reserve(length);
            break;
        };
        if take(message).is_none() {
            return Ok(false);
        }
        begin += LENGTH_BYTES + length;
    }
    received.drain(..begin);
    Ok(true)
}
