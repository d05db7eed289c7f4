//! People's work: worklists, claims, reports, messages. What the database answers is a document already.

use serde_json::Value as Json;
use sqlx::AssertSqlSafe;
use strum::{IntoStaticStr, VariantArray};
use wedflow_documents::{Calendar, Notification, Outcome, PeopleRole, Process, Readable, Report};
use wedflow_model::Wid;

use crate::flows::Flow;
use crate::statements::statements;
use crate::{Store, StoreError};

/// Act of a person on an item, in one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum WorkAct {
    /// Take it to do it now.
    Select,
    /// Take it away: it stays taken while the person is not connected.
    Lock,
    /// Give a selected item back.
    Unselect,
    /// Give a locked item back.
    Unlock,
    /// Begin.
    Start,
    /// Take it from whoever holds it, for who is in charge.
    TakeOver,
}

impl WorkAct {
    /// All acts.
    pub const ALL: &[WorkAct] = WorkAct::VARIANTS;

    /// The name, as in HTTP.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn function(self) -> &'static str {
        match self {
            WorkAct::Select => "select_work",
            WorkAct::Lock => "lock_work",
            WorkAct::Unselect => "unselect_work",
            WorkAct::Unlock => "unlock_work",
            WorkAct::Start => "start_work",
            WorkAct::TakeOver => "take_over_work",
        }
    }
}

/// A person of a tenant.
#[derive(Debug, Clone, Copy)]
pub struct PersonName<'a> {
    /// The tenant's name.
    pub tenant: &'a str,
    /// The person's name.
    pub name: &'a str,
}

statements! {
    /// The mark of this installation, by which a person's machine knows it again.
    /// Errors: [`StoreError`] when the database does not answer.
    pub installation_mark(&self) -> String = one "SELECT wed.installation_mark()::text";

    /// Returns true for a user who is a person: who has a worklist.
    /// Errors: [`StoreError`] when the database does not answer.
    pub is_person(&self, person: PersonName<'_>) -> bool
        = one "SELECT EXISTS (SELECT FROM wed.person p JOIN wed.tenant t USING (tenant_id) \
               WHERE t.name = $1 AND p.name = $2)", person.tenant, person.name;

    /// Gives an item to another person.
    /// Errors: [`StoreError::Refused`].
    pub delegate_work(&self, person: PersonName<'_>, item: i64, to: &str) -> Json
        = one "SELECT wed.delegate_work($1, $2, $3, $4)", person.tenant, person.name, item, to;

    /// Gives what a person holds to another; how many items.
    /// Errors: [`StoreError::Refused`].
    pub reassign_work(&self, person: PersonName<'_>, from: &str, to: &str) -> i64
        = one "SELECT wed.reassign_work($1, $2, $3, $4, 1000)", person.tenant, person.name, from, to;

    /// Reserves the next item of a task for the holder of a locked item of the same instance: both are taken away
    /// together.
    /// Errors: [`StoreError::Refused`].
    pub reserve_work(&self, person: PersonName<'_>, item: i64, task: &str) -> ()
        = run "SELECT wed.reserve_work($1, $2, $3, $4)", person.tenant, person.name, item, task;

    /// Puts an item before another one in the person's own order, or last.
    /// Errors: [`StoreError::Refused`].
    pub move_work(&self, person: PersonName<'_>, item: i64, before: Option<i64>) -> ()
        = run "SELECT wed.move_work($1, $2, $3, $4)", person.tenant, person.name, item, before;

    /// Decides of an item whose deadline has passed: it continues, with another deadline when one is given as an
    /// interval, or it stops, which is a failure.
    /// Errors: [`StoreError::Refused`].
    pub decide_late(&self, person: PersonName<'_>, item: i64, proceed: bool, extend: Option<&str>) -> Json
        = one "SELECT wed.decide_late($1, $2, $3, $4, $5::interval)", person.tenant, person.name, item, proceed,
            extend;

    /// Decides what becomes of an instance that is an exception: `retry`, `set` or `cancel`, for who is in charge.
    /// Errors: [`StoreError::Refused`].
    pub decide_exception(&self, person: PersonName<'_>, flow: &str, wid: Wid, outcome: &Outcome) -> Json
        = one "SELECT wed.decide_exception($1, $2, $3, $4, $5, $6, $7)", person.tenant, person.name, flow, wid,
            &outcome.decision, Json::Object(outcome.values.clone()), &outcome.reason;

    /// An attachment of an item: its digest and bytes.
    /// Errors: [`StoreError::Refused`] when there is none that the person may see.
    pub work_file(&self, person: PersonName<'_>, item: i64, note: i64) -> (String, Vec<u8>)
        = row "SELECT digest, bytes FROM wed.work_attachment($1, $2, $3, $4)", person.tenant, person.name, item, note;

    /// The tenant's calendars, by name.
    pub work_calendars(&self, tenant: &str) -> Vec<Json> = all "SELECT wed.work_calendars($1)", tenant;

    /// Reports an item, once under a key. The answer's `applied` is false when the person no longer holds it;
    /// the result is kept then.
    /// Errors: [`StoreError::Refused`] for values that the flow does not take: nothing is kept, the item stays held.
    pub report_work(&self, person: PersonName<'_>, item: i64, report: &Report, key: &str) -> Json
        = one "SELECT wed.report_work($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), $9, $10::text::timestamptz)",
            person.tenant, person.name, item, report.success, Json::Object(report.values.clone()), key, &report.reason,
            report.claim, report.base, &report.done_at;

    /// Lists the acts on an item, oldest first.
    /// Errors: [`StoreError::Refused`] when the person may not see it.
    pub work_history(&self, person: PersonName<'_>, item: i64) -> Vec<Json>
        = all "SELECT wed.work_history($1, $2, $3)", person.tenant, person.name, item;

    /// Lists the items of an instance, newest first, each with what was done and said of it.
    pub work_of_instance(&self, flow: &Flow, wid: Wid) -> Vec<Json>
        = all "SELECT wed.work_of_instance($1, $2)", flow.flow_id, wid;

    /// Adds a comment to an item, with a file when one is given; its number.
    /// Errors: [`StoreError::Refused`].
    pub comment_work(&self, person: PersonName<'_>, item: i64, text: &str, file: Option<(&str, &[u8])>) -> i64
        = one "SELECT wed.add_work_note($1, $2, $3, $4, $5, $6)", person.tenant, person.name, item, text,
            file.map(|(name, _)| name), file.map(|(_, bytes)| bytes);

    /// A person's delivered messages, newest first.
    /// Errors: [`StoreError::Refused`] when there is no such person.
    pub work_messages(&self, person: PersonName<'_>, limit: i32) -> Vec<Json>
        = all "SELECT wed.work_messages($1, $2, $3)", person.tenant, person.name, limit;

    /// Removes a person's delivered messages; how many.
    /// Errors: [`StoreError::Refused`] when there is no such person.
    pub remove_messages(&self, person: PersonName<'_>) -> i64
        = one "SELECT wed.remove_messages($1, $2)", person.tenant, person.name;

    /// Marks a person active, and delivers the messages that were stored; how many.
    /// Errors: [`StoreError::Refused`] when there is no such person.
    pub connect_person(&self, person: PersonName<'_>) -> i64
        = one "SELECT wed.connect_person($1, $2)", person.tenant, person.name;

    /// Marks a person inactive.
    /// Errors: [`StoreError::Refused`] when there is no such person.
    pub disconnect_person(&self, person: PersonName<'_>) -> ()
        = run "SELECT wed.disconnect_person($1, $2)", person.tenant, person.name;

    /// The tenant's people behind a name, with roles and what they hold, by name.
    pub people(&self, tenant: &str, after: Option<&str>, limit: i64) -> Vec<Json>
        = all include_str!("../sql/people.sql"), tenant, after, limit.clamp(1, 1_000);

    /// The tenant's roles of people, with how many have them, by name; at most 1000.
    pub people_roles(&self, tenant: &str) -> Vec<PeopleRole>
        = rows "SELECT r.name AS role, (SELECT count(*) FROM wed.membership m WHERE m.role_id = r.role_id) AS people \
            FROM wed.role_of_people r JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY r.name LIMIT 1000",
            tenant;

    /// A number that rises when a person's worklist or messages change.
    /// Errors: [`StoreError::Refused`] when there is no such person.
    pub work_mark(&self, person: PersonName<'_>) -> String
        = one "SELECT wed.work_mark($1, $2)", person.tenant, person.name;
}

impl Store {
    /// A person's worklist in one of the orders `arrival`, `priority`, `deadline`, `size`, `own`. Counts as a sign
    /// of life.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person or order.
    pub async fn worklist(&self, person: PersonName<'_>, order: &str, limit: i32) -> Result<Vec<Json>, StoreError> {
        sqlx::query("SELECT wed.contact_person($1, $2)")
            .bind(person.tenant)
            .bind(person.name)
            .execute(&self.pool)
            .await?;
        let items: Vec<Readable> = sqlx::query_scalar("SELECT wed.worklist($1, $2, $3, $4)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(order)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        Ok(items.into_iter().map(Json::from).collect())
    }

    /// An item with what is needed to do it.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the person may not see it.
    pub async fn work_item(&self, person: PersonName<'_>, item: i64) -> Result<Json, StoreError> {
        self.work_call("work_data($1, $2, $3)", person, item).await
    }

    /// Does something with an item in one statement, if it is still under the claim under which it was seen.
    ///
    /// # Errors
    /// [`StoreError::Refused`]: WF081 names who holds it.
    pub async fn work_act(
        &self,
        person: PersonName<'_>,
        item: i64,
        act: WorkAct,
        claim: Option<i32>,
    ) -> Result<Json, StoreError> {
        let call = format!("SELECT wed.{}($1, $2, $3, clock_timestamp(), $4)", act.function());
        Ok(sqlx::query_scalar(AssertSqlSafe(call))
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .bind(claim)
            .fetch_one(&self.pool)
            .await?)
    }

    async fn work_call(&self, call: &str, person: PersonName<'_>, item: i64) -> Result<Json, StoreError> {
        Ok(sqlx::query_scalar(AssertSqlSafe(format!("SELECT wed.{call}")))
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .fetch_one(&self.pool)
            .await?)
    }

    /// Changes how an instance notifies people while it runs; what is absent stays.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn change_notification(
        &self,
        person: PersonName<'_>,
        flow: &str,
        wid: Wid,
        change: &Notification,
    ) -> Result<Json, StoreError> {
        let sql = "SELECT wed.change_notification($1, $2, $3, $4, $5, $6, make_interval(secs => $7), $8, $9)";
        Ok(sqlx::query_scalar(sql)
            .bind(person.tenant)
            .bind(person.name)
            .bind(flow)
            .bind(wid)
            .bind(change.policy)
            .bind(change.count)
            .bind(change.renotify_seconds)
            .bind(&change.warnings)
            .bind(change.transfer)
            .fetch_one(&self.pool)
            .await?)
    }

    /// Makes or changes a calendar.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a zone or times that there are not.
    pub async fn set_calendar(&self, tenant: &str, name: &str, calendar: &Calendar) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("SELECT wed.set_calendar($1, $2, $3, $4, $5::time, $6::time, $7::date[])")
            .bind(tenant)
            .bind(name)
            .bind(calendar.zone.as_deref().unwrap_or("UTC"))
            .bind(calendar.weekdays.as_deref().unwrap_or(&[1, 2, 3, 4, 5]))
            .bind(calendar.opens.as_deref().unwrap_or("09:00"))
            .bind(calendar.closes.as_deref().unwrap_or("17:00"))
            .bind(&calendar.holidays)
            .execute(&mut *transaction)
            .await?;
        let detail = serde_json::json!({ "zone": calendar.zone.as_deref().unwrap_or("UTC") });
        self.commit_noted(transaction, tenant, "calendar.set", name, detail).await
    }

    /// Makes a person with roles, or gives a known one further roles.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a name that is not allowed.
    pub async fn create_person(&self, person: PersonName<'_>, roles: &[String]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("SELECT wed.create_person($1, $2, $3)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(roles)
            .execute(&mut *transaction)
            .await
            .map_err(|error| crate::error::about_name(error.into(), "person", person.name))?;
        self.commit_noted(transaction, person.tenant, "person.set", person.name, serde_json::json!({ "roles": roles }))
            .await
    }

    /// Takes a role from a person.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn revoke_role(&self, person: PersonName<'_>, role: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("SELECT wed.revoke_role($1, $2, $3)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(role)
            .execute(&mut *transaction)
            .await?;
        let detail = serde_json::json!({ "revoked": role });
        self.commit_noted(transaction, person.tenant, "person.set", person.name, detail).await
    }

    /// Removes a person; what the person held is offered again.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn drop_person(&self, person: PersonName<'_>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("SELECT wed.drop_person($1, $2)")
            .bind(person.tenant)
            .bind(person.name)
            .execute(&mut *transaction)
            .await?;
        self.commit_noted(transaction, person.tenant, "person.delete", person.name, Json::Null).await
    }

    /// Starts an instance in a person's name; its number. The queries of the process's data are asked now.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the person has not the creator role.
    pub async fn start_process(&self, person: PersonName<'_>, process: &Process) -> Result<Wid, StoreError> {
        let mut values = self.query_data(person.tenant, &process.flow, &process.values).await?;
        values.extend(process.values.clone());
        let mut transaction = self.begin().await?;
        let wid = sqlx::query_scalar("SELECT wed.start_process($1, $2, $3, $4, $5, $6, $7, $8, $9)")
            .bind(person.tenant)
            .bind(&process.flow)
            .bind(person.name)
            .bind(&process.in_charge)
            .bind(Json::Object(values))
            .bind(process.policy.unwrap_or(1))
            .bind(process.count.unwrap_or(1))
            .bind(&process.warnings)
            .bind(process.transfer)
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(wid)
    }

    /// The plan of work of a flow.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when it has none.
    pub async fn work_plan(&self, flow: &crate::Flow) -> Result<Json, StoreError> {
        sqlx::query_scalar("SELECT plan FROM wed.work_plan WHERE flow_id = $1")
            .bind(flow.flow_id)
            .fetch_optional(&self.pool)
            .await?
            .ok_or_else(|| StoreError::not_found("process", &flow.name))
    }

    /// The application of an item that a person holds or is offered, or, with a task, that of a task which the person
    /// takes away together with the item: name, version, digest and bytes of the component in use.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the item has none, or the person does not hold it.
    pub async fn work_application(
        &self,
        person: PersonName<'_>,
        item: i64,
        task: Option<&str>,
    ) -> Result<(String, i32, String, Vec<u8>), StoreError> {
        sqlx::query_as(include_str!("../sql/work_application.sql"))
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .bind(task)
            .fetch_optional(&self.pool)
            .await?
            .ok_or_else(|| StoreError::not_found("application of work item", item))
    }
}
