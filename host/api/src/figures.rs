//! Description of every figure for monitoring: name, unit, labels, meaning, panel and alert. What `/metrics` serves,
//! the page docs/reference/metrics.md, the dashboard and the alert rules are all made from it.

use serde_json::{Value as Json, json};

/// Kind of a figure, as OpenMetrics names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// A number that rises and falls.
    Gauge,
    /// A number that only rises while the process lives; its series end in `_total`.
    Counter,
    /// Counts by size; its series end in `_bucket`, `_sum` and `_count`.
    Histogram,
}

/// Origin of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The whole installation: a row of `wed.metrics()` of this name; every host serves the same.
    Database(&'static str),
    /// The host that serves it.
    Host,
}

/// Rule by which somebody is called.
#[derive(Debug, Clone, Copy)]
pub struct Alert {
    /// Name of the rule.
    pub name: &'static str,
    /// Condition in PromQL.
    pub expression: &'static str,
    /// Time for which it must hold.
    pub holds: &'static str,
    /// `critical`: work stands still. `warning`: it will, or a part of it does.
    pub severity: &'static str,
    /// Advice on mending it.
    pub advice: &'static str,
}

/// Figure for monitoring.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Name without the unit and without a counter's `_total`.
    pub name: &'static str,
    /// Unit, as OpenMetrics spells it; empty for a plain number.
    pub unit: &'static str,
    /// Kind.
    pub kind: FigureKind,
    /// Labels, the tenant first.
    pub labels: &'static [&'static str],
    /// Meaning.
    pub help: &'static str,
    /// Origin.
    pub origin: Origin,
    /// Rules about it.
    pub alerts: &'static [Alert],
}

impl Figure {
    /// Returns the name of its series.
    pub fn series(&self) -> String {
        let unit = match self.unit {
            "" => String::new(),
            unit => format!("_{unit}"),
        };
        let end = match self.kind {
            FigureKind::Counter => "_total",
            FigureKind::Gauge | FigureKind::Histogram => "",
        };
        format!("wedflow_{}{unit}{end}", self.name)
    }

    /// Returns what its panel draws, in PromQL.
    fn drawn(&self) -> String {
        let series = self.series();
        let by = self.labels.join(", ");
        match (self.kind, self.origin) {
            (FigureKind::Histogram, _) => {
                format!("histogram_quantile(0.99, sum by (le) (rate({series}_bucket[5m])))")
            }
            (FigureKind::Counter, _) => format!("sum by ({by}) (rate({series}[5m]))"),
            // Every host serves the same.
            (FigureKind::Gauge, Origin::Database(_)) => format!("max by ({by}) ({series})"),
            (FigureKind::Gauge, Origin::Host) => format!("sum by ({by}) ({series})"),
        }
    }
}

const fn gauge(name: &'static str, unit: &'static str, help: &'static str, row: &'static str) -> Figure {
    Figure { name, unit, kind: FigureKind::Gauge, labels: &[], help, origin: Origin::Database(row), alerts: &[] }
}

const fn of_host(name: &'static str, unit: &'static str, help: &'static str, kind: FigureKind) -> Figure {
    Figure { name, unit, kind, labels: &[], help, origin: Origin::Host, alerts: &[] }
}

/// Figures for monitoring, in the order of the page and of the dashboard.
pub const FIGURES: &[Figure] = &[
    Figure {
        alerts: &[Alert {
            name: "WedflowDatabaseDown",
            expression: "min(wedflow_database_up) == 0",
            holds: "1m",
            severity: "critical",
            advice: "A host does not reach the database. Run `wed doctor` there; hosts resume once it is back.",
        }],
        ..of_host("database_up", "", "1 if the database answers this host, else 0", FigureKind::Gauge)
    },
    Figure {
        alerts: &[Alert {
            name: "WedflowNoHost",
            expression: "absent(wedflow_hosts) or max(wedflow_hosts) == 0",
            holds: "2m",
            severity: "critical",
            advice: "No host is at work. Start one with `wed serve`.",
        }],
        ..gauge("hosts", "", "Hosts that are at work", "hosts")
    },
    Figure {
        alerts: &[Alert {
            name: "WedflowCommitsFail",
            expression: "sum(rate(wedflow_attempts_total{outcome=\"returned\"}[10m])) > 0 and \
                         sum(rate(wedflow_transitions_committed_total[10m])) == 0",
            holds: "10m",
            severity: "critical",
            advice: "Transitions return, and nothing is committed. `wed status` names who holds locks.",
        }],
        ..of_host("transitions_committed", "", "Transitions that this host committed", FigureKind::Counter)
    },
    Figure {
        labels: &["outcome"],
        alerts: &[Alert {
            name: "WedflowAttemptsFail",
            expression: "sum(rate(wedflow_attempts_total{outcome!=\"returned\"}[15m])) > \
                         0.2 * sum(rate(wedflow_attempts_total[15m]))",
            holds: "15m",
            severity: "warning",
            advice: "More than a fifth of all attempts fail. `wed job logs FLOW WID` tells why.",
        }],
        ..of_host("attempts", "", "Attempts that this host made, by outcome", FigureKind::Counter)
    },
    of_host("attempt_duration", "seconds", "Duration of an attempt, waiting included", FigureKind::Histogram),
    of_host("attempt_fuel", "", "Fuel that attempts of this host used", FigureKind::Counter),
    Figure {
        alerts: &[Alert {
            name: "WedflowCommitsSlow",
            expression: "histogram_quantile(0.99, sum by (le) (rate(wedflow_commit_duration_seconds_bucket[10m]))) > 5",
            holds: "10m",
            severity: "warning",
            advice: "A commit takes more than 5 s. Look at the database's disk and at `wed status` for locks.",
        }],
        ..of_host(
            "commit_duration",
            "seconds",
            "Duration of a batch's commit, waiting for locks included",
            FigureKind::Histogram,
        )
    },
    of_host("commit_batch_results", "", "Results in a batch", FigureKind::Histogram),
    Figure {
        labels: &["state"],
        ..gauge("jobs", "", "Pending jobs: in_flight, ready, later, paused, external, no_component, exceptions", "jobs")
    },
    Figure {
        alerts: &[Alert {
            name: "WedflowQueueOld",
            expression: "max(wedflow_queue_age_seconds) > 60",
            holds: "5m",
            severity: "warning",
            advice: "A job that could run is not claimed. Start more hosts; `wed job list` shows whose it is.",
        }],
        ..gauge("queue_age", "seconds", "Time since the oldest job that could run is due", "queue_age")
    },
    Figure {
        labels: &["session"],
        ..gauge("lock_wait", "seconds", "Longest wait for a lock, by the session that holds it", "lock_wait_seconds")
    },
    Figure {
        labels: &["tenant", "flow"],
        alerts: &[Alert {
            name: "WedflowExceptionsRise",
            expression: "sum by (tenant, flow) (delta(wedflow_exceptions[30m])) > 10",
            holds: "5m",
            severity: "warning",
            advice: "Instances of a flow become exceptions. `wed instance list FLOW --status exception` lists them.",
        }],
        ..gauge("exceptions", "", "Instances that are exceptions, of the 1 000 flows with the most", "exceptions")
    },
    gauge("circuits_open", "", "Circuit breakers that hosts hold open", "circuits_open"),
    Figure {
        labels: &["tenant"],
        alerts: &[Alert {
            name: "WedflowWebhooksLate",
            expression: "max by (tenant) (min_over_time(wedflow_webhook_messages[30m])) > 0",
            holds: "30m",
            severity: "warning",
            advice: "Messages to a tenant's webhooks are not delivered. `wed status` names the receiver.",
        }],
        ..gauge("webhook_messages", "", "Messages to webhooks that are still to be delivered", "webhook_messages")
    },
    Figure {
        alerts: &[Alert {
            name: "WedflowSchedulesLate",
            expression: "max(wedflow_schedule_lateness_seconds) > 300",
            holds: "5m",
            severity: "warning",
            advice: "A schedule should have started an instance and did not. `wed flow schedule list FLOW` tells why.",
        }],
        ..gauge(
            "schedule_lateness",
            "seconds",
            "Time since the schedule that waits longest should have started an instance",
            "schedule_lateness",
        )
    },
    gauge("pauses", "", "Tenants, flows, triggers and instances that are paused", "pauses"),
    Figure {
        alerts: &[Alert {
            name: "WedflowLocks",
            expression: "max(min_over_time(wedflow_lock_waits[5m])) > 0",
            holds: "5m",
            severity: "warning",
            advice: "Sessions wait for locks all the time. `wed status` names who holds them.",
        }],
        ..gauge("lock_waits", "", "Sessions of the database that wait for a lock", "lock_waits")
    },
    gauge("sessions", "", "Sessions of the database", "sessions"),
    gauge("sessions_max", "", "Sessions that the server takes", "sessions_max"),
    Figure {
        labels: &["tenant", "kind"],
        ..gauge(
            "tenant_usage",
            "bytes",
            "Bytes that tenants keep: trace, row, attempt, log, recording; the 1 000 largest",
            "usage",
        )
    },
    Figure {
        labels: &["tenant"],
        ..gauge("tenant_finished_instances", "", "Final instances that tenants keep", "finished")
    },
    Figure {
        labels: &["code"],
        alerts: &[Alert {
            name: "WedflowProblem",
            expression: "max by (code) (wedflow_problems) > 0",
            holds: "10m",
            severity: "warning",
            advice: "`wed status` says what is wrong and how to mend it.",
        }],
        ..gauge("problems", "", "Problems of the installation, as `wed status` lists them", "problems")
    },
    gauge("trace_partitions", "", "Partitions of the history; one a day until retention drops it", "trace_partitions"),
    Figure {
        labels: &["kind"],
        alerts: &[Alert {
            name: "WedflowCapacity",
            expression: "max by (kind) (wedflow_capacity_used_ratio) > 0.8",
            holds: "10m",
            severity: "warning",
            advice: "Something that cannot grow is nearly used up; `wed status` says what, and what gives room.",
        }],
        ..gauge(
            "capacity_used",
            "ratio",
            "Used part of what cannot grow: transaction_ids, numbers, instances (of the fullest flow), partitions ahead, \
             connections, and disk where the server is on this machine",
            "capacity",
        )
    },
    gauge("database_size", "bytes", "Size of the database", "database_size"),
];

/// The page docs/reference/metrics.md.
pub fn page() -> String {
    let mut page = String::from(
        "# Metrics\n\n`wed serve --metrics 127.0.0.1:9090` serves them at `/metrics`, by OpenMetrics. They name all \
         tenants; let only the\nmonitoring reach that address. Figures of the *installation* are the same from every \
         host: take their maximum.\nA host of several clusters gives each series the label `cluster` \
         besides.\n\n`packaging/monitoring` has a dashboard for Grafana (`dashboard.json`) and rules for Prometheus \
         (`alerts.yml`).\nThis page and both files are made from `host/api/src/figures.rs` (`make reference`).\n\n| series | kind | labels | of | meaning |\n| --- | --- | --- | --- | --- |\n",
    );
    for figure in FIGURES {
        let kind = match figure.kind {
            FigureKind::Gauge => "gauge",
            FigureKind::Counter => "counter",
            FigureKind::Histogram => "histogram",
        };
        let of = match figure.origin {
            Origin::Database(_) => "installation",
            Origin::Host => "host",
        };
        let labels: Vec<String> = figure.labels.iter().map(|one| format!("`{one}`")).collect();
        page.push_str(&format!("| `{}` | {kind} | {} | {of} | {} |\n", figure.series(), labels.join(" "), figure.help));
    }
    page.push_str("\n## Alerts\n\n| rule | severity | what to do |\n| --- | --- | --- |\n");
    for alert in FIGURES.iter().flat_map(|figure| figure.alerts) {
        page.push_str(&format!("| `{}` | {} | {} |\n", alert.name, alert.severity, alert.advice));
    }
    page
}

/// The rules for Prometheus.
pub fn alert_rules() -> String {
    let mut rules = String::from(
        "# Made from host/api/src/figures.rs by `make reference`.\ngroups:\n  - name: wedflow\n    rules:\n",
    );
    for alert in FIGURES.iter().flat_map(|figure| figure.alerts) {
        // JSON's strings are YAML's.
        let text = |text: &str| Json::from(text).to_string();
        rules.push_str(&format!(
            "      - alert: {}\n        expr: {}\n        for: {}\n        labels:\n          severity: {}\n        \
             annotations:\n          summary: {}\n",
            alert.name,
            text(alert.expression),
            alert.holds,
            alert.severity,
            text(alert.advice)
        ));
    }
    rules
}

/// The dashboard for Grafana: a panel for each figure, three in a row.
pub fn dashboard() -> String {
    const COLUMNS: usize = 3;
    let (width, height) = (24 / COLUMNS, 8);
    let panel = |(at, figure): (usize, &Figure)| {
        let unit = match (figure.unit, figure.kind) {
            ("seconds", _) => "s",
            ("bytes", _) => "bytes",
            (_, FigureKind::Counter) => "ops",
            _ => "short",
        };
        let legend: Vec<String> = (figure.labels.iter()).map(|one| format!("{{{{{one}}}}}")).collect();
        let quantile = match figure.kind {
            FigureKind::Histogram => ", 99th percentile",
            FigureKind::Counter => ", per second",
            FigureKind::Gauge => "",
        };
        json!({
            "id": at + 1,
            "type": "timeseries",
            "title": format!("{}{quantile}", figure.help),
            "datasource": { "type": "prometheus", "uid": "${datasource}" },
            "gridPos": { "x": at % COLUMNS * width, "y": at / COLUMNS * height, "w": width, "h": height },
            "fieldConfig": { "defaults": { "unit": unit, "min": 0 }, "overrides": [] },
            "targets": [{ "refId": "A", "expr": figure.drawn(), "legendFormat": legend.join(" ") }],
        })
    };
    let panels: Vec<Json> = FIGURES.iter().enumerate().map(panel).collect();
    let dashboard = json!({
        "title": "Wedflow",
        "uid": "wedflow",
        "tags": ["wedflow"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": { "from": "now-6h", "to": "now" },
        "templating": { "list": [{ "name": "datasource", "type": "datasource", "query": "prometheus" }] },
        "panels": panels,
    });
    format!("{dashboard:#}\n")
}
