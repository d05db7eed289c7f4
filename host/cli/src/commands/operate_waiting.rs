//! Says on the terminal of whoever waits for an instance why nothing happens.

use std::time::{Duration, Instant};

use serde_json::json;
use wedflow_documents::Status;
use wedflow_model::Wid;

use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Time without news after which the reasons are looked up.
const STILL: Duration = Duration::from_secs(1);
/// Time between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Reasons that were printed for an instance that is being waited for.
pub(crate) struct Reasons {
    still_since: Instant,
    looked: Instant,
    said: Vec<String>,
}

impl Reasons {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Reasons { still_since: now, looked: now, said: Vec::new() }
    }

    /// Takes down that something has happened.
    pub(crate) fn moved(&mut self) {
        self.still_since = Instant::now();
        self.said.clear();
    }

    /// Says what an instance's jobs wait for when nothing has happened for a while: each set of reasons once.
    pub(crate) async fn say(&mut self, door: &Door, flow: &str, wid: Wid, terminal: &Terminal) -> Result<(), Problem> {
        let now = Instant::now();
        if now.duration_since(self.still_since) < STILL || now.duration_since(self.looked) < LOOK_AGAIN {
            return Ok(());
        }
        self.looked = now;
        let mut waiting = door.waiting(flow, wid).await?;
        waiting.sort_by(|one, other| one.transition.cmp(&other.transition));
        let mut lines: Vec<String> = waiting
            .iter()
            .map(|job| {
                let due = job
                    .due
                    .as_ref()
                    .filter(|_| job.code == "time")
                    .map(|due| format!(" (due {due})"))
                    .unwrap_or_default();
                format!("waiting: {} [{}]: {}{due}. {}", job.transition, job.code, job.text, job.hint)
            })
            .collect();
        let instance = door.instance(flow, wid).await?;
        if let Some(way_back) = &instance.way_back {
            lines.push(format!("waiting: instance {wid} is {way_back}."));
        } else if instance.status == Status::Exception {
            lines.push(format!(
                "waiting: instance {wid} is an exception. `wed instance show {flow} {wid}` says why; then `wed \
                 instance retry {flow} {wid}`."
            ));
        }
        if lines != self.said {
            for line in &lines {
                terminal.say(line);
            }
            if !lines.is_empty() {
                terminal.note(&json!({ "wid": wid, "waiting": waiting }));
            }
            self.said = lines;
        }
        Ok(())
    }
}
