//! A workflow with its sub-workflows flattened: one list of tasks and sub-workflows, and what their states mean as
//! conditions over attributes.
//!
//! A leaf of a rule is latched: once true, it stays so. The states of a task only go forward (NOT_READY, RUNNING, then
//! SUCCEEDED or FAILED), so each leaf is a condition over the present state that never becomes false again: `->
//! RUNNING` holds in RUNNING, SUCCEEDED and FAILED; `-> READY` is the task's own rule, since it is READY when that
//! holds.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::plan::{Dependence, Operator};
use crate::syntax::{Activity, Block, BlockKind, Document, Rule, Workflow};

/// Tasks and sub-workflows of a process, those of sub-workflows included.
pub(crate) const MEMBERS_MAX: usize = 500;
/// Bytes of a condition; the database takes 16 384.
pub(crate) const CONDITION_BYTES_MAX: usize = 16_000;
/// Rules that are written out for a process, each time that a term names the state READY counted.
const STEPS_MAX: u32 = 200_000;

/// A task or a sub-workflow in its process.
pub(crate) struct Member<'d> {
    pub(crate) block: &'d Block,
    /// The workflow that it is written in.
    pub(crate) workflow: &'d Workflow,
    /// `Sub.Task` in a sub-workflow.
    pub(crate) path: String,
    /// The sub-workflow that it is in, by place in the list.
    pub(crate) parent: Option<usize>,
    /// The attribute of its state; of a task, and of a sub-workflow that is an instance of its own.
    pub(crate) state: Option<String>,
}

/// The members of a process, each behind the sub-workflow that it is in.
pub(crate) struct Network<'d> {
    pub(crate) members: Vec<Member<'d>>,
    places: BTreeMap<(Option<usize>, &'d str), usize>,
    /// Rules that may still be written out.
    steps: Cell<u32>,
}

impl<'d> Network<'d> {
    /// Flattens a workflow; none if it has too many members. The workflow must not contain itself.
    pub(crate) fn of(
        document: &'d Document,
        workflow: &'d Workflow,
        attribute: impl Fn(&str) -> String,
    ) -> Option<Self> {
        let mut network = Network { members: Vec::new(), places: BTreeMap::new(), steps: Cell::new(STEPS_MAX) };
        let mut open = vec![(workflow, None, String::new())];
        while let Some((workflow, parent, prefix)) = open.pop() {
            for block in workflow.activities() {
                if network.members.len() >= MEMBERS_MAX {
                    return None;
                }
                let place = network.members.len();
                let path = format!("{prefix}{}", block.name);
                let sub = (block.of.as_ref())
                    .filter(|_| block.kind == BlockKind::SubWorkflow)
                    .and_then(|of| document.workflow(&of.text));
                if let Some(sub) = sub {
                    open.push((sub, Some(place), format!("{path}.")));
                }
                let state = sub.is_none().then(|| attribute(&path));
                network.places.insert((parent, block.name.text.as_str()), place);
                network.members.push(Member { block, workflow, path, parent, state });
            }
        }
        Some(network)
    }

    /// Writes the condition under which a member is or was READY; `true` where nothing stands before it. None if it
    /// is too long.
    /// Of a member of `within`, that sub-workflow is taken to be READY.
    pub(crate) fn ready(&self, member: usize, within: Option<usize>) -> Option<String> {
        let mut parts = vec![self.own(member, &mut Vec::new())?];
        let mut around = self.members[member].parent;
        while let Some(parent) = around.filter(|_| around != within) {
            parts.push(self.own(parent, &mut Vec::new())?);
            around = self.members[parent].parent;
        }
        parts.reverse();
        joined(Operator::And, parts)
    }

    /// Writes the condition under which a task is READY or RUNNING.
    pub(crate) fn at_work(&self, member: usize) -> Option<String> {
        let state = self.members[member].state.as_ref()?;
        let ready = self.ready(member, None)?;
        bounded(match ready.as_str() {
            "true" => format!("{state} NOT IN ('SUCCEEDED', 'FAILED')"),
            _ => format!("{state} NOT IN ('SUCCEEDED', 'FAILED') AND {ready}"),
        })
    }

    /// Writes the condition under which the process, or a sub-workflow that is READY, is complete: nothing in it is
    /// READY or RUNNING.
    pub(crate) fn complete(&self, within: Option<usize>) -> Option<String> {
        let mut parts = Vec::new();
        for (place, member) in self.members.iter().enumerate() {
            if let Some(state) = &member.state
                && self.is_within(place, within)
            {
                let ready = self.ready(place, within)?;
                parts.push(match ready.as_str() {
                    "true" => format!("{state} IN ('SUCCEEDED', 'FAILED')"),
                    "false" => continue,
                    _ => format!("({state} IN ('SUCCEEDED', 'FAILED') OR NOT {ready})"),
                });
            }
        }
        joined(Operator::And, parts)
    }

    /// Writes a member's rule for the plan.
    pub(crate) fn dependence(&self, member: usize) -> Option<Dependence> {
        let rule = self.members[member].block.depends()?;
        Some(self.planned(rule, self.members[member].parent))
    }

    /// Returns true if a rule names the failure of the member.
    pub(crate) fn failure_expected(&self, member: usize) -> bool {
        let member = &self.members[member];
        let mut named = false;
        for rule in member.workflow.activities().filter_map(Block::depends) {
            rule.each_term(&mut |task, state| {
                named |= state == Activity::Failed && task.text == member.block.name.text;
            });
        }
        named
    }

    fn planned(&self, rule: &Rule, parent: Option<usize>) -> Dependence {
        match rule {
            Rule::Term { task, state, .. } => Dependence::Term {
                task: self
                    .places
                    .get(&(parent, task.text.as_str()))
                    .map_or_else(|| task.text.clone(), |at| self.members[*at].path.clone()),
                state: *state,
            },
            Rule::Tree { operator, terms, .. } => {
                Dependence::Tree { op: *operator, of: terms.iter().map(|term| self.planned(term, parent)).collect() }
            }
        }
    }

    fn is_within(&self, member: usize, outer: Option<usize>) -> bool {
        let Some(outer) = outer else { return true };
        let mut at = self.members[member].parent;
        while let Some(parent) = at {
            if parent == outer {
                return true;
            }
            at = self.members[parent].parent;
        }
        false
    }

    /// Writes what must hold that a member is READY, its sub-workflow being so. `behind` holds the members for which
    /// this is being written: one of them again can add nothing to what holds.
    fn own(&self, member: usize, behind: &mut Vec<usize>) -> Option<String> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        if behind.contains(&member) {
            return Some("false".to_owned());
        }
        behind.push(member);
        let this = &self.members[member];
        let condition = match this.block.depends() {
            Some(rule) => self.rule(rule, this.parent, behind)?,
            None => "true".to_owned(),
        };
        behind.pop();
        Some(condition)
    }

    fn rule(&self, rule: &Rule, parent: Option<usize>, behind: &mut Vec<usize>) -> Option<String> {
        match rule {
            Rule::Term { task, state, .. } => match self.places.get(&(parent, task.text.as_str())) {
                Some(place) => self.term(*place, *state, behind),
                None => Some("false".to_owned()),
            },
            Rule::Tree { operator, terms, .. } => {
                let mut parts = Vec::new();
                for term in terms {
                    parts.push(self.rule(term, parent, behind)?);
                }
                joined(*operator, parts)
            }
        }
    }

    fn term(&self, member: usize, state: Activity, behind: &mut Vec<usize>) -> Option<String> {
        match (&self.members[member].state, state) {
            (_, Activity::Ready) | (None, Activity::Running) => self.own(member, behind),
            (Some(own), Activity::Running) => Some(format!("{own} IN ('RUNNING', 'SUCCEEDED', 'FAILED')")),
            (Some(own), Activity::Succeeded) => Some(format!("{own} = 'SUCCEEDED'")),
            (Some(own), Activity::Failed) => Some(format!("{own} = 'FAILED'")),
            (None, ended) => {
                let mut parts = vec![self.own(member, behind)?, self.complete(Some(member))?];
                let failed = self.failed_within(member)?;
                parts.push(match ended {
                    Activity::Failed => failed,
                    _ => negated(&failed),
                });
                joined(Operator::And, parts)
            }
        }
    }

    /// Writes the condition under which something in a sub-workflow failed that no rule of it names.
    fn failed_within(&self, sub: usize) -> Option<String> {
        let mut parts = Vec::new();
        for (place, member) in self.members.iter().enumerate() {
            if member.parent == Some(sub) && !self.failure_expected(place) {
                parts.push(self.term(place, Activity::Failed, &mut Vec::new())?);
            }
        }
        joined(Operator::Or, parts)
    }
}

fn negated(condition: &str) -> String {
    match condition {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        _ if condition.starts_with('(') => format!("NOT {condition}"),
        _ => format!("NOT ({condition})"),
    }
}

/// Joins conditions, in brackets where there are several; of none, AND is `true` and OR is `false`.
fn joined(operator: Operator, parts: Vec<String>) -> Option<String> {
    let (neutral, absorbing) = match operator {
        Operator::And => ("true", "false"),
        Operator::Or => ("false", "true"),
    };
    if parts.iter().any(|part| part == absorbing) {
        return Some(absorbing.to_owned());
    }
    let mut kept: Vec<String> = Vec::new();
    for part in parts {
        if part != neutral && !kept.contains(&part) {
            kept.push(part);
        }
    }
    match kept.as_slice() {
        [] => Some(neutral.to_owned()),
        [one] if one.starts_with('(') => Some(one.clone()),
        [one] => bounded(format!("({one})")),
        _ => bounded(format!("({})", kept.join(&format!(" {} ", operator.keyword())))),
    }
}

fn bounded(condition: String) -> Option<String> {
    (condition.len() <= CONDITION_BYTES_MAX).then_some(condition)
}
