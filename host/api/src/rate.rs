//! Counting requests: a number in a second for a tenant, half as many for one of its tokens, so that one
//! client does not use up what is everybody's.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use quick_cache::sync::Cache;

use crate::problem::Problem;

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>;

/// Number of counters that are kept; those that are used least go first.
const KEPT: usize = 10_000;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The counters.
pub(crate) struct Rates {
    counters: Cache<String, (NonZeroU32, Arc<Limiter>)>,
    /// Bearers of tokens that were looked up, by the token's hash.
    bearers: Cache<[u8; 32], Bearer>,
}

/// Owner of a token's requests, as it was when the token was looked up last.
#[derive(Debug, Clone)]
pub(crate) struct Bearer {
    pub(crate) tenant: String,
    pub(crate) token: String,
    /// Requests of the tenant in a second; none: as many as it likes.
    pub(crate) rate: Option<u32>,
}

impl Default for Rates {
    fn default() -> Self {
        Rates { counters: Cache::new(KEPT), bearers: Cache::new(KEPT) }
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

impl Counted {
    /// Refuses the request if it is above the limit.
    pub(crate) fn refusal(self) -> Option<Response> {
        let seconds = self.wait?.as_secs() + 1;
        let mut response = Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            format!("the {} may make {} requests a second", self.policy, self.rate),
        )
        .hint("Wait as long as Retry-After says, and ask less often.")
        .limit("requests_per_second", i64::from(self.rate), i64::from(self.rate))
        .with(header::RETRY_AFTER, seconds)
        .into_response();
        self.tell(&mut response);
        Some(response)
    }

    /// Tells what is left, as the drafts for these headers do.
    pub(crate) fn tell(self, response: &mut Response) {
        let Counted { policy, rate, left, .. } = self;
        let headers = response.headers_mut();
        if let Ok(value) = HeaderValue::from_str(&format!("\"{policy}\";q={rate};w=1")) {
            headers.insert(RATE_LIMIT_POLICY, value);
        }
        if let Ok(value) = HeaderValue::from_str(&format!("\"{policy}\";r={left};t=1")) {
            headers.insert(RATE_LIMIT, value);
        }
    }
}

impl Rates {
    /// Returns the bearer of a token that was looked up before, by its hash.
    pub(crate) fn bearer(&self, hash: &[u8; 32]) -> Option<Bearer> {
        self.bearers.get(hash)
    }

    /// Keeps the bearer of a token, or forgets that of one which is valid no more.
    pub(crate) fn keep_bearer(&self, hash: [u8; 32], bearer: Option<Bearer>) {
        match bearer {
            Some(bearer) => self.bearers.insert(hash, bearer),
            None => {
                self.bearers.remove(&hash);
            }
        }
    }

    /// Counts a request of a token's bearer; none where the tenant may make as many as it likes.
    pub(crate) fn count_bearer(&self, bearer: &Bearer) -> Option<Counted> {
        (bearer.rate).map(|rate| self.count(&bearer.tenant, &bearer.token, rate))
    }

    /// Counts a request of an address.
    pub(crate) fn count_address(&self, address: IpAddr, rate: u32) -> Counted {
        self.counted("address", &address.to_string(), rate)
    }

    /// Counts a request of a tenant's token; the narrower of the two limits.
    pub(crate) fn count(&self, tenant: &str, token: &str, rate: u32) -> Counted {
        let of_token = self.counted("token", token, rate.div_ceil(2));
        if of_token.wait.is_some() {
            return of_token;
        }
        let of_tenant = self.counted("tenant", tenant, rate);
        if of_tenant.wait.is_some() || of_tenant.left < of_token.left { of_tenant } else { of_token }
    }

    fn counted(&self, policy: &'static str, whose: &str, rate: u32) -> Counted {
        let rate = NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN);
        let key = format!("{policy}:{whose}");
        let limiter = match self.counters.get(&key) {
            Some((known, limiter)) if known == rate => limiter,
            _ => {
                let limiter = Arc::new(
                    RateLimiter::direct(Quota::per_second(rate)).with_middleware::<StateInformationMiddleware>(),
                );
                self.counters.insert(key, (rate, Arc::clone(&limiter)));
                limiter
            }
        };
        let counted = |left, wait| Counted { policy, rate: rate.get(), left, wait };
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
        Denials { noted: Cache::new(KEPT) }
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
        let allowed = |token: &str| (0..50).filter(|_| rates.count("acme", token, 10).wait.is_none()).count();
        // Some may come back while the test counts.
        assert!((5..=7).contains(&allowed("one")));
        assert!(allowed("two") + allowed("three") <= 8);
        assert!(rates.count("other", "four", 10).wait.is_none());
        let refused = rates.count("acme", "one", 10);
        assert_eq!((refused.policy, refused.left), ("token", 0));
        assert!(refused.wait.is_some_and(|wait| wait <= Duration::from_secs(1)));
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
