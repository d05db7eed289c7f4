//! What a guest logs during a call: bounded, and what does not fit is counted.

use wedflow_model::Severity;

/// Bytes that a line counts beside its text, so that empty lines are not free.
const LINE_COST: u64 = 32;

/// Bytes of standard output without an end of line that are kept before they become a line anyway.
const PRINTED_LINE: usize = 4096;

/// A line that a guest logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How serious it is. What a guest prints to standard output is `Info`, to standard error
    /// `Warn`.
    pub severity: Severity,
    /// The message, in the guest's words.
    pub message: String,
    /// Named values beside it, in the guest's order.
    pub fields: Vec<(String, String)>,
}

/// What a guest logged during one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    /// The lines, in order, as far as the limit on log bytes goes.
    pub lines: Vec<LogLine>,
    /// Lines that were dropped.
    pub dropped: u64,
}

/// The log of a running call.
pub(crate) struct Log {
    left: u64,
    logs: Logs,
    printed: [Vec<u8>; 2],
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
        Log {
            left: bytes,
            logs: Logs::default(),
            printed: [Vec::new(), Vec::new()],
        }
    }

    /// Takes room for a line of `bytes` of text in `parts` strings; when there is none, the line is
    /// counted as dropped.
    pub(crate) fn room(&mut self, bytes: usize, parts: usize) -> bool {
        let cost = (bytes as u64)
            .saturating_add((parts as u64).saturating_mul(LINE_COST))
            .saturating_add(LINE_COST);
        match self.left.checked_sub(cost) {
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
        while !bytes.is_empty() {
            let kept = &mut self.printed[stream as usize];
            let room = PRINTED_LINE.saturating_sub(kept.len());
            let end = bytes.iter().take(room).position(|byte| *byte == b'\n');
            let take = end.unwrap_or_else(|| room.min(bytes.len()));
            kept.extend_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            if end.is_some() {
                bytes = &bytes[1..];
                self.end_line(stream);
            } else if self.printed[stream as usize].len() >= PRINTED_LINE {
                self.end_line(stream);
            }
        }
    }

    fn end_line(&mut self, stream: Stream) {
        let printed = std::mem::take(&mut self.printed[stream as usize]);
        if printed.is_empty() || !self.room(printed.len(), 0) {
            return;
        }
        let severity = match stream {
            Stream::Out => Severity::Info,
            Stream::Error => Severity::Warn,
        };
        self.push(LogLine {
            severity,
            message: String::from_utf8_lossy(&printed).into_owned(),
            fields: Vec::new(),
        });
    }

    /// The log, complete.
    pub(crate) fn finish(&mut self) -> Logs {
        self.end_line(Stream::Out);
        self.end_line(Stream::Error);
        std::mem::take(&mut self.logs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_makes_lines_and_ends_the_last() {
        let mut log = Log::new(1000);
        log.print(Stream::Out, b"one\ntw");
        log.print(Stream::Error, b"careful");
        log.print(Stream::Out, b"o\n\nthree");
        let logs = log.finish();
        let texts: Vec<_> = logs
            .lines
            .iter()
            .map(|line| line.message.as_str())
            .collect();
        assert_eq!(texts, ["one", "two", "three", "careful"]);
        assert_eq!(logs.lines[3].severity, Severity::Warn);
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
