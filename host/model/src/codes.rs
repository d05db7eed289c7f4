//! Codes of errors: the rows of docs/reference/errors.md, which `make reference` writes, and of `wed explain`.

/// Code of an error: a SQLSTATE that a function of the database raises, or a word of `wed` or the HTTP API.
#[derive(Debug, Clone, Copy)]
pub struct ErrorCode {
    /// SQLSTATE of class `WF`, or a word.
    pub code: &'static str,
    /// Error that it stands for, in Markdown.
    pub meaning: &'static str,
    /// Advice on mending it, in Markdown; empty where the message says all.
    pub remedy: &'static str,
}

/// SQLSTATEs of Wedflow's own, ascending. A code that SQL raises and this list lacks fails the test `reference`.
pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode {
        code: "WF001",
        meaning: "the initial state of an instance satisfies no condition",
        remedy: "a new instance must fire something, or be final",
    },
    ErrorCode { code: "WF002", meaning: "the instance is final", remedy: "start a new one" },
    ErrorCode {
        code: "WF003",
        meaning: "no lock on a pending job of the instance, and an attribute that is set is not open",
        remedy: "lock a job of `job_pool` first, or declare the attribute open",
    },
    ErrorCode { code: "WF004", meaning: "the locked job is claimed by a host", remedy: "look for another job" },
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
        remedy: "let them finish first, or skip them ([why](../decisions/0005-final-while-others-are-pending.md))",
    },
    ErrorCode { code: "WF008", meaning: "the `wid` of an instance cannot change", remedy: "set attributes only" },
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
    ErrorCode { code: "WF015", meaning: "there is no such tenant", remedy: "" },
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
    ErrorCode { code: "WF021", meaning: "the tenant is suspended", remedy: "the operator resumes it" },
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
        code: "WF024",
        meaning: "the tenant is being moved to another installation, or lives there; or its file cannot be taken in",
        remedy: "use the installation that it lives in now ([moving](../guide/moving-a-tenant.md))",
    },
    ErrorCode {
        code: "WF026",
        meaning: "a worker's lease of a job has ended, or is none of it",
        remedy: "drop the result: whoever claims the job does it again. Extend a lease before it ends",
    },
    ErrorCode {
        code: "WF027",
        meaning: "an instance that is not final has the business key",
        remedy: "use that instance, or start another one when it is final",
    },
    ErrorCode {
        code: "WF028",
        meaning: "the directory of clusters refuses it: a cluster is another database, has tenants, or takes none",
        remedy: "`wed cluster list` shows the clusters ([clusters](../guide/clusters.md))",
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
    ErrorCode { code: "WF047", meaning: "the tenant has too many webhooks", remedy: "remove one first" },
    ErrorCode {
        code: "WF048",
        meaning: "a start sets an attribute that the flow's `start` does not list",
        remedy: "leave it out, or add it to `start` in the definition",
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

/// Codes in words, of `wed` and the HTTP API, ascending. One that either gives and this list lacks fails the test
/// `reference`.
pub const PROBLEM_CODES: &[ErrorCode] = &[
    ErrorCode {
        code: "application",
        meaning: "an application of a work item could not be run, or ended with an error",
        remedy: "the detail says which; mend the application, or set the values by hand",
    },
    ErrorCode {
        code: "broken_body",
        meaning: "the body of the request ended early",
        remedy: "send it again; look at proxies between",
    },
    ErrorCode {
        code: "build_failed",
        meaning: "the language's tool did not build the component",
        remedy: "its own message stands above; mend what it names",
    },
    ErrorCode {
        code: "busy",
        meaning: "the server has as much work of this tenant as it takes at once",
        remedy: "try again after `Retry-After`",
    },
    ErrorCode {
        code: "cluster_down",
        meaning: "the cluster that the tenant is on does not answer; tenants of others are served",
        remedy: "try again after `Retry-After`; `wed cluster list` and `wed status` say which it is",
    },
    ErrorCode {
        code: "component_refused",
        meaning: "the component is no component that a host can run",
        remedy: "see [transitions](transitions.md); the detail says which rule it breaks",
    },
    ErrorCode {
        code: "conflict",
        meaning: "somebody else changed the same thing at the same time",
        remedy: "read it again, then repeat the change",
    },
    ErrorCode {
        code: "connections",
        meaning: "the client's address has as many connections as it may have",
        remedy: "use connections again; behind a proxy `--trust-proxy` names it",
    },
    ErrorCode { code: "content_encoding", meaning: "the body is compressed", remedy: "send it as it is" },
    ErrorCode {
        code: "content_type",
        meaning: "the body has another content type than the request takes",
        remedy: "JSON: `application/json`; components: `application/wasm`; the hint says which",
    },
    ErrorCode {
        code: "database",
        meaning: "the database is out of reach, or refuses the session",
        remedy: "`wed status` and `wed doctor` say which; of the private Postgres: `wed db start`",
    },
    ErrorCode {
        code: "decide",
        meaning: "a result that was done without a connection cannot be applied before somebody decides",
        remedy: "the hint lists the ways to decide",
    },
    ErrorCode {
        code: "different",
        meaning: "a replay came to another result than the recorded attempt",
        remedy: "the difference stands above",
    },
    ErrorCode {
        code: "digest",
        meaning: "the bytes that arrived have another digest than the request says",
        remedy: "send them again",
    },
    ErrorCode {
        code: "directory_down",
        meaning: "the directory of clusters does not answer, and the tenant's place is not known",
        remedy: "try again after `Retry-After`; tenants whose places are known are served meanwhile",
    },
    ErrorCode {
        code: "foreign",
        meaning: "what answers at the server's address is no Wedflow",
        remedy: "look at the address, and at proxies between",
    },
    ErrorCode {
        code: "host",
        meaning: "the header `Host` is missing or no name",
        remedy: "send the name of the server",
    },
    ErrorCode {
        code: "idempotency_key",
        meaning: "the key of the request is empty, too long or of other characters",
        remedy: "1 to 255 visible characters",
    },
    ErrorCode {
        code: "idempotency_key_reused",
        meaning: "the key of the request was used for another request",
        remedy: "use a new key for each thing that is to be done once",
    },
    ErrorCode {
        code: "internal",
        meaning: "a defect of the server",
        remedy: "report it with the number in `instance`; the server's log has the cause",
    },
    ErrorCode {
        code: "invalid_cursor",
        meaning: "the cursor belongs to another list, or is damaged",
        remedy: "take `next` of the same list, or begin anew",
    },
    ErrorCode {
        code: "invalid_document",
        meaning: "the document does not fit its schema",
        remedy: "`at` says where; `/openapi.json` has the schema",
    },
    ErrorCode {
        code: "invalid_header",
        meaning: "a header of the request cannot be read",
        remedy: "the detail says which",
    },
    ErrorCode {
        code: "invalid_json",
        meaning: "the body is no JSON, or deeper or longer than allowed",
        remedy: "the detail says at which character",
    },
    ErrorCode {
        code: "invalid_query",
        meaning: "a parameter of the request is unknown or has another type",
        remedy: "`/openapi.json` lists them",
    },
    ErrorCode {
        code: "invalid_token",
        meaning: "the token is unknown, ended or revoked",
        remedy: "an admin makes another one: `wed token create`",
    },
    ErrorCode {
        code: "last_admin",
        meaning: "the tenant would have no admin left",
        remedy: "make another user an admin first",
    },
    ErrorCode {
        code: "locked",
        meaning: "another session holds the row",
        remedy: "try again in a moment; `wed status` names sessions that hold locks",
    },
    ErrorCode {
        code: "method",
        meaning: "the path has no such method",
        remedy: "`/openapi.json` lists what each path takes",
    },
    ErrorCode {
        code: "no_directory",
        meaning: "the server has no directory of clusters",
        remedy: "start it with `wed serve --directory`",
    },
    ErrorCode {
        code: "no_secret_key",
        meaning: "the server has no key under which secrets are kept",
        remedy: "set `WEDFLOW_SECRET_KEY` for all hosts",
    },
    ErrorCode { code: "no_token", meaning: "the request has no token", remedy: "send `Authorization: Bearer TOKEN`" },
    ErrorCode {
        code: "not_enabled",
        meaning: "the local store of `wed work` does not have the item",
        remedy: "take it along with `wed work away`",
    },
    ErrorCode {
        code: "not_found",
        meaning: "there is no such thing in this tenant",
        remedy: "the hint lists those there are; another tenant's is as good as missing",
    },
    ErrorCode {
        code: "not_held",
        meaning: "the work item is not held by the caller",
        remedy: "select or lock it first",
    },
    ErrorCode {
        code: "not_permitted",
        meaning: "the user's role or the token's scope does not allow the request",
        remedy: "see [tenants](tenants.md#users-and-roles)",
    },
    ErrorCode {
        code: "not_replayable",
        meaning: "the attempt has no recording",
        remedy: "the detail says why; recordings are kept as long as `wed db retention` says",
    },
    ErrorCode {
        code: "not_signed",
        meaning: "a message for a hook is not signed with its secret, or its time is more than five minutes from now",
        remedy: "give the sender the hook's secret, and look at its clock",
    },
    ErrorCode {
        code: "precondition_failed",
        meaning: "the thing is there already, or is not",
        remedy: "read it again, then repeat the request",
    },
    ErrorCode {
        code: "process",
        meaning: "the source of the process language has errors",
        remedy: "they are listed with their lines; see [process-language](process-language.md)",
    },
    ErrorCode {
        code: "quota",
        meaning: "a quota of the tenant is used up",
        remedy: "make room, or ask the operator ([quotas](tenants.md#quotas))",
    },
    ErrorCode {
        code: "rate_limited",
        meaning: "the tenant sent more requests than its quota of requests in a second",
        remedy: "try again after `Retry-After`",
    },
    ErrorCode {
        code: "refused",
        meaning: "a result of a transition is not what the server would take",
        remedy: "the message says which rule it breaks",
    },
    ErrorCode {
        code: "schema",
        meaning: "the database has another version than the program",
        remedy: "`wed migrate` brings an older one up to date; for a newer one use its wed",
    },
    ErrorCode {
        code: "server",
        meaning: "the server cannot be reached",
        remedy: "`wed config show` says where its address comes from",
    },
    ErrorCode {
        code: "stale",
        meaning: "the definition changed since it was read",
        remedy: "read it again, then repeat the change with the new `ETag`",
    },
    ErrorCode {
        code: "tenant_moved",
        meaning: "the tenant lives in another installation",
        remedy: "use the server of that one",
    },
    ErrorCode {
        code: "tenant_moving",
        meaning: "the tenant is being moved to another database",
        remedy: "try again after `Retry-After`",
    },
    ErrorCode {
        code: "tenant_suspended",
        meaning: "the tenant is suspended",
        remedy: "the operator resumes it: `wed tenant resume`",
    },
    ErrorCode {
        code: "tests_failed",
        meaning: "fixtures of the project failed",
        remedy: "each is listed above with its difference",
    },
    ErrorCode {
        code: "timeout",
        meaning: "the database did not answer within the time of a request",
        remedy: "try again; `wed status` says what holds it up",
    },
    ErrorCode {
        code: "too_large",
        meaning: "the body is longer than the request takes",
        remedy: "[limits](limits.md) lists the sizes",
    },
    ErrorCode {
        code: "too_slow",
        meaning: "the body did not arrive within the time of a request",
        remedy: "send it faster, or in parts",
    },
    ErrorCode {
        code: "tool_missing",
        meaning: "a tool that the project's language needs is not installed",
        remedy: "`wed build --install` installs what needs no administrator; `wed doctor` lists the rest",
    },
    ErrorCode {
        code: "under_way",
        meaning: "another request with the same key or for the same component is being done",
        remedy: "try again after `Retry-After`",
    },
];
