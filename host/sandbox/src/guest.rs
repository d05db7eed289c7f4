//! A guest process: the program started anew to run the guests of one tenant, behind walls of the kernel
//! (`confine.rs`). It knows nothing but what comes over its socket.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::net::UnixStream;
use tokio::task::AbortHandle;
use wedflow_contract::{Digest, Inspection};
use wedflow_model::TenantId;

use crate::answers::AnswersFrom;
use crate::asker::{Asker, Link};
use crate::attempt::Attempt;
use crate::component::{Bound, Component};
use crate::provided::Provided;
use crate::run::{AttemptContext, Invocation};
use crate::sandbox::Sandbox;
use crate::settings::Settings;
use crate::time_slice::TimeSlices;
use crate::wire::{Call, Code, FromGuest, PROCESS, ToGuest, Transition};
use crate::{confine, planted, wire};

/// Serves as a guest process until the host closes the socket, which is standard input.
pub(crate) fn serve(settings: &str) -> ! {
    #[expect(unsafe_code, reason = "nothing in this process has opened a descriptor yet")]
    // SAFETY: see the reason.
    unsafe {
        close_fds::close_open_fds(3, &[]);
    }
    planted::works_here();
    // A guest that has taken this process over heeds no end of the socket.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // Where memory is short, this process goes before the host and the database.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().event_interval(4).build();
    let served = runtime.and_then(|runtime| runtime.block_on(serve_host(settings)));
    // At once: what guests left behind is not worth tidying.
    std::process::exit(i32::from(served.is_err()))
}

/// Confines the process, tells the host so, and serves it.
async fn serve_host(settings: &str) -> std::io::Result<()> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    let socket = std::os::unix::net::UnixStream::from(socket);
    socket.set_nonblocking(true)?;
    let socket = UnixStream::from_std(socket)?;
    let link = Arc::<Link>::default();
    let (sandbox, walls) = match prepare(settings) {
        Ok(sandbox) => (Some(sandbox), Ok(())),
        Err(error) => (None, Err(error)),
    };
    link.outbox.put(&(PROCESS, FromGuest::Walls(walls)));
    let mut guests = sandbox.map(|sandbox| Guests {
        sandbox: Arc::new(sandbox),
        link: Arc::clone(&link),
        components: HashMap::new(),
        bound: HashMap::new(),
        running: Arc::default(),
    });
    // The end of the socket is the end of the process.
    wire::exchange(&socket, &link.outbox, usize::MAX, |message| {
        guests.as_mut()?.take(postcard::from_bytes(message).ok()?)
    })
    .await
}

/// Sets up the sandbox and then the walls, behind which no thread can be started and no file opened.
fn prepare(settings: &str) -> Result<Sandbox, String> {
    let settings: Settings = serde_json::from_str(settings).map_err(|error| error.to_string())?;
    let sandbox = Sandbox::new(settings).map_err(|error| error.to_string())?;
    sandbox.pool_for(u64::MAX).map_err(|error| error.to_string())?;
    let _: u64 = rand::random();
    confine::confine()?;
    Ok(sandbox)
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
            ToGuest::Beat => {
                self.link.outbox.put(&(PROCESS, FromGuest::Beat));
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
        let bound = component.bound(transition.binding.into_owned()).provided_with(Arc::new(provided));
        let bound = (bound, transition.files, transition.http);
        self.bound.insert(transition.number, bound);
        Some(())
    }

    fn describe(&mut self, call: u64, digest: Digest) -> Option<()> {
        let component = self.components.get(&digest)?.clone();
        let (sandbox, link) = (Arc::clone(&self.sandbox), Arc::clone(&self.link));
        tokio::spawn(async move {
            let described = sandbox.describe_here(&component).await.map(Box::new);
            link.outbox.put(&(call, FromGuest::Described(described)));
        });
        Some(())
    }

    fn run(&mut self, call: Call<'static>) -> Option<()> {
        let (bound, files, http) = self.bound.get(&call.bound)?.clone();
        let asker = Asker { call: call.call, link: Arc::clone(&self.link), files, http };
        let (sandbox, running) = (Arc::clone(&self.sandbox), Arc::clone(&self.running));
        let number = call.call;
        let guest = tokio::spawn(async move {
            let attempt = attempt(&sandbox, &bound, &call, asker.clone()).await;
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            running.remove(&asker.call);
            drop(running);
            asker.tell(FromGuest::Ended(Box::new(attempt)));
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
        wid: call.wid,
        trigger: &call.trigger,
        attempt: call.attempt,
        deadline: call.deadline,
        payload: &call.payload,
        key: &call.key,
    };
    let context = AttemptContext {
        tenant: TenantId::NOBODY,
        answers: match &call.played {
            Some(answers) => AnswersFrom::Recording(answers.to_vec()),
            None => AnswersFrom::Host,
        },
        slices: Some(TimeSlices::of_host(asker.clone())),
        watch: Some(Arc::new(asker.clone())),
        ..AttemptContext::default()
    };
    let timeout = Duration::from_micros(call.timeout_us);
    sandbox.run_asking(bound, invocation, timeout, &call.limits, context, Some(asker)).await
}
