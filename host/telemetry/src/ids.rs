//! Ids of traces and spans, and the header `traceparent` (W3C Trace Context).

use std::fmt;

use sha2::{Digest, Sha256};

/// Id of a trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub(crate) [u8; 16]);

/// Id of a span within its trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SpanId(pub(crate) [u8; 8]);

/// Writes bytes as hexadecimal digits.
fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the first bytes of the digest of some words.
fn digest<const N: usize>(words: &[&str]) -> [u8; N] {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    let mut bytes = [0; N];
    let digest = hash.finalize();
    bytes.copy_from_slice(&digest[..N]);
    // An id of zeros alone is none.
    bytes[N - 1] |= 1;
    bytes
}

/// Trace of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceTrace {
    /// Id of the trace.
    pub id: TraceId,
}

impl InstanceTrace {
    /// Returns the trace of an instance. `mark` distinguishes installations.
    pub fn new(mark: &str, flow: i32, wid: i32) -> Self {
        let id = digest(&[mark, &flow.to_string(), &wid.to_string()]);
        InstanceTrace { id: TraceId(id) }
    }

    /// Returns the span of a state, by its number in the instance's trace.
    pub fn state(&self, seq: i32) -> SpanId {
        self.span(&["state", &seq.to_string()])
    }

    /// Returns a span of an attempt: its claim, its run. `fired_by` is the state that fired the job.
    pub fn of_attempt(&self, kind: &str, tgid: i32, fired_by: i32, attempt: i32) -> SpanId {
        let numbers = [tgid, fired_by, attempt].map(|number| number.to_string());
        self.span(&[kind, &numbers[0], &numbers[1], &numbers[2]])
    }

    /// Returns the span of an attempt to deliver a message.
    pub fn of_message(&self, message: &str, attempt: i32) -> SpanId {
        self.span(&["post", message, &attempt.to_string()])
    }

    /// Returns the value of `traceparent` with which another service continues a span.
    pub fn header(&self, span: SpanId) -> String {
        format!("00-{}-{span}-01", self.id)
    }

    fn span(&self, words: &[&str]) -> SpanId {
        let trace = self.id.to_string();
        let mut all = vec![trace.as_str()];
        all.extend(words);
        SpanId(digest(&all))
    }
}

/// Span of a caller, as the header `traceparent` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    /// Trace.
    pub trace: TraceId,
    /// Span.
    pub span: SpanId,
    /// True if the caller records it.
    pub sampled: bool,
}

impl TraceParent {
    /// Reads the header; none where it is not as the specification says.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let version: [u8; 1] = bytes(parts.next()?)?;
        let trace: [u8; 16] = bytes(parts.next()?)?;
        let span: [u8; 8] = bytes(parts.next()?)?;
        let flags: [u8; 1] = bytes(parts.next()?)?;
        let known = version != [0xff] && (version != [0] || parts.next().is_none());
        (known && trace != [0; 16] && span != [0; 8]).then_some(TraceParent {
            trace: TraceId(trace),
            span: SpanId(span),
            sampled: flags[0] & 1 == 1,
        })
    }

    /// Returns the span of a request of this caller, told from others by a word.
    pub fn child(&self, word: &str) -> SpanId {
        SpanId(digest(&[&self.trace.to_string(), &self.span.to_string(), word]))
    }
}

/// Reads hexadecimal digits, in small letters alone.
fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let small = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    if digits.len() != 2 * N || !digits.bytes().all(small) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn header_is_read_and_written() {
        let parent = TraceParent::parse(HEADER).expect("the specification's example");
        assert!(parent.sampled);
        let trace = InstanceTrace { id: parent.trace };
        assert_eq!(trace.header(parent.span), HEADER);
    }

    #[test]
    fn bad_headers_are_refused() {
        let zeros = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let capitals = HEADER.to_uppercase();
        let longer = format!("{HEADER}-01");
        let newest = HEADER.replacen("00", "ff", 1);
        for bad in ["", "00", "é", zeros, &capitals, &longer, &newest, &HEADER[..54]] {
            assert_eq!(TraceParent::parse(bad), None, "{bad}");
        }
        // A later version may have more parts.
        let later = format!("{}-more", HEADER.replacen("00", "01", 1));
        assert!(TraceParent::parse(&later).is_some());
    }

    #[test]
    fn ids_follow_from_what_they_name() {
        let trace = InstanceTrace::new("mark", 1, 2);
        assert_eq!(trace, InstanceTrace::new("mark", 1, 2));
        assert_ne!(trace, InstanceTrace::new("mark", 12, 2));
        assert_ne!(trace, InstanceTrace::new("other", 1, 2));
        assert_eq!(trace.state(1), trace.state(1));
        assert_ne!(trace.state(1), trace.state(2));
        let run = trace.of_attempt("run", 1, 1, 1);
        assert_ne!(run, trace.of_attempt("claim", 1, 1, 1));
        assert_ne!(run, trace.of_attempt("run", 1, 1, 2));
    }
}
