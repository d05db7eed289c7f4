//! Finding secrets in what a guest or another server said: in one pass over it, whatever the secrets are.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

/// Text that replaces a secret.
const MASK: &str = "***";

/// Texts to mask, and the automaton that finds them.
pub(crate) struct Masks {
    found_by: NFA,
    /// Bytes of the longest text.
    longest: usize,
}

impl Masks {
    /// Prepares the search for texts; nothing when there is none.
    pub(crate) fn of(texts: &[String]) -> Option<Self> {
        let longest = texts.iter().map(String::len).max()?;
        let found_by = NFA::builder()
            // All occurrences count, also those that overlap: text of a secret must not stay behind another secret.
            .match_kind(MatchKind::Standard)
            .build(texts)
            .expect("the bytes of a flow's secrets are bounded");
        Some(Masks { found_by, longest })
    }

    /// Bytes of the longest text.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Bytes of memory that the search takes.
    pub(crate) fn memory(&self) -> usize {
        self.found_by.memory_usage()
    }

    /// The parts that are secret, in order. Those that overlap are one.
    fn secret_parts(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let found_by = &self.found_by;
        let Ok(mut state) = found_by.start_state(Anchored::No) else {
            return Vec::new();
        };
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (at, byte) in bytes.iter().enumerate() {
            state = found_by.next_state(Anchored::No, state, *byte);
            if !found_by.is_special(state) || !found_by.is_match(state) {
                continue;
            }
            let end = at + 1;
            // Of the texts that end here the longest comes first.
            let mut start = end - found_by.pattern_len(found_by.match_pattern(state, 0));
            while let Some(last) = parts.pop_if(|last| last.end > start) {
                start = start.min(last.start);
            }
            parts.push(start..end);
        }
        parts
    }

    /// The bytes with `***` in place of every secret; nothing when there is none in them.
    pub(crate) fn mask(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let parts = self.secret_parts(bytes);
        if parts.is_empty() {
            return None;
        }
        let mut masked = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for part in parts {
            masked.extend_from_slice(&bytes[from..part.start]);
            masked.extend_from_slice(MASK.as_bytes());
            from = part.end;
        }
        masked.extend_from_slice(&bytes[from..]);
        Some(masked)
    }

    /// The same for a text. Secrets are text, so none begins or ends within a character.
    pub(crate) fn mask_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.mask(text.as_bytes()) {
            Some(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
            None => Cow::Borrowed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn masks(texts: &[&str]) -> Masks {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Masks::of(&texts).expect("texts")
    }

    #[test]
    fn nothing_of_a_secret_stays_behind_another() {
        for (texts, text, masked) in [
            (&["abc", "bcdef"][..], "xabcdefx", "x***x"),
            (&["b", "abcd", "cde"], "abcde", "***"),
            (&["aa"], "aaaaa-aa", "***-***"),
            (&["ab"], "abab", "******"),
            (&["é"], "caféé", "caf******"),
            (&["abc"], "abab", "abab"),
        ] {
            assert_eq!(masks(texts).mask_text(text), masked, "{texts:?} in {text}");
        }
    }

    #[test]
    fn secrets_made_to_be_slow_to_find_are_found_in_one_pass() {
        let texts: Vec<String> = (0..50).map(|n| format!("{}b", "a".repeat(2_000 - n))).collect();
        let masks = Masks::of(&texts).expect("texts");
        let text = "a".repeat(1 << 20);
        let begun = Instant::now();
        assert!(masks.mask(text.as_bytes()).is_none());
        // A search that begins anew at each byte compares 10^11 bytes.
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
        assert!(masks.memory() < 16 << 20, "{}", masks.memory());
    }
}
