//! The commands, a file for each noun.

mod audit;
pub(crate) mod away;
mod backup;
mod component;
pub(crate) mod constrain;
mod db;
mod demo;
mod flow;
mod guard;
mod host;
mod instance;
mod job;
mod manutencao;
pub(crate) mod operate;
mod operate_waiting;
mod operate_webhook;
mod process;
mod project;
mod replay;
mod requisition;
mod run;
mod setting;
mod status;
mod tenant;
mod test;
mod token;
mod user;
pub(crate) mod work;
mod worklists;

pub(crate) use operate_webhook::WebhookCommand;
pub(crate) use process::{CheckArguments, FmtArguments};

use crate::arguments::{Arguments, Command, ComponentCommand, FlowCommand};
use crate::database::{self, FEW_CONNECTIONS};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Does what was asked.
pub(crate) async fn run(arguments: Arguments, terminal: &Terminal) -> Result<(), Problem> {
    match &arguments.command {
        Command::Reference => {
            let options = clap_markdown::MarkdownOptions::new()
                .title("Commands".to_owned())
                .show_footer(false);
            let page = clap_markdown::help_markdown_custom::<Arguments>(&options);
            terminal.line(page.trim_end());
            Ok(())
        }
        Command::New(command) => project::new(command, terminal),
        Command::Build(build) => project::build_command(build, terminal),
        Command::Test(test) => test::run(test, terminal).await,
        Command::Run(call) => run::run(call, terminal).await,
        Command::Db(command) => db::run(&arguments, command, terminal).await,
        Command::Migrate => {
            let store = database::open(&arguments, terminal, 1).await?;
            let (host, port, name) = store.place();
            terminal.answer(
                &serde_json::json!({ "migrated": true, "database": name }),
                || {
                    terminal.line(&format!("Database {name} on {host}:{port} is up to date."));
                },
            );
            Ok(())
        }
        Command::Dev(host) => host::dev(&arguments, host, terminal).await,
        Command::Serve(host) => host::serve(&arguments, host, terminal).await,
        Command::Flow(FlowCommand::Fmt(fmt)) => process::fmt(fmt, terminal),
        Command::Flow(FlowCommand::Check(check)) => process::check(check, terminal),
        Command::Flow(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            flow::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Component(ComponentCommand::Encode { module, output }) => {
            component::encode(module, output, terminal)
        }
        Command::Component(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            component::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Webhook(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            operate_webhook::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Instance(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            instance::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Job(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            job::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Replay(replay) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            replay::run(replay, &arguments.tenant, &store, terminal).await
        }
        Command::Guard(command) => guard::run(command, terminal),
        Command::Tenant(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            tenant::run(command, &store, terminal).await
        }
        Command::User(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            user::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Token(command) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            token::run(command, &arguments.tenant, &store, terminal).await
        }
        Command::Work(work::WorkArguments {
            place,
            command: Some(work::WorkCommand::Away(command)),
            ..
        }) => away::run(place, command, terminal).await,
        Command::Work(work::WorkArguments {
            place,
            command: None,
            ..
        }) if place.has_server() => away::inbox(place, terminal).await,
        Command::Work(work) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            work::run(work, &arguments.tenant, &store, terminal).await
        }
        Command::Audit(audit) => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            audit::run(audit, &arguments.tenant, &store, terminal).await
        }
        Command::Status => {
            let store = database::open(&arguments, terminal, FEW_CONNECTIONS).await?;
            status::run(&store, terminal).await
        }
        Command::Demo(demo) => demo::run(&arguments, demo, terminal).await,
    }
}
