//! A guest process: the program started anew to run the guests of one tenant, behind walls of the kernel
//! (`confine.rs`). It knows nothing but what comes over its socket.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::task::AbortHandle;
use wedflow_contract::{Digest, Inspection};
use wedflow_model::{Outcome, TenantId, Wid};

use crate::asker::{Asker, Link};
use crate::component::{Bound, Component};
use crate::provided::Provided;
use crate::run::{Attempt, AttemptContext, Invocation};
use crate::sandbox::{DescribeError, Sandbox};
use crate::settings::GuestSettings;
use crate::time_slice::TimeSlices;
use crate::wire::{Call, Code, Ending, FromGuest, ToGuest, Transition};
use crate::{confine, planted, wire};

/// Serves as a guest process until the host closes the socket, which is standard input.
pub(crate) fn serve(settings: &str) -> ExitCode {
    #[expect(
        unsafe_code,
        reason = "nothing in this process has opened a descriptor yet"
    )]
    // SAFETY: see the reason.
    unsafe {
        close_fds::close_open_fds(3, &[]);
    }
    planted::works_here();
    // Where memory is short, this process goes before the host and the database.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    match start(settings) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn start(settings: &str) -> Result<ExitCode, String> {
    let settings: GuestSettings =
        serde_json::from_str(settings).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .event_interval(4)
        .build()
        .map_err(|error| error.to_string())?;
    let sandbox = Sandbox::new(settings.into()).map_err(|error| error.to_string())?;
    // Threads cannot be started afterwards.
    sandbox
        .pool_for(u64::MAX)
        .map_err(|error| error.to_string())?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned();
    let socket = std::os::unix::net::UnixStream::from(socket.map_err(|error| error.to_string())?);
    let open = async {
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket)
    };
    let socket = runtime.block_on(open).map_err(|error| error.to_string())?;
    // Random numbers open no file later.
    let _: u64 = rand::random();
    confine::confine()?;
    let guests = Guests {
        sandbox: Arc::new(sandbox),
        link: Arc::default(),
        components: HashMap::new(),
        bound: HashMap::new(),
        running: Arc::default(),
    };
    runtime.block_on(guests.serve(&socket));
    Ok(ExitCode::SUCCESS)
}

/// Guests of the process.
struct Guests {
    sandbox: Arc<Sandbox>,
    link: Arc<Link>,
    components: HashMap<Digest, Component>,
    bound: HashMap<u64, (Bound, bool, bool)>,
    running: Arc<Mutex<HashMap<u64, AbortHandle>>>,
}

impl Guests {
    async fn serve(mut self, socket: &UnixStream) {
        let link = Arc::clone(&self.link);
        // The end of the socket is the end of the process; the host needs no reason.
        let _ = wire::exchange(socket, &link.outbox, usize::MAX, |message| {
            self.take(postcard::from_bytes(message).ok()?)
        })
        .await;
    }

    /// Takes a message of the host; nothing when it makes no sense.
    fn take(&mut self, message: ToGuest<'static>) -> Option<()> {
        match message {
            ToGuest::Load(code) => self.load(*code),
            ToGuest::Bind(transition) => self.bind(*transition),
            ToGuest::Describe(call, digest) => self.describe(call, digest),
            ToGuest::Run(call) => self.run(*call),
            ToGuest::Answer(call, reply) => {
                self.link.answer(call, reply);
                Some(())
            }
            ToGuest::End(call) => {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(guest) = running.remove(&call) {
                    guest.abort();
                }
                Some(())
            }
        }
    }

    fn load(&mut self, code: Code<'_>) -> Option<()> {
        let inspection = Inspection {
            digest: code.digest,
            bytes: code.bytes,
            functions: 0,
            instances: code.instances,
            memories: code.memories,
            tables: code.tables,
            wasi: Vec::new(),
            asks: Vec::new(),
        };
        let component = self.sandbox.load(inspection, &code.code).ok()?;
        self.components.insert(code.digest, component);
        Some(())
    }

    fn bind(&mut self, transition: Transition<'_>) -> Option<()> {
        let component = self.components.get(&transition.digest)?;
        let provided = Provided::new(transition.settings.into_owned(), transition.secrets);
        let bound = component
            .bound(transition.binding.into_owned())
            .provided_with(Arc::new(provided));
        let bound = (bound, transition.files, transition.http);
        self.bound.insert(transition.number, bound);
        Some(())
    }

    fn describe(&mut self, call: u64, digest: Digest) -> Option<()> {
        let component = self.components.get(&digest)?.clone();
        let (sandbox, link) = (Arc::clone(&self.sandbox), Arc::clone(&self.link));
        tokio::spawn(async move {
            let described = match sandbox.describe_here(&component).await {
                Ok(described) => Ok(Box::new(described)),
                Err(DescribeError::CalledHost(function)) => {
                    Err((Some(function), Outcome::TimedOut))
                }
                Err(DescribeError::Ended(outcome)) => Err((None, outcome)),
                // What it says is checked by the host.
                Err(DescribeError::Wrong(_)) => Err((None, Outcome::TimedOut)),
            };
            link.outbox.put(&(call, FromGuest::Described(described)));
        });
        Some(())
    }

    fn run(&mut self, call: Call<'static>) -> Option<()> {
        let (bound, files, http) = self.bound.get(&call.bound)?.clone();
        let asker = Asker {
            call: call.call,
            link: Arc::clone(&self.link),
            files,
            http,
        };
        let (sandbox, running) = (Arc::clone(&self.sandbox), Arc::clone(&self.running));
        let number = call.call;
        let guest = tokio::spawn(async move {
            let attempt = attempt(&sandbox, &bound, &call, asker.clone()).await;
            let ending = Box::new(Ending {
                outcome: attempt.outcome,
                measure: attempt.measure,
                frames: attempt.backtrace,
                logs: attempt.logs,
                recording: attempt.recording,
                epochs: attempt.epochs,
            });
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            running.remove(&asker.call);
            drop(running);
            asker.tell(FromGuest::Ended(ending));
        });
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // It runs on this very thread, so it has not ended yet.
        running.insert(number, guest.abort_handle());
        Some(())
    }
}

async fn attempt(sandbox: &Sandbox, bound: &Bound, call: &Call<'_>, asker: Asker) -> Attempt {
    let invocation = Invocation {
        flow: &call.flow,
        wid: Wid::new(call.wid),
        trigger: &call.trigger,
        attempt: call.attempt,
        deadline: call.deadline,
        payload: &call.payload,
        key: &call.key,
    };
    let context = AttemptContext {
        tenant: TenantId::NOBODY,
        slices: Some(TimeSlices::of_host(asker.clone())),
        watch: Some(Arc::new(asker.clone())),
        ..AttemptContext::default()
    };
    let timeout = Duration::from_micros(call.timeout_us);
    sandbox
        .run_asking(
            bound,
            invocation,
            timeout,
            &call.limits,
            context,
            Some(asker),
        )
        .await
}
