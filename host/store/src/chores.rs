//! Chores: what hosts do for all tenants, each due thing in a block of its own (`functions/chores.sql`).

use std::time::{Duration, Instant};

use serde_json::Value as Json;
use sqlx::FromRow;
use strum::{IntoStaticStr, VariantArray};
use wedflow_model::{FlowId, TenantId, TriggerId};

use crate::statements::statements;
use crate::{Store, StoreError};

/// Time that one round of a kind may take; a statement that is under way then ends by its own limit.
pub(crate) const ROUND_TIME_MAX: Duration = Duration::from_secs(1);
/// Number of things of a flow that are found at a time (`wed.find_chores`): there may be more.
const THINGS_MAX: usize = 50;
/// Maximum time of one statement of a chore: one thing of one tenant.
const STATEMENT_TIME_MAX: Duration = Duration::from_secs(1);
/// Maximum wait for a lock.
const LOCK_TIME_MAX: Duration = Duration::from_millis(50);

/// A kind of chore, in the order in which one round does them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ChoreKind {
    /// Frees jobs of hosts that are gone.
    Abandoned,
    /// Counts, then ends external workers that overrun a timeout.
    Overdue,
    /// Makes instances exceptions whose job has no attempts left.
    Exhausted,
    /// Skips jobs whose condition no longer holds.
    Stale,
    /// Keeps paused what is paused.
    Pauses,
    /// Ends jobs behind their deadlines.
    Late,
    /// Fires conditions that the clock made true.
    Clock,
    /// Starts instances by schedules ([`Store::fire_schedules`]).
    Schedules,
    /// Advances instances that go back.
    Back,
    /// Looks after reservations.
    Reservations,
    /// Ends circles of instances that wait for each other.
    Circles,
    /// Keeps numbers of series without gaps in stock.
    Numbers,
    /// Offers work items anew, warns of their deadlines.
    Work,
    /// Starts and cancels children, tells their parents of ends.
    Children,
    /// Announces exceptions.
    Exceptions,
    /// Removes final instances that are older than they are kept.
    Expired,
}

impl ChoreKind {
    /// All kinds.
    pub const ALL: &[ChoreKind] = ChoreKind::VARIANTS;

    /// Name in the database.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Time between two rounds.
    pub fn interval(self) -> Duration {
        Duration::from_millis(match self {
            ChoreKind::Clock | ChoreKind::Schedules | ChoreKind::Stale | ChoreKind::Children => 500,
            ChoreKind::Abandoned | ChoreKind::Overdue => 2_000,
            ChoreKind::Expired => 60_000,
            _ => 1_000,
        })
    }

    /// Statement that ends a round; it touches no row of a tenant's tables.
    fn conclusion(self) -> Option<&'static str> {
        match self {
            ChoreKind::Abandoned => Some("SELECT wed.remove_hosts()"),
            ChoreKind::Overdue => Some("SELECT wed.end_overdue()"),
            ChoreKind::Reservations => Some("SELECT wed.remove_unused_locks(clock_timestamp() + interval '1 s')"),
            ChoreKind::Work => Some("SELECT wed.miss_people()"),
            ChoreKind::Expired => Some("SELECT wed.forget_postponed()"),
            _ => None,
        }
    }
}

/// Due things of one kind in one flow.
#[derive(Debug, Clone, FromRow)]
pub(crate) struct Chore {
    pub(crate) tenant_id: TenantId,
    pub(crate) flow_id: FlowId,
    pub(crate) things: Vec<i64>,
    pub(crate) tgids: Vec<TriggerId>,
}

impl Chore {
    /// Things of the kind, each by itself.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Chore> + '_ {
        (self.things.iter().zip(&self.tgids)).map(|(thing, tgid)| Chore {
            things: vec![*thing],
            tgids: vec![*tgid],
            ..*self
        })
    }
}

/// Returns true if the connection failed, and not what was done over it.
fn is_of_connection(error: &StoreError) -> bool {
    matches!(error, StoreError::Unreachable(_) | StoreError::Other(_))
}

statements! {
    /// Finds what is due of a kind.
    pub(crate) find_chores(&self, kind: ChoreKind) -> Vec<Chore>
        = rows "SELECT tenant_id, flow_id, things, tgids FROM wed.find_chores($1)", kind.name();

    /// Puts all things of a chore off.
    pub(crate) postpone(&self, kind: ChoreKind, chore: &Chore, reason: &str) -> ()
        = run "SELECT wed.postpone($1, $2, $3, t.thing, t.tgid, $6) \
            FROM ROWS FROM (unnest($4::bigint[]), unnest($5::integer[])) t(thing, tgid)", kind.name(), chore.tenant_id,
            chore.flow_id, &chore.things, &chore.tgids, reason;
}

impl Store {
    /// The same database over at most `connections` connections for chores: a statement of one meets the limits that
    /// one thing of one tenant has.
    #[must_use]
    pub fn for_chores(&self, connections: u32) -> Store {
        self.bounded_host(connections, STATEMENT_TIME_MAX, LOCK_TIME_MAX)
    }

    /// Does what is due of a kind, flow by flow in turns of tenants, each in a transaction of its own, within a second.
    /// What fails is put off, and `wed status` names it. Returns what was done. Any host may do it for all.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn do_chores(&self, kind: ChoreKind) -> Result<Vec<Json>, StoreError> {
        let until = Instant::now() + ROUND_TIME_MAX;
        let mut done = Vec::new();
        let mut more = true;
        while more {
            more = false;
            for chore in self.find_chores(kind).await? {
                if Instant::now() >= until {
                    more = false;
                    break;
                }
                more |= chore.things.len() == THINGS_MAX;
                done.extend(self.do_chore(kind, &chore).await?);
            }
        }
        if let Some(statement) = kind.conclusion() {
            sqlx::query(statement).execute(&self.pool).await?;
        }
        done.retain(|said| *said != Json::Bool(false));
        Ok(done)
    }

    /// Does things of a flow. Where its transaction fails as a whole, when it commits, each is done by itself.
    async fn do_chore(&self, kind: ChoreKind, chore: &Chore) -> Result<Vec<Json>, StoreError> {
        match self.try_chore(kind, chore).await {
            Err(error) if is_of_connection(&error) => return Err(error),
            Err(error) if chore.things.len() == 1 => {
                self.postpone(kind, chore, &error.to_string()).await?;
                return Ok(Vec::new());
            }
            Err(_) => {}
            Ok(done) => return Ok(done),
        }
        let mut done = Vec::new();
        for part in chore.parts() {
            match self.try_chore(kind, &part).await {
                Ok(said) => done.extend(said),
                Err(error) if is_of_connection(&error) => return Err(error),
                Err(error) => self.postpone(kind, &part, &error.to_string()).await?,
            }
        }
        Ok(done)
    }

    async fn try_chore(&self, kind: ChoreKind, chore: &Chore) -> Result<Vec<Json>, StoreError> {
        Ok(sqlx::query_scalar("SELECT wed.do_chores($1, ROW($2, $3, $4, $5)::wed.chore)")
            .bind(kind.name())
            .bind(chore.tenant_id)
            .bind(chore.flow_id)
            .bind(&chore.things)
            .bind(&chore.tgids)
            .fetch_one(&self.pool)
            .await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_chore_are_its_things() {
        let chore = Chore {
            tenant_id: TenantId::new(1),
            flow_id: FlowId::new(2),
            things: vec![3, 4],
            tgids: vec![TriggerId::new(5), TriggerId::new(6)],
        };
        let parts: Vec<Chore> = chore.parts().collect();
        assert_eq!(parts.len(), 2);
        assert_eq!((&parts[1].things[..], &parts[1].tgids[..]), (&[4][..], &[TriggerId::new(6)][..]));
    }
}
