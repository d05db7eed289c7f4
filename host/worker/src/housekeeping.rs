//! What a host does beside running jobs: it keeps its leases, hears notifications, and does for all
//! what anybody may do. Sources of the first lane's scheduler.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use foldhash::HashSet;
use wedflow_model::LeaseToken;
use wedflow_scheduler::{Context, HandlerResult, Scheduler, source};
use wedflow_store::Store;

use crate::lane::{Lane, Shared};
use crate::outside;
use crate::silence::{AT_LAST, AT_ONCE, answered};

/// How long a host's leases last without a sign of life.
pub(crate) const LEASE: Duration = Duration::from_secs(15);
/// How often it gives one.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How often abandoned, overdue and stale jobs are looked for.
const SWEEP: Duration = Duration::from_secs(2);
/// How often the database is told what fuel tenants used, and who has used up theirs is asked for.
const TELL_FUEL: Duration = Duration::from_secs(1);
/// How often other hosts are told of work at most.
const TELL_OTHERS: Duration = Duration::from_millis(20);
/// How often schedules that are due are looked for.
const SCHEDULES: Duration = Duration::from_millis(500);
/// How often pauses, deadlines, going back and new exceptions are looked after.
const RECOVER: Duration = Duration::from_secs(1);
/// Most exceptions announced by one look.
const ANNOUNCED_MAX: i32 = 100;
/// How often the trace's partitions are looked after. They are made two days ahead.
const ROLL: Duration = Duration::from_secs(600);
/// How often the files of instances that are no more are looked for.
const CLEAN: Duration = Duration::from_secs(60);
/// How long to wait before a notification connection that cannot be had is asked for again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// Registers the sources and handlers. All lanes are told when there may be work; the `first` takes up what was lost.
pub(crate) fn register(
    scheduler: &mut Scheduler,
    shared: &Arc<Shared>,
    name: &str,
    first: &Lane,
    told: source::Queue<()>,
) {
    let works: Vec<_> = shared.hands.iter().map(|hand| hand.work.clone()).collect();
    let tell_all = move || works.iter().for_each(|work| work.tell());

    let (keeping, host_name) = (Arc::clone(shared), name.to_owned());
    scheduler.register_source(source::Timer::every(HEARTBEAT), move |_, _| {
        keep_leases(Arc::clone(&keeping), host_name.clone())
    });

    let (sweeping, first) = (Arc::clone(shared), first.clone());
    let unknown = Arc::new(tokio::sync::Mutex::new(Unknown::default()));
    scheduler.register_source(source::Timer::every(SWEEP), move |_, _| {
        sweep(Arc::clone(&sweeping), first.clone(), Arc::clone(&unknown))
    });

    let telling = Arc::clone(shared);
    scheduler.register_source(source::Timer::every(TELL_FUEL), move |_, _| {
        tell_fuel(Arc::clone(&telling))
    });

    let starting = shared.store.clone();
    scheduler.register_source(source::Timer::every(SCHEDULES), move |_, _| {
        start_due(starting.clone())
    });

    let watching = shared.store.clone();
    scheduler.register_source(source::Timer::every(RECOVER), move |_, _| {
        recover(watching.clone())
    });

    let rolling = shared.store.clone();
    scheduler.register_source(source::Timer::every(ROLL), move |_, _| {
        roll_trace(rolling.clone())
    });

    let cleaning = Arc::clone(shared);
    scheduler.spawn(move |_| clean(cleaning));
    let cleaning = Arc::clone(shared);
    scheduler.register_source(source::Timer::every(CLEAN), move |_, _| {
        clean(Arc::clone(&cleaning))
    });

    let telling = shared.store.clone();
    scheduler.register_source(told, move |(), context| {
        tell_others(telling.clone(), context)
    });

    let (events, notified) = source::queue(1);
    let listening = shared.store.clone();
    // One connection for the whole host. A full queue means that the lanes are told already.
    scheduler.spawn(move |_| listen(listening, events));
    scheduler.register_source(notified, move |(), _| {
        tell_all();
        std::future::ready(Ok(()))
    });
}

async fn listen(store: Store, events: source::QueueSender<()>) -> HandlerResult {
    loop {
        match store.notifications().await {
            Ok(mut notifications) => {
                // What was said while nobody listened is lost: look.
                let _ = events.try_send(());
                while notifications.heard().await.is_ok() {
                    let _ = events.try_send(());
                }
            }
            Err(error) => tracing::warn!(%error, "no notifications for now; polling goes on"),
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

/// Prolongs the leases; when they were lost, enters anew. What is running goes on, but its results
/// will be refused, because its jobs are somebody else's by then.
async fn keep_leases(shared: Arc<Shared>, name: String) -> HandlerResult {
    let host = shared.host();
    let kept = shared.store.keep_host(host, LEASE);
    match answered(&shared.store, AT_ONCE, kept).await {
        Ok(true) => {}
        Ok(false) => {
            let entered = shared.store.enter_host(&name, LEASE).await?;
            shared.host.store(entered.get(), Ordering::Release);
            tracing::warn!(
                %host,
                %entered,
                "the leases were lost; the host has entered anew"
            );
        }
        Err(error) => tracing::warn!(%error, "the leases could not be prolonged"),
    }
    Ok(())
}

async fn tell_fuel(shared: Arc<Shared>) -> HandlerResult {
    let (tenants, fuel) = shared.shares.take_fuel();
    let told = shared.store.tell_fuel(&tenants, &fuel);
    match answered(&shared.store, AT_LAST, told).await {
        Ok((resting, limited)) => shared.shares.told(resting, limited),
        Err(error) => {
            tracing::warn!(%error, "could not tell what fuel was used");
            shared.shares.give_back_fuel(tenants, fuel);
        }
    }
    Ok(())
}

/// Tells other hosts of work that this one left, and not again for a while: Postgres lets one transaction
/// at a time notify, for as long as its commit takes.
async fn tell_others(store: Store, context: Context) -> HandlerResult {
    if let Err(error) = answered(&store, AT_LAST, store.tell_hosts()).await {
        tracing::warn!(%error, "other hosts were not told of work; they look by themselves");
    }
    context.sleep(TELL_OTHERS).await;
    Ok(())
}

/// Starts what schedules want started now.
async fn start_due(store: Store) -> HandlerResult {
    match crate::schedule::start_due(&store).await {
        Ok(0) => {}
        Ok(started) => tracing::debug!(started, "started instances by schedule"),
        Err(error) => tracing::warn!(%error, "could not look for schedules that are due"),
    }
    Ok(())
}

/// Keeps paused what is paused, and announces new exceptions.
async fn recover(store: Store) -> HandlerResult {
    if let Err(error) = answered(&store, AT_LAST, store.recover_by_clock()).await {
        tracing::warn!(%error, "could not look after pauses and deadlines");
    }
    match store.announce_exceptions(ANNOUNCED_MAX).await {
        Ok(new) => {
            for one in new {
                tracing::warn!(
                    tenant = one.tenant,
                    flow = one.flow,
                    wid = %one.wid,
                    reason = one.message,
                    "an instance became an exception"
                );
            }
        }
        Err(error) => tracing::warn!(%error, "could not announce exceptions"),
    }
    Ok(())
}

async fn roll_trace(store: Store) -> HandlerResult {
    match store.roll_trace().await {
        Ok(0) => {}
        Ok(dropped) => tracing::info!(dropped, "old partitions of the trace were dropped"),
        Err(error) => tracing::warn!(%error, "could not look after the trace's partitions"),
    }
    Ok(())
}

async fn clean(shared: Arc<Shared>) -> HandlerResult {
    if let Err(error) = outside::clean(shared.outside.clone(), &shared.store).await {
        tracing::warn!(error, "could not look after the instances' files");
    }
    Ok(())
}

/// What the last look for jobs that are this host's without its knowing has found.
#[derive(Default)]
struct Unknown {
    tokens: HashSet<LeaseToken>,
    /// None before this: a look goes through all old versions of the host's jobs that Postgres must keep (some
    /// transaction is open), and is to take a fiftieth of the time at most.
    again: Option<Instant>,
}

async fn sweep(
    shared: Arc<Shared>,
    lane: Lane,
    unknown: Arc<tokio::sync::Mutex<Unknown>>,
) -> HandlerResult {
    match answered(&shared.store, AT_LAST, shared.store.sweep()).await {
        Ok(swept) if swept != Default::default() => {
            tracing::info!(swept.abandoned, swept.overdue, swept.skipped, "swept");
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "could not sweep"),
    }
    let mut before = unknown.lock().await;
    let begun = Instant::now();
    if shared.is_draining() || before.again.is_some_and(|again| begun < again) {
        return Ok(());
    }
    // Jobs that are this host's without its knowing: what a commit or claim fired whose answer was
    // lost. Unknown twice running, so that an answer on its way is not taken for a lost one.
    let known: Vec<LeaseToken> = shared.tokens().iter().copied().collect();
    let held = shared.store.held_beside(shared.host(), &known);
    match answered(&shared.store, AT_LAST, held).await {
        Ok(unknown) => {
            before.again = Some(Instant::now() + begun.elapsed() * 50);
            let (lost, new): (Vec<_>, Vec<_>) = unknown
                .into_iter()
                .partition(|claimed| before.tokens.contains(&claimed.job.token));
            before.tokens = new.into_iter().map(|claimed| claimed.job.token).collect();
            let lost: Vec<_> = {
                let in_hand = shared.tokens();
                lost.into_iter()
                    .filter(|claimed| !in_hand.contains(&claimed.job.token))
                    .collect()
            };
            if !lost.is_empty() {
                tracing::info!(
                    jobs = lost.len(),
                    "taking up jobs whose claim was not answered"
                );
                lane.take(lost).await;
            }
        }
        Err(error) => tracing::warn!(%error, "could not look for jobs held"),
    }
    Ok(())
}
