//! Components, compiled once, and transitions bound to flows, once for each version of a flow.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::sync::Cache;
use quick_cache::{OptionsBuilder, Weighter};
use tokio::sync::OnceCell;
use wedflow_contract::Manifest;
use wedflow_guard::{FlowAttributes, SetClauseCache};
use wedflow_model::{ComponentId, FlowId, Limits, Outcome};
use wedflow_sandbox::{Bound, Component, Provided, Sandbox};
use wedflow_store::{Claimed, FlowShape, Grant, SealedSecret, Store, StoreError};

use crate::breaker::Breaker;
use crate::outside::Outside;
use crate::results::{Rendered, Shapes, Verdict};
use crate::vault::{FindSecretKey, SecretKey};

/// Number of bindings, flows and components that are kept; those that are used least go first.
const BINDINGS_MAX: usize = 4_096;
/// Bytes for which a flow, or its transitions, count at least.
const BYTES_MIN: u64 = 32 << 10;
/// Parts of a cache by which it is locked. What is heavier than a part is not kept.
const CACHE_SHARDS: usize = 4;
/// Maximum reads of a flow whose definition changes meanwhile.
const FLOW_READS_MAX: u32 = 5;
/// Maximum checked clauses kept for each version of a flow.
const CLAUSES_MAX: usize = 1_024;

/// A flow as a host sees it.
#[derive(Debug)]
pub(crate) struct LoadedFlow {
    pub(crate) shape: FlowShape,
    pub(crate) clauses: SetClauseCache,
    pub(crate) shapes: Shapes,
    settings: Arc<HashMap<String, String>>,
    secrets: Vec<SealedSecret>,
    grants: Vec<Grant>,
    /// Values for transitions, by the names of their secrets; true for a secret that is only sent.
    provided: Mutex<BTreeMap<BTreeMap<String, bool>, Arc<Provided>>>,
}

/// A transition that can be run.
#[derive(Debug)]
pub(crate) struct Runnable {
    pub(crate) flow: Arc<LoadedFlow>,
    pub(crate) bound: Bound,
    /// Record of its recent attempts, whatever the flow's version.
    pub(crate) breaker: Arc<Breaker>,
    writes: Option<BTreeSet<String>>,
}

/// Why it is not known whether a transition can be run.
#[derive(Debug)]
pub(crate) enum NotLoaded {
    /// The database does not answer, or refuses.
    Store(StoreError),
    /// The fault is this machine's and may pass: the job waits, and no attempt is counted.
    Later,
}

impl From<StoreError> for NotLoaded {
    fn from(error: StoreError) -> Self {
        NotLoaded::Store(error)
    }
}

struct LoadedComponent {
    component: Component,
    manifest: Manifest,
}

/// A cell that is filled once; a reason it cannot be is kept too, a database that was away is not.
type Cell<T> = Arc<OnceCell<Result<Arc<T>, String>>>;
/// Component and flow.
type BindingKey = (ComponentId, FlowId);

/// Cached part of a flow: the newest version that was asked for, and no other.
struct Versioned<T> {
    version: i32,
    kept: T,
    /// Bytes that it holds.
    bytes: u64,
}

/// Weighs by bytes, so that a cache is bounded in number and in bytes.
#[derive(Debug, Clone)]
struct ByBytes;

impl<K, T> Weighter<K, Arc<Versioned<T>>> for ByBytes {
    fn weight(&self, _: &K, value: &Arc<Versioned<T>>) -> u64 {
        value.bytes.max(BYTES_MIN)
    }
}

/// A cache of parts of flows.
type FlowCache<K, T> = Cache<K, Arc<Versioned<T>>, ByBytes>;

fn flow_cache<K: std::hash::Hash + Eq, T>(items: usize) -> FlowCache<K, T> {
    let options = OptionsBuilder::new()
        .estimated_items_capacity(items)
        .weight_capacity(items as u64 * BYTES_MIN)
        .shards(CACHE_SHARDS)
        .build()
        .expect("a capacity is given");
    let (hasher, lifecycle) = Default::default();
    Cache::with_options(options, ByBytes, hasher, lifecycle)
}

/// A flow's transitions, by name.
type Transitions = Arc<Mutex<foldhash::HashMap<String, Cell<Runnable>>>>;

/// Components and flows that a host has loaded.
pub(crate) struct Bindings {
    store: Store,
    sandbox: Arc<Sandbox>,
    limits: Limits,
    secret_key: Option<SecretKey>,
    find_secret_key: Option<FindSecretKey>,
    outside: Outside,
    components: Cache<ComponentId, Cell<LoadedComponent>>,
    flows: FlowCache<FlowId, Cell<LoadedFlow>>,
    /// Circuit breakers by component, flow and transition.
    breakers: Cache<(ComponentId, FlowId, String), Arc<Breaker>>,
    runnables: FlowCache<BindingKey, Transitions>,
}

impl Bindings {
    pub(crate) fn new(
        store: Store,
        sandbox: Arc<Sandbox>,
        limits: Limits,
        (secret_key, find_secret_key): (Option<SecretKey>, Option<FindSecretKey>),
        outside: Outside,
    ) -> Self {
        Bindings {
            store,
            sandbox,
            limits,
            secret_key,
            find_secret_key,
            outside,
            components: Cache::new(BINDINGS_MAX),
            flows: flow_cache(BINDINGS_MAX),
            breakers: Cache::new(BINDINGS_MAX),
            runnables: flow_cache(BINDINGS_MAX),
        }
    }

    /// Returns the component that runs a claimed job, if it is loaded already.
    pub(crate) fn known(&self, claimed: &Claimed) -> Option<Arc<Runnable>> {
        let known = self.runnables.get(&binding_key(claimed))?;
        if known.version != claimed.flow_version {
            return None;
        }
        let transitions = known.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let cell = transitions.get(&claimed.job.transition)?;
        cell.get()?.as_ref().ok().cloned()
    }

    /// Loads the component that runs a claimed job.
    ///
    /// # Errors
    /// The outer one: it cannot be known now. The inner one: why it cannot be run, for a person.
    pub(crate) async fn runnable(&self, claimed: &Claimed) -> Result<Result<Arc<Runnable>, String>, NotLoaded> {
        let known = of_version(&self.runnables, binding_key(claimed), claimed.flow_version);
        let cell = {
            let mut transitions = known.kept.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(transitions.entry(claimed.job.transition.clone()).or_default())
        };
        let load = async || {
            let loaded = self.load(claimed).await?;
            if let Err(reason) = &loaded {
                // Once for each version: its jobs are looked at again and again.
                tracing::warn!(
                    flow = claimed.job.key.flow.get(),
                    transition = %claimed.job.transition,
                    reason,
                    "a transition cannot run, and its jobs wait; push a component that fits, or mend the flow"
                );
            }
            Ok::<_, NotLoaded>(loaded)
        };
        let is_new = !cell.initialized();
        let loaded = cell.get_or_try_init(load).await.cloned();
        if is_new {
            weigh(&self.runnables, binding_key(claimed), &known, bytes_of(&known.kept));
        }
        loaded
    }

    /// Returns true when a claimed job must be given back: its tenant is suspended, as far as the flow's version at the
    /// claim tells, or attributes have changed since, so that its payload names others.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) async fn is_given_back(&self, claimed: &Claimed) -> Result<bool, StoreError> {
        let flow = self.flow(claimed.job.key.flow, claimed.flow_version).await?;
        Ok(flow.is_ok_and(|flow| flow.shape.suspended || flow.shape.attributes_version > claimed.flow_version))
    }

    async fn load(&self, claimed: &Claimed) -> Result<Result<Arc<Runnable>, String>, NotLoaded> {
        let component = match self.component(claimed.component_id).await? {
            Ok(component) => component,
            Err(reason) => return Ok(Err(reason)),
        };
        let flow = match self.flow(claimed.job.key.flow, claimed.flow_version).await? {
            Ok(flow) => flow,
            Err(reason) => return Ok(Err(reason)),
        };
        let name = &claimed.job.transition;
        let Some(declaration) = component.manifest.transition(name) else {
            let declared: Vec<&str> = component.manifest.transitions.iter().map(|d| d.transition.as_str()).collect();
            return Ok(Err(format!(
                "the component does not declare transition \"{name}\"; it declares {}",
                declared.join(", ")
            )));
        };
        let provided = match self.provided(&flow, name)? {
            Ok(provided) => provided,
            Err(reason) => return Ok(Err(reason)),
        };
        let granted = match self.outside.granted(&flow.shape, flow.grant(name), name) {
            Ok(granted) => granted,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(match component.component.bind(declaration, &flow.shape.attributes) {
            Ok(bound) => Ok(Arc::new(Runnable {
                writes: declaration
                    .writes
                    .as_ref()
                    .map(|writes| writes.iter().map(|attribute| attribute.name.clone()).collect()),
                flow,
                breaker: self.breaker(claimed),
                bound: bound.provided_with(provided).granted_with(granted),
            })),
            Err(error) => Err(error.to_string()),
        })
    }

    fn breaker(&self, claimed: &Claimed) -> Arc<Breaker> {
        let (flow, name) = (claimed.job.key.flow, claimed.job.transition.clone());
        one_of(&self.breakers, (claimed.component_id, flow, name))
    }

    /// The key to secrets: that of the start, or one that was made since.
    fn key(&self) -> Option<Cow<'_, SecretKey>> {
        match &self.secret_key {
            Some(key) => Some(Cow::Borrowed(key)),
            None => self.find_secret_key?().map(Cow::Owned),
        }
    }

    /// Returns the values that the flow's owner gives a transition besides the state. Transitions with the same secrets
    /// share them. Without a key to secrets, later.
    fn provided(&self, flow: &LoadedFlow, transition: &str) -> Result<Result<Arc<Provided>, String>, NotLoaded> {
        let granted = flow.secrets_of(transition);
        let mut known = flow.provided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(provided) = known.get(&granted) {
            return Ok(Ok(Arc::clone(provided)));
        }
        let mut secrets = HashMap::new();
        for sealed in flow.secrets.iter().filter(|sealed| granted.contains_key(&sealed.name)) {
            let Some(key) = self.key() else {
                tracing::warn!(
                    flow = %flow.shape.name,
                    transition,
                    secret = %sealed.name,
                    "this host has no key to secrets, and the transition waits; give the host WEDFLOW_SECRET_KEY, or \
                     secret.key in its home"
                );
                return Err(NotLoaded::Later);
            };
            match key.open(flow.shape.flow_id, sealed) {
                Ok(secret) => secrets.insert(sealed.name.clone(), secret),
                Err(error) => return Ok(Err(format!("the secret \"{}\": {error}", sealed.name))),
            };
        }
        let sent: HashSet<String> = (granted.iter().filter(|(_, sent)| **sent)).map(|(name, _)| name.clone()).collect();
        let provided = Provided::new(Arc::clone(&flow.settings), secrets).only_sent(sent);
        let provided = Arc::new(provided);
        known.insert(granted, Arc::clone(&provided));
        Ok(Ok(provided))
    }

    async fn flow(&self, flow_id: FlowId, version: i32) -> Result<Result<Arc<LoadedFlow>, String>, StoreError> {
        let known = of_version(&self.flows, flow_id, version);
        let loaded = known.kept.get_or_try_init(|| async { Ok(Ok(Arc::new(self.read_flow(flow_id).await?))) });
        let is_new = !known.kept.initialized();
        let loaded = loaded.await.cloned();
        if let (true, Ok(Ok(flow))) = (is_new, &loaded) {
            weigh(&self.flows, flow_id, &known, flow.bytes());
        }
        loaded
    }

    /// Reads a flow. Where its definition changes meanwhile it is read anew, so that no two versions are mixed.
    async fn read_flow(&self, flow_id: FlowId) -> Result<LoadedFlow, StoreError> {
        let mut shape = self.store.flow_shape(flow_id).await?;
        let mut reads = 0;
        loop {
            reads += 1;
            let settings: HashMap<String, String> = self.store.settings(flow_id).await?.into_iter().collect();
            let secrets = self.store.secrets(flow_id).await?;
            let grants = self.store.grants(flow_id).await?;
            let after = self.store.flow_shape(flow_id).await?;
            let is_whole = after.version == shape.version;
            shape = after;
            if is_whole || reads == FLOW_READS_MAX {
                let attributes = FlowAttributes::new(shape.attributes.iter().cloned());
                return Ok(LoadedFlow {
                    shape,
                    clauses: SetClauseCache::new(attributes, CLAUSES_MAX),
                    shapes: Shapes::default(),
                    settings: Arc::new(settings),
                    secrets,
                    grants,
                    provided: Mutex::default(),
                });
            }
        }
    }

    async fn component(&self, id: ComponentId) -> Result<Result<Arc<LoadedComponent>, String>, NotLoaded> {
        let cell = one_of(&self.components, id);
        cell.get_or_try_init(|| async {
            let (tenant, bytes) = match self.store.component_bytes(id).await {
                Ok(found) => found,
                Err(error @ StoreError::NotFound { .. }) => return Ok(Err(error.to_string())),
                Err(error) => return Err(error.into()),
            };
            let (sandbox, limits) = (Arc::clone(&self.sandbox), self.limits.clone());
            let compiled = tokio::task::spawn_blocking(move || sandbox.compile_for(&tenant, &bytes, &limits)).await;
            let component = match compiled {
                Ok(Ok(component)) => component,
                // Only what is the file's own fault is remembered.
                Ok(Err(error)) if error.is_of_machine() => {
                    tracing::warn!(
                        component = id.get(),
                        %error,
                        "a component could not be compiled for now; its jobs wait, and it is tried again; give this \
                         machine more memory and time"
                    );
                    return Err(NotLoaded::Later);
                }
                Ok(Err(error)) => return Ok(Err(error.to_string())),
                Err(error) => {
                    tracing::error!(
                        component = id.get(),
                        %error,
                        "the host failed while it compiled a component; its jobs wait, and it is tried again"
                    );
                    return Err(NotLoaded::Later);
                }
            };
            match self.sandbox.describe(&component).await {
                Ok(manifest) => Ok(Ok(Arc::new(LoadedComponent { component, manifest }))),
                // It described itself when it was uploaded.
                Err(error) if error.is_of_machine() => {
                    tracing::warn!(
                        component = id.get(),
                        %error,
                        "a component could not describe itself for now; its jobs wait; give this machine more memory \
                         and time"
                    );
                    Err(NotLoaded::Later)
                }
                Err(error) => Ok(Err(error.to_string())),
            }
        })
        .await
        .cloned()
    }
}

impl LoadedFlow {
    /// Returns the secrets that a transition may read or send; true for one that it may only send.
    fn secrets_of(&self, transition: &str) -> BTreeMap<String, bool> {
        let among = |list: &[String]| list.iter().any(|name| name == transition);
        (self.secrets.iter())
            .filter_map(|sealed| {
                let reads = among(&sealed.transitions);
                (reads || among(&sealed.senders)).then(|| (sealed.name.clone(), !reads))
            })
            .collect()
    }

    /// Returns the bytes of its settings and secrets.
    fn bytes(&self) -> u64 {
        let settings = self.settings.iter().map(|(key, value)| key.len() + value.len());
        let secrets = self.secrets.iter().map(|secret| secret.ciphertext.len());
        (settings.sum::<usize>() + secrets.sum::<usize>()) as u64
    }

    /// Returns the access outside its call that it grants a transition.
    pub(crate) fn grant(&self, transition: &str) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.transition == transition)
    }
}

impl Runnable {
    /// Decides what to do with a guest's outcome: a returned clause is checked here, before any of it reaches the
    /// database. `account` is the attempt's own, for an outcome that changes nothing.
    pub(crate) fn verdict(&self, outcome: Outcome, account: String) -> Verdict {
        let clauses = &self.flow.clauses;
        let judged = match &outcome {
            Outcome::Clause(text) => {
                clauses.judge_clause(text, self.writes.as_ref(), |text| self.mask(text).into_owned())
            }
            Outcome::Assignments(list) => clauses.judge_assignments(list, self.writes.as_ref()),
            other => {
                return Verdict::Fail {
                    outcome: other.name().to_owned(),
                    message: account,
                    retry: other.may_retry(),
                    after: other.after(),
                };
            }
        };
        match judged {
            Ok(clause) => Verdict::Commit(Rendered::new(
                clause,
                (self.flow.shape.version, &self.flow.shape.gate),
                &self.flow.shapes,
                |name| {
                    self.flow
                        .shape
                        .attributes
                        .iter()
                        .find(|(known, _)| known == name)
                        .map_or("text", |(_, kind)| kind.sql_name())
                },
            )),
            // The same state would give the same clause: no use in trying again.
            Err(message) => Verdict::Fail { outcome: "refused".to_owned(), message, retry: false, after: None },
        }
    }

    /// A text for people, without the secrets that this transition was given.
    pub(crate) fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bound.provided() {
            Some(provided) => provided.mask(text),
            None => Cow::Borrowed(text),
        }
    }
}

fn binding_key(claimed: &Claimed) -> BindingKey {
    (claimed.component_id, claimed.job.key.flow)
}

/// Returns the bytes that a flow's transitions hold: the flow's settings once, and each different set of secrets.
fn bytes_of(transitions: &Transitions) -> u64 {
    let transitions = transitions.lock().unwrap_or_else(PoisonError::into_inner);
    let runnables = || transitions.values().filter_map(|cell| cell.get()?.as_ref().ok());
    let provided: HashMap<*const Provided, usize> = runnables()
        .filter_map(|runnable| runnable.bound.provided())
        .map(|provided| (Arc::as_ptr(provided), provided.memory()))
        .collect();
    let flow = runnables().next().map_or(0, |runnable| runnable.flow.bytes());
    flow + provided.values().sum::<usize>() as u64
}

/// Tells a cache what a value weighs that has been loaded since it was put in.
fn weigh<K, T>(cache: &FlowCache<K, T>, key: K, value: &Arc<Versioned<T>>, bytes: u64)
where
    K: std::hash::Hash + Eq,
    T: Clone,
{
    let is_kept = (cache.peek(&key)).is_some_and(|kept| kept.version == value.version);
    if is_kept && bytes > value.bytes.max(BYTES_MIN) {
        let (version, kept) = (value.version, value.kept.clone());
        let weighed = Arc::new(Versioned { version, kept, bytes });
        cache.insert(key, weighed);
    }
}

/// The value of a key, made where there is none.
fn one_of<K: std::hash::Hash + Eq + Clone, T: Default>(cache: &Cache<K, Arc<T>>, key: K) -> Arc<T> {
    // To make one cannot fail.
    let made: Result<_, std::convert::Infallible> = cache.get_or_insert_with(&key, || Ok(Arc::default()));
    made.unwrap_or_default()
}

/// The value of a key as of a version; what was of another is forgotten.
fn of_version<K, T>(cache: &FlowCache<K, T>, key: K, version: i32) -> Arc<Versioned<T>>
where
    K: std::hash::Hash + Eq,
    T: Default,
{
    if let Some(known) = cache.get(&key)
        && known.version == version
    {
        return known;
    }
    let made = Arc::new(Versioned { version, kept: T::default(), bytes: 0 });
    cache.insert(key, Arc::clone(&made));
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cache_forgets_what_is_used_least_and_one_version_of_a_flow_is_kept() {
        let cache: FlowCache<i32, Arc<Mutex<u32>>> = flow_cache(100);
        let used = of_version(&cache, 1, 7);
        for key in 2..1_000 {
            of_version(&cache, key, 1);
            assert!(Arc::ptr_eq(&used, &of_version(&cache, 1, 7)), "forgotten at {key}");
        }
        assert!(cache.len() <= 104 && cache.len() > 50, "{}", cache.len());
        for version in 8..1_000 {
            of_version(&cache, 1, version);
        }
        assert!(cache.len() <= 104);
        assert!(!Arc::ptr_eq(&used, &of_version(&cache, 1, 7)));
    }
    #[test]
    fn a_cache_of_flows_is_bounded_in_bytes() {
        let cache: FlowCache<i32, Arc<Mutex<u32>>> = flow_cache(100);
        let bound = 100 * BYTES_MIN;
        for key in 0..200 {
            let value = of_version(&cache, key, 1);
            weigh(&cache, key, &value, bound / 20);
            assert!(cache.weight() <= bound, "{}", cache.weight());
        }
        assert!((5..=20).contains(&cache.len()), "{}", cache.len());
    }
}
