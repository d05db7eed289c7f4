//! An attempt in a guest process, from the host's side: what the guest asks for is looked up here, and what the process
//! answers is believed only as far as its limits go.

use std::borrow::Cow;

use tokio::time::{Duration, Instant, timeout_at};
use wedflow_contract::{Binding, Manifest};
use wedflow_model::{Limits, Outcome, TenantId, TrapKind};

use crate::answers::AnswersFrom;
use crate::attempt::Attempt;
use crate::component::{Bound, Component};
use crate::ending;
use crate::error::DescribeError;
use crate::outside::Outside;
use crate::processes::{Begun, Processes};
use crate::run::{AttemptContext, Invocation};
use crate::share::{Held, Share};
use crate::state::{ALLOTTED_BYTES, Stop};
use crate::time_slice::{Slice, TimeSlices};
use crate::wire::{Call, FromGuest, Question, Reply};
use crate::{files, http};

/// Time beyond its own that a call may take until its process is ended: an honest one ends it by itself.
const OVERRUN_MAX: Duration = Duration::from_secs(2);

/// Time that a process may take for its start and a `describe`.
const DESCRIBE_WAIT_MAX: Duration = Duration::from_secs(30);

/// Number of functions on a guest's stack that are believed.
const FRAMES_MAX: usize = 64;

/// Bytes of a function's name that are believed.
const FRAME_BYTES_MAX: usize = 4 << 10;

/// Message of an attempt whose process answered what no honest one does.
const FORGED: &str = "the guest process answered more than it may";

impl Processes {
    /// Runs an attempt. One whose process ends, which another attempt may have caused, is run again, at last in a
    /// process of its own.
    pub(crate) async fn run(
        &self,
        bound: &Bound,
        invocation: Invocation<'_>,
        deadline: Instant,
        limits: &Limits,
        context: &AttemptContext,
        (slices, memory): (&TimeSlices, &Share),
    ) -> Attempt {
        let mut ended = String::new();
        for alone in [false, false, true] {
            let mut held = memory.nothing(context.tenant);
            if !held.grow(ALLOTTED_BYTES) {
                return Attempt::of(not_now(Stop::HostFull(memory.total()).to_string()));
            }
            let leased = match self.lease((context.tenant, context.nice_steps), alone, memory) {
                Ok(leased) => leased,
                Err(message) => return Attempt::of(not_now(message)),
            };
            let call = call_of(bound, invocation, deadline, limits, &context.answers);
            let Some(begun) = leased.begin(bound, call, context.watch.clone()) else {
                ended = leased.ended();
                continue;
            };
            let mut outside = Outside::new(bound.granted(), invocation.wid, invocation.key);
            outside.traceparent.clone_from(&context.traceparent);
            let ran = attend(begun, bound, limits, slices, (outside, held));
            match timeout_at(deadline + OVERRUN_MAX, ran).await {
                Ok(Some(Ok(ran))) => return ran,
                Ok(Some(Err(forged))) => {
                    leased.end();
                    return Attempt::of(forged);
                }
                Ok(None) => ended = leased.ended(),
                Err(_) => {
                    leased.end();
                    return Attempt {
                        epochs: u32::try_from(OVERRUN_MAX.as_millis()).unwrap_or(u32::MAX),
                        ..Attempt::of(Outcome::TimedOut)
                    };
                }
            }
        }
        Attempt::of(trapped(ended))
    }

    /// Asks a component what it can do, in a process of its own; none where the kernel gives a process no walls.
    pub(crate) async fn describe(
        &self,
        component: &Component,
        memory: &Share,
    ) -> Option<Result<Manifest, DescribeError>> {
        let leased = match self.lease((TenantId::NOBODY, 0), true, memory) {
            Ok(leased) => leased,
            Err(message) => return Some(Err(DescribeError::Ended(not_now(message)))),
        };
        if let Err(reason) = leased.walls().await {
            tracing::warn!("a process for `describe` has no walls here: {reason}; it runs in this process");
            return None;
        }
        let asked = async {
            let mut begun = leased.describe(component)?;
            let answer = begun.next().await?;
            begun.close();
            Some(answer)
        };
        Some(match tokio::time::timeout(DESCRIBE_WAIT_MAX, asked).await {
            Ok(Some(FromGuest::Described(described))) => described.map(|manifest| *manifest),
            Ok(Some(_)) => Err(DescribeError::Ended(trapped(FORGED.to_owned()))),
            Ok(None) => Err(DescribeError::Ended(trapped(leased.ended()))),
            Err(_) => Err(DescribeError::Ended(Outcome::TimedOut)),
        })
    }
}

/// Answers a call's questions until it ends; none when its process did.
async fn attend(
    mut begun: Begun<'_>,
    bound: &Bound,
    limits: &Limits,
    slices: &TimeSlices,
    (mut outside, mut held): (Outside, Held),
) -> Option<Result<Attempt, Outcome>> {
    let mut message = begun.next().await?;
    let mut host_calls = 0;
    loop {
        let question = match message {
            FromGuest::Ask(question) => question,
            FromGuest::Ended(ending) => {
                begun.close();
                let checked = check(*ending, bound.binding(), limits);
                return Some(checked.map(|ran| Attempt { draft: outside.draft.take(), ..ran }));
            }
            _ => return Some(Err(trapped(FORGED.to_owned()))),
        };
        host_calls += u64::from(matches!(question, Question::File(_) | Question::Fetch(_)));
        if host_calls > limits.host_calls {
            return Some(Err(trapped(FORGED.to_owned())));
        }
        message = tokio::select! {
            // While a question waits, nothing but the call's end can come.
            message = begun.next() => message?,
            answered = answer(question, bound, slices, (&mut outside, &mut held)) => {
                match answered {
                    Answered::Slice(slice) => begun.give(slice),
                    Answered::Reply(reply) => begun.answer(reply),
                }
                begun.next().await?
            }
        };
    }
}

/// Answer to a question.
enum Answered {
    Slice(Slice),
    Reply(Reply),
}

/// Answers a question of the guest, which waits.
async fn answer(
    question: Question,
    bound: &Bound,
    slices: &TimeSlices,
    (outside, held): (&mut Outside, &mut Held),
) -> Answered {
    let provided = bound.provided().map(|provided| &**provided);
    Answered::Reply(match question {
        Question::Slice(long) => return Answered::Slice(slices.clone().take(long).await),
        Question::Memory(bytes) => Reply::Memory(held.grow(bytes)),
        Question::File(act) => {
            let asked = act.asked(provided);
            let answer = files::answer(&mut outside.draft, act, provided).await;
            Reply::File(asked, answer)
        }
        Question::Fetch(request) => {
            let traceparent = outside.traceparent.as_deref();
            match http::complete(request, outside.http.as_ref(), provided, traceparent) {
                Ok((request, known)) => {
                    let answer = http::answer(outside.http.as_ref(), request, provided).await;
                    Reply::Fetch(Some(known), answer)
                }
                Err(refusal) => Reply::Fetch(None, refusal),
            }
        }
    })
}

/// The message that begins a call.
fn call_of<'a>(
    bound: &Bound,
    invocation: Invocation<'a>,
    deadline: Instant,
    limits: &'a Limits,
    answers: &'a AnswersFrom,
) -> Call<'a> {
    let left = deadline.saturating_duration_since(Instant::now());
    Call {
        call: 0,
        bound: bound.number(),
        flow: invocation.flow.into(),
        wid: invocation.wid,
        trigger: invocation.trigger.into(),
        attempt: invocation.attempt,
        deadline: invocation.deadline,
        payload: invocation.payload.into(),
        key: invocation.key.into(),
        timeout_us: u64::try_from(left.as_micros()).unwrap_or(u64::MAX),
        limits: Cow::Borrowed(limits),
        played: match answers {
            AnswersFrom::Recording(answers) => Some(Cow::Borrowed(answers)),
            _ => None,
        },
    }
}

/// Believes what a process says of a call as far as the call's limits go.
fn check(mut said: Attempt, binding: &Binding, limits: &Limits) -> Result<Attempt, Outcome> {
    let frames = &said.backtrace;
    let frames_fit = frames.len() <= FRAMES_MAX && (frames.iter()).all(|frame| frame.len() <= FRAME_BYTES_MAX);
    let is_honest = frames_fit
        && ending::is_possible(&said.outcome, binding, limits)
        && said.logs.bytes() <= limits.log_bytes
        && said.recording.bytes() <= limits.recording_bytes;
    if !is_honest {
        return Err(trapped(FORGED.to_owned()));
    }
    said.measure.fuel = said.measure.fuel.min(limits.fuel);
    said.measure.memory_bytes = said.measure.memory_bytes.min(limits.memory_bytes);
    Ok(said)
}

fn trapped(message: String) -> Outcome {
    Outcome::Trapped { kind: TrapKind::Other, message }
}

/// Outcome of a call for which the host has no room now.
fn not_now(message: String) -> Outcome {
    Outcome::Failed { message, retry: true }
}
