//! Arguments of `wed work`, also of work on a machine that may be cut off.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::InstanceName;

/// Orders of a worklist.
const ORDERS: [&str; 5] = ["arrival", "priority", "deadline", "size", "own"];

#[derive(Debug, Args)]
#[command(after_help = "Begin with:\n  \
        wed work people --add ana --role Clerk    make a person with a role\n  \
        wed work --as ana begin orders            start a process\n  \
        wed work --as ana                         the inbox, full screen; ? lists its keys\n\n\
        Anywhere, also without a connection, with a token of `wed token create`:\n  \
        wed work --server https://… --token wed_…")]
pub(crate) struct WorkArguments {
    /// The person who acts.
    #[arg(long = "as", global = true, env = "WEDFLOW_PERSON", value_name = "NAME")]
    pub(crate) person: Option<String>,
    #[command(flatten)]
    pub(crate) connection: AwayConnection,
    /// Without one: the inbox, full screen.
    #[command(subcommand)]
    pub(crate) command: Option<WorkCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// List the worklist: what is held, and what is offered.
    List {
        /// The order.
        #[arg(long, default_value = "arrival", value_parser = ORDERS)]
        order: String,
        /// Maximum number of items.
        #[arg(long, default_value_t = 100)]
        limit: i32,
    },
    /// Show an item: what to do, its data and the form of its result.
    Show {
        /// The item.
        item: i64,
    },
    /// Take an item to do it now.
    Select {
        /// The item.
        item: i64,
    },
    /// Take an item away: it stays taken without a connection.
    Lock {
        /// The item.
        item: i64,
    },
    /// Give a locked item back.
    Unlock {
        /// The item.
        item: i64,
    },
    /// Give an item back, selected or locked.
    Release {
        /// The item.
        item: i64,
    },
    /// Begin with an item.
    Start {
        /// The item.
        item: i64,
    },
    /// Report an item's result.
    Report(ReportArguments),
    /// Give an item to another person.
    Delegate {
        /// The item.
        item: i64,
        /// The other person.
        to: String,
    },
    /// Take an item from whoever holds it: for who is in charge.
    TakeOver {
        /// The item.
        item: i64,
    },
    /// Give what a person holds to another: for who is in charge.
    Reassign {
        /// Present holder.
        from: String,
        /// New holder.
        to: String,
    },
    /// Say something about an item, or attach a file to it.
    Comment {
        /// The item.
        item: i64,
        /// The text.
        text: String,
        /// A file of at most 1 MiB.
        #[arg(long, value_name = "FILE")]
        attach: Option<PathBuf>,
    },
    /// Take away the task that follows as well: its next item in the instance is locked for you.
    Together {
        /// The item, which you have locked.
        item: i64,
        /// The task that follows.
        task: String,
    },
    /// Put an item before another one in your own order, or last.
    Move {
        /// The item.
        item: i64,
        /// The item before which it is put.
        before: Option<i64>,
    },
    /// Decide of an item whose deadline has passed: for who is in charge.
    Decide {
        /// The item.
        item: i64,
        /// The work continues.
        #[arg(long = "continue", conflicts_with = "stop", required_unless_present = "stop")]
        proceed: bool,
        /// The work stops, which is a failure.
        #[arg(long)]
        stop: bool,
        /// Time from now to another deadline, such as "12 hours".
        #[arg(long, value_name = "INTERVAL", conflicts_with = "stop")]
        extend: Option<String>,
    },
    /// Decide what becomes of an instance that is an exception: for who is in charge.
    Settle {
        /// The flow.
        flow: String,
        /// The instance: its number, or `key:NAME`.
        wid: InstanceName,
        /// Fire again what its state satisfies.
        #[arg(long, conflicts_with_all = ["set", "cancel"], required_unless_present_any = ["set", "cancel"])]
        retry: bool,
        /// Set a value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
        #[arg(long, value_name = "NAME=VALUE", conflicts_with = "cancel")]
        set: Vec<String>,
        /// End it.
        #[arg(long)]
        cancel: bool,
        /// Why; kept in the trace.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Change how an instance notifies people while it runs: for who is in charge.
    Notify(NotifyArguments),
    /// Save a file that is attached to an item.
    Fetch {
        /// The item.
        item: i64,
        /// The note's number, as the history has it.
        note: i64,
        /// The file to write; the attachment's own name when absent.
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// List the calendars, or make or change one.
    Calendar(CalendarArguments),
    /// Say who did what with an item.
    History {
        /// The item.
        item: i64,
    },
    /// Print the messages, newest first.
    Messages {
        /// Remove them.
        #[arg(long)]
        remove: bool,
    },
    /// Begin to be offered work; stored messages are delivered.
    Connect,
    /// Be offered nothing new; what is held stays held.
    Disconnect,
    /// Start a process in the person's name.
    Begin(BeginArguments),
    /// List the people, add one or give one roles, or remove one.
    People {
        /// Make this person, or give roles.
        #[arg(long, value_name = "NAME")]
        add: Option<String>,
        /// A role of that person (may be given several times); made when it is missing.
        #[arg(long, value_name = "ROLE", requires = "add")]
        role: Vec<String>,
        /// Take this role from the person (may be given several times).
        #[arg(long, value_name = "ROLE", requires = "add")]
        revoke: Vec<String>,
        /// Remove this person; what the person held is offered again.
        #[arg(long, value_name = "NAME", conflicts_with = "add")]
        remove: Option<String>,
    },
    /// List the roles of people.
    Roles,
    #[command(flatten)]
    Away(AwayCommand),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The item.
    pub(crate) item: i64,
    /// A value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// The task failed.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Why, or what else is to be said.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Applied once under this key; a random one when absent.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NotifyArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The instance: its number, or `key:NAME`.
    pub(crate) wid: InstanceName,
    /// The policy, 1 to 4 (see `wed work begin`).
    #[arg(long, value_name = "N")]
    pub(crate) policy: Option<i32>,
    /// Number of people that policies 2 to 4 choose.
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<i32>,
    /// The pause between two rounds of offers.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) renotify: Option<f64>,
    /// Hours before a deadline at which people get a message, such as 24,12,6.
    #[arg(long, value_delimiter = ',', value_name = "HOURS")]
    pub(crate) warn: Option<Vec<i32>>,
    /// The one of them at which an item passes to the person in charge.
    #[arg(long, value_name = "HOURS", requires = "warn")]
    pub(crate) transfer: Option<i32>,
}

#[derive(Debug, Args)]
pub(crate) struct CalendarArguments {
    /// The calendar to make or change; all are listed without it.
    pub(crate) name: Option<String>,
    /// A zone of the IANA database.
    #[arg(long, default_value = "UTC", value_name = "ZONE")]
    pub(crate) zone: String,
    /// Working days, 1 is Monday.
    #[arg(long, default_value = "1,2,3,4,5", value_delimiter = ',', value_name = "DAYS")]
    pub(crate) weekdays: Vec<i32>,
    /// The time at which work begins.
    #[arg(long, default_value = "09:00", value_name = "TIME")]
    pub(crate) opens: String,
    /// The time at which work ends.
    #[arg(long, default_value = "17:00", value_name = "TIME")]
    pub(crate) closes: String,
    /// Days without work, such as 2026-12-25.
    #[arg(long, value_delimiter = ',', value_name = "DATES")]
    pub(crate) holidays: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BeginArguments {
    /// The flow.
    pub(crate) flow: String,
    /// The person in charge; who starts it when absent.
    #[arg(long, value_name = "NAME")]
    pub(crate) in_charge: Option<String>,
    /// A value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// 1: offer items to all of the role; 2: to those with the fewest assigned; 3: with the fewest selected; 4: who
    /// connected last.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) policy: i32,
    /// Number of people that policies 2 to 4 choose.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) count: i32,
    /// Hours before a deadline at which people are warned, such as 24,12,6.
    #[arg(long, value_delimiter = ',', value_name = "HOURS")]
    pub(crate) warn: Vec<i32>,
    /// The one of them at which an item passes to the person in charge.
    #[arg(long, value_name = "HOURS")]
    pub(crate) transfer: Option<i32>,
}

/// The local store of disconnected work.
#[derive(Debug, Args)]
pub(crate) struct AwayConnection {
    /// The local store: one file, made when it is missing.
    #[arg(long, global = true, env = "WEDFLOW_WORK_STORE", value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// The server, as the options for all commands name it.
    #[arg(skip)]
    pub(crate) server: Option<String>,
    /// The token for it.
    #[arg(skip)]
    pub(crate) token: Option<String>,
}

impl AwayConnection {
    /// True if a server is named, so that the database is not needed.
    pub(crate) fn has_server(&self) -> bool {
        self.server.is_some() && self.token.is_some()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum AwayCommand {
    /// Copy the worklist, and data and components of items that may be taken away, to the local store; locked ones
    /// first.
    Sync,
    /// Leave: transfer what is locked, and be marked inactive. Cut off, it continues where it stopped.
    Away {
        /// The longest time for transfers.
        #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
        wait: f64,
        /// Leave selected items behind.
        #[arg(long)]
        yes: bool,
        /// Transfer although it takes longer.
        #[arg(long)]
        accept: bool,
        /// The most bytes to store.
        #[arg(long, value_name = "BYTES")]
        quota: Option<u64>,
    },
    /// Do an item here: run its component in the sandbox, or give the values. The result is kept until it is
    /// acknowledged.
    Do {
        /// The item; one below 0 is a task that follows another item here.
        #[arg(allow_negative_numbers = true)]
        item: i64,
        /// A value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
        #[arg(long = "set", value_name = "NAME=VALUE")]
        set: Vec<String>,
        /// Let the server run the component: only the data travel.
        #[arg(long, conflicts_with = "failed")]
        at_server: bool,
        /// The task failed.
        #[arg(long)]
        failed: bool,
        /// Why, or what else is to be said.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Return: connect, send kept results, fetch messages and the worklist.
    Return,
    /// Show the local store: items, what is enabled, results that are kept, drafts, deadlines.
    Local,
    /// List the results of this machine: saved here, sending, confirmed, refused.
    Outbox,
    /// Send a result again that was refused or is kept; values that are given replace those in it.
    Resend {
        /// The item.
        #[arg(allow_negative_numbers = true)]
        item: i64,
        /// A value, as NAME=VALUE (may be given several times); VALUE is JSON, or text.
        #[arg(long = "set", value_name = "NAME=VALUE")]
        set: Vec<String>,
    },
    /// Forget a result that the server did not take. The item can be done anew while it is held.
    Forget {
        /// The item.
        #[arg(allow_negative_numbers = true)]
        item: i64,
    },
}
