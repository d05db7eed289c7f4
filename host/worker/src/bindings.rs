//! Components, compiled once, and transitions bound to flows, once for each version of a flow.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use wedflow_contract::Manifest;
use wedflow_guard::{FlowAttributes, SetClauseCache};
use wedflow_model::{ComponentId, FlowId, Limits, Outcome};
use wedflow_sandbox::{Bound, Component, Provided, Sandbox};
use wedflow_store::{Claimed, FlowShape, Grant, SealedSecret, Store, StoreError};

use crate::SecretKey;
use crate::breaker::Breaker;
use crate::host::FindSecretKey;
use crate::outside::Outside;
use crate::results::{Rendered, Shapes, Verdict};

/// How many bindings, flows and components are kept before all are forgotten and loaded anew.
const KEPT: usize = 4_096;
/// How many checked clauses are kept for each version of a flow.
const CLAUSES_KEPT: usize = 1_024;

/// A flow as a host sees it.
#[derive(Debug)]
pub(crate) struct LoadedFlow {
    pub(crate) shape: FlowShape,
    pub(crate) clauses: SetClauseCache,
    pub(crate) shapes: Shapes,
    settings: HashMap<String, String>,
    secrets: Vec<SealedSecret>,
    grants: Vec<Grant>,
}

/// A transition that can be run.
#[derive(Debug)]
pub(crate) struct Runnable {
    pub(crate) flow: Arc<LoadedFlow>,
    pub(crate) bound: Bound,
    /// How its attempts ended lately, whatever the flow's version.
    pub(crate) breaker: Arc<Breaker>,
    writes: Option<BTreeSet<String>>,
}

/// Why it is not known whether a transition can be run.
#[derive(Debug)]
pub(crate) enum NotLoaded {
    /// The database does not answer, or refuses.
    Store(StoreError),
    /// It is this machine's fault, and another time it may go: the job waits, and no attempt is counted.
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
/// Component, flow, the flow's version.
type BindingKey = (ComponentId, FlowId, i32);

/// What a host has loaded.
pub(crate) struct Bindings {
    store: Store,
    sandbox: Arc<Sandbox>,
    limits: Limits,
    secret_key: Option<SecretKey>,
    find_secret_key: Option<FindSecretKey>,
    outside: Outside,
    components: Mutex<foldhash::HashMap<ComponentId, Cell<LoadedComponent>>>,
    flows: Mutex<foldhash::HashMap<(FlowId, i32), Cell<LoadedFlow>>>,
    /// By component, flow and transition.
    breakers: Mutex<foldhash::HashMap<(FlowId, ComponentId, String), Arc<Breaker>>>,
    /// By transition.
    runnables: Mutex<foldhash::HashMap<BindingKey, foldhash::HashMap<String, Cell<Runnable>>>>,
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
            components: Mutex::default(),
            flows: Mutex::default(),
            breakers: Mutex::default(),
            runnables: Mutex::default(),
        }
    }

    /// What runs a claimed job, where it is loaded already.
    pub(crate) fn known(&self, claimed: &Claimed) -> Option<Arc<Runnable>> {
        let runnables = (self.runnables.lock()).unwrap_or_else(PoisonError::into_inner);
        let cell = (runnables.get(&binding_key(claimed))?).get(&claimed.job.transition)?;
        cell.get()?.as_ref().ok().cloned()
    }

    /// What runs a claimed job.
    ///
    /// # Errors
    /// The outer one: it cannot be known now. The inner one: why it cannot be run, for a person.
    pub(crate) async fn runnable(
        &self,
        claimed: &Claimed,
    ) -> Result<Result<Arc<Runnable>, String>, NotLoaded> {
        let cell = {
            let mut runnables = (self.runnables.lock()).unwrap_or_else(PoisonError::into_inner);
            let transitions = bounded(&mut runnables, binding_key(claimed));
            Arc::clone(
                transitions
                    .entry(claimed.job.transition.clone())
                    .or_default(),
            )
        };
        cell.get_or_try_init(|| self.load(claimed)).await.cloned()
    }

    /// Whether a claimed job's tenant is suspended, as far as the flow's version at the claim tells.
    ///
    /// # Errors
    /// The database is away.
    pub(crate) async fn is_suspended(&self, claimed: &Claimed) -> Result<bool, StoreError> {
        let flow = self
            .flow(claimed.job.key.flow, claimed.flow_version)
            .await?;
        Ok(flow.is_ok_and(|flow| flow.shape.suspended))
    }

    async fn load(&self, claimed: &Claimed) -> Result<Result<Arc<Runnable>, String>, NotLoaded> {
        let component = match self.component(claimed.component_id).await? {
            Ok(component) => component,
            Err(reason) => return Ok(Err(reason)),
        };
        let flow = match self
            .flow(claimed.job.key.flow, claimed.flow_version)
            .await?
        {
            Ok(flow) => flow,
            Err(reason) => return Ok(Err(reason)),
        };
        let name = &claimed.job.transition;
        let Some(declaration) = component.manifest.transition(name) else {
            let declared: Vec<&str> = component
                .manifest
                .transitions
                .iter()
                .map(|d| d.transition.as_str())
                .collect();
            return Ok(Err(format!(
                "the component does not declare transition \"{name}\"; it declares {}",
                declared.join(", ")
            )));
        };
        let provided = match self.provided(&flow, name)? {
            Ok(provided) => Arc::new(provided),
            Err(reason) => return Ok(Err(reason)),
        };
        let granted = match self.outside.granted(&flow, name) {
            Ok(granted) => granted,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(
            match component
                .component
                .bind(declaration, &flow.shape.attributes)
            {
                Ok(bound) => Ok(Arc::new(Runnable {
                    writes: declaration.writes.as_ref().map(|writes| {
                        writes
                            .iter()
                            .map(|attribute| attribute.name.clone())
                            .collect()
                    }),
                    flow,
                    breaker: self.breaker(claimed),
                    bound: bound.provided_with(provided).granted_with(granted),
                })),
                Err(error) => Err(error.to_string()),
            },
        )
    }

    fn breaker(&self, claimed: &Claimed) -> Arc<Breaker> {
        let (flow, name) = (claimed.job.key.flow, claimed.job.transition.clone());
        let mut breakers = (self.breakers.lock()).unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bounded(&mut breakers, (flow, claimed.component_id, name)))
    }

    /// The key to secrets: that of the start, or one that was made since.
    fn key(&self) -> Option<Cow<'_, SecretKey>> {
        match &self.secret_key {
            Some(key) => Some(Cow::Borrowed(key)),
            None => self.find_secret_key?().map(Cow::Owned),
        }
    }

    /// What the flow's owner gives a transition beside the state. Without a key to secrets, later.
    fn provided(
        &self,
        flow: &LoadedFlow,
        transition: &str,
    ) -> Result<Result<Provided, String>, NotLoaded> {
        let mut secrets = HashMap::new();
        let mut sent = HashSet::new();
        for sealed in &flow.secrets {
            let among = |list: &[String]| list.iter().any(|name| name == transition);
            let reads = among(&sealed.transitions);
            if !reads && !among(&sealed.senders) {
                continue;
            }
            if !reads {
                sent.insert(sealed.name.clone());
            }
            let Some(key) = self.key() else {
                tracing::warn!(
                    flow = %flow.shape.name, transition, secret = %sealed.name,
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
        Ok(Ok(
            Provided::new(flow.settings.clone(), secrets).only_sent(sent)
        ))
    }

    async fn flow(
        &self,
        flow_id: FlowId,
        version: i32,
    ) -> Result<Result<Arc<LoadedFlow>, String>, StoreError> {
        let cell = cell(&self.flows, (flow_id, version));
        cell.get_or_try_init(|| async {
            let shape = self.store.flow_shape(flow_id).await?;
            let attributes = FlowAttributes::new(shape.attributes.iter().cloned());
            Ok(Ok(Arc::new(LoadedFlow {
                shape,
                clauses: SetClauseCache::new(attributes, CLAUSES_KEPT),
                shapes: Shapes::default(),
                settings: self.store.settings(flow_id).await?.into_iter().collect(),
                secrets: self.store.secrets(flow_id).await?,
                grants: self.store.grants(flow_id).await?,
            })))
        })
        .await
        .cloned()
    }

    async fn component(
        &self,
        id: ComponentId,
    ) -> Result<Result<Arc<LoadedComponent>, String>, NotLoaded> {
        let cell = cell(&self.components, id);
        cell.get_or_try_init(|| async {
            let (tenant, bytes) = match self.store.component_bytes(id).await {
                Ok(found) => found,
                Err(error @ StoreError::NotFound { .. }) => return Ok(Err(error.to_string())),
                Err(error) => return Err(error.into()),
            };
            let (sandbox, limits) = (Arc::clone(&self.sandbox), self.limits.clone());
            let compiled =
                tokio::task::spawn_blocking(move || sandbox.compile_for(&tenant, &bytes, &limits))
                    .await;
            let component = match compiled {
                Ok(Ok(component)) => component,
                // Only what is the file's own fault is remembered.
                Ok(Err(error)) if error.is_of_machine() => {
                    tracing::warn!(component = %id, %error, "a component could not be compiled for now; its jobs wait");
                    return Err(NotLoaded::Later);
                }
                Ok(Err(error)) => return Ok(Err(error.to_string())),
                Err(error) => {
                    tracing::error!(component = %id, %error, "the host failed while it compiled a component");
                    return Err(NotLoaded::Later);
                }
            };
            Ok(match self.sandbox.describe(&component).await {
                Ok(manifest) => Ok(Arc::new(LoadedComponent {
                    component,
                    manifest,
                })),
                Err(error) => Err(error.to_string()),
            })
        })
        .await
        .cloned()
    }
}

impl LoadedFlow {
    /// What it lets a transition reach beyond its call.
    pub(crate) fn grant(&self, transition: &str) -> Option<&Grant> {
        self.grants
            .iter()
            .find(|grant| grant.transition == transition)
    }
}

impl Runnable {
    /// What is to be done with a guest's outcome: a returned clause is checked here, before anything of
    /// it comes near the database. `account` is the attempt's own, for an outcome that changes nothing.
    pub(crate) fn verdict(&self, outcome: Outcome, account: String) -> Verdict {
        let clauses = &self.flow.clauses;
        let judged = match &outcome {
            Outcome::Clause(text) => clauses.judge_clause(text, self.writes.as_ref(), |text| {
                self.mask(text).into_owned()
            }),
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
                &self.flow.shape.gate,
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
            Err(message) => Verdict::Fail {
                outcome: "refused".to_owned(),
                message,
                retry: false,
                after: None,
            },
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
    (
        claimed.component_id,
        claimed.job.key.flow,
        claimed.flow_version,
    )
}

fn cell<K: Hash + Eq, T>(map: &Mutex<foldhash::HashMap<K, Cell<T>>>, key: K) -> Cell<T> {
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(bounded(&mut map, key))
}

/// The value of a key, in a map that begins anew rather than grow without end.
fn bounded<K: Hash + Eq, T: Default>(map: &mut foldhash::HashMap<K, T>, key: K) -> &mut T {
    if map.len() >= KEPT && !map.contains_key(&key) {
        map.clear();
    }
    map.entry(key).or_default()
}
