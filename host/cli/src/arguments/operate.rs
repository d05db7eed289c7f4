//! Arguments of operators' commands on instances, flows, schedules, resources and orders.

use clap::{Args, Subcommand};

use super::InstanceName;

/// An instance, and why something is done to it.
#[derive(Debug, Args)]
pub(crate) struct InstanceTarget {
    /// The flow.
    pub(crate) flow: String,
    /// The instance: its number, or `key:NAME`.
    pub(crate) wid: InstanceName,
    /// Why; kept in the trace and in the audit log.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperateInstance {
    /// Retry: an exception fires what its state satisfies; a running instance's waiting jobs are due now.
    Retry {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
        /// Why; kept in the trace and in the audit log.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
    },
    /// End an instance now: its pending jobs are dropped, it is final.
    Cancel(InstanceTarget),
    /// Pause an instance: nobody claims its jobs.
    Pause(InstanceTarget),
    /// Resume a paused instance.
    Resume {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
    },
    /// Drop a pending job without running it.
    Skip {
        #[command(flatten)]
        target: InstanceTarget,
        /// The transition.
        #[arg(long, short, value_name = "NAME")]
        transition: String,
    },
    /// Send an exception back: the compensations of its steps are run, newest first. Called again, it continues
    /// where one failed.
    Back {
        #[command(flatten)]
        target: InstanceTarget,
        /// The row of the trace (`wed instance trace`) to whose state it goes back.
        #[arg(long, value_name = "SEQ")]
        to: i32,
    },
    /// Send an event: set open attributes of a running instance; what the new state satisfies is fired.
    Event {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
        /// New values; the other attributes stay.
        #[arg(value_name = "ATTRIBUTE=VALUE")]
        values: Vec<String>,
        /// New values as a JSON object, for null, arrays and jsonb.
        #[arg(long, value_name = "JSON")]
        state: Option<String>,
        /// A key of your choice: within a day, the same key sends no second event.
        #[arg(long, value_name = "TEXT")]
        key: Option<String>,
    },
    /// Set attributes of an exception by hand; what the new state satisfies is fired.
    Set {
        #[command(flatten)]
        target: InstanceTarget,
        /// New values; the other attributes stay.
        #[arg(value_name = "ATTRIBUTE=VALUE")]
        values: Vec<String>,
        /// New values as a JSON object, for null, arrays and jsonb.
        #[arg(long, value_name = "JSON")]
        state: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperateFlow {
    /// Retry a flow's exceptions that match; without --yes they are counted and listed only.
    Retry {
        /// The flow.
        flow: String,
        /// Only those that this transition's failure made.
        #[arg(long, short, value_name = "NAME")]
        transition: Option<String>,
        /// Only those whose reason holds this text.
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
        /// Only those since this time (RFC 3339), or for this long, such as "2 hours".
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Why; kept in the trace and in the audit log.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,
        /// Do it.
        #[arg(long)]
        yes: bool,
    },
    /// Pause a flow, or one of its triggers: nobody claims their jobs.
    Pause {
        /// The flow.
        flow: String,
        /// Only this trigger: its name, or its transition's.
        #[arg(long, value_name = "NAME")]
        trigger: Option<String>,
        /// Why; kept in the audit log.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Resume a paused flow or trigger.
    Resume {
        /// The flow.
        flow: String,
        /// Only this trigger.
        #[arg(long, value_name = "NAME")]
        trigger: Option<String>,
    },
    /// List what is paused in the tenant.
    Pauses,
    /// List the definitions that a flow had, newest first.
    History {
        /// The flow.
        flow: String,
    },
    /// Show how two of a flow's definitions differ; the last two when none is given.
    Diff {
        /// The flow.
        flow: String,
        /// The older version.
        old: Option<i32>,
        /// The newer version.
        new: Option<i32>,
    },
    /// Apply an earlier definition of a flow again; without --yes show what it would do.
    Rollback {
        /// The flow.
        flow: String,
        /// The version; the one before the newest when absent.
        version: Option<i32>,
        /// Do it.
        #[arg(long)]
        yes: bool,
    },
    /// Schedules that start instances.
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Inbound hooks, by which others' webhooks start instances and set attributes.
    #[command(subcommand)]
    Hook(HookCommand),
    /// Look for what of a flow cannot work: dead triggers, endless loops, write conflicts, circles of waiting.
    Lint {
        /// The flow.
        flow: String,
    },
    /// List what a flow's instances have reserved, and what they wait for.
    Reservations {
        /// The flow.
        flow: String,
    },
    /// List or set the stock of keys that are reserved by quantity.
    #[command(subcommand)]
    Resource(ResourceCommand),
    /// List, add or drop orders of tasks while the flow runs.
    #[command(subcommand)]
    Order(OrderCommand),
}

/// Inbound hooks, by verb.
#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Make an inbound hook, or change the one of that name.
    Set {
        /// The flow.
        flow: String,
        /// The hook's name.
        name: String,
        /// Way in which messages are signed.
        #[arg(long, default_value = "standard", value_parser = ["standard", "github"])]
        scheme: String,
        /// Start an instance, set open attributes of the one that runs under the key, or the one or the other.
        #[arg(long, default_value = "start", value_parser = ["start", "set", "both"])]
        acts: String,
        /// JSON pointer to the business key.
        #[arg(long, value_name = "POINTER")]
        key: Option<String>,
        /// Secret of the sender; a random one for a new hook without it.
        #[arg(long)]
        secret: Option<String>,
        /// Attributes, each with the JSON pointer to its value in a message.
        #[arg(value_name = "ATTRIBUTE=POINTER")]
        attributes: Vec<String>,
    },
    /// List a flow's inbound hooks.
    List {
        /// The flow.
        flow: String,
    },
    /// Replace the secret of an inbound hook; messages that are signed with the old one are taken for a while.
    Rotate {
        /// The flow.
        flow: String,
        /// The hook.
        name: String,
        /// The new secret of the sender; a random one without it.
        #[arg(long)]
        secret: Option<String>,
        /// Hours for which the old secret is taken, too; at most 720.
        #[arg(long, value_name = "HOURS", default_value_t = 24)]
        overlap: u32,
    },
    /// Delete an inbound hook.
    Delete {
        /// The flow.
        flow: String,
        /// The hook.
        name: String,
    },
}

/// Schedules, by verb.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// Make a schedule, or change the one of that name.
    Set {
        /// The flow.
        flow: String,
        /// The schedule's name.
        name: String,
        /// Minute, hour, day of month, month and weekday; or seconds in front of them.
        #[arg(long, value_name = "PATTERN")]
        cron: String,
        /// The time zone, as in the IANA database.
        #[arg(long, default_value = "UTC")]
        zone: String,
        /// Policy for times that passed while no host ran: skip, one or all.
        #[arg(long, default_value = "one", value_parser = ["skip", "one", "all"])]
        missed: String,
        /// While the instance started last is running: start another, or skip.
        #[arg(long, default_value = "start", value_parser = ["start", "skip"])]
        overlap: String,
        /// Initial values of the instances.
        #[arg(value_name = "ATTRIBUTE=VALUE")]
        values: Vec<String>,
    },
    /// List a flow's schedules.
    List {
        /// The flow.
        flow: String,
    },
    /// Pause a schedule.
    Pause {
        /// The flow.
        flow: String,
        /// The schedule.
        name: String,
    },
    /// Resume a schedule.
    Resume {
        /// The flow.
        flow: String,
        /// The schedule.
        name: String,
    },
    /// Remove a schedule; its instances stay.
    #[command(alias = "remove")]
    Delete {
        /// The flow.
        flow: String,
        /// The schedule.
        name: String,
    },
    /// Start an instance for each time between two.
    Backfill {
        /// The flow.
        flow: String,
        /// The schedule.
        name: String,
        /// The first time (RFC 3339).
        #[arg(long, value_name = "TIME")]
        from: String,
        /// The time before which it ends (RFC 3339).
        #[arg(long, value_name = "TIME")]
        until: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ResourceCommand {
    /// List what there is, and how much of it is held.
    List {
        /// The flow.
        flow: String,
    },
    /// Set the stock of a key; requests that wait for more are served.
    Set {
        /// The flow.
        flow: String,
        /// The key.
        key: String,
        /// Capacity.
        capacity: String,
        /// Minimum that is always left.
        #[arg(long, default_value = "0", value_name = "NUMBER")]
        minimum: String,
        /// The resource that flows share; the flow's own when absent.
        #[arg(long, value_name = "NAME")]
        resource: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrderCommand {
    /// List the orders that were added.
    List {
        /// The flow.
        flow: String,
    },
    /// Let a trigger's jobs wait until others are done.
    Add {
        /// The flow.
        flow: String,
        /// The trigger that waits: its name, or its transition's.
        trigger: String,
        /// The triggers that come first, with AND, OR and parentheses.
        after: String,
        /// Only of this instance.
        #[arg(long, value_name = "WID")]
        instance: Option<InstanceName>,
    },
    /// Drop an order that was added.
    #[command(alias = "drop")]
    Delete {
        /// The flow.
        flow: String,
        /// The trigger that waits.
        trigger: String,
        /// The triggers that come first, as they were added.
        after: String,
        /// Only of this instance.
        #[arg(long, value_name = "WID")]
        instance: Option<InstanceName>,
    },
}
