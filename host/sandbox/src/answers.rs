//! Answers to a guest that asks for the time, for random numbers, for a setting: from the host, from a test, or
//! from a recording; and the recording of them.

use std::collections::{HashMap, VecDeque};

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// Bytes that an answer counts in a recording in addition to its text.
const ANSWER_COST: usize = 24;

/// Recorded answer of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The time: microseconds since 1970-01-01T00:00:00Z.
    Now(i64),
    /// 64 random bits.
    Random(u64),
    /// Nanoseconds since the call began (WASI's monotonic clock).
    Elapsed(u64),
    /// A setting of the flow, by key.
    Config(String, Option<String>),
    /// A secret that was asked for, by name. Its value is never recorded.
    Secret(String),
    /// Operation of a guest on a file, and its answer.
    File(String, FileAnswer),
    /// A request (method, URL, digest of the rest), and what it was answered; without secrets.
    Http(String, HttpAnswer),
    /// The name of what fired the transition.
    Key(String),
}

/// Answer to an operation on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAnswer {
    /// Content read; none if there is no such file.
    Content(Option<Content>),
    /// Written.
    Done,
    /// Removed; true if there was such a file.
    Removed(bool),
    /// Names and sizes of all files.
    All(Vec<(String, u64)>),
    /// Refused: the kind, and the message.
    Refused(String, String),
}

/// Answer to an HTTP request of a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpAnswer {
    /// An answer.
    Answered {
        /// The status.
        status: u16,
        /// Names in small letters, and values.
        headers: Vec<(String, String)>,
        /// The body.
        body: Content,
    },
    /// Refused: the kind of failure, and the message.
    Refused(String, String),
}

/// Bytes that are most often text: written as text where Postgres's JSON can hold them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenContent", into = "WrittenContent")]
pub struct Content(pub Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenContent {
    Text(String),
    Base64(String),
}

impl From<Content> for WrittenContent {
    fn from(content: Content) -> Self {
        match String::from_utf8(content.0) {
            Ok(text) if !text.contains('\0') => WrittenContent::Text(text),
            Ok(text) => WrittenContent::Base64(BASE64.encode(text.as_bytes())),
            Err(error) => WrittenContent::Base64(BASE64.encode(error.as_bytes())),
        }
    }
}

impl From<WrittenContent> for Content {
    fn from(written: WrittenContent) -> Self {
        Content(match written {
            WrittenContent::Text(text) => text.into_bytes(),
            // Only a record that somebody changed is no base64.
            WrittenContent::Base64(text) => BASE64.decode(text.as_bytes()).unwrap_or_default(),
        })
    }
}

impl Content {
    /// Bytes that it takes in a record, at most.
    fn cost(&self) -> usize {
        self.0.len() / 3 * 4 + 4
    }
}

impl Answer {
    fn cost(&self) -> usize {
        ANSWER_COST
            + match self {
                Answer::Now(_) | Answer::Random(_) | Answer::Elapsed(_) => 0,
                Answer::Config(key, value) => key.len() + value.as_ref().map_or(0, String::len),
                Answer::Secret(name) | Answer::Key(name) => name.len(),
                Answer::File(asked, answer) => {
                    asked.len()
                        + match answer {
                            FileAnswer::Content(content) => content.as_ref().map_or(0, Content::cost),
                            FileAnswer::Done | FileAnswer::Removed(_) => 0,
                            FileAnswer::All(files) => files.iter().map(|(name, _)| name.len() + ANSWER_COST).sum(),
                            FileAnswer::Refused(kind, message) => kind.len() + message.len(),
                        }
                }
                Answer::Http(asked, answer) => {
                    asked.len()
                        + match answer {
                            HttpAnswer::Answered { headers, body, .. } => {
                                let heads = headers.iter().map(|(name, value)| name.len() + value.len() + 8);
                                heads.sum::<usize>() + body.cost()
                            }
                            HttpAnswer::Refused(kind, message) => kind.len() + message.len(),
                        }
                }
            }
    }
}

/// Answers that a guest got in one call, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The answers.
    pub answers: Vec<Answer>,
    /// True if the answers exceeded [`Limits::recording_bytes`](wedflow_model::Limits::recording_bytes). Then no
    /// answer is kept, and the call cannot be played back.
    pub overflowed: bool,
}

impl Recording {
    /// Bytes that the answers count against the limit.
    pub(crate) fn bytes(&self) -> u64 {
        self.answers.iter().map(|answer| answer.cost() as u64).sum()
    }

    /// Returns true if the guest asked for no answer.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty() && !self.overflowed
    }
}

/// Source of the answers of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnswersFrom {
    /// The host: its clock, its chance, real waiting.
    #[default]
    Host,
    /// A clock that stands at `now` (microseconds since 1970) and is moved by sleeping alone, and a
    /// sequence of random numbers that depends on `seed` alone. Sleeping takes no time.
    Test {
        /// The time when the call begins.
        now: i64,
        /// Seed of the random numbers.
        seed: u64,
    },
    /// A record: each kind of question is answered in the recorded order; when a record has no more
    /// answers of a kind, or none for a key, it answers as a test would. Sleeping takes no time.
    Recording(Vec<Answer>),
}

/// The answers of a running call.
#[derive(Debug)]
pub(crate) struct Answers {
    source: Source,
    recording: Recording,
    room: usize,
    begun: Instant,
    /// True if the recording lacked an answer.
    beyond: bool,
}

#[derive(Debug)]
enum Source {
    Host { clock: fn() -> i64, random: fn() -> u64 },
    Made(Box<Made>),
}

/// Answers that do not depend on the host.
#[derive(Debug)]
struct Made {
    now: i64,
    chance: SplitMix64,
    /// Microseconds slept.
    slept: u64,
    replayed: Option<Replayed>,
}

#[derive(Debug, Default)]
struct Replayed {
    now: VecDeque<i64>,
    random: VecDeque<u64>,
    elapsed: VecDeque<u64>,
    config: HashMap<String, Option<String>>,
    files: VecDeque<(String, FileAnswer)>,
    http: VecDeque<(String, HttpAnswer)>,
    key: Option<String>,
}

/// Steele, Lea and Flood's generator: five lines that give the same numbers in every version of every
/// library, which a stored expectation needs.
#[derive(Debug)]
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Answers {
    pub(crate) fn new(from: AnswersFrom, room: u64, clock: fn() -> i64, random: fn() -> u64) -> Self {
        let made =
            |now, seed, replayed| Source::Made(Box::new(Made { now, chance: SplitMix64(seed), slept: 0, replayed }));
        let source = match from {
            AnswersFrom::Host => Source::Host { clock, random },
            AnswersFrom::Test { now, seed } => made(now, seed, None),
            AnswersFrom::Recording(answers) => {
                let mut replayed = Replayed::default();
                for answer in answers {
                    match answer {
                        Answer::Now(now) => replayed.now.push_back(now),
                        Answer::Random(bits) => replayed.random.push_back(bits),
                        Answer::Elapsed(nanoseconds) => replayed.elapsed.push_back(nanoseconds),
                        Answer::Config(key, value) => {
                            replayed.config.insert(key, value);
                        }
                        Answer::Secret(_) => {}
                        Answer::File(asked, answer) => replayed.files.push_back((asked, answer)),
                        Answer::Http(asked, answer) => replayed.http.push_back((asked, answer)),
                        Answer::Key(key) => replayed.key = Some(key),
                    }
                }
                let first = replayed.now.front().copied().unwrap_or(0);
                made(first, 0, Some(replayed))
            }
        };
        Answers {
            source,
            recording: Recording::default(),
            room: usize::try_from(room).unwrap_or(usize::MAX),
            begun: Instant::now(),
            beyond: false,
        }
    }

    /// The time: microseconds since 1970.
    pub(crate) fn now(&mut self) -> i64 {
        let now = match &mut self.source {
            Source::Host { clock, .. } => clock(),
            Source::Made(made) => {
                let next = made.replayed.as_mut().map(|replayed| replayed.now.pop_front());
                match next {
                    Some(Some(now)) => {
                        made.now = now;
                        now
                    }
                    other => {
                        self.beyond |= other.is_some();
                        made.now
                    }
                }
            }
        };
        self.keep(|| Answer::Now(now));
        now
    }

    /// 64 random bits.
    pub(crate) fn random(&mut self) -> u64 {
        let bits = match &mut self.source {
            Source::Host { random, .. } => random(),
            Source::Made(made) => {
                let next = made.replayed.as_mut().map(|replayed| replayed.random.pop_front());
                match next {
                    Some(Some(bits)) => bits,
                    other => {
                        self.beyond |= other.is_some();
                        made.chance.next()
                    }
                }
            }
        };
        self.keep(|| Answer::Random(bits));
        bits
    }

    /// Nanoseconds since the call began.
    pub(crate) fn elapsed(&mut self) -> u64 {
        // No finer than a microsecond: a fine timer tells of neighbours.
        let own = self.since_begun() / 1_000 * 1_000;
        let nanoseconds = match &mut self.source {
            Source::Host { .. } => own,
            Source::Made(made) => {
                let next = made.replayed.as_mut().map(|replayed| replayed.elapsed.pop_front());
                match next {
                    Some(Some(nanoseconds)) => nanoseconds,
                    other => {
                        self.beyond |= other.is_some();
                        own
                    }
                }
            }
        };
        self.keep(|| Answer::Elapsed(nanoseconds));
        nanoseconds
    }

    /// A setting of the flow; `provided` is what the host has.
    pub(crate) fn config(&mut self, key: &str, provided: Option<&str>) -> Option<String> {
        let key = &storable(key);
        let value = match &self.source {
            Source::Made(made)
                if let Some(recorded) = made.replayed.as_ref().and_then(|replayed| replayed.config.get(key)) =>
            {
                recorded.clone()
            }
            _ => provided.map(str::to_owned),
        };
        self.keep(|| Answer::Config(key.clone(), value.clone()));
        value
    }

    /// Nanoseconds since the call began, for the host's own use: what the guest is not told is not
    /// recorded.
    pub(crate) fn since_begun(&self) -> u64 {
        match &self.source {
            Source::Host { .. } => u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            Source::Made(made) => made.slept.saturating_mul(1_000),
        }
    }

    /// Notes that a secret was asked for; its value comes from the host alone.
    pub(crate) fn secret(&mut self, name: &str) {
        self.keep(|| Answer::Secret(storable(name)));
    }

    /// Returns the key of the state that fired the transition; `own` is the host's.
    pub(crate) fn key(&mut self, own: &str) -> String {
        let key = match &self.source {
            Source::Made(made) => match &made.replayed {
                Some(Replayed { key: Some(key), .. }) => key.clone(),
                replayed => {
                    self.beyond |= replayed.is_some();
                    own.to_owned()
                }
            },
            Source::Host { .. } => own.to_owned(),
        };
        self.keep(|| Answer::Key(key.clone()));
        key
    }

    /// Returns the recorded answer to an operation on a file; none without a recording. The operations must come in
    /// the same words and order as recorded: a replay touches no file.
    pub(crate) fn filed(&mut self, asked: &str) -> Option<FileAnswer> {
        let recorded = self.recorded(|replayed| &mut replayed.files, asked)?;
        let answer = recorded
            .unwrap_or_else(|| FileAnswer::Refused("unavailable".to_owned(), format!("`{asked}` is not on record")));
        self.keep_file(asked.to_owned(), &answer);
        Some(answer)
    }

    /// The same for a request: a replay sends none.
    pub(crate) fn fetched(&mut self, asked: &str) -> Option<HttpAnswer> {
        let recorded = self.recorded(|replayed| &mut replayed.http, asked)?;
        let answer = recorded
            .unwrap_or_else(|| HttpAnswer::Refused("unreachable".to_owned(), format!("`{asked}` is not on record")));
        self.keep_http(asked.to_owned(), &answer);
        Some(answer)
    }

    /// Returns true if an operation on a file may be refused before it is looked at: the recording holds the next
    /// one under that word, or there is no recording.
    pub(crate) fn files_may_be_refused(&self, asked: &str) -> bool {
        match &self.source {
            Source::Made(made) => (made.replayed.as_ref())
                .is_none_or(|replayed| (replayed.files.front()).is_some_and(|(known, _)| known == asked)),
            Source::Host { .. } => true,
        }
    }

    /// The same for a request.
    pub(crate) fn http_may_be_refused(&self, asked: &str) -> bool {
        match &self.source {
            Source::Made(made) => (made.replayed.as_ref())
                .is_none_or(|replayed| (replayed.http.front()).is_some_and(|(known, _)| known == asked)),
            Source::Host { .. } => true,
        }
    }

    /// The next on record, if it was asked in the same words; none where there is no record at all.
    fn recorded<T>(
        &mut self,
        queue: fn(&mut Replayed) -> &mut VecDeque<(String, T)>,
        asked: &str,
    ) -> Option<Option<T>> {
        let Source::Made(made) = &mut self.source else {
            return None;
        };
        let queue = queue(made.replayed.as_mut()?);
        // As it was kept.
        let asked = storable(asked);
        let answer = match queue.front() {
            Some((known, _)) if *known == asked => queue.pop_front().map(|(_, answer)| answer),
            _ => None,
        };
        self.beyond |= answer.is_none();
        Some(answer)
    }

    /// Notes what was answered about a file.
    pub(crate) fn keep_file(&mut self, asked: String, answer: &FileAnswer) {
        self.keep(|| {
            let answer = match answer {
                FileAnswer::Refused(kind, message) => FileAnswer::Refused(kind.clone(), storable(message)),
                answer => answer.clone(),
            };
            Answer::File(storable(&asked), answer)
        });
    }

    /// Notes what a request was answered.
    pub(crate) fn keep_http(&mut self, asked: String, answer: &HttpAnswer) {
        self.keep(|| {
            let answer = match answer {
                HttpAnswer::Refused(kind, message) => HttpAnswer::Refused(kind.clone(), storable(message)),
                answer => answer.clone(),
            };
            Answer::Http(storable(&asked), answer)
        });
    }

    /// Sleeps without sleeping, where waiting takes no time: all that was slept in this call, in
    /// microseconds. None where waiting is real.
    pub(crate) fn slept(&mut self, microseconds: u64) -> Option<u64> {
        let Source::Made(made) = &mut self.source else {
            return None;
        };
        made.slept = made.slept.saturating_add(microseconds);
        made.now = made.now.saturating_add(i64::try_from(microseconds).unwrap_or(i64::MAX));
        Some(made.slept)
    }

    /// Returns the recording, and true if a recording that was played back lacked an answer.
    pub(crate) fn finish(&mut self) -> (Recording, bool) {
        (std::mem::take(&mut self.recording), self.beyond)
    }

    fn keep(&mut self, answer: impl FnOnce() -> Answer) {
        if self.recording.overflowed {
            return;
        }
        let answer = answer();
        match self.room.checked_sub(answer.cost()) {
            Some(left) => {
                self.room = left;
                self.recording.answers.push(answer);
            }
            None => {
                self.recording = Recording { answers: Vec::new(), overflowed: true };
            }
        }
    }
}

/// A guest's text as it can be kept: Postgres's text holds no zero character.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(from: AnswersFrom, room: u64) -> Answers {
        Answers::new(from, room, || 7, || 9)
    }

    #[test]
    fn what_the_host_answered_is_recorded_and_answered_again() {
        let mut first = answers(AnswersFrom::Host, 1_000);
        assert_eq!((first.now(), first.random()), (7, 9));
        let elapsed = first.elapsed();
        assert_eq!(first.config("rate", Some("3")).as_deref(), Some("3"));
        first.secret("key");
        assert_eq!(first.slept(5), None);
        let (recording, _) = first.finish();
        assert_eq!(recording.answers.len(), 5);
        let text = serde_json::to_string(&recording.answers).expect("JSON");
        let read = serde_json::from_str(&text).expect("the same");
        let mut again = answers(AnswersFrom::Recording(read), 1_000);
        assert_eq!((again.now(), again.random()), (7, 9));
        assert_eq!(again.elapsed(), elapsed);
        // As it was, not as it is.
        assert_eq!(again.config("rate", Some("4")).as_deref(), Some("3"));
        again.secret("key");
        let (same, beyond) = again.finish();
        assert_eq!((same, beyond), (recording, false));
        again.random();
        assert!(again.finish().1, "more was asked than before");
    }

    #[test]
    fn what_came_from_outside_is_answered_again_in_order_and_only_if_asked_for_again() {
        let mut first = answers(AnswersFrom::Host, 10_000);
        assert_eq!(first.filed("read a"), None);
        let content = FileAnswer::Content(Some(Content(b"x\0\xff".to_vec())));
        first.keep_file("read a".into(), &content);
        let answered = HttpAnswer::Answered {
            status: 200,
            headers: vec![("x".into(), "y".into())],
            body: Content("grüße".into()),
        };
        assert_eq!(first.fetched("GET a"), None);
        first.keep_http("GET a".into(), &answered);
        assert_eq!(first.key("f-1"), "f-1");
        let (recording, _) = first.finish();
        let text = serde_json::to_string(&recording.answers).expect("JSON");
        assert!(text.contains("grüße") && !text.contains("\\u0000"), "{text}");
        let read: Vec<Answer> = serde_json::from_str(&text).expect("the same");
        let mut again = answers(AnswersFrom::Recording(read.clone()), 10_000);
        assert_eq!(again.fetched("GET a"), Some(answered));
        assert_eq!(again.filed("read a"), Some(content));
        assert_eq!(again.key("other"), "f-1");
        let mut other = answers(AnswersFrom::Recording(read), 10_000);
        let refused = other.fetched("GET b");
        assert!(matches!(refused, Some(HttpAnswer::Refused(..))), "{refused:?}");
        assert!(other.finish().1, "another request than before");
        assert!(!again.finish().1);
    }

    #[test]
    fn the_clock_is_no_finer_than_a_microsecond() {
        let mut one = answers(AnswersFrom::Host, 1_000_000);
        let read: Vec<u64> = (0..1_000).map(|_| one.elapsed()).collect();
        assert!(read.iter().all(|nanoseconds| nanoseconds % 1_000 == 0), "{read:?}");
    }

    #[test]
    fn a_test_has_its_own_time_and_chance() {
        let from = AnswersFrom::Test { now: 1_000, seed: 42 };
        let mut one = answers(from.clone(), 1_000);
        let mut other = answers(from, 1_000);
        assert_eq!(one.random(), other.random());
        assert_ne!(one.random(), 9);
        assert_eq!(one.slept(50), Some(50));
        assert_eq!(one.slept(50), Some(100));
        assert_eq!((one.now(), one.elapsed()), (1_100, 100_000));
    }

    #[test]
    fn a_record_is_bounded_and_whole_or_not_kept() {
        let mut answers = answers(AnswersFrom::Host, 100);
        for _ in 0..4 {
            answers.now();
        }
        assert_eq!(answers.recording.answers.len(), 4);
        answers.now();
        let (recording, _) = answers.finish();
        assert!(recording.overflowed && recording.answers.is_empty());
    }
}
