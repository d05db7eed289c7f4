//! Rows as the documents of the API.

use wedflow_documents::{
    Attempt, AuditEntry, Component, FeedEvent, FlowSummary, Instance, Job, LeasedJob, LogLine,
    Recording, Relative, Status, Token, TraceRow, Trigger, WebhookMessage,
};

impl From<crate::Flow> for FlowSummary {
    fn from(flow: crate::Flow) -> Self {
        FlowSummary {
            name: flow.name,
            description: flow.description,
            version: flow.version,
            regular: flow.regular,
            r#final: flow.r#final,
            exception: flow.exception,
            jobs: flow.jobs,
            estimated: flow.estimated,
        }
    }
}

impl From<crate::Trigger> for Trigger {
    fn from(trigger: crate::Trigger) -> Self {
        Trigger {
            name: trigger.tgname,
            enabled: trigger.enabled,
            transition: trigger.trname,
            condition: trigger.cname,
            when: trigger.cpred,
            r#final: trigger.cfinal,
            timeout: trigger.timeout,
            component: trigger.component,
        }
    }
}

impl From<crate::AttemptLog> for LogLine {
    fn from(line: crate::AttemptLog) -> Self {
        LogLine {
            severity: line.severity,
            message: line.message,
            fields: line.fields,
        }
    }
}

impl From<crate::FeedRow> for FeedEvent {
    fn from(row: crate::FeedRow) -> Self {
        let status = Status::of(&row.status);
        let kind = match status {
            _ if row.seq == 1 => "instance.started",
            Status::Regular => "instance.changed",
            Status::Final => "instance.final",
            Status::Exception => "instance.exception",
        };
        FeedEvent {
            kind: kind.to_owned(),
            flow: row.flow,
            wid: row.wid,
            key: row.key,
            seq: row.seq,
            status,
            transition: row.transition,
            fired: row.fired,
            at: row.at,
            writer: row.writer,
            note: row.note,
        }
    }
}

impl From<crate::LeasedRow> for LeasedJob {
    fn from(row: crate::LeasedRow) -> Self {
        LeasedJob {
            wid: row.wid,
            trigger: row.trigger,
            transition: row.transition,
            lease: row.token,
            lease_ends: row.lease_ends,
            attempt: row.attempt,
            attempts: row.attempts,
            seq: row.seq,
            state: row.state,
            progress: row.progress.map(|progress| progress.0),
        }
    }
}

impl crate::MadeAttempt {
    /// Makes the document of an attempt, with those lines that are its own.
    pub fn document(self, lines: &[crate::AttemptLog]) -> Attempt {
        let attempt = self;
        let own = lines.iter().filter(|line| line.is_of(&attempt));
        Attempt {
            logs: own.cloned().map(LogLine::from).collect(),
            seq: attempt.seq,
            number: attempt.attempt_id,
            trigger: attempt.trigger,
            transition: attempt.trname,
            attempt: attempt.attempt,
            outcome: attempt.outcome,
            message: attempt.message,
            component: attempt.component,
            version: attempt.version,
            fuel: attempt.fuel,
            elapsed_us: attempt.elapsed_us,
            memory_bytes: attempt.memory_bytes,
            writer: attempt.writer,
            at: attempt.tstmp,
        }
    }
}

impl From<crate::Relative> for Relative {
    fn from(relative: crate::Relative) -> Self {
        Relative {
            role: match relative.is_parent {
                true => "parent".to_owned(),
                false => "child".to_owned(),
            },
            flow: relative.flow,
            wid: relative.wid,
            transition: relative.transition,
            state: relative.state,
        }
    }
}

impl From<crate::Instance> for Instance {
    fn from(instance: crate::Instance) -> Self {
        Instance {
            wid: instance.wid,
            status: Status::of(&instance.status),
            state: instance.state,
            started: instance.started,
            changed: instance.changed,
            pending: instance.pending,
            reason: instance.reason,
            key: instance.key,
            relatives: instance.relatives.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<crate::TraceRow> for TraceRow {
    fn from(row: crate::TraceRow) -> Self {
        TraceRow {
            seq: row.seq,
            status: Status::of(&row.status),
            transition: row.trw,
            fired: row.trf,
            state: row.state,
            at: row.tstmp,
            writer: row.writer,
            note: row.note,
            attempt: row.attempt,
            fuel: row.fuel,
            elapsed_us: row.elapsed_us,
            memory_bytes: row.memory_bytes,
        }
    }
}

impl From<crate::JobRow> for Job {
    fn from(job: crate::JobRow) -> Self {
        Job {
            wid: job.wid,
            trigger: job.trigger(),
            transition: job.trname,
            running: job.lckid.is_some(),
            attempt: job.attempt,
            attempts: job.attempts,
            component: job.component,
            due: job.due,
            priority: job.priority,
            waits_for: job.waits_for,
        }
    }
}

impl crate::MadeAttempt {
    /// Makes the document that it takes to run the attempt again, with the states that it was handed and wrote.
    pub fn recording(self, payload: Option<String>, written: Option<String>) -> Recording {
        Recording {
            seq: self.seq,
            number: self.attempt_id,
            trigger: self.trigger,
            transition: self.trname,
            attempt: self.attempt,
            outcome: self.outcome,
            message: self.message,
            elapsed_us: self.elapsed_us,
            at_us: self.at_us,
            timeout_ms: self.timeout_ms,
            deadline: self.deadline,
            component: self.component,
            version: self.version,
            exact: self.exact,
            from_seq: self.from_seq,
            payload,
            written,
            recorded: self.recorded,
            answers: self.answers,
            digest: self.digest,
        }
    }
}

impl crate::JobRow {
    /// Returns the name of its trigger in addresses: the name, or the number where it has none.
    pub fn trigger(&self) -> String {
        match &self.tgname {
            Some(name) if !name.is_empty() => name.clone(),
            _ => self.tgid.to_string(),
        }
    }
}

impl From<crate::Component> for Component {
    fn from(component: crate::Component) -> Self {
        Component {
            name: component.name,
            version: component.version,
            digest: component.digest,
            size: component.size,
            manifest: component.manifest,
            created_at: component.created_at,
            active: component.active,
            used_by: component.used_by,
        }
    }
}

impl From<crate::Token> for Token {
    fn from(token: crate::Token) -> Self {
        Token {
            id: token.id,
            user: token.user,
            name: token.name,
            scopes: token.scopes,
            flows: token.flows,
            status: token.status,
            created_at: token.created_at,
            expires_at: token.expires_at,
            last_used: token.last_used,
        }
    }
}

impl From<crate::AuditEntry> for AuditEntry {
    fn from(entry: crate::AuditEntry) -> Self {
        AuditEntry {
            at: entry.at,
            // Which database user the operator was is not the tenant's business.
            actor: match entry.actor.split_once(':') {
                Some(("operator", _)) => "operator".to_owned(),
                _ => entry.actor,
            },
            action: entry.action,
            target: entry.target,
            detail: entry.detail,
        }
    }
}

impl From<crate::OutboxMessage> for WebhookMessage {
    fn from(message: crate::OutboxMessage) -> Self {
        WebhookMessage {
            name: message.name,
            status: message.status,
            attempts: message.attempts,
            last_error: message.last_error,
            made_at: message.made_at,
            body: message.body,
        }
    }
}
