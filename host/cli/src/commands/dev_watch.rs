//! `wed dev --watch`: at each change of a project, builds it, runs its fixtures, pushes it, and runs the last instance
//! again.

use std::path::{Path, PathBuf};

use tokio::sync::mpsc;
use wedflow_authoring::{Project, Watch};
use wedflow_documents::{Reason, Start, Status, UploadTerms, Uploaded};
use wedflow_model::Wid;

use crate::commands::component;
use crate::commands::project::{self, project_problem};
use crate::commands::test;
use crate::door::Door;
use crate::problem::Problem;
use crate::terminal::Terminal;

/// Project that is watched.
pub(crate) struct Watched {
    project: Project,
    /// Files that have changed. A thread waits for them.
    changes: mpsc::Receiver<Vec<PathBuf>>,
}

impl Watched {
    /// Begins to watch a project.
    pub(crate) fn open(folder: &Path) -> Result<Self, Problem> {
        let project = Project::open(folder).map_err(project_problem)?;
        let unwatched = |reason: String| Problem::new(format!("{} cannot be watched", folder.display())).hint(reason);
        let watch = Watch::new(folder).map_err(unwatched)?;
        let (sender, changes) = mpsc::channel(1);
        std::thread::spawn(move || {
            loop {
                let files = watch.changed();
                if files.is_empty() || sender.blocking_send(files).is_err() {
                    return;
                }
            }
        });
        Ok(Watched { project, changes })
    }

    /// Builds, tests, pushes and runs again, at once and at each change. Prints failures and waits for the
    /// next change.
    pub(crate) async fn run(mut self, door: &Door, terminal: &Terminal) {
        loop {
            if let Err(problem) = self.round(door, terminal).await {
                let _ = terminal.problem(&problem);
            }
            let folder = self.project.folder.display();
            terminal.say(&format!("watching {folder}"));
            if self.changes.recv().await.is_none() {
                return;
            }
        }
    }

    async fn round(&self, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
        let project = &self.project;
        tokio::task::block_in_place(|| project::build(project, false, terminal))?;
        test::test_built(project, terminal).await?;
        let component = project.component();
        let terms = UploadTerms::default();
        let name = Some(project.name.as_str());
        let pushed = component::push(&component, name, &terms, door, terminal).await?;
        for warning in &pushed.warnings {
            terminal.say(&format!("warning: {warning}"));
        }
        terminal.say(&format!("component {} version {} is pushed", pushed.name, pushed.version));
        run_again(&pushed, door, terminal).await
    }
}

/// Runs the last instance again that a component's transitions worked on: an exception is retried, and of any other one
/// a new instance begins in the same state.
async fn run_again(pushed: &Uploaded, door: &Door, terminal: &Terminal) -> Result<(), Problem> {
    let Some((flow, wid)) = last_instance(pushed, door).await? else {
        terminal.say("no instance has used it yet; `wed instance start` begins one");
        return Ok(());
    };
    if door.instance(&flow, wid).await?.status == Status::Exception {
        let reason = Reason { reason: "wed dev --watch".to_owned() };
        door.retry(&flow, wid, &reason).await?;
        terminal.say(&format!("instance {wid} of {flow} is retried"));
        return Ok(());
    }
    let first = door.trace(&flow, wid, None, Some(1)).await?;
    let state = first.into_iter().next().map(|row| row.state);
    let state = state.and_then(|state| state.as_object().cloned());
    let again = Start { state: state.unwrap_or_default(), ..Start::default() };
    let started = door.start(&flow, &again, None).await?;
    let new = started.wid;
    terminal.say(&format!(
        "instance {new} of {flow} is started as {wid} was; `wed instance show {flow} {new}` tells of it"
    ));
    Ok(())
}

/// Finds the instance of the last attempt at a component's transitions: of each flow that has one, the first by name.
async fn last_instance(pushed: &Uploaded, door: &Door) -> Result<Option<(String, Wid)>, Problem> {
    for flow in door.flows().await? {
        for transition in &pushed.transitions {
            let last = door.last_attempts(&flow.name, transition, 1).await?;
            if let Some(attempt) = last.first() {
                return Ok(Some((flow.name, attempt.wid)));
            }
        }
    }
    Ok(None)
}
