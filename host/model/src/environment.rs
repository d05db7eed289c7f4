//! Variables of the environment: the rows of docs/reference/environment.md, which `make reference` writes.

/// Variable that `wed` or a host reads.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Name of the variable.
    pub name: &'static str,
    /// Meaning and default, in Markdown.
    pub meaning: &'static str,
}

/// All variables. One that the source reads and this list lacks fails the test `reference`.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "DATABASE_URL", meaning: "the database; without it the private Postgres" },
    Variable {
        name: "WEDFLOW_DIRECTORY",
        meaning: "the directory of clusters, from which commands and `wed serve` learn where each tenant is",
    },
    Variable { name: "WEDFLOW_CLUSTER_URL", meaning: "the database that `wed cluster add` adds" },
    Variable { name: "WEDFLOW_MOVE_TO", meaning: "the database that `wed tenant move` moves a tenant to" },
    Variable {
        name: "WEDFLOW_READ_URL",
        meaning: "a replica of the database, from which `wed serve` and `wed dev` read lists, traces and searches",
    },
    Variable {
        name: "WEDFLOW_GUESTS",
        meaning: "processes in which `wed serve` runs guests: `in-process` (the default) or `processes`",
    },
    Variable { name: "WEDFLOW_TENANT", meaning: "the tenant whose flows are meant; `default` without it" },
    Variable {
        name: "WEDFLOW_SERVER",
        meaning: "the server whose HTTP API commands use instead of a database, with `WEDFLOW_TOKEN`",
    },
    Variable { name: "WEDFLOW_TOKEN", meaning: "the token of a user, for the server" },
    Variable { name: "WEDFLOW_CONTEXT", meaning: "a server of `wed login`, by its name; `local` for the database" },
    Variable {
        name: "WEDFLOW_SERVER_CA",
        meaning: "a file in PEM of authorities whose certificates are trusted at the server as well",
    },
    Variable {
        name: "WEDFLOW_CONFIG",
        meaning: "the folder of the tokens that `wed login` keeps; `wedflow` in `XDG_CONFIG_HOME` or `~/.config` \
            without it",
    },
    Variable { name: "WEDFLOW_WORK_STORE", meaning: "the local store of `wed work`, one file" },
    Variable { name: "WEDFLOW_PERSON", meaning: "who acts in `wed work`" },
    Variable {
        name: "WEDFLOW_SECRET_KEY",
        meaning: "the key under which secrets are kept, 64 hexadecimal digits; without it `secret.key` in the home \
            folder",
    },
    Variable {
        name: "WEDFLOW_LOG",
        meaning: "what is logged, in the notation of tracing: `info`, `wedflow_worker=debug`; by default `info` for \
            `dev` and `serve`, `warn` else",
    },
    Variable { name: "WEDFLOW_HOME", meaning: "the folder of the private Postgres" },
    Variable {
        name: "WEDFLOW_CACHE",
        meaning: "the folder of compiled components, mode 700; `~/.cache/wedflow` without it, empty: none is kept",
    },
    Variable {
        name: "WEDFLOW_POSTGRES_PORT",
        meaning: "the private Postgres's port; by default the first free one from 15432 on, and then always that",
    },
    Variable { name: "WEDFLOW_POSTGRES_ACCOUNT", meaning: "as root, the account it runs under" },
    Variable {
        name: "WEDFLOW_POSTGRES_ARCHIVE",
        meaning: "a local copy of the server's archive, for machines without a network",
    },
    Variable {
        name: "OTEL_EXPORTER_OTLP_ENDPOINT",
        meaning: "the collector that hosts send [spans](../guide/operations.md#traces) to, such as \
            `http://127.0.0.1:4318`; none are made without it. `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is the whole URL",
    },
    Variable {
        name: "OTEL_EXPORTER_OTLP_HEADERS",
        meaning: "headers of each post, as `name=value,name=value`; `OTEL_EXPORTER_OTLP_TIMEOUT` is the longest wait \
            for its answer in milliseconds, 10000 by default. Both have a form with `TRACES_` before the last word",
    },
    Variable {
        name: "OTEL_TRACES_SAMPLER",
        meaning: "`always_on`, `always_off`, `traceidratio` with the share in `OTEL_TRACES_SAMPLER_ARG`, each with \
            `parentbased_` before it: a caller's choice goes first for its request; `parentbased_always_on` by default",
    },
    Variable {
        name: "OTEL_SERVICE_NAME",
        meaning: "the name of the service, `wedflow` by default; `OTEL_RESOURCE_ATTRIBUTES` are further attributes",
    },
    Variable {
        name: "OTEL_BSP_SCHEDULE_DELAY",
        meaning: "the longest wait of a span for others, in milliseconds, 5000 by default; at most \
            `OTEL_BSP_MAX_EXPORT_BATCH_SIZE` (512) are sent at once",
    },
    Variable { name: "OTEL_SDK_DISABLED", meaning: "`true`: no spans; the same as `OTEL_TRACES_EXPORTER=none`" },
    Variable { name: "WEDFLOW_SAMPLES", meaning: "the folder of the sample transitions" },
];
