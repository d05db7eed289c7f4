//! Log of a guest during a call: bounded, and lines above the bound are counted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wedflow_model::Severity;

use crate::provided::Provided;

/// Bytes that a line counts in addition to its text, so that empty lines are not free.
const LINE_COST: u64 = 32;

/// Bytes of standard output without an end of line that are kept before they become a line anyway.
const PRINTED_LINE: usize = 4096;

/// Bytes of a panic's message that are kept.
const PANIC: usize = 1024;

/// A line that a guest logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Severity. Standard output of a guest is `Info`, standard error is `Warn`.
    pub severity: Severity,
    /// The message, in the guest's words.
    pub message: String,
    /// Named values, in the guest's order.
    pub fields: Vec<(String, String)>,
}

/// Log of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// The lines, in order, as far as the limit on log bytes goes.
    pub lines: Vec<LogLine>,
    /// Lines that were dropped.
    pub dropped: u64,
}

impl Logs {
    /// Bytes that the lines count against the limit.
    pub(crate) fn bytes(&self) -> u64 {
        let of_line = |line: &LogLine| {
            let fields = line.fields.iter().map(|(key, value)| key.len() + value.len());
            cost(line.message.len() + fields.sum::<usize>(), line.fields.len())
        };
        self.lines.iter().map(of_line).sum()
    }
}

/// Bytes that a line of `bytes` of text in `parts` strings counts.
fn cost(bytes: usize, parts: usize) -> u64 {
    (bytes as u64).saturating_add((parts as u64).saturating_mul(LINE_COST)).saturating_add(LINE_COST)
}

/// The log of a running call.
pub(crate) struct Log {
    left: u64,
    logs: Logs,
    printed: [Vec<u8>; 2],
    /// Message of the guest's panic.
    panic: Vec<u8>,
    /// The secrets to mask, before anything is cut.
    provided: Option<Arc<Provided>>,
}

/// The two streams that a program prints to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out = 0,
    Error = 1,
}

impl Log {
    /// An empty log with room for `bytes` of text.
    pub(crate) fn new(bytes: u64) -> Self {
        Log { left: bytes, logs: Logs::default(), printed: [Vec::new(), Vec::new()], panic: Vec::new(), provided: None }
    }

    /// Names the secrets to mask.
    pub(crate) fn masks(&mut self, provided: Option<Arc<Provided>>) {
        self.provided = provided.filter(|provided| provided.masks());
    }

    /// Bytes that may be the beginning of a secret whose end is not there yet.
    fn held_back(&self) -> usize {
        (self.provided.as_ref()).map_or(0, |provided| provided.longest().saturating_sub(1))
    }

    /// Number of times that the host goes over each byte that is printed: while a line may hold the beginning of a
    /// secret, it is looked at again with each piece.
    pub(crate) fn passes(&self) -> usize {
        1 + self.held_back().div_ceil(PRINTED_LINE)
    }

    fn masked(&self, bytes: Vec<u8>) -> Vec<u8> {
        match &self.provided {
            Some(provided) => provided.mask_bytes(bytes),
            None => bytes,
        }
    }

    /// Takes room for a line of `bytes` of text in `parts` strings; when there is none, the line is
    /// counted as dropped.
    pub(crate) fn room(&mut self, bytes: usize, parts: usize) -> bool {
        match self.left.checked_sub(cost(bytes, parts)) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.drop_line();
                false
            }
        }
    }

    pub(crate) fn drop_line(&mut self) {
        self.logs.dropped = self.logs.dropped.saturating_add(1);
    }

    /// Adds a line for which there is room.
    pub(crate) fn push(&mut self, line: LogLine) {
        self.logs.lines.push(line);
    }

    /// Adds what the guest printed; each line of it becomes a line of the log.
    pub(crate) fn print(&mut self, stream: Stream, mut bytes: &[u8]) {
        let most = PRINTED_LINE + self.held_back();
        while !bytes.is_empty() {
            let kept = &mut self.printed[stream as usize];
            let room = most.saturating_sub(kept.len());
            let end = bytes.iter().take(room).position(|byte| *byte == b'\n');
            let take = end.unwrap_or_else(|| room.min(bytes.len()));
            kept.extend_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            if end.is_some() {
                bytes = &bytes[1..];
                self.end_line(stream);
            } else if self.printed[stream as usize].len() >= most {
                self.cut_line(stream);
            }
        }
    }

    /// Ends a line that is too long, but for what may be the beginning of a secret.
    fn cut_line(&mut self, stream: Stream) {
        let printed = std::mem::take(&mut self.printed[stream as usize]);
        let mut printed = self.masked(printed);
        let rest = printed.split_off(printed.len().saturating_sub(self.held_back()));
        self.printed[stream as usize] = printed;
        self.end_line(stream);
        self.printed[stream as usize] = rest;
    }

    fn end_line(&mut self, stream: Stream) {
        let printed = std::mem::take(&mut self.printed[stream as usize]);
        let printed = self.masked(printed);
        let severity = match stream {
            Stream::Out => Severity::Info,
            Stream::Error => Severity::Warn,
        };
        self.text(severity, &printed);
    }

    /// Adds a line of text, if there is any.
    fn text(&mut self, severity: Severity, bytes: &[u8]) {
        if bytes.is_empty() || !self.room(bytes.len(), 0) {
            return;
        }
        self.push(LogLine { severity, message: String::from_utf8_lossy(bytes).into_owned(), fields: Vec::new() });
    }

    /// Adds a piece of what the guest says as it panics; no text holds zeros.
    pub(crate) fn panicked(&mut self, piece: [u64; 4]) {
        let room = (PANIC + self.held_back()).saturating_sub(self.panic.len());
        let bytes = piece.iter().flat_map(|part| part.to_le_bytes());
        (self.panic).extend(bytes.filter(|byte| *byte != 0).take(room));
    }

    /// The log, complete.
    pub(crate) fn finish(&mut self) -> Logs {
        self.end_line(Stream::Out);
        self.end_line(Stream::Error);
        let said = std::mem::take(&mut self.panic);
        let whole = said.len() < PANIC + self.held_back();
        let mut panic = self.masked(said);
        if !whole {
            panic.truncate(panic.len().saturating_sub(self.held_back()));
        }
        panic.truncate(PANIC);
        self.text(Severity::Error, &panic);
        std::mem::take(&mut self.logs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_before_anything_is_cut() {
        let secret = "SECRET-VALUE-0123456789";
        let secrets = [("key".to_owned(), secret.to_owned())].into();
        for before in PANIC - secret.len()..PANIC + 2 {
            let mut log = Log::new(1 << 20);
            log.masks(Some(Arc::new(Provided::new(std::collections::HashMap::new(), Clone::clone(&secrets)))));
            let mut said = vec![b'p'; before];
            said.extend_from_slice(secret.as_bytes());
            said.resize(said.len().next_multiple_of(32), b'q');
            for piece in said.chunks(32) {
                let part = |at: usize| u64::from_le_bytes(piece[at..at + 8].try_into().expect("8"));
                log.panicked([part(0), part(8), part(16), part(24)]);
            }
            let mut printed = vec![b'x'; PRINTED_LINE - PANIC + before];
            printed.extend_from_slice(secret.as_bytes());
            printed.extend_from_slice(&vec![b'y'; 5_000]);
            log.print(Stream::Out, &printed);
            let logs = log.finish();
            let all: String = logs.lines.iter().map(|line| &*line.message).collect();
            assert!(!all.contains("SEC") && !all.contains("789"), "{before}: {all}");
        }
    }

    #[test]
    fn printing_makes_lines_and_ends_the_last() {
        let mut log = Log::new(1000);
        log.print(Stream::Out, b"one\ntw");
        log.print(Stream::Error, b"careful");
        log.print(Stream::Out, b"o\n\nthree");
        let logs = log.finish();
        let texts: Vec<_> = logs.lines.iter().map(|line| line.message.as_str()).collect();
        assert_eq!(texts, ["one", "two", "three", "careful"]);
        assert_eq!(logs.lines[3].severity, Severity::Warn);
    }

    #[test]
    fn a_panics_message_is_one_line_after_what_was_printed_and_bounded() {
        let mut log = Log::new(10_000);
        let number = |text: &[u8; 8]| u64::from_le_bytes(*text);
        log.panicked([*b"at lib.r", *b"s:1:2:\nn", *b"o parcel", [0; 8]].map(|text| number(&text)));
        log.print(Stream::Error, b"careful");
        let lines = log.finish().lines;
        assert_eq!(lines[0].message, "careful");
        assert_eq!(lines[1].message, "at lib.rs:1:2:\nno parcel");
        assert_eq!((lines.len(), lines[1].severity), (2, Severity::Error));

        let mut log = Log::new(10_000);
        // Half a character at the end is shown as such.
        let pieces = [number(b"\xc3\xa4\xc3\xa4\xc3\xa4a\xc3"); 4];
        (0..100_000).for_each(|_| log.panicked(pieces));
        assert_eq!(log.panic.len(), PANIC);
        assert_eq!(log.finish().lines.len(), 1);
        log.panicked([0; 4]);
        assert!(log.finish().lines.is_empty());
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut log = Log::new(100);
        log.print(Stream::Out, &[b'\n'; 10_000]);
        for _ in 0..5 {
            log.print(Stream::Out, b"0123456789\n");
        }
        log.print(Stream::Out, &[b'x'; 1 << 20]);
        let logs = log.finish();
        assert_eq!(logs.lines.len(), 2);
        assert_eq!(logs.dropped, 3 + (1 << 20) / PRINTED_LINE as u64);
    }
}
