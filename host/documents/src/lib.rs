//! Documents of the HTTP API: requests, answers, problems. The one language of the API and of all its clients; no I/O.
//!
//! A request refuses fields that it does not know, an answer may gain some. Lists come in parts ([`List`]): a cursor
//! says where the next part begins and is opaque.

mod answers;
mod conditions;
mod constraints;
mod definition;
mod explain;
mod hooks;
mod installation;
mod operations;
mod overview;
mod problem;
mod query;
#[cfg(feature = "sqlx")]
mod readable;
mod requests;
mod schedules;
mod shadow;
mod tenant;
mod versions;
mod webhooks;
mod work;
mod workers;

pub use answers::{
    Activation, Applied, Attempt, AttemptName, Attribute, AuditEntry, Component, Feed, FeedEvent, FlowDetail,
    FlowSecret, FlowSetting, FlowSummary, Instance, IssuedToken, Job, List, LogLine, Me, Receipt, Recording, Relative,
    RemovedComponent, Settings, Started, Status, StreamEvent, Token, TraceRow, Trigger, Uploaded, Usage, User,
};
pub use conditions::{Condition, Conditions};
pub use constraints::{Finding, Reservation, Resource, SetResource, TaskOrder};
pub use definition::{Definition, definition_schema};
pub use explain::{
    AssumedAct, AssumedCondition, Assumption, Clause, ClauseKind, ConditionPreview, DifferingInstance, ExplainedJob,
    Explanation, ForeseenAct, ForeseenJob, ForeseenRefusal, Graph, GraphEdge, GraphTrigger, OperatorAct,
    TriggerOutcome, Truth, UndoneStep, WhatIf, Why, WhyFilter,
};
pub use hooks::{Hook, HookActs, HookRotation, HookScheme, HookSet, HookTaken, PutHook};
pub use installation::{Cluster, ClusterAdded, ClusterChange, MadeTenant, NewTenant, PutCluster, Tenant, TenantChange};
pub use operations::{
    Act, Batch, Batched, Event, GoBack, GoingBack, MatchingException, Operated, Pause, Paused, PausedThing, Reason,
    Refused, Retried, RetriedMatching, RetryMatching, Sent, SetState, Skip, Waiting,
};
pub use overview::{Overview, OverviewFilter};
pub use problem::{FragmentPlace, Problem, QuotaPlace};
pub use query::{Query, QueryColumn, QueryResult};
#[cfg(feature = "sqlx")]
pub use readable::Readable;
pub use requests::{
    AttemptFilter, Count, FeedFilter, FeedStart, IfRunning, InstanceFilter, JobFilter, Kept, Order, Page,
    ReceiptFilter, ResultFilter, Start, TraceFilter, UploadTerms,
};
pub use schedules::{Backfill, Backfilled, PutSchedule, Schedule};
pub use shadow::{ShadowDifference, ShadowFilter, ShadowOutcome, ShadowRun, ThingThatDiffers};
pub use tenant::{
    AuditFilter, FlowHour, Host, LastHour, NewRole, NewSecret, NewSetting, NewSettings, NewToken, NewUser, Rotation,
};
pub use versions::{
    AppliedFlow, Between, Difference, Preview, ProcessDefinition, Processes, Rematch, RematchResult, Rematched,
    RollBack, RolledBack, Version, WorkPlan,
};
pub use webhooks::{
    Redelivered, Redelivery, Webhook, WebhookMessage, WebhookPlace, WebhookRotation, WebhookSecret, WebhookSet,
    WebhookTest,
};
pub use work::{
    Along, Behind, Calendar, Comment, Connection, Decision, Delegation, Following, Listing, Newest, Notification,
    Outcome, PeopleRole, Position, Process, Report, Roles, Run, Seen, Successor, Whose, Worklist,
};
pub use workers::{ClaimJobs, CompleteJob, CompletedJob, ExtendLease, ExtendedLease, FailJob, FailedJob, LeasedJob};
