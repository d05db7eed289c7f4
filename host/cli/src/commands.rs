//! The commands, a file for each noun.

mod audit;
pub(crate) mod away;
mod backup;
mod changes;
mod cluster;
mod component;
pub(crate) mod constrain;
mod context;
mod db;
mod demo;
mod dev_watch;
mod doctor;
mod explain;
mod flow;
mod flow_events;
mod flow_hook;
mod guard;
mod host;
mod host_clusters;
mod instance;
mod instance_batch;
mod instance_show;
mod job;
mod job_claimed;
mod manutencao;
mod mcp;
mod moving;
pub(crate) mod operate;
mod operate_waiting;
mod operate_webhook;
mod operator;
mod process;
mod project;
mod prompt;
mod replay;
mod requisition;
mod run;
mod setting;
mod sql;
mod sql_desk;
mod statements;
mod status;
mod tenant;
mod test;
mod token;
mod usage;
mod user;
mod why;
pub(crate) mod work;
mod worklists;

use crate::arguments::{
    Arguments, Command, ComponentCommand, FlowCommand, OwnConfigCommand, WorkArguments, WorkCommand,
};
use crate::completion;
use crate::database;
use crate::directory;
use crate::door::{self, Door, Place};
use crate::problem::Problem;
use crate::terminal::Terminal;
use wedflow_store::{Directory, Store};

/// Wraps a line of Markdown that is prose at 112 characters; further lines of a list's item are indented.
fn wrapped(line: &str) -> String {
    const WIDTH: usize = 112;
    if line.chars().count() <= WIDTH || line.starts_with("**Usage:**") {
        return line.to_owned();
    }
    let indent = if line.starts_with("* ") { "\n  " } else { "\n" };
    let mut text = String::new();
    let mut column = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push_str(indent);
            column = indent.len() - 1;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text
}

/// Prints the page of commands.
fn print_reference(terminal: &Terminal) {
    let options = clap_markdown::MarkdownOptions::new().title("Commands".to_owned()).show_footer(false);
    let page = clap_markdown::help_markdown_custom::<Arguments>(&options);
    for line in page.trim_end().lines() {
        terminal.line(&wrapped(line));
    }
}

/// Brings the database up to date.
async fn migrate(arguments: &Arguments, terminal: &Terminal) -> Result<(), Problem> {
    if let Some(directory) = directory::open(arguments).await? {
        return migrate_clusters(&directory, terminal).await;
    }
    let store = database::make(arguments, terminal, 1).await?;
    let (host, port, name) = store.place();
    terminal.answer(&serde_json::json!({ "migrated": true, "database": name }), || {
        terminal.line(&format!("Database {name} on {host}:{port} is up to date."));
    });
    Ok(())
}

/// Brings the databases of all clusters up to date.
async fn migrate_clusters(directory: &Directory, terminal: &Terminal) -> Result<(), Problem> {
    for cluster in directory.clusters().await? {
        let store = Store::connect(&cluster.url, 1).await?;
        store.migrate().await?;
        let name = cluster.name;
        terminal.answer(&serde_json::json!({ "migrated": true, "cluster": name }), || {
            terminal.line(&format!("Cluster {name} is up to date."));
        });
    }
    Ok(())
}

/// Returns the database for what each cluster keeps for itself.
async fn one_database(arguments: &Arguments, terminal: &Terminal) -> Result<Store, Problem> {
    if directory::url(arguments).is_some() {
        return Err(Problem::usage("this command works on one cluster, and a directory is named")
            .hint("Say --database-url with the cluster's; a token of an operator made there is taken by all."));
    }
    door::open_database(arguments, terminal).await
}

/// Does what was asked.
pub(crate) async fn run(mut arguments: Arguments, terminal: &Terminal) -> Result<(), Problem> {
    if let Ok(Place::Server(server)) = door::place(&arguments)
        && let Command::Work(work) = &mut arguments.command
    {
        work.connection.server = Some(server.url);
        work.connection.token = Some(server.token);
    }
    match &arguments.command {
        Command::Reference => {
            print_reference(terminal);
            Ok(())
        }
        Command::Login(login) => context::login(&arguments, login, terminal).await,
        Command::Context(command) => context::run(command, terminal),
        Command::Whoami => context::whoami(&arguments, terminal).await,
        Command::Config(OwnConfigCommand::Show { origin }) => context::show_config(&arguments, *origin, terminal),
        Command::New(command) => project::new(command, terminal),
        Command::Build(build) => project::build_command(build, terminal),
        Command::Test(test) => test::run(test, terminal).await,
        Command::Run(call) => run::run(call, terminal).await,
        Command::Guard(command) => guard::run(command, terminal),
        Command::Flow(FlowCommand::Fmt(fmt)) => process::fmt(fmt, terminal),
        Command::Flow(FlowCommand::Check(check)) => process::check(check, terminal),
        Command::Component(ComponentCommand::Encode { module, output }) => component::encode(module, output, terminal),
        Command::Db(command) => db::run(&arguments, command, terminal).await,
        Command::Migrate => migrate(&arguments, terminal).await,
        Command::Dev(dev) => host::dev(&arguments, dev, terminal).await,
        Command::Serve(host) => match directory::url(&arguments) {
            Some(url) => host_clusters::serve(url, host, terminal).await,
            None => host::serve(&arguments, host, terminal).await,
        },
        Command::Cluster(command) => cluster::run(command, &arguments, terminal).await,
        Command::Demo(demo) => demo::run(&arguments, demo, terminal).await,
        Command::Doctor { fix } => doctor::run(&arguments, *fix, terminal).await,
        Command::Explain { topic } => explain::run(topic.as_deref(), terminal),
        Command::Completions { shell } => completion::print_script(shell, terminal),
        Command::Manual { folder } => completion::write_manual(folder, terminal),
        Command::Mcp { write } => mcp::run(door::open(&arguments, "operator", terminal).await?, *write).await,
        Command::Work(work) => run_work(&arguments, work, terminal).await,
        _ => run_at_database(&arguments, terminal).await,
    }
}

/// Does what needs the database itself; what the API does is left to it.
async fn run_at_database(arguments: &Arguments, terminal: &Terminal) -> Result<(), Problem> {
    let tenant = &arguments.tenant;
    match &arguments.command {
        Command::Tenant(command) => tenant::run(command, arguments, terminal).await,
        Command::Status => {
            let door = door::open_installation(arguments, terminal).await?;
            status::run(&door, terminal).await
        }
        Command::Operator(command) => {
            let store = one_database(arguments, terminal).await?;
            operator::run(command, &store, terminal).await
        }
        Command::Audit(audit) if audit.all || audit.forget.is_some() => {
            let store = one_database(arguments, terminal).await?;
            audit::run_all(audit, &store, terminal).await
        }
        Command::Usage(asked) if asked.all => {
            let door = door::open_installation(arguments, terminal).await?;
            usage::run(asked, &door, terminal).await
        }
        Command::Flow(FlowCommand::Url { name }) => {
            let store = door::open_database(arguments, terminal).await?;
            store.tenant_number(tenant).await?;
            flow::url(name, tenant, &store, terminal).await
        }
        Command::Replay(replay) if matches!(door::place(arguments)?, Place::Database(_)) => {
            let store = door::open_database(arguments, terminal).await?;
            store.tenant_number(tenant).await?;
            let door = door::of_store(&store, tenant, "operator");
            replay::run(replay, Some(&store), &door, terminal).await
        }
        _ => {
            let door = door::open(arguments, "operator", terminal).await?;
            run_through(&door, &arguments.command, terminal).await
        }
    }
}

/// Does what the API does.
async fn run_through(door: &Door, command: &Command, terminal: &Terminal) -> Result<(), Problem> {
    match command {
        Command::Flow(command) => flow::run(command, door, terminal).await,
        Command::Component(command) => component::run(command, door, terminal).await,
        Command::Webhook(command) => operate_webhook::run(command, door, terminal).await,
        Command::Instance(command) => instance::run(command, door, terminal).await,
        Command::Why(asked) => why::run(asked, door, terminal).await,
        Command::Sql(asked) => sql::run(asked, door, terminal).await,
        Command::Job(command) => job::run(command, door, terminal).await,
        Command::Replay(replay) => replay::run(replay, None, door, terminal).await,
        Command::User(command) => user::run(command, door, terminal).await,
        Command::Token(command) => token::run(command, door, terminal).await,
        Command::Usage(asked) => usage::run(asked, door, terminal).await,
        Command::Audit(audit) => audit::run(audit, door, terminal).await,
        _ => Err(Problem::new("this command has no door")),
    }
}

/// Does people's work: at a server in the name of the token's user, over the database in that of --as.
async fn run_work(arguments: &Arguments, work: &WorkArguments, terminal: &Terminal) -> Result<(), Problem> {
    let connection = &work.connection;
    match &work.command {
        Some(WorkCommand::Away(command)) => return away::run(connection, command, terminal).await,
        None if connection.has_server() => return away::inbox(connection, terminal).await,
        _ => {}
    }
    let person = match connection.has_server() {
        true => "",
        false => work::person_of(work)?,
    };
    let door = door::open(arguments, person, terminal).await?;
    if work.command.is_none() && terminal.has_screen() {
        return away::show(person.to_owned(), door.client(), None).await;
    }
    work::run(work, &door, terminal).await
}
