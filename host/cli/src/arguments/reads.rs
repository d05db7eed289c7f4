//! Commands that change nothing.

use super::{
    ClusterCommand, Command, ComponentCommand, ConfigCommand, FlowCommand, HookCommand, InstanceCommand, JobCommand,
    OperateFlow, OrderCommand, ResourceCommand, ScheduleCommand, SecretCommand, TenantCommand, TokenCommand,
    UserCommand, WebhookCommand, WorkCommand,
};

impl Command {
    /// Returns true if the command changes nothing, wherever it looks.
    pub(crate) fn only_reads(&self) -> bool {
        match self {
            Command::Whoami | Command::Status | Command::Usage(_) | Command::Replay(_) => true,
            Command::Job(command) => {
                matches!(command, JobCommand::List { .. } | JobCommand::Logs { .. })
            }
            Command::Flow(command) => match command {
                FlowCommand::List | FlowCommand::Show { .. } | FlowCommand::Url { .. } | FlowCommand::Events { .. } => {
                    true
                }
                FlowCommand::Apply { dry_run, .. } => *dry_run,
                FlowCommand::Rematch { apply, .. } => !apply,
                FlowCommand::Config(command) => {
                    matches!(command, ConfigCommand::Get { .. } | ConfigCommand::List { .. })
                }
                FlowCommand::Secret(command) => matches!(command, SecretCommand::List { .. }),
                FlowCommand::Operate(command) => match command {
                    OperateFlow::Retry { yes, .. } | OperateFlow::Rollback { yes, .. } => !yes,
                    OperateFlow::Schedule(command) => {
                        matches!(command, ScheduleCommand::List { .. })
                    }
                    OperateFlow::Hook(command) => matches!(command, HookCommand::List { .. }),
                    OperateFlow::Resource(command) => {
                        matches!(command, ResourceCommand::List { .. })
                    }
                    OperateFlow::Order(command) => matches!(command, OrderCommand::List { .. }),
                    OperateFlow::Pause { .. } | OperateFlow::Resume { .. } => false,
                    _ => true,
                },
                _ => false,
            },
            Command::Instance(command) => {
                !matches!(command, InstanceCommand::Start { .. } | InstanceCommand::Operate(_))
            }
            Command::Component(command) => {
                matches!(command, ComponentCommand::List | ComponentCommand::Show { .. })
            }
            Command::Tenant(command) => {
                matches!(command, TenantCommand::List | TenantCommand::Show { .. })
            }
            Command::Cluster(command) => matches!(command, ClusterCommand::List),
            Command::User(command) => matches!(command, UserCommand::List),
            Command::Token(command) => matches!(command, TokenCommand::List { .. }),
            Command::Webhook(command) => matches!(command, WebhookCommand::List),
            Command::Mcp { write } => !write,
            Command::Audit(audit) => audit.forget.is_none(),
            Command::Work(work) => {
                matches!(work.command, None | Some(WorkCommand::List { .. } | WorkCommand::Show { .. }))
            }
            _ => false,
        }
    }
}
