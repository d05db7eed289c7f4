//! Compiling in a child process: the compiler's time and memory are no promise of the sandbox's, so it
//! runs where both are limited and nothing else is lost when it reaches them.
//!
//! The child is the same program, started anew with a hidden argument
//! ([`serve_as_child`](crate::serve_as_child)). It gets the component on its standard input, limits itself
//! before it reads it, and gives the compiled code back on its standard output.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use wedflow_model::Limits;

use crate::error::UploadError;
use crate::program;
use crate::settings::Settings;

/// Compilers at once: each may take as much memory as the limit allows. Of one tenant's one less.
const AT_ONCE: usize = 2;

/// Number of tenants whose last turns are remembered.
const SERVED_MAX: usize = 1_024;

/// Components that are being compiled, and those that wait.
static TURNS: Mutex<Turns> = Mutex::new(Turns::new());
static CHANGED: Condvar = Condvar::new();

/// Compiles in a child process; nothing when this program cannot be started as one.
pub(crate) fn compile(
    whose: &str,
    bytes: &[u8],
    settings: &Settings,
    limits: &Limits,
) -> Option<Result<Vec<u8>, UploadError>> {
    let program = program::program()?;
    let _turn = Turn::take(whose, bytes.len());
    Some(run(program, bytes, settings, limits))
}

/// Permission to run one of the parallel compilers.
struct Turn(String);

impl Turn {
    fn take(whose: &str, bytes: usize) -> Turn {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = turns.ask(whose, bytes);
        while !turns.begin(number) {
            turns = CHANGED.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
        // The next one may begin as well.
        CHANGED.notify_all();
        Turn(whose.to_owned())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.end(&self.0);
        CHANGED.notify_all();
    }
}

/// A component that waits for its turn.
struct Waiting {
    number: u64,
    whose: String,
    bytes: usize,
}

/// Turns of tenants: whose last turn is longest ago is next, with the smallest of their components.
struct Turns {
    running: Vec<String>,
    waiting: Vec<Waiting>,
    /// Tenants that had a turn, the latest last.
    served: Vec<String>,
    asked: u64,
}

impl Turns {
    const fn new() -> Self {
        Turns { running: Vec::new(), waiting: Vec::new(), served: Vec::new(), asked: 0 }
    }

    fn ask(&mut self, whose: &str, bytes: usize) -> u64 {
        self.asked += 1;
        self.waiting.push(Waiting { number: self.asked, whose: whose.to_owned(), bytes });
        self.asked
    }

    /// Returns the place in `waiting` of who may begin; none while all compilers run, or only those wait who have their
    /// share.
    fn next(&self) -> Option<usize> {
        if self.running.len() >= AT_ONCE {
            return None;
        }
        let has_share = |whose: &str| {
            let own = self.running.iter().filter(|one| *one == whose).count();
            own >= AT_ONCE - 1
        };
        let last_turn = |whose: &str| self.served.iter().position(|one| one == whose);
        (self.waiting.iter().enumerate())
            .filter(|(_, one)| !has_share(&one.whose))
            .min_by_key(|(_, one)| (last_turn(&one.whose), one.bytes, one.number))
            .map(|(place, _)| place)
    }

    /// Begins the turn of a component, if it is its turn.
    fn begin(&mut self, number: u64) -> bool {
        let Some(place) = (self.next()).filter(|place| self.waiting[*place].number == number) else {
            return false;
        };
        let Waiting { whose, .. } = self.waiting.swap_remove(place);
        self.served.retain(|one| *one != whose);
        if self.served.len() >= SERVED_MAX {
            self.served.remove(0);
        }
        self.served.push(whose.clone());
        self.running.push(whose);
        true
    }

    fn end(&mut self, whose: &str) {
        if let Some(place) = self.running.iter().position(|one| one == whose) {
            self.running.swap_remove(place);
        }
    }
}

fn run(program: &std::path::Path, bytes: &[u8], settings: &Settings, limits: &Limits) -> Result<Vec<u8>, UploadError> {
    let failed =
        |what: &str, error: std::io::Error| UploadError::Compiler(format!("the compiler's process {what}: {error}"));
    let mut child = Command::new(program)
        .arg(program::AS_COMPILER)
        .arg(limits.compile_cpu_seconds.to_string())
        .arg(limits.compile_memory_bytes.to_string())
        .arg(settings.memory_reservation.to_string())
        .arg(settings.stack.to_string())
        .arg(settings.copy_on_write.to_string())
        .arg(settings.optimise.to_string())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed("does not start", error))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(UploadError::Compiler("the compiler has no pipes".into()));
    };
    let (done, answer) = mpsc::channel();
    let most = limits.compiled_bytes;
    let reader = std::thread::spawn(move || {
        let mut code = Vec::new();
        // A byte for the mark, and one by which too much is known.
        let read = output.take(most.saturating_add(2)).read_to_end(&mut code);
        // Nobody waits any more when the time was over.
        let _ = done.send(read.map(|_| code));
    });
    // A child that has ended does not read to the end; how it ended says why.
    let fed = input.write_all(bytes);
    drop(input);
    // What it may compute is the child's own limit; this one is for a machine that lets it compute too little.
    let answer = answer.recv_timeout(Duration::from_secs(limits.compile_wait_seconds));
    if answer.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| failed("was lost", error))?;
    let _ = reader.join();
    let Ok(code) = answer else {
        return Err(UploadError::CompileWait {
            seconds: limits.compile_wait_seconds,
            computing: limits.compile_cpu_seconds,
        });
    };
    let mut code = code.map_err(|error| failed("cannot be read", error))?;
    match code.split_first() {
        // The child may have ended because nobody took the rest.
        Some((b'C', compiled)) if compiled.len() as u64 > most => Err(UploadError::CompiledSize { bytes: most }),
        Some((b'C', _)) if status.success() => {
            code.remove(0);
            Ok(code)
        }
        Some((b'E', message)) if status.success() => {
            Err(UploadError::NotCompiled(String::from_utf8_lossy(message).into_owned()))
        }
        _ => Err(match fed {
            Err(error) if status.success() => failed("does not read", error),
            _ => ended(status, limits),
        }),
    }
}

/// Exit code of a child that has no memory to read the component into.
const NO_MEMORY: u8 = 6;

/// Why a compiler ended without an answer.
fn ended(status: ExitStatus, limits: &Limits) -> UploadError {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal();
    let is = |one: Signal| signal == Some(one.as_raw());
    if is(Signal::XCPU) {
        UploadError::CompileTime { seconds: limits.compile_cpu_seconds }
    } else if is(Signal::KILL) {
        UploadError::Compiler(
            "the compiler's process was killed, most likely because this machine is short of memory".into(),
        )
    } else if is(Signal::ABORT)
        || is(Signal::SEGV)
        || is(Signal::BUS)
        || [Some(101), Some(i32::from(NO_MEMORY))].contains(&status.code())
    {
        // What fails first when there is no more memory: an allocation, a stack, a thread.
        UploadError::CompileMemory { bytes: limits.compile_memory_bytes }
    } else {
        UploadError::Compiler(format!("the compiler's process ended with {status}"))
    }
}

/// The child: limits itself, reads, compiles, writes.
pub(crate) fn child(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut number = || -> Option<u64> { arguments.next()?.to_str()?.parse().ok() };
    let (Some(cpu), Some(memory), Some(reservation), Some(stack)) = (number(), number(), number(), number()) else {
        return ExitCode::from(2);
    };
    let mut is_set = || arguments.next().is_some_and(|word| word == "true");
    let (copy_on_write, optimise) = (is_set(), is_set());
    let limit = |resource: Resource, most: u64, for_good: u64| {
        let both = Rlimit { current: Some(most), maximum: Some(for_good) };
        setrlimit(resource, both).is_ok()
    };
    // No files, no core dumps; a second more until the kernel ends it for good: by a signal of its own, so that it
    // is distinguished from one that others kill.
    let held = limit(Resource::Cpu, cpu, cpu.saturating_add(1))
        && limit(Resource::As, memory, memory)
        && limit(Resource::Core, 0, 0)
        && limit(Resource::Fsize, 0, 0);
    // Those that run go first.
    let _ = rustix::process::nice(10);
    if !held {
        return ExitCode::from(3);
    }
    let mut bytes = Vec::new();
    match std::io::stdin().read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::OutOfMemory => return ExitCode::from(NO_MEMORY),
        Err(_) => return ExitCode::from(4),
    }
    let settings = Settings {
        memory_reservation: reservation,
        stack: usize::try_from(stack).unwrap_or(0),
        copy_on_write,
        optimise,
        ..Settings::fast()
    };
    let compiled = wasmtime::Engine::new(&settings.code()).and_then(|engine| engine.precompile_component(&bytes));
    let (mark, answer) = match compiled {
        Ok(code) => (b'C', code),
        Err(error) => (b'E', format!("{error:#}").into_bytes()),
    };
    let mut output = std::io::stdout().lock();
    let written = output.write_all(&[mark]).and_then(|()| output.write_all(&answer)).and_then(|()| output.flush());
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins whatever may begin; returns whose it is.
    fn begun(turns: &mut Turns) -> Option<String> {
        let number = turns.waiting[turns.next()?].number;
        assert!(turns.begin(number));
        turns.running.last().cloned()
    }

    #[test]
    fn no_tenant_has_all_turns() {
        let mut turns = Turns::new();
        let (first, second) = (turns.ask("a", 1), turns.ask("a", 1));
        assert!(turns.begin(first) && !turns.begin(second));
        let (third, fourth) = (turns.ask("b", 9), turns.ask("c", 1));
        // Of those that had no turn, the smallest.
        assert!(!turns.begin(third) && turns.begin(fourth) && !turns.begin(third));
        turns.end("a");
        assert!(!turns.begin(second) && turns.begin(third));
    }

    #[test]
    fn tenants_that_always_ask_do_not_keep_another_waiting() {
        let mut turns = Turns::new();
        for whose in ["evil", "evil", "third", "third"] {
            turns.ask(whose, 6_000);
        }
        for _ in 0..10 {
            while begun(&mut turns).is_some() {}
            for whose in std::mem::take(&mut turns.running) {
                turns.ask(&whose, 6_000);
            }
        }
        turns.ask("acme", 200_000);
        assert_eq!(begun(&mut turns).as_deref(), Some("acme"));
    }
}
