//! Arguments of `wed tenant quota`.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;

#[derive(Debug, Serialize, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct QuotaArguments {
    /// Flows.
    #[arg(long, value_name = "N|none")]
    pub(crate) flows: Option<Most>,
    /// Instances that are not final.
    #[arg(long, value_name = "N|none")]
    pub(crate) instances: Option<Most>,
    /// Pending jobs, when an instance is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) jobs: Option<Most>,
    /// Versions of components.
    #[arg(long, value_name = "N|none")]
    pub(crate) components: Option<Most>,
    /// Requests to the API in a second.
    #[arg(long, value_name = "N|none")]
    pub(crate) requests_per_second: Option<Most>,
    /// Fuel of transitions in a minute; what is over it waits.
    #[arg(long, value_name = "N|none")]
    pub(crate) fuel_per_minute: Option<Most>,
    /// Jobs in the hands of hosts at once; what is over it waits.
    #[arg(long, value_name = "N|none")]
    pub(crate) concurrency: Option<Most>,
    /// Bytes of history, when an instance is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) trace_bytes: Option<Most>,
    /// Bytes of the states of instances, when one is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) row_bytes: Option<Most>,
    /// Sessions of each flow's role at once.
    #[arg(long, value_name = "N|none")]
    pub(crate) connections: Option<Most>,
    /// Final instances that are kept, when one is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) finished: Option<Most>,
    /// Bytes of attempts on record, when an instance is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) attempt_bytes: Option<Most>,
    /// Bytes of what transitions logged, when an instance is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) log_bytes: Option<Most>,
    /// Bytes of recordings of attempts, when an instance is started.
    #[arg(long, value_name = "N|none")]
    pub(crate) recording_bytes: Option<Most>,
    /// Keys whose stock is kept (`wed_resource`).
    #[arg(long, value_name = "N|none")]
    pub(crate) resources: Option<Most>,
    /// Orders of tasks added while running (`wed_order`).
    #[arg(long, value_name = "N|none")]
    pub(crate) orders: Option<Most>,
    /// Schedules.
    #[arg(long, value_name = "N|none")]
    pub(crate) schedules: Option<Most>,
    /// Bytes of attachments, comments, settings, secrets, schedules, versions, users, tokens, messages, audit entries.
    #[arg(long, value_name = "N|none")]
    pub(crate) other_bytes: Option<Most>,
    /// Seconds for which a transaction of a flow's role may be open.
    #[arg(long, value_name = "N|none")]
    pub(crate) transaction_seconds: Option<Most>,
    /// Bytes of components and of files of instances.
    #[arg(long, value_name = "N|none")]
    pub(crate) storage_bytes: Option<Most>,
}

impl QuotaArguments {
    /// Those that were given, by their names.
    pub(crate) fn named(&self) -> BTreeMap<String, Option<i64>> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(all)) => all
                .into_iter()
                .filter(|(_, most)| !most.is_null())
                .map(|(name, most)| (name, most["most"].as_i64()))
                .collect(),
            _ => BTreeMap::new(),
        }
    }
}

/// A limit: a number, or none.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Most {
    most: Option<i64>,
}

impl std::str::FromStr for Most {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Most { most: None }),
            number => number
                .parse()
                .map(|number| Most { most: Some(number) })
                .map_err(|_| "give a number, or none".to_owned()),
        }
    }
}
