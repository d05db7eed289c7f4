//! Tasks of a host besides running jobs: it renews its leases, hears notifications, and does for all hosts what any
//! of them may do. Sources of the first lane's scheduler.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use wedflow_scheduler::{Context, HandlerResult, Scheduler, source};
use wedflow_store::{ChoreKind, Store};

use crate::announce::{self, UnderWay};
use crate::decision::{Event, LostAnswers};
use crate::outside;
use crate::shared::Shared;

/// Time that a host's leases last without a sign of life.
pub(crate) const LEASE_TIME: Duration = Duration::from_secs(15);
/// Time between two renewals.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
/// SQLSTATE of a refusal because the database has another interface.
const OTHER_INTERFACE: &str = "WF019";
/// Time between two rounds of counting and of looking for jobs that are this host's without its knowing.
const SWEEP_INTERVAL: Duration = Duration::from_secs(2);
/// Longest pause between two looks for jobs that are this host's without its knowing, as long as a lease. A look whose
/// answer was held up, by a server that comes back say, would keep the next one away for minutes.
const LOOK_PAUSE_MAX: Duration = Duration::from_secs(15);
/// Looks that find what a lost answer leased: a job is taken up when it is unknown twice running.
const LOOKS_AFTER_LOST_ANSWER: u8 = 2;
/// Time between two reports of tenants' fuel to the database, which answers whose quota is used up.
const FUEL_REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum time between two notifications of other hosts about work.
const NOTIFICATION_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// Time between two looks for webhooks with announcements that nobody delivers.
const DELIVERY_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of waiting jobs that one look announces to webhooks.
const WAITING_ANNOUNCED_MAX: i32 = 1_000;
/// Time between two looks after the trace's partitions. They are made seven days ahead.
const PARTITION_INTERVAL: Duration = Duration::from_secs(600);
/// Time between two looks at the sizes of the pool's indexes.
const REBUILD_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of steps in which one look removes what is old.
const EXPIRE_STEPS_MAX: usize = 20;
/// Time between two searches for files of ended instances and old records.
const CLEAN_INTERVAL: Duration = Duration::from_secs(60);
/// Pause before a notification connection that could not be opened is tried again.
const LISTEN_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Registers the sources and handlers.
pub(crate) fn register(scheduler: &mut Scheduler, shared: &Arc<Shared>, name: &str, told: source::Queue<()>) {
    let (keeping, host_name) = (Arc::clone(shared), name.to_owned());
    scheduler.register_source(source::Timer::every(HEARTBEAT_INTERVAL), move |_, _| {
        keep_leases(Arc::clone(&keeping), host_name.clone())
    });

    let sweeping = Arc::clone(shared);
    let unknown = Arc::new(tokio::sync::Mutex::new(Unknown::default()));
    scheduler.register_source(source::Timer::every(SWEEP_INTERVAL), move |_, _| {
        sweep(Arc::clone(&sweeping), Arc::clone(&unknown))
    });

    let telling = Arc::clone(shared);
    scheduler.register_source(source::Timer::every(FUEL_REPORT_INTERVAL), move |_, _| tell_fuel(Arc::clone(&telling)));

    // Each kind by itself: what holds one up holds no other up.
    for &kind in ChoreKind::ALL {
        let doing = Arc::clone(shared);
        scheduler
            .register_source(source::Timer::every(kind.interval()), move |_, _| do_chores(Arc::clone(&doing), kind));
    }

    let (delivering, under_way) = (Arc::clone(shared), Arc::default());
    scheduler.register_source(source::Timer::every(DELIVERY_INTERVAL), move |_, _| {
        deliver(Arc::clone(&delivering), Arc::clone(&under_way))
    });

    let rolling = shared.store.clone();
    scheduler.register_source(source::Timer::every(PARTITION_INTERVAL), move |_, _| roll_trace(rolling.clone()));

    let rebuilding = shared.store.clone();
    scheduler.register_source(source::Timer::every(REBUILD_INTERVAL), move |_, _| rebuild_indexes(rebuilding.clone()));

    let cleaning = Arc::clone(shared);
    scheduler.spawn(move |_| clean(cleaning));
    let cleaning = Arc::clone(shared);
    scheduler.register_source(source::Timer::every(CLEAN_INTERVAL), move |_, _| clean(Arc::clone(&cleaning)));

    let telling = shared.store.clone();
    scheduler.register_source(told, move |(), context| tell_others(telling.clone(), context));

    let (events, notified) = source::queue(1);
    let listening = shared.store.clone();
    // One connection for the whole host. A full queue means that the host knows already.
    scheduler.spawn(move |_| listen(listening, events));
    let desk = shared.desk.clone();
    scheduler.register_source(notified, move |(), _| {
        desk.tell(Event::Told);
        std::future::ready(Ok(()))
    });
}

async fn listen(store: Store, events: source::QueueSender<()>) -> HandlerResult {
    loop {
        match store.job_notifications().await {
            Ok(mut notifications) => {
                // What was said while nobody listened is lost: look.
                let _ = events.try_send(());
                while notifications.heard().await.is_ok() {
                    let _ = events.try_send(());
                }
            }
            Err(error) => tracing::warn!(%error, "no notifications for now; polling continues"),
        }
        tokio::time::sleep(LISTEN_RETRY_PAUSE).await;
    }
}

/// Prolongs the leases; when they were lost, enters anew. Running attempts continue, but their results are refused,
/// because the jobs are another host's by then.
async fn keep_leases(shared: Arc<Shared>, name: String) -> HandlerResult {
    let host = shared.host();
    // Over a session of its own: whatever keeps others waiting, the leases are kept.
    let kept = shared.heart.renew_lease(host, LEASE_TIME);
    match kept.await {
        Ok(true) => {}
        Ok(false) => {
            let places = shared.outside.places();
            let entered = shared.heart.register_build(&name, &shared.build, LEASE_TIME, &places).await?;
            shared.host.store(entered.get(), Ordering::Release);
            tracing::warn!(
                host = host.get(),
                entered = entered.get(),
                "the leases were lost; the host has entered anew"
            );
        }
        Err(error) if error.code() == Some(OTHER_INTERFACE) => {
            shared.refused.send_replace(true);
        }
        Err(error) => {
            if error.is_silence() {
                // A server that is gone is silent over all connections, and this question is the first to be due.
                let cut = shared.heart.cut_sessions();
                tracing::warn!(cut, "the database does not answer; connections to it are made anew");
            }
            tracing::warn!(
                %error,
                "the leases could not be prolonged; other hosts take its jobs over when they end, and `wed status` \
                 tells how the database is"
            )
        }
    }
    Ok(())
}

async fn tell_fuel(shared: Arc<Shared>) -> HandlerResult {
    let used = shared.desk.take_fuel();
    let whole = |fuel: u64| i64::try_from(fuel).unwrap_or(i64::MAX);
    let (tenants, fuel): (Vec<_>, Vec<_>) = used.iter().map(|(tenant, fuel)| (*tenant, whole(*fuel))).unzip();
    let told = shared.store.tell_fuel(&tenants, &fuel);
    match told.await {
        Ok((resting, limited)) => shared.desk.tell(Event::Quotas { resting, limited }),
        Err(error) => {
            tracing::warn!(
                %error,
                "could not tell what fuel was used; it is tried again, and `wed status` tells how the database is"
            );
            shared.desk.put_back_fuel(used);
        }
    }
    Ok(())
}

/// Tells other hosts of work that this one left, and not again for a while: Postgres lets one transaction
/// at a time notify, for as long as its commit takes.
async fn tell_others(store: Store, context: Context) -> HandlerResult {
    if let Err(error) = store.tell_hosts().await {
        tracing::warn!(%error, "other hosts were not told of work; they look by themselves");
    }
    context.sleep(NOTIFICATION_INTERVAL_MIN).await;
    Ok(())
}

/// Does what is due of a kind of chore, for all tenants.
async fn do_chores(shared: Arc<Shared>, kind: ChoreKind) -> HandlerResult {
    let store = &shared.chores;
    let done = async {
        match kind {
            ChoreKind::Schedules => store.fire_schedules(crate::schedule::next).await,
            _ => (store.do_chores(kind).await).inspect(|said| tell_of(kind, said)).map(|said| said.len()),
        }
    };
    match done.await {
        Ok(0) => {}
        Ok(done) => tracing::debug!(kind = kind.name(), done, "did chores"),
        Err(error) => {
            tracing::warn!(
                %error,
                kind = kind.name(),
                "could not look for chores; it is tried again, and `wed status` tells how the database is"
            )
        }
    }
    Ok(())
}

/// Tells the operator of chores that say more than that they were done.
fn tell_of(kind: ChoreKind, said: &[serde_json::Value]) {
    match kind {
        ChoreKind::Exceptions => {
            for one in said {
                let text = |name: &str| one[name].as_str().unwrap_or_default();
                tracing::warn!(
                    tenant = text("tenant"),
                    flow = text("flow"),
                    wid = one["wid"].as_i64(),
                    reason = text("message"),
                    "an instance became an exception; `wed instance show` tells why, `wed instance retry` runs it again"
                );
            }
        }
        ChoreKind::Abandoned | ChoreKind::Overdue if !said.is_empty() => {
            tracing::info!(kind = kind.name(), jobs = said.len(), "freed jobs");
        }
        _ => {}
    }
}

/// Begins to deliver announcements.
async fn deliver(shared: Arc<Shared>, under_way: Arc<UnderWay>) -> HandlerResult {
    if let Err(error) = announce::deliver(&shared, &under_way).await {
        tracing::warn!(
            %error,
            "could not look for announcements to deliver; it is tried again, and `wed status` tells how the database \
             is"
        );
    }
    Ok(())
}

async fn roll_trace(store: Store) -> HandlerResult {
    match store.roll_trace().await {
        Ok(0) => {}
        Ok(dropped) => tracing::info!(dropped, "old partitions of the trace were dropped"),
        Err(error) => {
            tracing::warn!(
                %error,
                "could not look after the trace's partitions; it is tried again, and `wed status` tells how the \
                 database is"
            )
        }
    }
    Ok(())
}

async fn rebuild_indexes(store: Store) -> HandlerResult {
    match store.rebuild_indexes().await {
        Ok(0) => {}
        Ok(indexes) => tracing::info!(indexes, "rebuilt indexes of the pool of jobs"),
        Err(error) => {
            tracing::warn!(
                %error,
                "could not look at indexes of the pool of jobs; it is tried again, and `wed status` tells how the \
                 database is"
            )
        }
    }
    Ok(())
}

async fn clean(shared: Arc<Shared>) -> HandlerResult {
    match shared.store.expire_records(EXPIRE_STEPS_MAX).await {
        Ok(0) => {}
        Ok(removed) => tracing::info!(removed, "removed records that are old"),
        Err(error) => {
            tracing::warn!(
                %error,
                "could not remove what is old; it is tried again, and `wed status` tells how the database is"
            )
        }
    }
    let announced = shared.store.announce_waiting(WAITING_ANNOUNCED_MAX);
    if let Err(error) = announced.await {
        tracing::warn!(
            %error,
            "could not tell webhooks of jobs that wait; it is tried again, and `wed status` tells how the database is"
        );
    }
    if let Err(error) = outside::clean(shared.outside.clone(), &shared.store).await {
        tracing::warn!(error, "could not look after the instances' files; look at the folder of --files");
    }
    Ok(())
}

/// Findings of the last search for jobs that are this host's without its knowledge.
#[derive(Default)]
struct Unknown {
    answers: LostAnswers,
    /// Earliest time of the next look, where no answer was lost: it goes through all old versions of the host's jobs
    /// that Postgres must keep (some transaction is open), and is to take a fiftieth of the time, within
    /// [`LOOK_PAUSE_MAX`].
    again: Option<Instant>,
    /// Looks that are made without waiting, after an answer was lost.
    wanted: u8,
}

impl Unknown {
    /// Notes a look that was answered after a time.
    fn looked(&mut self, elapsed: Duration) {
        self.wanted = self.wanted.saturating_sub(1);
        self.again = Some(Instant::now() + (elapsed * 50).min(LOOK_PAUSE_MAX));
    }
}

async fn sweep(shared: Arc<Shared>, unknown: Arc<tokio::sync::Mutex<Unknown>>) -> HandlerResult {
    if let Err(error) = shared.store.sweep().await {
        tracing::warn!(%error, "could not sweep; it is tried again, and `wed status` tells how the database is");
    }
    let mut before = unknown.lock().await;
    let begun = Instant::now();
    if shared.answer_lost.swap(false, Ordering::AcqRel) {
        before.wanted = LOOKS_AFTER_LOST_ANSWER;
    }
    let waits = before.wanted == 0 && before.again.is_some_and(|again| begun < again);
    if shared.is_draining() || waits {
        return Ok(());
    }
    // Jobs that are this host's without its knowing: what a commit or claim fired whose answer was
    // lost.
    let known = shared.desk.tokens();
    let held = shared.store.held_beside(shared.host(), &known);
    match held.await {
        Ok(unknown) => {
            before.looked(begun.elapsed());
            let lost = before.answers.found(unknown, |claimed| claimed.job.token);
            let lost: Vec<_> = (lost.into_iter()).filter(|claimed| !shared.desk.holds(claimed.job.token)).collect();
            if !lost.is_empty() {
                tracing::info!(jobs = lost.len(), "taking up jobs whose claim was not answered");
                shared.take(lost).await;
            }
        }
        Err(error) => {
            tracing::warn!(
                %error,
                "could not look for jobs held; it is tried again, and `wed status` tells how the database is"
            )
        }
    }
    Ok(())
}
