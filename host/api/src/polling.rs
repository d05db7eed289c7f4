//! Requests that wait for something: they look again and again, and hold nothing between two looks.

use std::time::Duration;

use axum::http::HeaderMap;
use tokio::time::{Instant, sleep_until};
use wedflow_store::StoreError;
use wedflow_tenancy::{Action, authenticate};

use crate::access::Caller;
use crate::problem::Problem;
use crate::state::{Api, Slot};

/// Time between the first two looks; each pause is half as long again.
const LOOK: Duration = Duration::from_millis(100);
/// Longest time between two looks.
const IDLE_LOOK: Duration = Duration::from_secs(1);
/// The least time between two questions whether the token still lets its bearer in.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// A request that waits, within its tenant's share of those.
pub(crate) struct Poll<'a> {
    api: &'a Api,
    tenant: &'a str,
    token: Option<String>,
    may: Action,
    until: Instant,
    pause: Duration,
    asked: Instant,
    _slot: Option<Slot>,
}

impl<'a> Poll<'a> {
    /// Begins to wait, at most so long, for what the bearer of the token must be let do.
    pub(crate) fn begin(
        api: &'a Api,
        caller: &'a Caller,
        headers: &HeaderMap,
        may: Action,
        wait: Duration,
    ) -> Result<Self, Problem> {
        let now = Instant::now();
        let wait = wait.min(api.times.watching);
        let waits = !wait.is_zero();
        Ok(Poll {
            api,
            tenant: &caller.tenant,
            token: caller.token(headers),
            may,
            until: now + wait,
            pause: LOOK,
            asked: now,
            _slot: waits.then(|| api.polls.take(&caller.tenant)).transpose()?,
        })
    }

    /// Asks the database within the tenant's share of its connections, and within the time of a request.
    pub(crate) async fn ask<T>(&self, question: impl Future<Output = Result<T, StoreError>>) -> Result<T, Problem> {
        let longest = self.api.times.request;
        let _asking = self.api.connections.wait(self.tenant, 1, longest).await?;
        let answer = tokio::time::timeout(longest, question).await;
        Ok(answer.map_err(|_| crate::problem::too_long())??)
    }

    /// Waits until the next look. False: time is up.
    pub(crate) async fn again(&mut self) -> Result<bool, Problem> {
        let next = Instant::now() + self.pause;
        if next > self.until {
            return Ok(false);
        }
        self.pause = (self.pause * 3 / 2).min(IDLE_LOOK);
        sleep_until(next).await;
        let Some(token) = &self.token else {
            return Ok(true);
        };
        if self.asked.elapsed() < ASK_AGAIN {
            return Ok(true);
        }
        self.asked = Instant::now();
        let identity = authenticate(&self.api.tokens, token).await;
        let identity = identity.map_err(crate::access::denied)?;
        Ok(identity.may(self.may))
    }
}
