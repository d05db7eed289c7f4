//! Arguments of `wed`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use wedflow_documents::IfRunning;
use wedflow_model::AttributeType;

use crate::problem::Problem;

mod cluster;
mod component;
mod context;
mod explain;
mod host;
mod instance_name;
mod job;
mod matching;
mod operate;
mod operator;
mod process;
mod quota;
mod reads;
mod sql;
mod travel;
mod webhook;
mod work;

pub(crate) use cluster::ClusterCommand;
pub(crate) use component::{ComponentCommand, PushArguments};
pub(crate) use context::{ContextCommand, LoginArguments, OwnConfigCommand};
pub(crate) use explain::{GraphArguments, WhatIfArguments, WhyArguments};
pub(crate) use host::{DevArguments, GuestsArgument, HostArguments, ServeArguments};
pub(crate) use instance_name::InstanceName;
pub(crate) use job::{JobCommand, LeasedArguments, LevelArgument};
pub(crate) use matching::{BatchArguments, Matching};
pub(crate) use operate::{
    HookCommand, InstanceTarget, OperateFlow, OperateInstance, OrderCommand, ResourceCommand, ScheduleCommand,
};
pub(crate) use operator::OperatorCommand;
pub(crate) use process::{CheckArguments, FmtArguments};
pub(crate) use quota::QuotaArguments;
pub(crate) use sql::{FormArguments, ShownForm, SqlArguments};
pub(crate) use travel::TravelArguments;
pub(crate) use webhook::WebhookCommand;
pub(crate) use work::{
    AwayCommand, AwayConnection, BeginArguments, CalendarArguments, NotifyArguments, ReportArguments, WorkArguments,
    WorkCommand,
};

/// The tenant that is meant when none is named.
pub(crate) const DEFAULT_TENANT: &str = "default";

/// Host WED-flow business processes: state is a row, conditions are SQL, steps are sandboxed
/// WebAssembly components or any program with a Postgres connection.
#[derive(Debug, Parser)]
#[command(
    name = "wed",
    version = env!("WED_BUILD"),
    arg_required_else_help = true,
    after_help = "Begin with:\n  wed demo paper          run the papers' flow and print its trace\n  wed \
     dev                 keep a host running here\n  wed flow create orders  make a flow of your own; then: \
     psql \"$(wed flow url orders)\"\n  wed explain             list the pages and codes that it explains\n\n\
Without DATABASE_URL, wed keeps a private Postgres of its own (see `wed db --help`).\n\
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no such thing, 4 refused by a rule, 5 database unreachable."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Answer in JSON, one document (`watch`: one per line).
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing about progress.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// The database to use, as postgres://user:password@host:port/name; Postgres 15 or later. Without
    /// it: a private Postgres of our own.
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// The directory of clusters, a database of its own: each command goes to the cluster that the tenant is on.
    #[arg(long, global = true, env = "WEDFLOW_DIRECTORY", hide_env_values = true, value_name = "URL")]
    pub(crate) directory: Option<String>,
    /// The server whose HTTP API is used instead of a database (with --token).
    #[arg(long, global = true, env = "WEDFLOW_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The token of a user, for the server.
    #[arg(long, global = true, env = "WEDFLOW_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// A server of `wed login` by its name; `local` for the database.
    #[arg(long, global = true, env = "WEDFLOW_CONTEXT", value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// A file in PEM of authorities whose certificates are trusted at the server as well.
    #[arg(long = "server-ca", global = true, env = "WEDFLOW_SERVER_CA", value_name = "FILE")]
    pub(crate) trust_server_ca: Option<PathBuf>,
    /// Tenant whose flows and components are meant.
    #[arg(
        long,
        global = true,
        env = "WEDFLOW_TENANT",
        default_value = DEFAULT_TENANT,
        value_name = "NAME"
    )]
    pub(crate) tenant: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in one process, for work and demos: the private Postgres, a host and the HTTP API.
    Dev(DevArguments),
    /// Run a host: it claims jobs, runs components, commits results. Many may share one database. With
    /// --listen it serves the HTTP API as well.
    Serve(ServeArguments),
    /// Bring the database's schema up to this version.
    Migrate,
    /// The private Postgres: start, stop, where it is.
    #[command(subcommand)]
    Db(DbCommand),
    /// Flows: attributes, conditions, transitions, triggers.
    #[command(subcommand)]
    Flow(FlowCommand),
    /// Components: the WebAssembly that performs transitions.
    #[command(subcommand)]
    Component(ComponentCommand),
    /// SQL fragments: would this condition or SET clause be accepted? Needs no database.
    #[command(subcommand)]
    Guard(GuardCommand),
    /// Webhooks of the tenant: URLs that receive its events.
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Instances: start them, look at them.
    #[command(subcommand)]
    Instance(InstanceCommand),
    /// Say why an instance's triggers fired or did not, clause by clause; with --if, what would happen.
    Why(WhyArguments),
    /// Run statements of WSQL and read-only SQL of a flow: at a prompt, from a pipe, or with -c.
    Sql(SqlArguments),
    /// Jobs: what is pending, what attempts came to and logged.
    #[command(subcommand)]
    Job(JobCommand),
    /// Run a recorded attempt again: the same component on the same input, or another.
    Replay(ReplayArguments),
    /// Begin a project of your own; needs no server.
    #[command(subcommand)]
    New(NewCommand),
    /// Build a project's component with its language's tool.
    Build(BuildArguments),
    /// Run a project's fixtures in the sandbox, with the real limits; needs no server.
    Test(TestArguments),
    /// Call a component's transition once, in the sandbox; needs no server.
    Run(RunArguments),
    /// Manage tenants, each with its own flows, components and users. For the installation's operator.
    #[command(subcommand)]
    Tenant(TenantCommand),
    /// Clusters, each a database of tenants of its own, in a directory. For the installation's operator.
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Log in at a server: its address and a token are kept, and used from then on.
    Login(LoginArguments),
    /// Servers that were logged in at, by name: the one in use, and others.
    #[command(subcommand)]
    Context(ContextCommand),
    /// Say which server or database is spoken to, as which tenant and user, and what that one may do.
    Whoami,
    /// Settings of the command line.
    #[command(subcommand)]
    Config(OwnConfigCommand),
    /// Tokens that manage the installation over HTTP. For the installation's operator.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Users of a tenant (`--tenant`) and their roles.
    #[command(subcommand)]
    User(UserCommand),
    /// Tokens, with which users speak to the HTTP API.
    #[command(subcommand)]
    Token(TokenCommand),
    /// People's work: worklists, claims, reports, messages.
    Work(WorkArguments),
    /// Show what was used, by day, flow and transition: commits, fuel, time, memory, bytes.
    Usage(UsageArguments),
    /// Show the audit log: who did what, newest first.
    Audit(AuditArguments),
    /// Hosts, leases, queue and history of the installation; what is wrong, and how to mend it.
    Status,
    /// Serve an assistant by the Model Context Protocol, over standard input and output: tools and documentation.
    Mcp {
        /// Give it tools that change things, too: apply a definition, retry, set, go back.
        #[arg(long)]
        write: bool,
    },
    /// Run one of the sample flows to its end and print its trace.
    Demo(DemoArguments),
    /// Look for what is missing or wrong on this machine and in its database, and say how to mend it.
    Doctor {
        /// Mend what can be mended safely: permissions, the private Postgres, the Rust target.
        #[arg(long)]
        fix: bool,
    },
    /// Explain a code of an error, or print a page of the documentation; needs no server and no network.
    Explain {
        /// The code, such as WF011, or the page; all are listed without it.
        #[arg(value_name = "CODE|PAGE")]
        topic: Option<String>,
    },
    /// Print the script by which a shell completes commands, and names of flows, transitions and instances.
    #[command(after_help = "Put one of these into the shell's profile:\n  bash   source <(wed completions bash)\n  \
                      zsh    source <(wed completions zsh)\n  fish   wed completions fish | source")]
    Completions {
        /// The shell: bash, zsh, fish, elvish or powershell.
        shell: String,
    },
    /// Write a manual page for each command into a folder.
    #[command(hide = true)]
    Manual {
        /// The folder.
        folder: PathBuf,
    },
    /// Print the reference of all commands as Markdown.
    #[command(hide = true)]
    Reference,
}

impl Command {
    /// Returns true if the command runs until it is stopped, so that people read its log.
    pub(crate) fn is_long_running(&self) -> bool {
        matches!(self, Command::Dev(_) | Command::Serve(_))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The attempt, as `wed job logs` names it (orders/17#4); or flow, instance and state; the last one
    /// of the instance when no state is given.
    #[arg(required = true, num_args = 1..=3, value_name = "FLOW/WID#SEQ")]
    pub(crate) target: Vec<String>,
    /// The last attempt at this transition.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) transition: Option<String>,
    /// The attempt of this number.
    #[arg(long, value_name = "N")]
    pub(crate) attempt: Option<i32>,
    /// Run this component over the same input as well, and show the difference.
    #[arg(long, value_name = "FILE.wasm")]
    pub(crate) with: Option<PathBuf>,
    /// Save the attempt as a fixture for `wed test`.
    #[arg(long, value_name = "FILE")]
    pub(crate) fixture: Option<PathBuf>,
    /// With --fixture: attributes whose values are not for a file.
    #[arg(long, value_name = "ATTRIBUTE", value_delimiter = ',', requires = "fixture")]
    pub(crate) mask: Vec<String>,
    /// Secrets, which are never recorded: a file with NAME=VALUE in each line.
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// With --transition and --with: over the last N attempts of the flow, with a summary.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<i64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NewCommand {
    /// Make a project that builds and passes its own tests.
    Transition {
        /// rust, python, js, go or c.
        #[arg(long, short)]
        lang: String,
        /// The component's name: small letters, digits, - and _.
        name: String,
        /// The folder to make it in; one of that name when absent.
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The project's folder.
    #[arg(value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
    /// Install what is missing, where that needs no administrator.
    #[arg(long)]
    pub(crate) install: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct TestArguments {
    /// A project's folder, or a component with `fixtures` next to it; the working folder when absent.
    #[arg(value_name = "FOLDER|FILE.wasm")]
    pub(crate) path: Option<PathBuf>,
    /// Only fixtures whose name holds this (may be given several times).
    #[arg(long, value_name = "PART")]
    pub(crate) name: Vec<String>,
    /// The fixtures' folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) fixtures: Option<PathBuf>,
    /// Write what the calls come to into the fixtures, as what is expected.
    #[arg(long)]
    pub(crate) update: bool,
    /// Build and test again at every change.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Run the project's native tests with its language's own tool instead; nothing is built, no sandbox is set up.
    #[arg(long, conflicts_with_all = ["name", "fixtures", "update", "watch", "properties"])]
    pub(crate) native: bool,
    /// Try this number of random states for each transition as well: it must not trap, and must answer what
    /// the server takes.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "200")]
    pub(crate) properties: Option<usize>,
    /// With --properties: only this transition.
    #[arg(long, short, value_name = "NAME", requires = "properties")]
    pub(crate) transition: Option<String>,
    /// Seed of the random states.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// With --properties: types of attributes that the component leaves open, as name:type,…
    #[arg(long, value_name = "TYPES")]
    pub(crate) attrs: Option<String>,
}

impl TestArguments {
    /// The types that were given.
    pub(crate) fn types(&self) -> Result<BTreeMap<String, AttributeType>, Problem> {
        match &self.attrs {
            None => Ok(Default::default()),
            Some(text) => {
                wedflow_authoring::read_types(text).map_err(|reason| Problem::usage(format!("--attrs: {reason}")))
            }
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The component.
    #[arg(value_name = "FILE.wasm")]
    pub(crate) component: PathBuf,
    /// The state as a JSON object, or @FILE; what is not in it is null.
    #[arg(long, default_value = "{}", value_name = "JSON")]
    pub(crate) state: String,
    /// The transition, where the component has several.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) transition: Option<String>,
    /// Types of attributes that the component leaves open, as name:type,…
    #[arg(long, value_name = "TYPES")]
    pub(crate) attrs: Option<String>,
    /// A setting of the flow (may be given several times).
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// A file of secrets, NAME=VALUE in each line.
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// The time that the transition sees, such as 2026-01-31T12:00:00Z; it moves by sleeping only.
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,
    /// Seed of its random numbers.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Number of the attempt that it sees.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) attempt: u32,
    /// The time it has, such as 10s or 250ms; the component's own suggestion, or 10 s, when absent.
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// Make a tenant.
    Create {
        /// Small letters, digits, - and _.
        name: String,
        /// Description.
        #[arg(long, default_value = "")]
        description: String,
        /// Cluster to make it on; the open one with the fewest tenants, when absent. With a directory.
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
    },
    /// List the tenants.
    List,
    /// Show a tenant.
    Show {
        /// The tenant.
        name: String,
    },
    /// Set a tenant's limits; those that are not named stay. A number, or none.
    Quota {
        /// The tenant.
        name: String,
        #[command(flatten)]
        limits: Box<QuotaArguments>,
    },
    /// Stop a tenant's work: no claims, no API, no logins of its flows.
    Suspend {
        /// The tenant.
        name: String,
    },
    /// Resume a suspended tenant; one that is leaving comes back.
    Resume {
        /// The tenant.
        name: String,
        /// Resume a tenant that has left for a file, where nobody has taken it in: it would run twice.
        #[arg(long)]
        take_back: bool,
        /// With --take-back: the database that it has left for is gone for ever.
        #[arg(long, requires = "take_back")]
        lost_there: bool,
    },
    /// Write a tenant with everything of it to a file, which another installation takes in. It is fenced from then on:
    /// the database refuses each change of it here.
    Export {
        /// The tenant.
        name: String,
        /// File to write; it must not exist.
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
        /// Write a copy of a moment, and let the tenant work on here.
        #[arg(long)]
        snapshot: bool,
        /// Take tokens and the secrets of webhooks along. Secrets of flows are always encrypted.
        #[arg(long)]
        with_secrets: bool,
        #[command(flatten)]
        travel: TravelArguments,
    },
    /// Take a tenant in from a file. A fenced one resumes here; a snapshot stays suspended.
    Import {
        /// File that `wed tenant export` wrote.
        file: PathBuf,
        /// Name here; its own, when absent.
        #[arg(long = "as", value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        travel: TravelArguments,
    },
    /// Move a tenant to another cluster, or to the database of another installation. Repeat the command after an
    /// interruption: it resumes the move.
    Move {
        /// The tenant.
        name: String,
        /// The other database, as postgres://user:password@host:port/name.
        #[arg(
            long,
            value_name = "URL",
            env = "WEDFLOW_MOVE_TO",
            hide_env_values = true,
            required_unless_present = "to_cluster"
        )]
        to: Option<String>,
        /// The other cluster of the directory.
        #[arg(long, value_name = "NAME")]
        to_cluster: Option<String>,
        /// Return to where it was, as long as the tenant has not left.
        #[arg(long)]
        back: bool,
        #[command(flatten)]
        travel: TravelArguments,
        /// Folder of the files of instances at the other installation; with --to-cluster the same as --files, when
        /// absent. Clusters have folders of their names below.
        #[arg(long, value_name = "FOLDER", requires = "files")]
        files_to: Option<PathBuf>,
    },
    /// Pause a tenant's work: nobody claims its jobs; its API and logins stay.
    Pause {
        /// The tenant.
        name: String,
        /// Why; kept in the audit log.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Remove a tenant with everything of it: flows, instances, history, components, users, tokens.
    Delete {
        /// The tenant.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Remove what is left of it at a cluster that it was moved away from. With a directory.
        #[arg(long, value_name = "CLUSTER")]
        left_at: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Make a user.
    Create {
        /// Small letters, digits, - _ . and @.
        name: String,
        /// admin, developer, operator, participant or viewer.
        #[arg(long)]
        role: String,
    },
    /// List the users.
    List,
    /// Give a user another role.
    Role {
        /// The user.
        name: String,
        /// admin, developer, operator, participant or viewer.
        role: String,
    },
    /// Remove a user with the user's tokens.
    Delete {
        /// The user.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token. It is shown this once.
    Create {
        /// User of the token.
        user: String,
        /// Name of the token.
        #[arg(long, default_value = "token")]
        name: String,
        /// Scope within the user's role: read, write, AREA:read or AREA:write (may be given several times).
        /// Everything that the role may, when absent.
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<String>,
        /// Flow that it is for (may be given several times); everything that its scopes allow, when absent.
        #[arg(long, value_name = "NAME")]
        flow: Vec<String>,
        /// Life of the token.
        #[arg(long, default_value_t = 90)]
        days: i32,
    },
    /// List the tokens, without their secrets.
    List {
        /// Only this user's.
        #[arg(long)]
        user: Option<String>,
    },
    /// Replace a token: the new one is shown this once, the old one stays valid for a while.
    Rotate {
        /// The token's id: its first characters.
        id: String,
        /// Days that the new one lives; as many as the old one when it is left out.
        #[arg(long)]
        days: Option<i32>,
        /// Hours for which the old one stays valid.
        #[arg(long, default_value_t = 24)]
        overlap: u32,
    },
    /// Delete a token: it ends at once.
    #[command(alias = "revoke")]
    Delete {
        /// The token's id: its first characters.
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct UsageArguments {
    /// First day (UTC), such as 2026-01-01; today when absent.
    #[arg(long, value_name = "DAY")]
    pub(crate) since: Option<String>,
    /// Last day; today when absent.
    #[arg(long, value_name = "DAY")]
    pub(crate) until: Option<String>,
    /// Print comma-separated values for a billing system, a row at a time.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Of every tenant instead of one.
    #[arg(long)]
    pub(crate) all: bool,
    /// Show the tenant's limits instead, and what it uses of them now.
    #[arg(long, conflicts_with_all = ["since", "until", "csv", "all"])]
    pub(crate) limits: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// Not older than this: a time (RFC 3339), or a span counted back from now, such as '2 hours'.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Maximum number of entries.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: i64,
    /// Of every tenant, and of the installation, instead of one tenant's.
    #[arg(long)]
    pub(crate) all: bool,
    /// Remove what is older than this span instead (30 days at the least).
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["since", "all"])]
    pub(crate) forget: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Check fragments against a flow's attributes, and say where what is wrong.
    #[command(after_help = "Example:\n  wed guard check --kind set --attrs a1:text,qty:integer \"a1='x', qty=qty+1\"")]
    Check {
        /// Kind of the fragments.
        #[arg(long, value_enum)]
        kind: FragmentKind,
        /// The flow's attributes with their types, as in `a1:text,qty:numeric,size:enum(s,m,l)`; without a
        /// type: text.
        #[arg(long, value_name = "NAME:TYPE,…", default_value = "", hide_default_value = true)]
        attrs: String,
        /// Read lines of {"text": …}, and answer each with a line
        /// {"verdict", "code", "message", "position", "token"}.
        #[arg(long)]
        jsonl: bool,
        /// The fragment; with --jsonl the file of lines, standard input when absent.
        #[arg(value_name = "FRAGMENT|FILE", allow_hyphen_values = true)]
        input: Option<String>,
    },
}

/// The two kinds of fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FragmentKind {
    /// A condition, as after WHERE.
    Pred,
    /// The clause that a transition returns, as after SET.
    Set,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Start it, if it is not running.
    Start,
    /// Stop it.
    Stop,
    /// Show whether it runs, and its address.
    Status,
    /// Print the URL of its superuser, for psql. It holds the password.
    Url,
    /// Write a backup of the database that is meant, with its roles, into a new folder. Needs pg_dump of the
    /// server's version or a later one.
    Backup {
        /// The folder to make.
        folder: PathBuf,
    },
    /// Restore a backup into the database that is meant, which must be empty or missing.
    Restore {
        /// The backup's folder.
        folder: PathBuf,
    },
    /// Show or set how long history is kept in the database. Whole days of the trace are dropped; states and
    /// pending work stay. Each is a Postgres interval (`90 days`, `1 year`), or `forever`.
    Retention(RetentionArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RetentionArguments {
    /// The trace: at least a day.
    #[arg(value_name = "INTERVAL")]
    pub(crate) keep: Option<String>,
    /// Attempts that changed nothing: at least an hour, as all below.
    #[arg(long, value_name = "INTERVAL")]
    pub(crate) attempts: Option<String>,
    /// Log lines of transitions.
    #[arg(long, value_name = "INTERVAL")]
    pub(crate) logs: Option<String>,
    /// Recordings, which a replay needs.
    #[arg(long, value_name = "INTERVAL")]
    pub(crate) recordings: Option<String>,
    /// Final instances, from their end, with all that is recorded of them.
    #[arg(long, value_name = "INTERVAL")]
    pub(crate) instances: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowCommand {
    /// Make an empty flow, to be filled by SQL (`wed flow url`) or by `wed flow apply`.
    Create {
        /// Small letters, digits, - and _.
        name: String,
        /// Purpose.
        #[arg(long, default_value = "")]
        description: String,
    },
    /// Make a flow what a definition file says: attributes, triggers, final condition, bindings.
    Apply {
        /// A flow.toml; statements of WSQL (x.wsql); a script of INSERTs (x.sql); or a process in the process language
        /// (x.pdl), each of whose workflows becomes a flow.
        file: PathBuf,
        /// Change nothing: print what would change, and which live instances would then fire what.
        #[arg(long)]
        dry_run: bool,
        /// Of a process: the role whose people may start instances; '' lets anybody. Without it that stays as it is,
        /// and of a new process anybody may.
        #[arg(long, value_name = "ROLE")]
        creator_role: Option<String>,
        /// Do not ask at a terminal, where the changes of a flow that there is are shown first.
        #[arg(long)]
        yes: bool,
    },
    /// Print a source of the process language in one way, in its place.
    Fmt(FmtArguments),
    /// Check a source of the process language without a database: errors, warnings, the flows that it makes.
    Check(CheckArguments),
    /// List the flows.
    List,
    /// Print the events of a flow's instances, or of all flows, in the order of their commits.
    Events {
        /// The flow; all of them without it.
        name: Option<String>,
        /// Begin behind this cursor, which `--json` tells.
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
        /// Print what happens from now on, until interrupted.
        #[arg(long, short)]
        follow: bool,
        /// Maximum number of events.
        #[arg(long, default_value_t = 100)]
        limit: i64,
    },
    /// Show a flow's attributes and triggers.
    Show {
        /// The flow.
        name: String,
        #[command(flatten)]
        form: FormArguments,
    },
    /// Draw a flow as SVG: its triggers, and an arrow where one writes what the other's condition reads.
    Graph(GraphArguments),
    /// Say for which live instances a trigger's condition would have another value if it were another one. Changes
    /// nothing.
    WhatIf(WhatIfArguments),
    /// Print a Postgres URI whose session sees exactly this flow's tables, with its rights only.
    Url {
        /// The flow.
        name: String,
    },
    /// Leave a transition to a component.
    Bind {
        /// The flow.
        flow: String,
        /// The transition, as in wed_trig.trname.
        transition: String,
        /// The component's name.
        component: String,
    },
    /// Leave a transition to external workers.
    Unbind {
        /// The flow.
        flow: String,
        /// The transition.
        transition: String,
    },
    /// After a change of attributes or triggers: which live instances would fire what.
    Rematch {
        /// The flow.
        name: String,
        /// Fire it, instead of showing it.
        #[arg(long)]
        apply: bool,
    },
    #[command(flatten)]
    Operate(OperateFlow),
    /// Settings that the flow's transitions can ask for, in clear text.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Secrets that are granted to single transitions, and kept encrypted.
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Remove a flow with its instances and their history.
    #[command(alias = "drop")]
    Delete {
        /// The flow.
        name: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Give the flow a setting, or another value to one.
    Set {
        /// The flow.
        flow: String,
        /// The setting's name: letters, digits, _, . and -.
        key: String,
        /// Value, at most 64 KiB.
        value: String,
    },
    /// Print a setting.
    Get {
        /// The flow.
        flow: String,
        /// The setting.
        key: String,
    },
    /// Take a setting away.
    #[command(alias = "unset")]
    Delete {
        /// The flow.
        flow: String,
        /// The setting.
        key: String,
    },
    /// List the settings.
    List {
        /// The flow.
        flow: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Give the flow a secret, or another value to one; the value is read from standard input, or asked
    /// for. It is never printed again.
    Set {
        /// The flow.
        flow: String,
        /// The secret's name: letters, digits, _, . and -.
        name: String,
        /// Grant it to this transition at once (may be given several times).
        #[arg(long, value_name = "TRANSITION")]
        grant: Vec<String>,
    },
    /// Say which transitions may ask for a secret; none when none is given.
    Grant {
        /// The flow.
        flow: String,
        /// The secret.
        name: String,
        /// The transitions, as in wed_trig.trname; they replace those granted before.
        transitions: Vec<String>,
        /// They may send it in headers of requests, which the host puts together, and not read it.
        #[arg(long)]
        header_only: bool,
    },
    /// List the secrets: names and grants.
    List {
        /// The flow.
        flow: String,
    },
    /// Take a secret away.
    #[command(alias = "remove")]
    Delete {
        /// The flow.
        flow: String,
        /// The secret.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum InstanceCommand {
    /// Start an instance.
    Start {
        /// The flow.
        flow: String,
        /// Initial values; the other attributes take their defaults.
        #[arg(value_name = "ATTRIBUTE=VALUE")]
        values: Vec<String>,
        /// Initial values as a JSON object, for null, arrays and jsonb.
        #[arg(long, value_name = "JSON")]
        state: Option<String>,
        /// Wait until the instance is final or an exception, and print its trace; meanwhile say what it waits for.
        #[arg(long)]
        wait: bool,
        /// Business key: a name of the instance that no other one of the flow has until it is final.
        #[arg(long, value_name = "TEXT")]
        key: Option<String>,
        /// Answer to an instance that runs under the key: tell that one, refuse, or send it the values as an event.
        #[arg(long, value_enum, default_value = "use", requires = "key")]
        if_running: IfRunningArgument,
        /// An idempotency key: within a day, the same one starts no second instance.
        #[arg(long, value_name = "TEXT")]
        once: Option<String>,
    },
    /// List instances, newest first.
    List {
        /// The flow.
        flow: String,
        #[command(flatten)]
        matching: Matching,
        /// Only those with this business key.
        #[arg(long, value_name = "TEXT")]
        key: Option<String>,
        /// Maximum number of rows.
        #[arg(long, default_value_t = 50)]
        limit: i64,
    },
    /// Show an instance's state, pending jobs and failed attempts.
    Show {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
    },
    /// Print an instance's history.
    Trace {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
    },
    #[command(flatten)]
    Operate(OperateInstance),
    /// Act on all instances that match; without --yes they are counted and the first ones listed only.
    Batch(BatchArguments),
    /// Print an instance's history as it happens, until it is final.
    Watch {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum IfRunningArgument {
    /// Tell it, and start none.
    Use,
    /// Refuse.
    Refuse,
    /// Send it the values as an event.
    Send,
}

impl From<IfRunningArgument> for IfRunning {
    fn from(argument: IfRunningArgument) -> Self {
        match argument {
            IfRunningArgument::Use => IfRunning::Use,
            IfRunningArgument::Refuse => IfRunning::Refuse,
            IfRunningArgument::Send => IfRunning::Send,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StatusArgument {
    /// Neither final nor an exception.
    #[value(alias = "running")]
    Regular,
    /// Ended.
    Final,
    /// In need of recovery.
    Exception,
}

impl From<StatusArgument> for wedflow_documents::Status {
    fn from(status: StatusArgument) -> Self {
        match status {
            StatusArgument::Regular => Self::Regular,
            StatusArgument::Final => Self::Final,
            StatusArgument::Exception => Self::Exception,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Name of the sample; without it they are listed.
    pub(crate) name: Option<String>,
    /// The folder of the sample transitions; found above the working folder or the binary when absent, else those
    /// that are embedded.
    #[arg(long, env = "WEDFLOW_SAMPLES", value_name = "FOLDER")]
    pub(crate) samples: Option<PathBuf>,
    /// Give up when the instances have not ended after this number of seconds.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub(crate) wait: u64,
}
