//! Invariants of the scheduler, over random schedules from a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use wedflow_scheduler::simulation::{Rest, Seed, Simulation};
use wedflow_scheduler::source::queue;
use wedflow_scheduler::{Bounds, Context, Ending, FreshFirst, HandlerResult, Registration, TokenId};

/// Observations of one simulation.
#[derive(Default)]
struct Seen {
    /// (source, event) by run.
    begun: BTreeMap<TokenId, (u64, u64)>,
    begun_in_order: Vec<(u64, u64)>,
    finalised: Vec<(TokenId, Ending)>,
    failures: usize,
    at_once: BTreeMap<u64, usize>,
    most_at_once: BTreeMap<u64, usize>,
}

type Shared = Arc<Mutex<Seen>>;

/// A handler that does anything a handler may do, by chance.
async fn anything(
    source: u64,
    mut seed: Seed,
    context: Context,
    seen: Shared,
    others: Arc<Mutex<Vec<TokenId>>>,
) -> HandlerResult {
    let token = context.token();
    {
        let seen = &mut *seen.lock().expect("ours");
        let now = seen.at_once.entry(source).or_default();
        *now += 1;
        let most = seen.most_at_once.entry(source).or_default();
        *most = (*most).max(*now);
    }
    let at_end = Arc::clone(&seen);
    context.finaliser(move |ending| {
        let seen = &mut *at_end.lock().expect("ours");
        seen.finalised.push((token, ending));
        *seen.at_once.get_mut(&source).expect("it began") -= 1;
    })?;
    others.lock().expect("ours").push(token);
    for _ in 0..seed.below(4) {
        match seed.below(8) {
            0 => return Err("by chance".into()),
            1 => panic!("by chance"),
            2 => {
                let others = others.lock().expect("ours");
                let victim = others[usize::try_from(seed.below(others.len() as u64)).expect("small")];
                context.cancel(victim);
            }
            3 => context.yield_now().await,
            _ => context.sleep(seed.up_to(Duration::from_millis(3))).await,
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_event_is_delivered_once_and_every_run_finalised_once(
        seed in any::<u64>(),
        sources in 1u64..6,
        events in 0u64..30,
        in_flight in 1usize..5,
        turn_steps in 1u32..20,
        gap_ms in 0u64..3,
    ) {
        let bounds = Bounds { turn_steps, ..Bounds::default() };
        let mut simulation = Simulation::with(seed, |builder| builder.bounds(bounds));
        let seen = Shared::default();
        let others = Arc::new(Mutex::new(Vec::new()));
        for number in 0..sources {
            let source = simulation.source(events, Duration::from_millis(gap_ms), |seed, event| {
                (event, seed.fork())
            });
            let (seen, others) = (Arc::clone(&seen), Arc::clone(&others));
            let failures = Arc::clone(&seen);
            simulation.scheduler().register_with(
                source,
                move |(event, seed), context: Context| {
                    let before = {
                        let seen = &mut *seen.lock().expect("ours");
                        seen.begun_in_order.push((number, event));
                        seen.begun.insert(context.token(), (number, event))
                    };
                    assert!(before.is_none(), "a token id was used twice");
                    anything(number, seed, context, Arc::clone(&seen), Arc::clone(&others))
                },
                Registration::new()
                    .in_flight(in_flight)
                    .on_failure(move |_| failures.lock().expect("ours").failures += 1),
            );
        }
        prop_assert_eq!(simulation.run(1_000_000), Rest::Quiet);
        prop_assert_eq!(simulation.scheduler().token_count(), 0);
        prop_assert_eq!(simulation.scheduler().handler_count(), 0);

        let seen = seen.lock().expect("ours");
        let delivered: BTreeSet<_> = seen.begun_in_order.iter().copied().collect();
        prop_assert_eq!(delivered.len() as u64, sources * events, "none lost");
        prop_assert_eq!(seen.begun_in_order.len(), delivered.len(), "none twice");
        for number in 0..sources {
            let of_one = seen.begun_in_order.iter().filter(|(from, _)| *from == number);
            prop_assert!(of_one.map(|(_, event)| *event).eq(0..events), "in the source's order");
        }
        let finalised: BTreeSet<_> = seen.finalised.iter().map(|(token, _)| *token).collect();
        prop_assert_eq!(finalised.len(), seen.finalised.len(), "finalised once");
        prop_assert!(finalised.iter().eq(seen.begun.keys()), "and all of them");
        let failed = |(_, ending): &&(TokenId, Ending)| {
            matches!(ending, Ending::Failed | Ending::Panicked)
        };
        prop_assert_eq!(seen.finalised.iter().filter(failed).count(), seen.failures);
        prop_assert!(seen.most_at_once.values().all(|most| *most <= in_flight));
    }

    #[test]
    fn handlers_run_in_the_order_in_which_they_became_ready(
        order in proptest::collection::vec(0usize..6, 1..60),
    ) {
        let mut simulation = Simulation::new(0);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut senders = Vec::new();
        for number in 0..6 {
            let (sender, source) = queue::<()>(1);
            senders.push(sender);
            let seen = Arc::clone(&seen);
            simulation.scheduler().register_source(source, move |(), _context| {
                seen.lock().expect("ours").push(number);
                async { Ok(()) }
            });
        }
        prop_assert_eq!(simulation.run(1), Rest::Quiet);
        let mut expected = Vec::new();
        for wave in order.chunks(6) {
            for number in wave {
                // Full: this source is ready already, and keeps its place.
                if senders[*number].try_send(()).is_ok() {
                    expected.push(*number);
                }
            }
            prop_assert_eq!(simulation.run(100), Rest::Quiet);
        }
        prop_assert_eq!(&*seen.lock().expect("ours"), &expected);
    }

    #[test]
    fn sleepers_wake_in_the_order_of_their_deadlines(
        delays in proptest::collection::vec(0u64..20, 1..50),
    ) {
        let mut simulation = Simulation::new(0);
        let seen = Arc::new(Mutex::new(Vec::new()));
        for (number, delay) in delays.iter().copied().enumerate() {
            let seen = Arc::clone(&seen);
            simulation.scheduler().spawn(move |context| async move {
                // Not at once: all must be asked for at the same moment.
                context.sleep(Duration::from_millis(delay + 1)).await;
                seen.lock().expect("ours").push((delay, number));
                Ok(())
            });
        }
        prop_assert_eq!(simulation.run(1000), Rest::Quiet);
        let mut expected: Vec<_> = delays.iter().copied().zip(0..).collect();
        expected.sort_unstable();
        prop_assert_eq!(&*seen.lock().expect("ours"), &expected);
    }
}

#[test]
fn the_policy_of_the_ready_queue_decides_the_order() {
    let mut simulation = Simulation::with(0, |builder| builder.ready_queue(FreshFirst::new(u32::MAX)));
    let seen = Arc::new(Mutex::new(Vec::new()));
    for number in 0..3 {
        let seen = Arc::clone(&seen);
        simulation.scheduler().spawn(move |context| async move {
            for turn in 0..2 {
                seen.lock().expect("ours").push((turn, number));
                context.yield_now().await;
                if number == 0 && turn == 0 {
                    let seen = Arc::clone(&seen);
                    context.spawn(move |_| async move {
                        seen.lock().expect("ours").push((9, 9));
                        Ok(())
                    });
                }
            }
            Ok(())
        });
    }
    assert_eq!(simulation.run(100), Rest::Quiet);
    assert_eq!(
        *seen.lock().expect("ours"),
        [(0, 0), (0, 1), (0, 2), (1, 0), (9, 9), (1, 1), (1, 2)],
        "the one spawned late passes those that yielded"
    );
}
