//! A database for each test, and flows in it.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use wedflow_store::Store;
use wedflow_worker::{Host, HostSettings};

use super::server::{self, on};
use super::{Session, wait};
use wedflow_model::FlowId;

/// The tenant of all flows here.
pub(crate) const TENANT: &str = "default";

/// Connections of a test's store: enough for two hosts of one lane.
const CONNECTIONS: u32 = 8;

/// A migrated database, dropped with the value.
pub(crate) struct Database {
    name: String,
    /// The server's URL, without a database.
    server: String,
    /// Goes with its server.
    thrown_away: bool,
    pub(crate) store: Store,
}

impl Database {
    /// Makes one: a copy of the template, with a mark of its own. A copy has no grants of its template on databases.
    pub(crate) fn new() -> Arc<Self> {
        let (name, template) = (new_name(), template());
        let mut session = Session::open(&format!("{}/postgres", server::url()));
        session.run(&format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\""));
        session.run(&format!("REVOKE CREATE, TEMPORARY ON DATABASE \"{name}\" FROM PUBLIC"));
        let database = Database::named(name, server::url(), false);
        database.owner().run("UPDATE wed.installation SET mark = gen_random_uuid()");
        database
    }

    /// Makes one on a server of the test's own, which is thrown away with it.
    pub(crate) fn at(server: &str) -> Arc<Self> {
        let database = Database::named(new_name(), server, true);
        on(database.store.migrate()).expect("migrated");
        database
    }

    /// A database as a dump has it, not migrated; empty without one.
    pub(crate) fn restored(dump: &str) -> Arc<Self> {
        let database = Database::named(new_name(), server::url(), false);
        database.owner().run(dump);
        database
    }

    /// A database of a name, made if it is not there.
    fn named(name: String, server: &str, thrown_away: bool) -> Arc<Self> {
        let url = format!("{server}/{name}");
        Arc::new(Database {
            name,
            server: server.to_owned(),
            thrown_away,
            store: on(Store::connect_or_create(&url, CONNECTIONS)).expect("a database"),
        })
    }

    /// The URL of its owner.
    pub(crate) fn url(&self) -> String {
        format!("{}/{}", self.server, self.name)
    }

    /// A session of its owner, who sees everything.
    pub(crate) fn owner(self: &Arc<Self>) -> Session {
        Session::on(self, &self.url())
    }

    /// An empty flow.
    pub(crate) fn flow(self: &Arc<Self>, name: &str) -> Flow {
        let id = on(self.store.create_flow(TENANT, name, "")).expect("a flow");
        self.existing(name, id)
    }

    /// A flow as a definition file says, with the file's name for it.
    pub(crate) fn apply(self: &Arc<Self>, file: &Path) -> Flow {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let definition = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.define(&definition)
    }

    /// A flow as a definition says.
    pub(crate) fn define(self: &Arc<Self>, definition: &wedflow_model::FlowDefinition) -> Flow {
        on(self.store.apply(TENANT, definition)).expect("the definition is applied");
        let flow = on(self.store.flow(TENANT, &definition.name)).expect("the flow");
        self.existing(&definition.name, flow.flow_id)
    }

    fn existing(self: &Arc<Self>, name: &str, id: FlowId) -> Flow {
        Flow {
            url: on(self.store.flow_url(TENANT, name)).expect("its URL"),
            database: Arc::clone(self),
            name: name.to_owned(),
            id,
        }
    }

    /// Uploads a component.
    pub(crate) fn upload(&self, name: &str, bytes: &[u8]) {
        on(wedflow_worker::upload(&self.store, TENANT, name, bytes)).expect("uploaded");
    }

    /// Starts a host with connections of its own.
    pub(crate) fn host(&self, settings: HostSettings) -> Host {
        let url = self.url();
        on(async {
            let store = Store::connect(&url, settings.connections()).await.expect("connected");
            Host::start(store, settings).await.expect("a host")
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        on(self.store.close());
        // A second panic would end all tests; the server's databases go with it.
        let may_stay = server::given().is_none() && std::thread::panicking();
        if self.thrown_away || may_stay {
            return;
        }
        // With the server thrown away all of it goes; on somebody's own server nothing may stay behind.
        let roles = match server::given() {
            Some(_) => Session::open(&self.url()).lines("SELECT role_name FROM wed.flow"),
            None => Vec::new(),
        };
        let mut server = Session::open(&format!("{}/postgres", server::url()));
        server.run(&format!("DROP DATABASE \"{}\" WITH (FORCE)", self.name));
        for role in roles {
            server.run(&format!("DROP ROLE \"{role}\""));
        }
    }
}

/// Names a database that is not there.
fn new_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("wedflow_test_{}_{number}", std::process::id())
}

static TEMPLATE: OnceLock<String> = OnceLock::new();

/// A migrated database that others are copied from, and to which nobody is connected: to migrate takes ten times as
/// long as to copy.
fn template() -> &'static str {
    TEMPLATE.get_or_init(|| {
        let name = format!("wedflow_template_{}", std::process::id());
        let url = format!("{}/{name}", server::url());
        let store = on(Store::connect_or_create(&url, 1)).expect("a database");
        on(store.migrate()).expect("migrated");
        on(store.close());
        name
    })
}

/// Drops the template, if there is one: on somebody's own server nothing may stay behind.
pub(crate) fn drop_template() {
    if let Some(name) = TEMPLATE.get() {
        Session::open(&format!("{}/postgres", server::url())).run(&format!("DROP DATABASE \"{name}\" WITH (FORCE)"));
    }
}

/// A flow of a test's database.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) database: Arc<Database>,
    pub(crate) name: String,
    pub(crate) id: FlowId,
    /// The URL of the flow's own role.
    pub(crate) url: String,
}

impl Flow {
    /// A flow in a database of its own, defined by a script that its own role runs.
    pub(crate) fn of(script: &str) -> Self {
        let flow = Database::new().flow("trial");
        flow.session().run(script);
        flow
    }

    /// A session of the flow's own role.
    #[track_caller]
    pub(crate) fn session(&self) -> Session {
        Session::on(&self.database, &self.url)
    }

    /// Leaves a transition to a component.
    pub(crate) fn bind(&self, transition: &str, component: &str) {
        on(self.database.store.bind(self.id, transition, Some(component))).expect("bound");
    }

    /// Waits until an instance is neither regular nor pending; its status.
    #[track_caller]
    pub(crate) fn end_of(&self, wid: i64) -> String {
        let mut session = self.session();
        wait::eventually(&format!("the end of instance {wid}"), || {
            Some(session.status(wid)).filter(|status| status != "R")
        })
    }
}

/// Settings of a host for a test: one lane, so that hosts of many tests fit on the machine.
pub(crate) fn one_lane(name: &str) -> HostSettings {
    HostSettings { name: name.to_owned(), lanes: 1, ..HostSettings::default() }
}

/// A component of the sample transitions.
pub(crate) fn sample_component(name: &str) -> &'static [u8] {
    static READ: OnceLock<std::sync::Mutex<std::collections::HashMap<String, &'static [u8]>>> = OnceLock::new();
    let mut read = READ.get_or_init(Default::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    read.entry(name.to_owned()).or_insert_with(|| {
        let file = super::repository("sample-transitions/target/wasm32-wasip2/release")
            .join(format!("{}.wasm", name.replace('-', "_")));
        Box::leak(
            std::fs::read(&file)
                .unwrap_or_else(|error| panic!("{}: {error}; `make samples` builds it", file.display()))
                .into_boxed_slice(),
        )
    })
}
