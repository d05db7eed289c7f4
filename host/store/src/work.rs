//! People's work: worklists, claims, reports, messages. What the database answers is a document already.

use serde_json::{Map, Value as Json};
use sqlx::AssertSqlSafe;
use strum::{IntoStaticStr, VariantArray};
use wedflow_model::Wid;

use crate::flows::Flow;
use crate::readable::Readable;
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

/// The result of an item.
#[derive(Debug, Clone)]
pub struct WorkReport<'a> {
    /// The item.
    pub item: i64,
    /// False: it failed.
    pub success: bool,
    /// Attributes, or data, and their values.
    pub values: &'a Map<String, Json>,
    /// Applied once under this key.
    pub key: &'a str,
    /// Why, or what else is to be said.
    pub reason: Option<&'a str>,
    /// The claim it was done under; any of the person's when absent.
    pub claim: Option<i32>,
    /// The state of the instance from which it was made: what changed since is not overwritten.
    pub base: Option<i32>,
    /// Time at which the person did it, RFC 3339.
    pub done_at: Option<&'a str>,
}

/// A process to start in a person's name.
#[derive(Debug, Clone)]
pub struct NewProcess<'a> {
    /// The flow.
    pub flow: &'a str,
    /// The person in charge; who starts it when absent.
    pub in_charge: Option<&'a str>,
    /// Values of attributes; the others are the defaults.
    pub values: &'a Map<String, Json>,
    /// The notification policy, 1 to 4.
    pub policy: i32,
    /// Number of people that policies 2 to 4 choose.
    pub count: i32,
    /// Hours before a deadline.
    pub warnings: &'a [i32],
    /// The one of them at which an item passes to the person in charge.
    pub transfer: Option<i32>,
}

/// A change of how an instance notifies people; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct NotificationChange {
    /// The policy, 1 to 4.
    pub policy: Option<i32>,
    /// Number of people that policies 2 to 4 choose.
    pub count: Option<i32>,
    /// The pause between two rounds of offers, in seconds.
    pub renotify_seconds: Option<f64>,
    /// Hours before a deadline.
    pub warnings: Option<Vec<i32>>,
    /// The one of them at which an item passes to the person in charge.
    pub transfer: Option<i32>,
}

/// Working hours, by which deadlines may be counted.
#[derive(Debug, Clone)]
pub struct WorkCalendar {
    /// A zone of the IANA database.
    pub zone: String,
    /// ISO days of the week, 1 is Monday.
    pub weekdays: Vec<i32>,
    /// The time at which work begins.
    pub opens: String,
    /// The time at which work ends.
    pub closes: String,
    /// Days without work, as 2026-12-25.
    pub holidays: Vec<String>,
}

impl Store {
    /// A person's worklist in one of the orders `arrival`, `priority`, `deadline`, `size`, `own`. Counts as a sign
    /// of life.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person or order.
    pub async fn worklist(
        &self,
        person: PersonName<'_>,
        order: &str,
        limit: i32,
    ) -> Result<Vec<Json>, StoreError> {
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

    /// Does something with an item in one statement.
    ///
    /// # Errors
    /// [`StoreError::Refused`]: WF081 names who holds it.
    pub async fn work_act(
        &self,
        person: PersonName<'_>,
        item: i64,
        act: WorkAct,
    ) -> Result<Json, StoreError> {
        self.work_act_at(person, item, act, None).await
    }

    /// Does something with an item if it is still under the claim under which it was seen.
    ///
    /// # Errors
    /// [`StoreError::Refused`]: WF081 names who holds it.
    pub async fn work_act_at(
        &self,
        person: PersonName<'_>,
        item: i64,
        act: WorkAct,
        claim: Option<i32>,
    ) -> Result<Json, StoreError> {
        let call = format!(
            "SELECT wed.{}($1, $2, $3, clock_timestamp(), $4)",
            act.function()
        );
        Ok(sqlx::query_scalar(AssertSqlSafe(call))
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .bind(claim)
            .fetch_one(&self.pool)
            .await?)
    }

    /// The mark of this installation, by which a person's machine knows it again.
    ///
    /// # Errors
    /// [`StoreError`] when the database does not answer.
    pub async fn installation_mark(&self) -> Result<String, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.installation_mark()::text")
            .fetch_one(&self.pool)
            .await?)
    }

    async fn work_call(
        &self,
        call: &str,
        person: PersonName<'_>,
        item: i64,
    ) -> Result<Json, StoreError> {
        Ok(
            sqlx::query_scalar(AssertSqlSafe(format!("SELECT wed.{call}")))
                .bind(person.tenant)
                .bind(person.name)
                .bind(item)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Gives an item to another person.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn delegate_work(
        &self,
        person: PersonName<'_>,
        item: i64,
        to: &str,
    ) -> Result<Json, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT wed.delegate_work($1, $2, $3, $4)")
                .bind(person.tenant)
                .bind(person.name)
                .bind(item)
                .bind(to)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Gives what a person holds to another; how many items.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn reassign_work(
        &self,
        person: PersonName<'_>,
        from: &str,
        to: &str,
    ) -> Result<i64, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT wed.reassign_work($1, $2, $3, $4, 1000)")
                .bind(person.tenant)
                .bind(person.name)
                .bind(from)
                .bind(to)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Reserves the next item of a task for the holder of a locked item of the same instance: both are taken away
    /// together.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn reserve_work(
        &self,
        person: PersonName<'_>,
        item: i64,
        task: &str,
    ) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.reserve_work($1, $2, $3, $4)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .bind(task)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Puts an item before another one in the person's own order, or last.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn move_work(
        &self,
        person: PersonName<'_>,
        item: i64,
        before: Option<i64>,
    ) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.move_work($1, $2, $3, $4)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .bind(before)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Decides of an item whose deadline has passed: it continues, with another deadline when one is given as an
    /// interval, or it stops, which is a failure.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn decide_late(
        &self,
        person: PersonName<'_>,
        item: i64,
        proceed: bool,
        extend: Option<&str>,
    ) -> Result<Json, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT wed.decide_late($1, $2, $3, $4, $5::interval)")
                .bind(person.tenant)
                .bind(person.name)
                .bind(item)
                .bind(proceed)
                .bind(extend)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Decides what becomes of an instance that is an exception: `retry`, `set` or `cancel`, for who is in charge.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn decide_exception(
        &self,
        person: PersonName<'_>,
        flow: &str,
        wid: Wid,
        (decision, values, reason): (&str, &Map<String, Json>, &str),
    ) -> Result<Json, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT wed.decide_exception($1, $2, $3, $4, $5, $6, $7)")
                .bind(person.tenant)
                .bind(person.name)
                .bind(flow)
                .bind(wid)
                .bind(decision)
                .bind(Json::Object(values.clone()))
                .bind(reason)
                .fetch_one(&self.pool)
                .await?,
        )
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
        change: &NotificationChange,
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

    /// An attachment of an item: its digest and bytes.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is none that the person may see.
    pub async fn work_file(
        &self,
        person: PersonName<'_>,
        item: i64,
        note: i64,
    ) -> Result<(String, Vec<u8>), StoreError> {
        Ok(
            sqlx::query_as("SELECT digest, bytes FROM wed.work_attachment($1, $2, $3, $4)")
                .bind(person.tenant)
                .bind(person.name)
                .bind(item)
                .bind(note)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// The tenant's calendars, by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn work_calendars(&self, tenant: &str) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.work_calendars($1)")
            .bind(tenant)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Makes or changes a calendar.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a zone or times that there are not.
    pub async fn set_calendar(
        &self,
        tenant: &str,
        name: &str,
        calendar: &WorkCalendar,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("SELECT wed.set_calendar($1, $2, $3, $4, $5::time, $6::time, $7::date[])")
            .bind(tenant)
            .bind(name)
            .bind(&calendar.zone)
            .bind(&calendar.weekdays)
            .bind(&calendar.opens)
            .bind(&calendar.closes)
            .bind(&calendar.holidays)
            .execute(&mut *transaction)
            .await?;
        let detail = serde_json::json!({ "zone": calendar.zone });
        crate::audit::note(
            &mut transaction,
            &self.actor,
            Some(tenant),
            "calendar.set",
            name,
            detail,
        )
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Reports an item. The answer's `applied` is false when the person no longer holds it; the result is kept then.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for values that the flow does not take: nothing is kept, the item stays held.
    pub async fn report_work(
        &self,
        person: PersonName<'_>,
        report: &WorkReport<'_>,
    ) -> Result<Json, StoreError> {
        Ok(
            sqlx::query_scalar(
                "SELECT wed.report_work($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), $9, $10::text::timestamptz)",
            )
                .bind(person.tenant)
                .bind(person.name)
                .bind(report.item)
                .bind(report.success)
                .bind(Json::Object(report.values.clone()))
                .bind(report.key)
                .bind(report.reason)
                .bind(report.claim)
                .bind(report.base)
                .bind(report.done_at)
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// Lists the acts on an item, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the person may not see it.
    pub async fn work_history(
        &self,
        person: PersonName<'_>,
        item: i64,
    ) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.work_history($1, $2, $3)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(item)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Lists the items of an instance, newest first, each with what was done and said of it.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn work_of_instance(&self, flow: &Flow, wid: Wid) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.work_of_instance($1, $2)")
            .bind(flow.flow_id)
            .bind(wid)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Adds a comment to an item, with a file when one is given; its number.
    ///
    /// # Errors
    /// [`StoreError::Refused`].
    pub async fn comment_work(
        &self,
        person: PersonName<'_>,
        item: i64,
        text: &str,
        file: Option<(&str, &[u8])>,
    ) -> Result<i64, StoreError> {
        Ok(
            sqlx::query_scalar("SELECT wed.add_work_note($1, $2, $3, $4, $5, $6)")
                .bind(person.tenant)
                .bind(person.name)
                .bind(item)
                .bind(text)
                .bind(file.map(|(name, _)| name))
                .bind(file.map(|(_, bytes)| bytes))
                .fetch_one(&self.pool)
                .await?,
        )
    }

    /// A person's delivered messages, newest first.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn work_messages(
        &self,
        person: PersonName<'_>,
        limit: i32,
    ) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.work_messages($1, $2, $3)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Removes a person's delivered messages; how many.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn remove_messages(&self, person: PersonName<'_>) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.remove_messages($1, $2)")
            .bind(person.tenant)
            .bind(person.name)
            .fetch_one(&self.pool)
            .await?)
    }

    /// Marks a person active, and delivers the messages that were stored; how many.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn connect_person(&self, person: PersonName<'_>) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.connect_person($1, $2)")
            .bind(person.tenant)
            .bind(person.name)
            .fetch_one(&self.pool)
            .await?)
    }

    /// Marks a person inactive.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn disconnect_person(&self, person: PersonName<'_>) -> Result<(), StoreError> {
        sqlx::query("SELECT wed.disconnect_person($1, $2)")
            .bind(person.tenant)
            .bind(person.name)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Makes a person with roles, or gives a known one further roles.
    ///
    /// # Errors
    /// [`StoreError::Refused`] for a name that is not allowed.
    pub async fn create_person(
        &self,
        person: PersonName<'_>,
        roles: &[String],
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("SELECT wed.create_person($1, $2, $3)")
            .bind(person.tenant)
            .bind(person.name)
            .bind(roles)
            .execute(&mut *transaction)
            .await
            .map_err(|error| crate::error::about_name(error.into(), "person", person.name))?;
        crate::audit::note(
            &mut transaction,
            &self.actor,
            Some(person.tenant),
            "person.set",
            person.name,
            serde_json::json!({ "roles": roles }),
        )
        .await?;
        transaction.commit().await?;
        Ok(())
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
        crate::audit::note(
            &mut transaction,
            &self.actor,
            Some(person.tenant),
            "person.set",
            person.name,
            detail,
        )
        .await?;
        transaction.commit().await?;
        Ok(())
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
        crate::audit::note(
            &mut transaction,
            &self.actor,
            Some(person.tenant),
            "person.delete",
            person.name,
            Json::Null,
        )
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The tenant's people behind a name, with roles and what they hold, by name.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn people(
        &self,
        tenant: &str,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar(include_str!("../sql/people.sql"))
            .bind(tenant)
            .bind(after)
            .bind(limit.clamp(1, 1_000))
            .fetch_all(&self.pool)
            .await?)
    }

    /// The tenant's roles of people, with how many have them, by name; at most 1000.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn people_roles(&self, tenant: &str) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT jsonb_build_object('role', r.name, 'people', (SELECT count(*) FROM wed.membership m WHERE \
             m.role_id = r.role_id)) \
             FROM wed.role_of_people r JOIN wed.tenant t USING (tenant_id) WHERE t.name = $1 ORDER BY r.name LIMIT \
             1000",
        )
        .bind(tenant)
        .fetch_all(&self.pool)
        .await?)
    }

    /// Starts an instance in a person's name; its number. The queries of the process's data are asked now.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the person has not the creator role.
    pub async fn start_process(
        &self,
        person: PersonName<'_>,
        process: &NewProcess<'_>,
    ) -> Result<Wid, StoreError> {
        let mut values = self
            .query_data(person.tenant, process.flow, process.values)
            .await?;
        values.extend(process.values.clone());
        let mut transaction = self.begin().await?;
        let wid =
            sqlx::query_scalar("SELECT wed.start_process($1, $2, $3, $4, $5, $6, $7, $8, $9)")
                .bind(person.tenant)
                .bind(process.flow)
                .bind(person.name)
                .bind(process.in_charge)
                .bind(Json::Object(values))
                .bind(process.policy)
                .bind(process.count)
                .bind(process.warnings)
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

    /// A number that rises when a person's worklist or messages change.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when there is no such person.
    pub async fn work_mark(&self, person: PersonName<'_>) -> Result<String, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.work_mark($1, $2)")
            .bind(person.tenant)
            .bind(person.name)
            .fetch_one(&self.pool)
            .await?)
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
