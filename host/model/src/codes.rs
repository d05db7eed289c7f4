//! SQLSTATEs of Wedflow's own: the rows of docs/reference/errors.md, which `make reference` writes.

/// SQLSTATE that the gate or another function of the database raises.
#[derive(Debug, Clone, Copy)]
pub struct ErrorCode {
    /// SQLSTATE, of class `WF`.
    pub code: &'static str,
    /// Error that it stands for, in Markdown.
    pub meaning: &'static str,
    /// Advice on mending it, in Markdown; empty where the message says all.
    pub remedy: &'static str,
}

/// All codes, ascending. A code that SQL raises and this list lacks fails the test `reference`.
pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode {
        code: "WF001",
        meaning: "the initial state of an instance satisfies no condition",
        remedy: "a new instance must fire something, or be final",
    },
    ErrorCode {
        code: "WF002",
        meaning: "the instance is final",
        remedy: "start a new one",
    },
    ErrorCode {
        code: "WF003",
        meaning: "no lock on a pending job of the instance, and an attribute that is set is not open",
        remedy: "lock a job of `job_pool` first, or declare the attribute open",
    },
    ErrorCode {
        code: "WF004",
        meaning: "the locked job is claimed by a host",
        remedy: "look for another job",
    },
    ErrorCode {
        code: "WF005",
        meaning: "several jobs of one instance are locked",
        remedy: "lock only the one that is finished",
    },
    ErrorCode {
        code: "WF006",
        meaning: "the instance was already updated in this transaction",
        remedy: "one UPDATE for each instance and transaction; commit in between",
    },
    ErrorCode {
        code: "WF007",
        meaning: "the final condition would hold while other transitions are pending",
        remedy: "let them finish first ([why](../decisions/0005-final-while-others-are-pending.md))",
    },
    ErrorCode {
        code: "WF008",
        meaning: "the `wid` of an instance cannot change",
        remedy: "set attributes only",
    },
    ErrorCode {
        code: "WF009",
        meaning: "instances are not deleted, tables not truncated",
        remedy: "let the instance end; drop the flow to remove all",
    },
    ErrorCode {
        code: "WF010",
        meaning: "the transition may not set this attribute, or the server numbers instances by it",
        remedy: "add it to `wed_trig.writes`, or do not set it",
    },
    ErrorCode {
        code: "WF011",
        meaning: "the predicate is not allowed; the place is given",
        remedy: "see [conditions](conditions.md)",
    },
    ErrorCode {
        code: "WF012",
        meaning: "the attribute's name or type is not allowed",
        remedy: "see [sql](sql.md#wed_attr-the-attributes)",
    },
    ErrorCode {
        code: "WF013",
        meaning: "the definition is not allowed: in use, incomplete, twice",
        remedy: "the hint says which",
    },
    ErrorCode {
        code: "WF014",
        meaning: "the initial state cannot be evaluated: a condition fails on it",
        remedy: "mend the values, or write the condition so that it holds for them",
    },
    ErrorCode {
        code: "WF015",
        meaning: "there is no such tenant",
        remedy: "",
    },
    ErrorCode {
        code: "WF016",
        meaning: "a host has lost its leases; never seen by workers",
        remedy: "it registers anew by itself",
    },
    ErrorCode {
        code: "WF017",
        meaning: "the session holds the locks of 1 000 jobs, or all sessions of the tenant a quarter of those that the \
            server has room for",
        remedy: "finish these and commit; then take more",
    },
    ErrorCode {
        code: "WF018",
        meaning: "a host's result was made for an older version of the flow, and attributes have other names or \
            types since; never seen by workers",
        remedy: "the host runs the transition again by itself",
    },
    ErrorCode {
        code: "WF019",
        meaning: "another version of `wed` has migrated the database; this program's hosts cannot work on it",
        remedy: "stop it and start the newer one, or `wed migrate` with this one",
    },
    ErrorCode {
        code: "WF020",
        meaning: "a quota of the tenant is used up: which, used, allowed",
        remedy: "make room, or ask the operator ([quotas](tenants.md#quotas))",
    },
    ErrorCode {
        code: "WF021",
        meaning: "the tenant is suspended",
        remedy: "the operator resumes it",
    },
    ErrorCode {
        code: "WF022",
        meaning: "the audit log is only appended to",
        remedy: "see [tenants](tenants.md#the-audit-log)",
    },
    ErrorCode {
        code: "WF023",
        meaning: "a token or a setting of a tenant is not allowed: too long a life, a name that is in use, a \
            description of more than 2 000 characters",
        remedy: "the hint says which",
    },
    ErrorCode {
        code: "WF031",
        meaning: "a number has too many digits: of a `numeric` attribute, or in text that is cast",
        remedy: "at most 100 before the point and 100 behind it; `round`",
    },
    ErrorCode {
        code: "WF032",
        meaning: "a value is too long to be searched for or held against a regular expression, or something would be \
            made too long",
        remedy: "compare whole values, or look at a part; see [bounds](conditions.md#bounds)",
    },
    ErrorCode {
        code: "WF033",
        meaning: "the state of an instance takes more than 256 KiB, an array has more than 4 096 elements, or the \
            default values of a flow take more than 128 KiB together",
        remedy: "keep large things elsewhere, and their place in the state; set long values where instances are \
            started",
    },
    ErrorCode {
        code: "WF034",
        meaning: "evaluating the conditions took more than 1 s",
        remedy: "search shorter texts and documents, or let a transition compute what the conditions need; see \
            [bounds](conditions.md#bounds)",
    },
    ErrorCode {
        code: "WF035",
        meaning: "a document is nested more than 100 levels deep",
        remedy: "flatten it, or keep its text in a `text` attribute",
    },
    ErrorCode {
        code: "WF040",
        meaning: "there is no such instance, pending job or trigger to operate on",
        remedy: "the hint lists what there is",
    },
    ErrorCode {
        code: "WF041",
        meaning: "an operator's action needs a reason",
        remedy: "say in a few words why; it is kept in the trace and in the audit log",
    },
    ErrorCode {
        code: "WF042",
        meaning: "the exception cannot be retried: its state satisfies no condition, or cannot be evaluated",
        remedy: "set another state, or change the flow; then retry",
    },
    ErrorCode {
        code: "WF043",
        meaning: "a state is set by hand in an exception only",
        remedy: "pause or cancel the instance, or send it an event",
    },
    ErrorCode {
        code: "WF044",
        meaning: "the schedule's pattern or time zone is not allowed",
        remedy: "five fields, six with seconds, or a nickname such as `@daily`; a zone of the IANA database",
    },
    ErrorCode {
        code: "WF045",
        meaning: "the job that is locked waits for its reservation, or for tasks before it",
        remedy: "`waits_for` in `job_pool` says for what; take the lock when it is due",
    },
    ErrorCode {
        code: "WF046",
        meaning: "a key was used before, for another start or event",
        remedy: "use a new key for each thing that is to be done once",
    },
    ErrorCode {
        code: "WF047",
        meaning: "the tenant has too many webhooks",
        remedy: "remove one first",
    },
    ErrorCode {
        code: "WF060",
        meaning: "what a trigger reserves gives no keys: too many, no text or number, a negative quantity",
        remedy: "at most 64 keys of 1 to 256 bytes ([constraints](../guide/constraints.md))",
    },
    ErrorCode {
        code: "WF061",
        meaning: "a capacity would fall below its minimum",
        remedy: "add to the capacity in `wed_resource`, or lower the minimum; then retry",
    },
    ErrorCode {
        code: "WF062",
        meaning: "an order of tasks cannot be read, or names no trigger of the flow",
        remedy: "names with AND, OR and parentheses",
    },
    ErrorCode {
        code: "WF063",
        meaning: "an order of tasks has a cycle, which is named",
        remedy: "leave out one of its parts",
    },
    ErrorCode {
        code: "WF080",
        meaning: "there is no such person, work item or process; another tenant's is as good as missing",
        remedy: "list what there is with `wed work`",
    },
    ErrorCode {
        code: "WF081",
        meaning: "the work item is held by somebody, who is named",
        remedy: "choose another item, or ask the holder to release or delegate it",
    },
    ErrorCode {
        code: "WF082",
        meaning: "the work item has ended, or is held by another person than the caller",
        remedy: "select or lock it first",
    },
    ErrorCode {
        code: "WF083",
        meaning: "the person may not do this: not the role, not offered, not in charge, or the task does not allow \
            disconnected work",
        remedy: "the hint says who may",
    },
    ErrorCode {
        code: "WF084",
        meaning: "a result of somebody who no longer holds the work item, or of values that changed meanwhile; \
            it is kept, and not applied",
        remedy: "compare both versions; send yours again, or hand it to the present holder",
    },
    ErrorCode {
        code: "WF085",
        meaning: "a plan, policy, order, calendar, role or note of people's work is not allowed",
        remedy: "the hint says what is",
    },
    ErrorCode {
        code: "WF086",
        meaning: "the key of a report was used for another result",
        remedy: "use a new random key for each result",
    },
    ErrorCode {
        code: "WF087",
        meaning: "the instance of the work item is paused",
        remedy: "report again when it was resumed",
    },
    ErrorCode {
        code: "WF088",
        meaning: "the form of a task does not take a value that was reported, or misses one",
        remedy: "the item's form says what it takes",
    },
    ErrorCode {
        code: "WF089",
        meaning: "internal: an event of a started work item is taken back; never seen outside",
        remedy: "",
    },
];
