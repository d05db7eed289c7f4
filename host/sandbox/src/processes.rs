//! Guest processes of a host: started when a tenant has a call, of one tenant for all their life, ended when they are
//! idle or not to be trusted any more.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Socket;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, getpriority_process, setpriority_process};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, watch};
use wedflow_contract::Digest;
use wedflow_model::TenantId;

use crate::component::{Bound, Component};
use crate::program;
use crate::settings::Settings;
use crate::share::{Held, Share};
use crate::state::Stop;
use crate::time_slice::{Slice, Watch};
use crate::wire::{self, Call, Code, FromGuest, Outbox, PROCESS, Reply, ToGuest, Transition};

/// Bytes of the longest message of a guest process: a file or the body of a request with its surroundings.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Time after which an idle process ends.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// Interval at which a process's memory, its use and its signs of life are looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Looks for which a process with calls may owe a sign of life. Looks are counted, not time: a machine that rested is
/// no silence.
const SILENT_LOOKS_MAX: u32 = 30;

/// Bytes of a process without its guests, as counted in its tenant's share of guest memory.
const PROCESS_BYTES: u64 = 32 << 20;

/// Bytes of a process beyond the memory of all guests, above which it is ended: twice the code that it may keep, and
/// more than enough for the rest.
const EXTRA_BYTES_MAX: u64 = 1_536 << 20;

/// Bytes of compiled code from which on a process takes no more calls.
const CODE_BYTES_MAX: u64 = 512 << 20;

/// Number of processes above which idle ones end at once.
const IDLE_MAX: usize = 32;

/// Calls under way in a process of which no guest computes, from which on a further process is started.
const CALLS_OF_PROCESS: usize = 32;

/// Bound transitions that a process keeps, before another one takes its place.
const BOUND_MAX: usize = 256;

/// Messages about calls that ended meanwhile: of a process, and for each call that the host ended.
const STRAYS_MAX: usize = 16;
const STRAYS_OF_CALL: usize = 4;

/// Tenant of a process, and its steps of lower priority.
type Owner = (TenantId, i32);

/// The guest processes of a sandbox.
pub(crate) struct Processes {
    program: &'static Path,
    settings: String,
    /// Bytes that a process may have.
    memory_max: u64,
    per_tenant: usize,
    /// Runtime that attends to the sockets: that of the sandbox's maker, or else of the first caller.
    runtime: OnceLock<Handle>,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    owned: HashMap<Owner, Vec<Arc<Process>>>,
    /// A process that has no tenant yet.
    spare: Option<Arc<Process>>,
}

/// A guest process.
pub(crate) struct Process {
    outbox: Outbox,
    calls: Mutex<Calls>,
    /// Calls that are leased.
    busy: AtomicUsize,
    /// Guests that compute.
    computing: AtomicUsize,
    is_retired: AtomicBool,
    /// Looks for which it owes a sign of life.
    silent: AtomicU32,
    ends: Notify,
    used: Mutex<Instant>,
    pid: Option<Pid>,
    /// End of setting up its walls, once it has told.
    walls: watch::Sender<Option<Result<(), String>>>,
    /// Part of the memory that tenants share.
    held: Mutex<Option<Held>>,
}

#[derive(Default)]
struct Calls {
    last: u64,
    open: HashMap<u64, OpenCall>,
    loaded: HashSet<Digest>,
    code_bytes: u64,
    bound: HashSet<u64>,
    strays: usize,
    strays_max: usize,
    /// End of the process, once there is one.
    over: Option<String>,
}

/// A call under way.
struct OpenCall {
    messages: mpsc::Sender<FromGuest>,
    watch: Option<Arc<dyn Watch>>,
    computes: bool,
    slice: Option<Slice>,
}

impl Calls {
    /// Has a component loaded, unless it is.
    fn load(&mut self, component: &Component, outbox: &Outbox) -> Option<()> {
        if self.loaded.insert(component.digest()) {
            self.code_bytes += component.code_bytes() as u64;
            outbox.put(&ToGuest::Load(Box::new(code_of(component)?)));
        }
        Some(())
    }

    /// Opens a call.
    fn open(&mut self, watch: Option<Arc<dyn Watch>>) -> (u64, mpsc::Receiver<FromGuest>) {
        self.last += 1;
        let (messages, received) = mpsc::channel(2);
        let open = OpenCall { messages, watch, computes: false, slice: None };
        self.open.insert(self.last, open);
        (self.last, received)
    }
}

impl Processes {
    /// Prepares processes; none where this program cannot be started as one.
    pub(crate) fn new(settings: &Settings, per_tenant: usize) -> Option<Self> {
        let argument = serde_json::to_string(settings).ok()?;
        Some(Processes {
            program: program::program()?,
            settings: argument,
            memory_max: settings.memory_of_all.saturating_add(EXTRA_BYTES_MAX),
            per_tenant: per_tenant.max(1),
            runtime: Handle::try_current().map_or_else(|_| OnceLock::new(), OnceLock::from),
            kept: Arc::default(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a process stands behind its walls, or says why none does.
    pub(crate) async fn ready(&self) -> Result<(), String> {
        let spare = self.kept().spare(|| self.start());
        let spare = spare.map_err(|error| format!("no process starts: {error}"))?;
        let walls = spare.walls().await;
        if walls.is_ok() {
            self.kept().spare.get_or_insert(spare);
        }
        walls
    }

    /// Finds or starts a process for one call of a tenant; one for this call alone, if `alone` or for no tenant known.
    /// A process that is started takes part of the tenant's share of memory.
    ///
    /// # Errors
    /// The share is used up, or no process starts.
    pub(crate) fn lease(&self, owner: Owner, alone: bool, memory: &Share) -> Result<Leased, String> {
        let alone = alone || owner.0 == TenantId::NOBODY;
        let mut kept = self.kept();
        let found = kept.choose(owner, self.per_tenant).filter(|_| !alone);
        let process = match found {
            Some(process) => process,
            None => match kept.room(owner, memory) {
                Some(held) => {
                    let started = self.start_for(&mut kept, owner, alone, held);
                    started.map_err(|error| {
                        tracing::error!(%error, "no guest process starts; give this machine more memory, or the host fewer --in-flight");
                        format!("the host cannot start a guest process: {error}")
                    })?
                }
                // Better in a busy one than not at all.
                None => (kept.choose(owner, 0).filter(|_| !alone))
                    .ok_or_else(|| Stop::HostFull(memory.total()).to_string())?,
            },
        };
        process.busy.fetch_add(1, Ordering::Relaxed);
        Ok(Leased { process, alone })
    }

    /// Gives a tenant the spare process, and starts another one to be spare.
    fn start_for(&self, kept: &mut Kept, owner: Owner, alone: bool, held: Held) -> std::io::Result<Arc<Process>> {
        let process = kept.spare(|| self.start())?;
        process.hold(Some(held));
        process.lower_priority(owner.1);
        if !alone {
            kept.spare = self.start().ok();
            kept.keep(owner, &process);
        }
        Ok(process)
    }

    /// Starts a process and a task that attends to it.
    fn start(&self) -> std::io::Result<Arc<Process>> {
        let runtime = self.runtime.get_or_init(Handle::current);
        let _in_runtime = runtime.enter();
        let (own, other) = Socket::pair()?;
        own.set_nonblocking(true)?;
        let own = UnixStream::from_std(own)?;
        let child = Command::new(self.program)
            .arg(program::AS_GUEST)
            .arg(&self.settings)
            .env_clear()
            .stdin(OwnedFd::from(other))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A signal of the terminal is the host's, which lets guests end.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let process = Arc::new(Process::new(&child));
        runtime.spawn(attend(
            Arc::clone(&process),
            own,
            child,
            Arc::clone(&self.kept),
            (LOOK_INTERVAL, self.memory_max),
        ));
        Ok(process)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let mut kept = self.kept();
        let owned = std::mem::take(&mut kept.owned).into_values().flatten();
        for process in owned.chain(kept.spare.take()) {
            process.end();
        }
    }
}

impl Kept {
    /// Chooses a tenant's process for one call more; none if another one is to be started.
    fn choose(&mut self, owner: Owner, per_tenant: usize) -> Option<Arc<Process>> {
        let of_owner = self.owned.get_mut(&owner)?;
        of_owner.retain(|process| !process.is_over() && !process.retires());
        let load =
            |process: &Process| (process.computing.load(Ordering::Relaxed), process.busy.load(Ordering::Relaxed));
        let process = of_owner.iter().min_by_key(|process| load(process))?;
        let (computing, busy) = load(process);
        let has_room = computing == 0 && busy < CALLS_OF_PROCESS;
        (has_room || of_owner.len() >= per_tenant).then(|| Arc::clone(process))
    }

    /// Takes the spare process, or else a new one.
    fn spare(&mut self, start: impl FnOnce() -> std::io::Result<Arc<Process>>) -> std::io::Result<Arc<Process>> {
        let spare = self.spare.take().filter(|spare| !spare.is_over());
        spare.map_or_else(start, Ok)
    }

    /// Takes memory for a process of a tenant, for which idle ones make room.
    fn room(&mut self, owner: Owner, memory: &Share) -> Option<Held> {
        let mut held = memory.nothing(owner.0);
        while !held.grow(PROCESS_BYTES) {
            self.end_idle().then_some(())?;
        }
        Some(held)
    }

    /// Keeps a process for further calls of its tenant; of many, the one that is idle for the longest time ends.
    fn keep(&mut self, owner: Owner, process: &Arc<Process>) {
        if self.owned.values().flatten().count() >= IDLE_MAX {
            self.end_idle();
        }
        self.owned.entry(owner).or_default().push(Arc::clone(process));
    }

    /// Ends the process that is idle for the longest time; returns false if none is idle.
    fn end_idle(&mut self) -> bool {
        let all = self.owned.values().flatten();
        let idle = all.filter(|process| process.busy.load(Ordering::Relaxed) == 0);
        let Some(process) = idle.min_by_key(|process| process.used()).cloned() else {
            return false;
        };
        self.remove(&process);
        process.end();
        true
    }

    fn remove(&mut self, process: &Arc<Process>) {
        self.owned.retain(|_, of_owner| {
            of_owner.retain(|one| !Arc::ptr_eq(one, process));
            !of_owner.is_empty()
        });
    }
}

/// Attends to a process until it ends or is ended.
async fn attend(
    process: Arc<Process>,
    socket: UnixStream,
    mut child: Child,
    kept: Arc<Mutex<Kept>>,
    (look_interval, memory_max): (Duration, u64),
) {
    let mut exchange =
        pin!(wire::exchange(&socket, &process.outbox, MESSAGE_BYTES_MAX, |message| { process.take(message) }));
    loop {
        tokio::select! {
            _ = &mut exchange => break,
            () = process.ends.notified() => break,
            () = tokio::time::sleep(look_interval) => {
                if process.is_silent() {
                    tracing::error!(
                        "a guest process did not answer {SILENT_LOOKS_MAX} times; it is ended, and its attempts run again"
                    );
                    break;
                }
                if process.resident_bytes() > memory_max {
                    tracing::error!("a guest process has taken {memory_max} bytes, which guests cannot; it is ended");
                    break;
                }
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if process.is_idle() && kept.spare.as_ref().is_none_or(|spare| !Arc::ptr_eq(spare, &process)) {
                    kept.remove(&process);
                    break;
                }
            }
        }
    }
    // It may have ended by itself; and nothing of it is needed otherwise.
    let _ = child.start_kill();
    let ended = match child.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    process.hold(None);
    process.note_walls(Err(ended.clone()));
    let mut calls = process.calls();
    calls.over = Some(ended);
    // A caller that waits for one of them sees its channel close.
    let open = std::mem::take(&mut calls.open);
    drop(calls);
    drop(open);
    kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&process);
}

impl Process {
    fn new(child: &Child) -> Self {
        Process {
            outbox: Outbox::default(),
            calls: Mutex::default(),
            busy: AtomicUsize::new(0),
            computing: AtomicUsize::new(0),
            is_retired: AtomicBool::new(false),
            silent: AtomicU32::new(0),
            ends: Notify::new(),
            used: Mutex::new(Instant::now()),
            pid: (child.id()).and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)),
            walls: watch::Sender::default(),
            held: Mutex::default(),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the process at once.
    pub(crate) fn end(&self) {
        self.hold(None);
        self.ends.notify_one();
    }

    /// Replaces its part of the memory that tenants share.
    fn hold(&self, part: Option<Held>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = part;
    }

    /// Notes whether it stands behind its walls, the first time.
    fn note_walls(&self, told: Result<(), String>) {
        self.walls.send_if_modified(|walls| {
            let is_first = walls.is_none();
            walls.get_or_insert(told);
            is_first
        });
    }

    /// Waits until it stands behind its walls.
    pub(crate) async fn walls(&self) -> Result<(), String> {
        let mut told = self.walls.subscribe();
        let told = told.wait_for(Option::is_some).await;
        told.map_or(Ok(()), |told| told.clone().unwrap_or(Ok(())))
    }

    /// Bytes of memory that it has.
    fn resident_bytes(&self) -> u64 {
        let kibibytes = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid?)).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        kibibytes().unwrap_or(0) << 10
    }

    /// Asks a process with calls for a sign of life, unless it owes one. Returns true if it owes it for too long.
    fn is_silent(&self) -> bool {
        if self.busy.load(Ordering::Relaxed) == 0 {
            self.silent.store(0, Ordering::Relaxed);
            return false;
        }
        let looks = self.silent.fetch_add(1, Ordering::Relaxed);
        if looks == 0 {
            self.outbox.put(&ToGuest::Beat);
        }
        looks >= SILENT_LOOKS_MAX
    }

    fn is_over(&self) -> bool {
        self.calls().over.is_some()
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0 && self.used().elapsed() >= IDLE_TIME
    }

    /// Returns true if it takes no more calls: it knows too much by now.
    fn retires(&self) -> bool {
        let calls = self.calls();
        let retires = calls.bound.len() >= BOUND_MAX || calls.code_bytes >= CODE_BYTES_MAX;
        drop(calls);
        if retires {
            self.is_retired.store(true, Ordering::Relaxed);
            if self.busy.load(Ordering::Relaxed) == 0 {
                self.end();
            }
        }
        retires
    }

    /// Lowers the priority of its guests, which run on its first thread.
    fn lower_priority(&self, steps: i32) {
        let Some(pid) = self.pid.filter(|_| steps > 0) else {
            return;
        };
        // Where that fails, it has ended.
        let _ = getpriority_process(None).and_then(|now| setpriority_process(Some(pid), now + steps));
    }

    /// Takes a message; nothing when it is none that an honest process sends.
    fn take(&self, message: &[u8]) -> Option<()> {
        let (number, message): (u64, FromGuest) = postcard::from_bytes(message).ok()?;
        match (number, &message) {
            (PROCESS, FromGuest::Walls(walls)) => {
                self.note_walls(walls.clone());
                return walls.is_ok().then_some(());
            }
            (PROCESS, FromGuest::Beat) => {
                self.silent.store(0, Ordering::Relaxed);
                return Some(());
            }
            _ => {}
        }
        let mut calls = self.calls();
        let Some(open) = calls.open.get_mut(&number) else {
            calls.strays += 1;
            return (calls.strays <= STRAYS_MAX + calls.strays_max).then_some(());
        };
        match message {
            FromGuest::Computes => self.note_computing(open, true),
            FromGuest::Rests => self.note_computing(open, false),
            FromGuest::SliceOver => open.slice = None,
            // One that asks waits for its answer: there is room for its question and its end.
            asked @ (FromGuest::Ask(_) | FromGuest::Ended(_) | FromGuest::Described(_)) => {
                open.messages.try_send(asked).ok()?;
            }
            FromGuest::Walls(_) | FromGuest::Beat => return None,
        }
        Some(())
    }

    fn note_computing(&self, open: &mut OpenCall, computes: bool) {
        if std::mem::replace(&mut open.computes, computes) == computes {
            return;
        }
        match computes {
            true => self.computing.fetch_add(1, Ordering::Relaxed),
            false => self.computing.fetch_sub(1, Ordering::Relaxed),
        };
        if let Some(watch) = &open.watch {
            match computes {
                true => watch.computes(),
                false => watch.rests(),
            }
        }
    }
}

/// A process, leased for one call.
pub(crate) struct Leased {
    process: Arc<Process>,
    alone: bool,
}

impl Drop for Leased {
    fn drop(&mut self) {
        let process = &self.process;
        *process.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let others = process.busy.fetch_sub(1, Ordering::Relaxed) - 1;
        if self.alone || others == 0 && process.is_retired.load(Ordering::Relaxed) {
            process.end();
        }
    }
}

impl Leased {
    /// Begins a call; none if the process has ended. `call` gets its number here.
    pub(crate) fn begin(&self, bound: &Bound, mut call: Call<'_>, watch: Option<Arc<dyn Watch>>) -> Option<Begun<'_>> {
        let process = &*self.process;
        let mut calls = process.calls();
        if calls.over.is_some() {
            return None;
        }
        calls.load(bound.component(), &process.outbox)?;
        if calls.bound.insert(bound.number()) {
            let transition = Box::new(transition_of(bound));
            process.outbox.put(&ToGuest::Bind(transition));
        }
        let (number, received) = calls.open(watch);
        call.call = number;
        process.outbox.put(&ToGuest::Run(Box::new(call)));
        Some(Begun { process, number, received })
    }

    /// Asks a component what it can do; none if the process has ended.
    pub(crate) fn describe(&self, component: &Component) -> Option<Begun<'_>> {
        let process = &*self.process;
        let mut calls = process.calls();
        if calls.over.is_some() {
            return None;
        }
        calls.load(component, &process.outbox)?;
        let (number, received) = calls.open(None);
        let digest = component.digest();
        process.outbox.put(&ToGuest::Describe(number, digest));
        Some(Begun { process, number, received })
    }

    /// Waits until the process stands behind its walls.
    pub(crate) async fn walls(&self) -> Result<(), String> {
        self.process.walls().await
    }

    /// Tells how the process has ended.
    pub(crate) fn ended(&self) -> String {
        let over = self.process.calls().over.clone();
        format!("the guest process ended: {}", over.unwrap_or_default())
    }

    /// Ends the process at once.
    pub(crate) fn end(&self) {
        self.process.end();
    }
}

/// A call that has begun. Dropped before its end, it is ended.
pub(crate) struct Begun<'a> {
    process: &'a Process,
    number: u64,
    received: mpsc::Receiver<FromGuest>,
}

impl Begun<'_> {
    /// Waits for a question or the end; none when the process is no more.
    pub(crate) async fn next(&mut self) -> Option<FromGuest> {
        self.received.recv().await
    }

    /// Answers the question of the guest.
    pub(crate) fn answer(&self, reply: Reply) {
        self.process.outbox.put(&ToGuest::Answer(self.number, reply));
    }

    /// Gives the guest a time slice, until it gives it back or ends.
    pub(crate) fn give(&self, slice: Slice) {
        let mut calls = self.process.calls();
        if let Some(open) = calls.open.get_mut(&self.number) {
            open.slice = Some(slice);
        }
        drop(calls);
        self.answer(Reply::Slice);
    }

    /// Notes that the guest has ended by itself.
    pub(crate) fn close(&self) {
        self.remove();
    }

    fn remove(&self) -> bool {
        let mut calls = self.process.calls();
        let open = calls.open.remove(&self.number);
        if let Some(mut open) = open {
            self.process.note_computing(&mut open, false);
            return true;
        }
        false
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.remove() {
            self.process.calls().strays_max += STRAYS_OF_CALL;
            self.process.outbox.put(&ToGuest::End(self.number));
        }
    }
}

fn code_of(component: &Component) -> Option<Code<'static>> {
    let inspection = component.inspection();
    Some(Code {
        digest: inspection.digest,
        bytes: inspection.bytes,
        instances: inspection.instances,
        memories: inspection.memories,
        tables: inspection.tables,
        code: component.code().ok()?.into(),
    })
}

fn transition_of(bound: &Bound) -> Transition<'_> {
    let (settings, secrets) = match bound.provided() {
        Some(provided) => (Cow::Borrowed(provided.settings()), provided.readable()),
        None => (Cow::Owned(HashMap::new()), HashMap::new()),
    };
    Transition {
        number: bound.number(),
        digest: bound.component().digest(),
        binding: Cow::Borrowed(bound.binding()),
        settings,
        secrets,
        files: bound.granted().files.is_some(),
        http: bound.granted().http.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// A process with a call, attended to at short intervals, and the other end of its socket.
    fn attended() -> (Arc<Process>, UnixStream, tokio::task::JoinHandle<()>) {
        let (own, other) = UnixStream::pair().expect("a socket");
        let child = Command::new("sleep").arg("600").kill_on_drop(true).spawn();
        let child = child.expect("a process");
        let process = Arc::new(Process::new(&child));
        process.busy.store(1, Ordering::Relaxed);
        let bounds = (Duration::from_millis(1), u64::MAX);
        let attending = tokio::spawn(attend(Arc::clone(&process), own, child, Arc::default(), bounds));
        (process, other, attending)
    }

    #[tokio::test]
    async fn process_that_hangs_with_calls_is_ended() {
        let (process, _other, attending) = attended();
        attending.await.expect("its end");
        assert!(process.is_over());
    }

    #[tokio::test]
    async fn process_that_answers_is_kept() {
        let (process, mut other, attending) = attended();
        let answer = Outbox::default();
        answer.put(&(PROCESS, FromGuest::Beat));
        let answer = answer.take();
        // Of four bytes of length, and one of the message.
        let mut asked = [0; 5];
        for _ in 0..3 * SILENT_LOOKS_MAX {
            other.read_exact(&mut asked).await.expect("a question");
            other.write_all(&answer).await.expect("answered");
        }
        assert!(!process.is_over());
        drop(other);
        attending.await.expect("its end");
    }
}
