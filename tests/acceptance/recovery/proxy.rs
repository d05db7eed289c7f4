//! A proxy before a server that cuts connections, holds what is sent, or swallows it; before Postgres it knows messages
//! and notifications.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Fate of bytes on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// They pass.
    Pass = 0,
    /// They wait until the mode changes.
    Hold = 1,
    /// The server's answers are lost without notice; what it is sent arrives.
    SwallowAnswers = 2,
}

#[derive(Default)]
struct Shared {
    mode: AtomicU8,
    /// Bytes after which a connection is cut; 0: never.
    cut_after: AtomicU64,
    /// Message of Postgres's protocol before which a connection is cut, counted from 1; 0: never.
    cut_at_message: AtomicU64,
    /// Number of times that a notification arrives.
    notified: AtomicU64,
    /// Milliseconds that what is sent is on its way.
    delay_ms: AtomicU64,
    /// True if new connections are closed at once.
    refuses: AtomicBool,
    /// Another server to which new connections go.
    elsewhere: Mutex<Option<SocketAddr>>,
    /// Open connections, by number.
    open: Mutex<HashMap<u64, TcpStream>>,
    /// Ends of connections that are silent, which say no goodbye while the proxy lives.
    unheard: Mutex<Vec<TcpStream>>,
    /// True once the proxy is no more.
    ended: AtomicBool,
    /// First lines of HTTP requests, each with its header `last-event-id` if it has one.
    requests: Mutex<Vec<String>>,
    /// Texts of statements, each with the number of times that it came; the connection of the first is silent from then
    /// on.
    traps: Mutex<HashMap<&'static str, u32>>,
    /// Connections that became silent by a statement.
    trapped: Mutex<HashSet<u64>>,
    /// Connections so far, and how many of them, the first ones, are silent.
    accepted: AtomicU64,
    silent: AtomicU64,
}

/// A proxy, as long as the value lives.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    pub(crate) port: u16,
}

impl Proxy {
    /// Listens on a free port for a server on this machine.
    pub(crate) fn new(server: SocketAddr) -> Self {
        Proxy::start(server, false)
    }

    /// Listens on a free port for a Postgres on this machine, whose messages it can tell from one another.
    pub(crate) fn before_postgres(server: SocketAddr) -> Self {
        Proxy::start(server, true)
    }

    fn start(server: SocketAddr, is_postgres: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared::default());
        shared.notified.store(1, Ordering::Release);
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.ended.load(Ordering::Acquire) {
                    break;
                }
                if accepting.refuses.load(Ordering::Acquire) {
                    continue;
                }
                let elsewhere = *accepting.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
                let Ok(upstream) = TcpStream::connect(elsewhere.unwrap_or(server)) else {
                    continue;
                };
                let number = accepting.accepted.fetch_add(1, Ordering::AcqRel);
                let plain_answers = Arc::default();
                for (answers, from, to) in [(false, &client, &upstream), (true, &upstream, &client)] {
                    let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else {
                        continue;
                    };
                    let shared = Arc::clone(&accepting);
                    let messages = is_postgres.then(|| Messages {
                        answers,
                        begun: answers,
                        plain_answers: Arc::clone(&plain_answers),
                        bytes: Vec::new(),
                    });
                    std::thread::spawn(move || forward(&shared, number, answers, messages, from, to));
                }
                let mut open = accepting.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.insert(number, client);
            }
        });
        Proxy { shared, port }
    }

    /// Changes what becomes of bytes from now on.
    pub(crate) fn set(&self, mode: Mode) {
        self.shared.mode.store(mode as u8, Ordering::Release);
    }

    /// Swallows from now on all bytes of the existing connections, both ways; new ones work.
    pub(crate) fn silence(&self) {
        let accepted = self.shared.accepted.load(Ordering::Acquire);
        self.shared.silent.store(accepted, Ordering::Release);
    }

    /// Swallows all bytes, both ways, of the connection on which a statement with this text comes first, from then on.
    /// Further ones pass.
    pub(crate) fn trap(&self, statement: &'static str) {
        let traps = self.shared.traps.lock();
        let mut traps = traps.unwrap_or_else(PoisonError::into_inner);
        traps.insert(statement, 0);
    }

    /// Number of times that a statement with this text came since its trap was set.
    pub(crate) fn came(&self, statement: &'static str) -> u32 {
        let traps = self.shared.traps.lock();
        let traps = traps.unwrap_or_else(PoisonError::into_inner);
        traps.get(statement).copied().unwrap_or(0)
    }

    /// Cuts each connection after this number of further bytes one way; 0: never.
    pub(crate) fn cut_after(&self, bytes: u64) {
        self.shared.cut_after.store(bytes, Ordering::Release);
    }

    /// Cuts each new connection before this message of one side, counted from 1; 0: never.
    pub(crate) fn cut_at_message(&self, message: u64) {
        self.shared.cut_at_message.store(message, Ordering::Release);
    }

    /// Sets how many times each notification arrives: 0 loses them all.
    pub(crate) fn notify(&self, times: u64) {
        self.shared.notified.store(times, Ordering::Release);
    }

    /// Holds what is sent for so long.
    pub(crate) fn delay(&self, milliseconds: u64) {
        self.shared.delay_ms.store(milliseconds, Ordering::Release);
    }

    /// Closes new connections at once, or takes them again.
    pub(crate) fn refuse(&self, refuse: bool) {
        self.shared.refuses.store(refuse, Ordering::Release);
    }

    /// Leads new connections to another server, or again to the own one; cuts those that there are.
    pub(crate) fn lead(&self, elsewhere: Option<SocketAddr>) {
        *self.shared.elsewhere.lock().unwrap_or_else(PoisonError::into_inner) = elsewhere;
        self.cut();
    }

    /// First lines of HTTP requests so far, each with its header `last-event-id` if it has one.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.shared.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Resets every connection.
    pub(crate) fn cut(&self) {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, connection) in open.drain() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    /// Closes all connections, and the port.
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        self.set(Mode::Pass);
        self.cut();
        let mut unheard = self.shared.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        unheard.clear();
        // The thread that waits for a connection looks once more, and ends.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Splits what one side of a connection to Postgres sends into messages.
struct Messages {
    answers: bool,
    /// True once messages have a type; a client's first ones have none.
    begun: bool,
    /// Answers of one byte that the client has asked for: whether there is encryption.
    plain_answers: Arc<AtomicU64>,
    bytes: Vec<u8>,
}

impl Messages {
    /// Codes of the requests before a client's startup message, for TLS and GSSAPI.
    const ENCRYPTION: [i32; 2] = [80_877_103, 80_877_104];

    /// Takes the next whole message.
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.answers && self.plain_answers.load(Ordering::Acquire) > 0 {
            let (_, rest) = self.bytes.split_first()?;
            let rest = rest.to_vec();
            self.plain_answers.fetch_sub(1, Ordering::AcqRel);
            let first = std::mem::replace(&mut self.bytes, rest)[0];
            return Some(vec![first]);
        }
        let at = usize::from(self.begun);
        let word = |from: usize| {
            let bytes = self.bytes.get(from..from + 4)?;
            Some(i32::from_be_bytes(bytes.try_into().ok()?))
        };
        let length = at + usize::try_from(word(at)?).ok()?;
        if self.bytes.len() < length {
            return None;
        }
        if !self.begun {
            match Messages::ENCRYPTION.contains(&word(4)?) {
                true => _ = self.plain_answers.fetch_add(1, Ordering::AcqRel),
                false => self.begun = true,
            }
        }
        let rest = self.bytes.split_off(length);
        Some(std::mem::replace(&mut self.bytes, rest))
    }
}

/// Returns the bytes that arrive, and true if the connection is cut behind it.
fn arriving(shared: &Shared, number: u64, messages: &mut Messages, passed: &mut u64, read: &[u8]) -> (Vec<u8>, bool) {
    messages.bytes.extend_from_slice(read);
    let mut arrives = Vec::new();
    while let Some(message) = messages.next() {
        *passed += 1;
        if !messages.answers && is_trapped(shared, &message) {
            let trapped = shared.trapped.lock();
            let mut trapped = trapped.unwrap_or_else(PoisonError::into_inner);
            trapped.insert(number);
            return (arrives, false);
        }
        let last = shared.cut_at_message.load(Ordering::Acquire);
        if last > 0 && *passed >= last {
            return (arrives, true);
        }
        let is_notification = messages.answers && message.first() == Some(&b'A');
        let times = match is_notification {
            true => shared.notified.load(Ordering::Acquire),
            false => 1,
        };
        for _ in 0..times {
            arrives.extend_from_slice(&message);
        }
    }
    (arrives, false)
}

/// Counts a statement for which a trap is set; returns true for the first.
fn is_trapped(shared: &Shared, message: &[u8]) -> bool {
    let traps = shared.traps.lock();
    let mut traps = traps.unwrap_or_else(PoisonError::into_inner);
    let holds = |text: &str| message.windows(text.len()).any(|part| part == text.as_bytes());
    let Some(came) = (traps.iter_mut()).find_map(|(text, came)| holds(text).then_some(came)) else {
        return false;
    };
    *came += 1;
    *came == 1
}

fn forward(
    shared: &Shared,
    number: u64,
    answers: bool,
    mut messages: Option<Messages>,
    mut from: TcpStream,
    mut to: TcpStream,
) {
    let mut buffer = [0; 4096];
    let (mut passed, mut counted) = (0_u64, 0_u64);
    while let Ok(read) = from.read(&mut buffer) {
        if read == 0 {
            break;
        }
        while shared.mode.load(Ordering::Acquire) == Mode::Hold as u8 {
            std::thread::sleep(Duration::from_millis(5));
        }
        if is_silent(shared, number) || answers && shared.mode.load(Ordering::Acquire) == Mode::SwallowAnswers as u8 {
            continue;
        }
        let delay = shared.delay_ms.load(Ordering::Acquire);
        if delay > 0 {
            std::thread::sleep(Duration::from_millis(delay));
        }
        let (arrives, is_cut) = match &mut messages {
            Some(messages) => arriving(shared, number, messages, &mut counted, &buffer[..read]),
            None => (buffer[..read].to_vec(), false),
        };
        if messages.is_none() && !answers {
            note_request(shared, &arrives);
        }
        passed += arrives.len() as u64;
        let most = shared.cut_after.load(Ordering::Acquire);
        if most > 0 && passed > most || to.write_all(&arrives).is_err() || is_cut {
            break;
        }
    }
    // Who is silent says no goodbye either.
    if is_silent(shared, number) && !shared.ended.load(Ordering::Acquire) {
        let mut unheard = shared.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        return unheard.extend([from, to]);
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
    let mut open = shared.open.lock().unwrap_or_else(PoisonError::into_inner);
    open.remove(&number);
}

fn is_silent(shared: &Shared, number: u64) -> bool {
    let trapped = shared.trapped.lock();
    let trapped = trapped.unwrap_or_else(PoisonError::into_inner);
    number < shared.silent.load(Ordering::Acquire) || trapped.contains(&number)
}

/// Notes the first line of an HTTP request and the event that it names.
fn note_request(shared: &Shared, message: &[u8]) {
    let text = String::from_utf8_lossy(message);
    let mut lines = text.lines();
    let Some(first) = lines.next().filter(|line| line.ends_with(" HTTP/1.1")) else {
        return;
    };
    let event = lines.find(|line| line.to_ascii_lowercase().starts_with("last-event-id:"));
    let request = [Some(first), event].into_iter().flatten().collect::<Vec<_>>();
    let mut requests = shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
    requests.push(request.join(" "));
}
