//! The sandbox: from uploaded bytes to compiled components, and what they say of themselves.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio::time::{Duration, Instant};
use wasmtime::component::Linker;
use wasmtime::{Engine, Store};
use wedflow_contract::{
    BindError, Declaration, DeclarationError, DeclaredAttribute, DeclaredKind, Digest, Manifest,
    Refusal, check_manifest, inspect,
};
use wedflow_model::{AttributeType, Limits, Outcome};

use crate::bindings::{Attribute, TransitionPre};
use crate::component::{Bound, Component, Shelf};
use crate::ending;
use crate::gate::Gate;
use crate::state::{Room, State, Stop};
use crate::ticker::Ticker;
use crate::{Settings, host, wasi};

/// The time that `describe` may take.
const DESCRIBE_TIME: Duration = Duration::from_secs(2);

/// The fuel that `describe` may use.
const DESCRIBE_FUEL: u64 = 1_000_000_000;

/// Bytes that `describe` may return.
const DESCRIBE_BYTES: u64 = 1 << 20;

/// A sandbox that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A setting that makes no sense.
    #[error("the sandbox's setting `{0}` {1}")]
    Setting(&'static str, &'static str),
    /// More guests at once than the kernel has memory maps for.
    #[error(
        "{concurrent} guests at once need {needed} memory maps, but the kernel allows a process \
         {limit} (`vm.max_map_count`): raise that limit or lower `concurrent` to {most}"
    )]
    Maps {
        /// Guests at once.
        concurrent: u32,
        /// Memory maps that these and the rest of the process need.
        needed: u64,
        /// Memory maps that a process may have.
        limit: u64,
        /// Guests for which that limit suffices.
        most: u64,
    },
    /// The runtime refuses its settings, or the system refuses what they need.
    #[error(
        "the sandbox cannot start: {0}; it needs address space for `concurrent` times \
         `memory_reservation` bytes: lower these settings or raise the system's limits"
    )]
    Engine(String),
    /// The thread that counts epochs does not start.
    #[error("the sandbox cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A component that is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// Its structure is refused, before anything is compiled.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The compiler refuses it.
    #[error("the component cannot be compiled: {0}")]
    NotCompiled(String),
    /// What it imports or exports is of another type than in the contract.
    #[error(
        "the component does not fit this host: {0}; build it against the same version of the \
         contract (`wed:flow@0.1.0`)"
    )]
    DoesNotFit(String),
}

/// A component that does not say what it can do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DescribeError {
    /// It called the host.
    #[error("`describe` called `{0}`; it must not call the host")]
    CalledHost(&'static str),
    /// It ended without an answer.
    #[error("`describe` {0}")]
    Ended(Outcome),
    /// What it answered is wrong.
    #[error(transparent)]
    Wrong(#[from] DeclarationError),
}

/// Runs transitions: each call in a fresh instance of its component, with nothing but what the
/// contract gives it, within limits.
///
/// One per process and kind of guest (see [`Settings`]); shared by reference. Calls need a tokio
/// runtime with time enabled, best one of [`runtime`](crate::runtime).
pub struct Sandbox {
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    pub(crate) gate: Gate,
    /// Room in the pool; a call takes as many permits as its component needs slots.
    pub(crate) slots: Semaphore,
    linker: Linker<State>,
    shelf: Mutex<Shelf>,
    _ticker: Ticker,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Sets up a sandbox: reserves the address space of its pool and starts the thread that counts
    /// epochs. Both end when it is dropped (the address space, when the last component is).
    ///
    /// # Errors
    /// [`SetupError`] when a setting makes no sense or the system refuses what it needs.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        let engine = settings.engine()?;
        let mut linker = Linker::new(&engine);
        host::define(&mut linker).map_err(|error| SetupError::Engine(format!("{error:#}")))?;
        Ok(Sandbox {
            _ticker: Ticker::start(&engine)?,
            gate: settings.gate.clone().unwrap_or_default(),
            slots: Semaphore::new(settings.concurrent as usize),
            shelf: Mutex::new(Shelf::new(settings.components)),
            linker,
            engine,
            settings,
        })
    }

    /// A component that was compiled here and is still kept ready.
    pub fn get(&self, digest: &Digest) -> Option<Component> {
        self.shelf().get(digest)
    }

    /// Checks an uploaded component's structure and compiles it, unless it is kept ready already.
    ///
    /// Compiling takes from milliseconds to many seconds of every processor, and memory in
    /// proportion: call it from a thread that may block, and never for bytes that did not pass
    /// [`inspect`] with limits that suit the tenant (this does so first).
    ///
    /// # Errors
    /// [`UploadError`], which says what is wrong and how to mend it.
    pub fn compile(&self, bytes: &[u8], limits: &Limits) -> Result<Component, UploadError> {
        let inspection = inspect(bytes, limits)?;
        if let Some(known) = self.get(&inspection.digest) {
            return Ok(known);
        }
        let compiled = wasmtime::component::Component::from_binary(&self.engine, bytes)
            .map_err(|error| UploadError::NotCompiled(format!("{error:#}")))?;
        let link = || {
            let mut linker = self.linker.clone();
            wasi::define(&mut linker, &compiled, &self.engine)?;
            TransitionPre::new(linker.instantiate_pre(&compiled)?)
        };
        let pre = link().map_err(|error| UploadError::DoesNotFit(format!("{error:#}")))?;
        Ok(self.shelf().put(Component::new(inspection, pre)))
    }

    /// Asks a component what it can do: runs its `describe` in the sandbox, with little time and
    /// fuel and without the host.
    ///
    /// # Errors
    /// [`DescribeError`] when it ends without an answer, or the answer is wrong.
    pub async fn describe(&self, component: &Component) -> Result<Manifest, DescribeError> {
        let limits = Limits {
            fuel: DESCRIBE_FUEL,
            log_bytes: 0,
            output_bytes: DESCRIBE_BYTES,
            ..Limits::default()
        };
        let Some(_slots) = self.slots(component).await else {
            return Err(DescribeError::Ended(self.too_large(component)));
        };
        let deadline = Instant::now() + DESCRIBE_TIME;
        let mut store = self.store(&limits, deadline, None);
        let work = async {
            let instance = component.pre().instantiate_quickly(&mut store).await?;
            instance.call_describe(&mut store).await
        };
        let declared = match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(declared)) => declared,
            Ok(Err(error)) => {
                return Err(match error.downcast_ref::<Stop>() {
                    Some(Stop::HostInDescribe(function)) => DescribeError::CalledHost(function),
                    _ => DescribeError::Ended(ending::of_error(&error, &limits)),
                });
            }
            Err(_) => return Err(DescribeError::Ended(Outcome::TimedOut)),
        };
        let mut transitions = Vec::with_capacity(declared.transitions.len());
        for one in declared.transitions {
            let list = |attributes: Option<Vec<Attribute>>| {
                attributes
                    .map(|attributes| {
                        attributes
                            .into_iter()
                            .map(|attribute| declared_attribute(&one.transition, attribute))
                            .collect::<Result<Vec<_>, _>>()
                    })
                    .transpose()
            };
            let reads = list(one.reads)?;
            let writes = list(one.writes)?;
            transitions.push(Declaration {
                transition: one.transition,
                description: one.description,
                reads,
                writes,
                condition: one.condition,
                timeout: one.timeout.map(Duration::from_millis),
                fuel: one.fuel,
                memory: one.memory,
            });
        }
        let manifest = Manifest {
            name: declared.name,
            sdk: declared.sdk,
            transitions,
        };
        check_manifest(&manifest)?;
        Ok(manifest)
    }

    /// The same as [`Component::bind`].
    ///
    /// # Errors
    /// [`BindError`] naming every attribute that the flow lacks or has with another type.
    pub fn bind(
        &self,
        component: &Component,
        declaration: &Declaration,
        attributes: &[(String, AttributeType)],
    ) -> Result<Bound, BindError> {
        component.bind(declaration, attributes)
    }

    /// Waits for room in the pool; none when the component needs more than there is at all.
    pub(crate) async fn slots(
        &self,
        component: &Component,
    ) -> Option<tokio::sync::SemaphorePermit<'_>> {
        if component.slots() > self.settings.concurrent {
            return None;
        }
        self.slots.acquire_many(component.slots()).await.ok()
    }

    /// The outcome for a component that needs more room than the pool has.
    pub(crate) fn too_large(&self, component: &Component) -> Outcome {
        Outcome::OverMemory {
            limit: u64::from(self.settings.concurrent),
            asked: u64::from(component.slots()),
        }
    }

    /// A fresh store for one call.
    pub(crate) fn store(
        &self,
        limits: &Limits,
        deadline: Instant,
        names: Option<Arc<[String]>>,
    ) -> Store<State> {
        let room = Room::new(
            limits,
            self.settings.memory_bytes,
            u64::from(self.settings.table_elements),
        );
        let state = State::new(
            limits,
            room,
            deadline,
            self.gate.clone(),
            names,
            self.settings.clock,
            self.settings.random,
        );
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.room);
        store
            .set_fuel(limits.fuel)
            .expect("the engine counts fuel: see Settings::engine");
        store.set_hostcall_fuel(ending::copy_limit(limits));
        store.set_max_component_handles(1_000);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| Ok(store.data_mut().tick()?));
        store
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn declared_attribute(
    transition: &str,
    attribute: Attribute,
) -> Result<DeclaredAttribute, DeclarationError> {
    let kind: DeclaredKind = attribute
        .kind
        .parse()
        .map_err(|error| DeclarationError::Kind {
            transition: transition.to_owned(),
            attribute: attribute.name.clone(),
            error,
        })?;
    Ok(DeclaredAttribute {
        name: attribute.name,
        kind,
    })
}
