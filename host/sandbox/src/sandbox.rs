//! The sandbox: from uploaded bytes to compiled components, and what they say of themselves.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::time::{Duration, Instant};
use wasmtime::Store;
use wedflow_contract::{
    BindError, Declaration, DeclarationError, DeclaredAttribute, DeclaredKind, Digest, Inspection, Manifest,
    check_manifest, inspect,
};
use wedflow_model::{AttributeType, Limits, Outcome, TenantId};

use crate::answers::{Answers, AnswersFrom};
use crate::bindings::{self, Attribute, TransitionPre};
use crate::cache::Cache;
use crate::component::{Bound, Component, Components, components};
use crate::ending;
use crate::error::{DescribeError, SetupError, UploadError};
use crate::pool::Pool;
use crate::processes::Processes;
use crate::settings::Guests;
use crate::share::Share;
use crate::state::{Room, State, Stop};
use crate::time_slice::TimeSlices;
use crate::{Settings, compiler, functions, wasi};

/// The time that `describe` may take.
const DESCRIBE_TIME: Duration = Duration::from_secs(2);

/// The fuel that `describe` may use.
const DESCRIBE_FUEL: u64 = 1_000_000_000;

/// Bytes from which on a component is taken to hold an interpreter with an initialised heap: those of
/// Python and JavaScript have 12 to 20 MB, what compilers make is far below.
const INTERPRETER_BYTES: u64 = 6 << 20;

/// Bytes that `describe` may return.
const DESCRIBE_BYTES: u64 = 1 << 20;

/// Words of the runtime by which it refuses code that no slot of the pool has room for; a test holds them.
const TOO_LARGE_FOR_A_SLOT: [&str; 2] = ["pooling allocator", "instance allocation for this"];

/// Runs transitions: each call in a fresh instance of its component, with nothing but what the
/// contract gives it, within limits.
///
/// One per process and kind of guest (see [`Settings`]); shared by reference. Calls need a tokio
/// runtime with time enabled, best one of [`runtime`](crate::runtime).
pub struct Sandbox {
    pub(crate) settings: Settings,
    pub(crate) slices: TimeSlices,
    /// Pool for components as compilers make them.
    pool: Pool,
    /// Pool for components that hold an interpreter; set up for the first of them.
    interpreters: OnceLock<Result<Pool, String>>,
    /// Compiled components that are kept ready.
    components: Mutex<Components>,
    cache: Option<Cache>,
    /// Processes of guests; none: they run in this one.
    processes: Option<Processes>,
    /// Bytes of linear memory of all guests.
    pub(crate) memory: Share,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Sets up a sandbox: reserves the address space of its pool and starts the thread that counts
    /// epochs. Both end when it is dropped (the address space, when the last component is).
    ///
    /// # Errors
    /// [`SetupError`] when a setting makes no sense or the system refuses what it needs.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        Ok(Sandbox {
            pool: Pool::new(&settings)?,
            interpreters: OnceLock::new(),
            slices: settings.slices.clone().unwrap_or_default(),
            components: Mutex::new(components(settings.components)),
            cache: settings.cache.as_deref().and_then(|folder| {
                Cache::open(folder)
                    .inspect_err(|error| {
                        tracing::warn!(
                            "no compiled code is kept in {}: {error}; make it a folder of this user alone (chmod \
                             700), or name another in WEDFLOW_CACHE",
                            folder.display()
                        );
                    })
                    .ok()
            }),
            processes: match settings.guests {
                Guests::InProcess => None,
                Guests::Processes { per_tenant } => Processes::new(&settings, per_tenant),
            },
            memory: Share::new(settings.memory_of_all),
            settings,
        })
    }

    /// Waits until guests can run where the settings say.
    ///
    /// # Errors
    /// [`SetupError::Walls`] when the kernel gives guest processes no walls.
    pub async fn ready(&self) -> Result<(), SetupError> {
        match &self.processes {
            Some(processes) => processes.ready().await.map_err(SetupError::Walls),
            None if self.settings.guests == Guests::InProcess => Ok(()),
            None => Err(SetupError::Walls("this program does not start as a child".to_owned())),
        }
    }

    /// The pool for a component of this size.
    pub(crate) fn pool_for(&self, bytes: u64) -> Result<&Pool, UploadError> {
        if bytes < INTERPRETER_BYTES {
            return Ok(&self.pool);
        }
        self.interpreters
            .get_or_init(|| Pool::new(&self.settings.for_interpreters()).map_err(|error| error.to_string()))
            .as_ref()
            .map_err(|error| UploadError::NotCompiled(error.clone()))
    }

    /// The pool that a component was compiled for; none when that was another sandbox's.
    pub(crate) fn pool_of(&self, component: &Component) -> Option<&Pool> {
        let interpreters = self.interpreters.get().and_then(|pool| pool.as_ref().ok());
        [Some(&self.pool), interpreters].into_iter().flatten().find(|pool| pool.has(component))
    }

    /// A component that was compiled here and is still kept ready.
    pub fn get(&self, digest: &Digest) -> Option<Component> {
        self.components().get(digest).cloned()
    }

    /// Checks an uploaded component's structure and compiles it, unless it is kept ready already.
    ///
    /// Compiling takes from milliseconds to many seconds of every processor, and memory in
    /// proportion: call it from a thread that may block. It is done in a child process within
    /// `limits`, in a program that [serves as a child](crate::serve_as_child); code that was compiled
    /// before comes from [`Settings::cache`].
    ///
    /// # Errors
    /// [`UploadError`], which says what is wrong and how to mend it.
    pub fn compile(&self, bytes: &[u8], limits: &Limits) -> Result<Component, UploadError> {
        self.compile_for("", bytes, limits)
    }

    /// Does the same for a tenant, by name: each has a share of the compilers that run at once.
    ///
    /// # Errors
    /// The same.
    pub fn compile_for(&self, whose: &str, bytes: &[u8], limits: &Limits) -> Result<Component, UploadError> {
        let inspection = inspect(bytes, limits)?;
        if let Some(known) = self.get(&inspection.digest) {
            return Ok(known);
        }
        let pool = self.pool_for(inspection.bytes)?;
        let compiled = self.code(pool, whose, bytes, &inspection.digest, limits)?;
        let component = link(pool, inspection, &compiled)?;
        let digest = component.digest();
        let mut components = self.components();
        if let Some(known) = components.get(&digest) {
            return Ok(known.clone());
        }
        components.insert(digest, component.clone());
        Ok(component)
    }

    /// Loads a component in a guest process: the host has compiled it, which trusts this process in nothing.
    pub(crate) fn load(&self, inspection: Inspection, code: &[u8]) -> Result<Component, UploadError> {
        let pool = self.pool_for(inspection.bytes)?;
        let compiled = revive(pool, code);
        let compiled = compiled.map_err(|error| UploadError::NotCompiled(format!("{error:#}")))?;
        link(pool, inspection, &compiled)
    }

    /// The processes for an attempt; none if it runs in this one, as a test does.
    pub(crate) fn processes_for(&self, bound: &Bound, answers: &AnswersFrom) -> Option<&Processes> {
        let is_of_test = matches!(answers, AnswersFrom::Test { .. }) || bound.granted().is_of_test();
        self.processes.as_ref().filter(|_| !is_of_test)
    }

    /// The compiled code: from the cache, from a child process, or, in a program that does not serve as
    /// a compiler, made here.
    fn code(
        &self,
        pool: &Pool,
        whose: &str,
        bytes: &[u8],
        digest: &Digest,
        limits: &Limits,
    ) -> Result<wasmtime::component::Component, UploadError> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        // The hash covers wasmtime's version, the processor's features and all that code depends on.
        let mut hasher = DefaultHasher::new();
        pool.engine.precompile_compatibility_hash().hash(&mut hasher);
        let name = format!("{digest}-{:016x}", hasher.finish());
        if let Some(code) = self.cache.as_ref().and_then(|cache| cache.get(&name)) {
            match revive(pool, &code) {
                Ok(component) => return Ok(component),
                Err(error) => tracing::warn!("compiled code of {digest} is unusable: {error:#}; it is compiled anew"),
            }
        }
        let has_interpreter = bytes.len() as u64 >= INTERPRETER_BYTES;
        let settings = if has_interpreter { self.settings.for_interpreters() } else { self.settings.clone() };
        let with_functions =
            (self.settings.functions && has_interpreter).then_some(self.settings.cache.as_deref()).flatten();
        let code = match with_functions {
            Some(folder) => functions::compile(folder, bytes, &settings)
                .map_err(|error| UploadError::NotCompiled(format!("{error:#}")))?,
            None => match compiler::compile(whose, bytes, &settings, limits) {
                Some(code) => code?,
                None => {
                    return wasmtime::component::Component::from_binary(&pool.engine, bytes)
                        .map_err(|error| UploadError::NotCompiled(format!("{error:#}")));
                }
            },
        };
        if let Some(cache) = &self.cache
            && let Err(error) = cache.put(&name, &code)
        {
            tracing::warn!("compiled code of {digest} cannot be kept: {error}; make room where WEDFLOW_CACHE says");
        }
        revive(pool, &code).map_err(|error| {
            let error = format!("{error:#}");
            match TOO_LARGE_FOR_A_SLOT.iter().any(|words| error.contains(words)) {
                true => UploadError::NotCompiled(
                    "one instance of it needs more memories, tables, functions or globals than this host has room \
                     for; compose it of smaller parts"
                        .to_owned(),
                ),
                false => UploadError::Compiler(format!("the compiled code does not load: {error}")),
            }
        })
    }

    /// Asks a component what it can do: runs its `describe` in the sandbox, with little time and
    /// fuel and without the host.
    ///
    /// # Errors
    /// [`DescribeError`] when it ends without an answer, or the answer is wrong.
    pub async fn describe(&self, component: &Component) -> Result<Manifest, DescribeError> {
        let described = match &self.processes {
            Some(processes) => processes.describe(component, &self.memory).await,
            None => None,
        };
        let manifest = match described {
            Some(described) => described?,
            None => self.describe_here(component).await?,
        };
        check_manifest(&manifest)?;
        Ok(manifest)
    }

    /// Asks it in this process.
    pub(crate) async fn describe_here(&self, component: &Component) -> Result<Manifest, DescribeError> {
        let limits = Limits { fuel: DESCRIBE_FUEL, log_bytes: 0, output_bytes: DESCRIBE_BYTES, ..Limits::default() };
        let Some(pool) = self.pool_of(component) else {
            return Err(DescribeError::Ended(Pool::foreign()));
        };
        let Some(_room) = pool.room(component, TenantId::NOBODY).await else {
            return Err(DescribeError::Ended(pool.too_large(component)));
        };
        let deadline = Instant::now() + DESCRIBE_TIME;
        let mut store = self.store(pool, &limits, deadline, None, AnswersFrom::Host, TenantId::NOBODY);
        let work = async {
            let instance = component.pre().instantiate_quickly(&mut store).await?;
            instance.call_describe(&mut store).await
        };
        match tokio::time::timeout_at(deadline, work).await {
            Ok(Ok(declared)) => Ok(manifest_of(declared)?),
            Ok(Err(error)) => Err(match error.downcast_ref::<Stop>() {
                Some(Stop::HostInDescribe(function)) => DescribeError::CalledHost((*function).to_owned()),
                _ => DescribeError::Ended(ending::of_error(&error, &limits)),
            }),
            Err(_) => Err(DescribeError::Ended(Outcome::TimedOut)),
        }
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

    /// A fresh store for one call.
    pub(crate) fn store(
        &self,
        pool: &Pool,
        limits: &Limits,
        deadline: Instant,
        names: Option<Arc<[String]>>,
        from: AnswersFrom,
        tenant: TenantId,
    ) -> Store<State> {
        let room = Room::new(
            limits,
            self.memory.nothing(tenant),
            self.settings.memory_bytes,
            u64::from(self.settings.table_elements),
        );
        let state = State::new(
            limits,
            room,
            deadline,
            self.slices.clone(),
            names,
            Answers::new(from, limits.recording_bytes, self.settings.clock, self.settings.random),
        );
        let mut store = pool.store(state);
        store.limiter_async(|state| &mut state.room);
        store.set_fuel(limits.fuel).expect("the engine counts fuel: see Settings::engine");
        store.set_hostcall_fuel(ending::copy_limit(limits));
        store.set_max_component_handles(ending::HANDLES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| Ok(store.data_mut().tick()?));
        store
    }

    fn components(&self) -> std::sync::MutexGuard<'_, Components> {
        self.components.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Links a compiled component to what a guest may call.
fn link(
    pool: &Pool,
    inspection: Inspection,
    compiled: &wasmtime::component::Component,
) -> Result<Component, UploadError> {
    let image = compiled.image_range();
    let code = (image.end as usize).saturating_sub(image.start as usize);
    let link = || {
        let mut linker = pool.linker.clone();
        wasi::define(&mut linker, compiled, &pool.engine)?;
        TransitionPre::new(linker.instantiate_pre(compiled)?)
    };
    let pre = link().map_err(|error| UploadError::DoesNotFit(format!("{error:#}")))?;
    Ok(Component::new(inspection, code, pre))
}

/// Loads code that our own compiler made.
fn revive(pool: &Pool, code: &[u8]) -> wasmtime::Result<wasmtime::component::Component> {
    #[expect(
        unsafe_code,
        reason = "what comes here is from our own child process, from the host of this one, or authenticated by the cache's key"
    )]
    // SAFETY: see the reason; bytes of a tenant are never given to this function.
    unsafe {
        wasmtime::component::Component::deserialize(&pool.engine, code)
    }
}

/// Reads a component's answer to `describe`.
fn manifest_of(declared: bindings::Manifest) -> Result<Manifest, DeclarationError> {
    let mut transitions = Vec::with_capacity(declared.transitions.len());
    for one in declared.transitions {
        let list = |attributes: Option<Vec<Attribute>>| {
            let declared = |attribute| declared_attribute(&one.transition, attribute);
            attributes.map(|attributes| attributes.into_iter().map(declared).collect()).transpose()
        };
        transitions.push(Declaration {
            reads: list(one.reads)?,
            writes: list(one.writes)?,
            transition: one.transition,
            description: one.description,
            condition: one.condition,
            timeout: one.timeout.map(Duration::from_millis),
            fuel: one.fuel,
            memory: one.memory,
        });
    }
    Ok(Manifest { name: declared.name, sdk: declared.sdk, transitions })
}

fn declared_attribute(
    transition: &str,
    Attribute { name, kind }: Attribute,
) -> Result<DeclaredAttribute, DeclarationError> {
    let kind: DeclaredKind = kind.parse().map_err(|error| DeclarationError::Kind {
        transition: transition.to_owned(),
        attribute: name.clone(),
        error,
    })?;
    Ok(DeclaredAttribute { name, kind })
}
