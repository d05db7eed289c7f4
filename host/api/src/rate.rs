//! Counting requests: a number in a second for a tenant, half as many for one of its tokens, so that one
//! client does not use up what is everybody's.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use quick_cache::sync::Cache;

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>;

/// Number of counters that are kept; those that are used least go first.
const KEPT: usize = 10_000;

/// The counters.
pub(crate) struct Rates {
    counters: Cache<String, (NonZeroU32, Arc<Limiter>)>,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            counters: Cache::new(KEPT),
        }
    }
}

/// Answer to a counted request: the requests left, or the time to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Owner of the limit: the tenant or the token.
    pub(crate) policy: &'static str,
    /// Requests allowed in a second.
    pub(crate) rate: u32,
    /// Requests that may be made at once.
    pub(crate) left: u32,
    /// Time to wait, for a request above the limit.
    pub(crate) wait: Option<Duration>,
}

impl Rates {
    /// Counts a request of a tenant's token; the narrower of the two limits.
    pub(crate) fn count(&self, tenant: &str, token: &str, rate: u32) -> Counted {
        let of_token = self.counted("token", token, rate.div_ceil(2));
        if of_token.wait.is_some() {
            return of_token;
        }
        let of_tenant = self.counted("tenant", tenant, rate);
        if of_tenant.wait.is_some() || of_tenant.left < of_token.left {
            of_tenant
        } else {
            of_token
        }
    }

    fn counted(&self, policy: &'static str, whose: &str, rate: u32) -> Counted {
        let rate = NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN);
        let key = format!("{policy}:{whose}");
        let limiter = match self.counters.get(&key) {
            Some((known, limiter)) if known == rate => limiter,
            _ => {
                let limiter = Arc::new(
                    RateLimiter::direct(Quota::per_second(rate))
                        .with_middleware::<StateInformationMiddleware>(),
                );
                self.counters.insert(key, (rate, Arc::clone(&limiter)));
                limiter
            }
        };
        let counted = |left, wait| Counted {
            policy,
            rate: rate.get(),
            left,
            wait,
        };
        match limiter.check() {
            Ok(state) => counted(state.remaining_burst_capacity(), None),
            Err(early) => counted(0, Some(early.wait_time_from(DefaultClock::default().now()))),
        }
    }
}

/// Time after which the same denial is put on record again.
const DENIED_AGAIN: Duration = Duration::from_secs(3_600);

/// Denials that were put on record.
pub(crate) struct Denials {
    noted: Cache<String, Instant>,
}

impl Default for Denials {
    fn default() -> Self {
        Denials {
            noted: Cache::new(KEPT),
        }
    }
}

impl Denials {
    /// Returns true if this was not put on record within [`DENIED_AGAIN`], and takes it as put now.
    pub(crate) fn is_new(&self, token: &str, asked: &str) -> bool {
        let key = format!("{token} {asked}");
        if (self.noted.get(&key)).is_some_and(|at| at.elapsed() < DENIED_AGAIN) {
            return false;
        }
        self.noted.insert(key, Instant::now());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gets_half_and_a_tenant_no_more_than_all() {
        let rates = Rates::default();
        let allowed = |token: &str| {
            (0..50)
                .filter(|_| rates.count("acme", token, 10).wait.is_none())
                .count()
        };
        // Some may come back while the test counts.
        assert!((5..=7).contains(&allowed("one")));
        assert!(allowed("two") + allowed("three") <= 8);
        assert!(rates.count("other", "four", 10).wait.is_none());
        let refused = rates.count("acme", "one", 10);
        assert_eq!((refused.policy, refused.left), ("token", 0));
        assert!(
            refused
                .wait
                .is_some_and(|wait| wait <= Duration::from_secs(1))
        );
    }

    #[test]
    fn many_tokens_do_not_make_one_in_use_begin_anew() {
        let rates = Rates::default();
        while rates.count("acme", "one", 2).wait.is_none() {}
        for token in 0..3 * KEPT {
            rates.count("other", &token.to_string(), 1_000);
            if token % 100 == 0 {
                rates.count("acme", "one", 2);
            }
        }
        assert!(rates.counters.get("token:one").is_some());
        assert!(rates.counters.len() <= KEPT);
    }

    #[test]
    fn another_rate_holds_at_once() {
        let rates = Rates::default();
        while rates.count("acme", "one", 2).wait.is_none() {}
        assert!(rates.count("acme", "one", 100).wait.is_none());
    }
}
