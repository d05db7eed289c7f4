//! The one door to what a tenant has: the API, over HTTP with a token, or in this process over the database.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use wedflow_api::{Owner, ServedDatabase};
use wedflow_client::{Client, ClientError, Https, InProcess, Sending, Sent, Transport};
use wedflow_model::Wid;
use wedflow_store::{Directory, LOCK_TIMEOUT, Store};

use crate::arguments::{Arguments, InstanceName};
use crate::contexts::{Contexts, LOCAL};
use crate::database::{self, FEW_CONNECTIONS};
use crate::directory;
use crate::problem::Problem;
use crate::secret_key;
use crate::shadow::BENCH;
use crate::terminal::Terminal;

/// Longest run of a statement of a command at one of several clusters.
const CLUSTER_TIME_MAX: Duration = Duration::from_secs(20);

/// Origin of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An option of the command line.
    Option(&'static str),
    /// A variable of the environment.
    Variable(&'static str),
    /// A context of the configuration folder.
    Context(String),
    /// Default: no place was said.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Option(name) => write!(formatter, "option {name}"),
            Origin::Variable(name) => write!(formatter, "variable {name}"),
            Origin::Context(name) => write!(formatter, "context {name}"),
            Origin::Default => formatter.write_str("default"),
        }
    }
}

/// A server, a token, and where they were said.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) trust_ca: Option<PathBuf>,
    pub(crate) origin: Origin,
}

/// Place that a command speaks to.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A server's API.
    Server(Server),
    /// A database, over the API in this process.
    Database(Origin),
}

/// Returns the place that a command speaks to. Options win over the environment, the environment over the context in
/// use.
pub(crate) fn place(arguments: &Arguments) -> Result<Place, Problem> {
    let is_given = crate::in_force::is_given;
    if is_given("--directory") {
        return Ok(Place::Database(Origin::Option("--directory")));
    }
    if is_given("--database-url") {
        return Ok(Place::Database(Origin::Option("--database-url")));
    }
    if is_given("--server") {
        return given_server(arguments, Origin::Option("--server"));
    }
    if let Some(name) = &arguments.context {
        let origin = match is_given("--context") {
            true => Origin::Option("--context"),
            false => Origin::Variable("WEDFLOW_CONTEXT"),
        };
        return of_context(arguments, name, origin);
    }
    if directory::url(arguments).is_some() {
        return Ok(Place::Database(Origin::Variable("WEDFLOW_DIRECTORY")));
    }
    if arguments.server.is_some() && arguments.token.is_some() {
        return given_server(arguments, Origin::Variable("WEDFLOW_SERVER"));
    }
    if arguments.database_url.as_deref().is_some_and(|url| !url.is_empty()) {
        return Ok(Place::Database(Origin::Variable("DATABASE_URL")));
    }
    match Contexts::read()?.current {
        Some(name) => of_context(arguments, &name, Origin::Context(name.clone())),
        None => Ok(Place::Database(Origin::Default)),
    }
}

/// Returns the server that is named, with the token that is.
fn given_server(arguments: &Arguments, origin: Origin) -> Result<Place, Problem> {
    let url = arguments.server.clone().unwrap_or_default();
    let known = Contexts::read()?.context;
    let known = known.into_values().find(|one| one.server == url);
    let token =
        (arguments.token.clone()).or_else(|| known.as_ref().map(|context| context.token.clone())).ok_or_else(|| {
            Problem::usage("a server is named, and no token")
                .hint("Say --token TOKEN, set WEDFLOW_TOKEN, or log in: `wed login`.")
        })?;
    Ok(Place::Server(Server {
        url,
        token,
        trust_ca: (arguments.trust_server_ca.clone()).or_else(|| known.and_then(|context| context.trust_ca)),
        origin,
    }))
}

/// Returns the server of a context, or the database.
fn of_context(arguments: &Arguments, name: &str, origin: Origin) -> Result<Place, Problem> {
    if name == LOCAL {
        return Ok(Place::Database(origin));
    }
    let contexts = Contexts::read()?;
    let context = contexts.named(name)?;
    Ok(Place::Server(Server {
        url: context.server.clone(),
        token: (arguments.token.clone())
            .filter(|_| crate::in_force::is_given("--token"))
            .unwrap_or_else(|| context.token.clone()),
        trust_ca: (arguments.trust_server_ca.clone()).or_else(|| context.trust_ca.clone()),
        origin,
    }))
}

/// The API as a command uses it, and in whose name.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    client: Client,
    pub(crate) tenant: String,
}

impl Door {
    /// Returns the client alone.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns the number of an instance that is named by it, or by its business key.
    pub(crate) async fn wid(&self, flow: &str, name: &InstanceName) -> Result<Wid, ClientError> {
        match name {
            InstanceName::Number(wid) => Ok(*wid),
            InstanceName::Key(key) => Ok(self.client.instance_with_key(flow, key).await?.wid),
        }
    }

    /// Does the same for an instance that need not be named.
    pub(crate) async fn wid_if_named(&self, flow: &str, name: Option<&InstanceName>) -> Result<Option<Wid>, Problem> {
        match name {
            Some(name) => Ok(Some(self.wid(flow, name).await?)),
            None => Ok(None),
        }
    }
}

impl std::ops::Deref for Door {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// A server on another machine: says which server, tenant and user a change is about before the first one is sent.
struct Announced {
    server: Https,
    terminal: Terminal,
    /// Bearer of the token; none before it is known, and after it was said.
    bearer: Arc<Mutex<Option<Bearer>>>,
}

/// Bearer of a token.
enum Bearer {
    /// A tenant's user.
    User {
        /// The tenant.
        tenant: String,
        /// The user.
        user: String,
    },
    /// An operator of the installation.
    Operator,
}

impl Transport for Announced {
    fn send(&self, request: Sent) -> Sending<'_> {
        if request.method() != "GET" {
            let bearer = self.bearer.lock().unwrap_or_else(PoisonError::into_inner).take();
            let server = self.server.server();
            match bearer {
                Some(Bearer::User { tenant, user }) => {
                    (self.terminal).say(&format!("{server}, tenant {tenant}, user {user}"));
                    self.terminal.note(&json!({ "server": server, "tenant": tenant, "user": user }));
                }
                Some(Bearer::Operator) => {
                    (self.terminal).say(&format!("{server}, operator of the installation"));
                    self.terminal.note(&json!({ "server": server, "tenant": null, "user": "operator" }));
                }
                None => {}
            }
        }
        self.server.send(request)
    }

    fn server(&self) -> &str {
        self.server.server()
    }
}

/// Connects to a server.
pub(crate) fn connect(server: &Server) -> Result<Https, Problem> {
    let authorities = server.trust_ca.as_ref().map(|file| {
        std::fs::read(file)
            .map_err(|source| Problem::usage(format!("{} cannot be read", file.display())).because(source))
    });
    let authorities = authorities.transpose()?;
    Ok(Https::new(&server.url, &server.token, authorities.as_deref())?)
}

/// Opens the door that a command speaks through, as a tenant; over the database in the name of `user`.
pub(crate) async fn open(arguments: &Arguments, user: &str, terminal: &Terminal) -> Result<Door, Problem> {
    match place(arguments)? {
        Place::Server(server) => of_server(arguments, &server, terminal).await,
        Place::Database(_) => {
            let store = database::open(arguments, terminal, FEW_CONNECTIONS).await?;
            // Refuses a name that no tenant has, instead of an answer as if the tenant had nothing.
            store.tenant_number(&arguments.tenant).await?;
            Ok(of_store(&store, &arguments.tenant, user))
        }
    }
}

/// Opens the door to the installation: at a server with the token of an operator, or over the database.
pub(crate) async fn open_installation(arguments: &Arguments, terminal: &Terminal) -> Result<Door, Problem> {
    match place(arguments)? {
        Place::Server(server) => {
            let is_far = !is_local(&server.url);
            Ok(Door {
                client: Client::new(Announced {
                    server: connect(&server)?,
                    terminal: *terminal,
                    bearer: Arc::new(Mutex::new(is_far.then_some(Bearer::Operator))),
                }),
                tenant: String::new(),
            })
        }
        Place::Database(_) => match directory::open(arguments).await? {
            Some(directory) => of_directory(&directory, &arguments.tenant).await,
            None => {
                let store = database::open(arguments, terminal, FEW_CONNECTIONS).await?;
                Ok(of_store(&store, &arguments.tenant, "operator"))
            }
        },
    }
}

/// Opens the door to the installation over all clusters of a directory.
async fn of_directory(directory: &Directory, tenant: &str) -> Result<Door, Problem> {
    let mut clusters = Vec::new();
    for cluster in directory.clusters().await? {
        clusters.push(Arc::new(ServedDatabase {
            store: Store::at(&cluster.url)?.bounded(FEW_CONNECTIONS, CLUSTER_TIME_MAX, LOCK_TIMEOUT),
            name: cluster.name,
            replica: None,
            tracer: None,
        }));
    }
    if clusters.is_empty() {
        return Err(Problem::new("the directory has no cluster")
            .code("not_found")
            .exit(3)
            .hint("`wed cluster add NAME --url URL` adds one."));
    }
    let owner = owner(tenant, "operator");
    let service = wedflow_api::in_process_placed(directory, &clusters, &owner).await;
    Ok(Door { client: Client::new(InProcess::new(service, "the clusters")), tenant: tenant.to_owned() })
}

/// Opens the door over a database as it is, for a tenant: nothing is started or brought up to date.
pub(crate) async fn over(url: &str, tenant: &str) -> Result<Door, Problem> {
    let store = Store::connect(url, FEW_CONNECTIONS).await?;
    Ok(of_store(&store, tenant, "operator"))
}

/// Opens the database for what needs it itself.
pub(crate) async fn open_database(arguments: &Arguments, terminal: &Terminal) -> Result<Store, Problem> {
    must_be_database(arguments)?;
    database::open(arguments, terminal, FEW_CONNECTIONS).await
}

/// Returns the door over a database that is open, as a tenant, in the name of `user`.
pub(crate) fn of_store(store: &Store, tenant: &str, user: &str) -> Door {
    let service = wedflow_api::in_process(store, owner(tenant, user));
    Door { client: Client::new(InProcess::new(service, "the database")), tenant: tenant.to_owned() }
}

/// The owner of the installation, who acts as a tenant in the name of `user`.
fn owner(tenant: &str, user: &str) -> Owner {
    Owner {
        tenant: tenant.to_owned(),
        user: user.to_owned(),
        connections: FEW_CONNECTIONS,
        find_secret_key: Some(|| secret_key::existing_or_new().ok()),
        bench: Some(BENCH),
    }
}

/// Opens the door to a server: asks whose the token is.
async fn of_server(arguments: &Arguments, server: &Server, terminal: &Terminal) -> Result<Door, Problem> {
    let bearer = Arc::new(Mutex::new(None));
    let client = Client::new(Announced { server: connect(server)?, terminal: *terminal, bearer: Arc::clone(&bearer) });
    let me = client.me().await?;
    if crate::in_force::is_given("--tenant") && arguments.tenant != me.tenant {
        return Err(Problem::usage(format!("the token belongs to tenant {}, not to {}", me.tenant, arguments.tenant))
            .hint("Leave --tenant out, or use a token of that tenant."));
    }
    if !is_local(&server.url) {
        let named = Bearer::User { tenant: me.tenant.clone(), user: me.user.clone() };
        *bearer.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
    }
    Ok(Door { client, tenant: me.tenant })
}

/// Returns true for an address of this machine.
fn is_local(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let number = host.trim_start_matches('[').trim_end_matches(']').parse();
    host == "localhost" || number.is_ok_and(|number: IpAddr| number.is_loopback())
}

/// Refuses a command that needs the database where a server is meant.
pub(crate) fn must_be_database(arguments: &Arguments) -> Result<(), Problem> {
    match place(arguments)? {
        Place::Database(_) => Ok(()),
        Place::Server(server) => Err(Problem::usage(format!(
            "this command needs the database, and {} is a server ({})",
            server.url, server.origin
        ))
        .hint("Say --database-url URL, or `--context local` for the private Postgres.")),
    }
}
