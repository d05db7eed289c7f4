//! Lists, traces and searches over a replica of the database, with a bound on how old an answer may be. What decides
//! something, and what the replica cannot answer, is the primary's.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::watch;
use tower::ServiceExt;
use wedflow_store::{Store, StoreError};

use crate::access::{Caller, ShareOf};

/// Header of an answer that says how old it may be, in seconds.
const STALENESS: HeaderName = HeaderName::from_static("wedflow-staleness");
/// Time between two looks at how far the replica has come.
const LOOK: Duration = Duration::from_millis(200);
/// Positions of the primary that are remembered while the replica has not reached them.
const POSITIONS_MAX: usize = 1_000;
/// Paths whose answers may come from a replica. None of their answers is what a later request is checked against.
const PATHS: [&str; 7] = [
    "/v1/flows/{flow}/instances",
    "/v1/flows/{flow}/instances/count",
    "/v1/flows/{flow}/instances/{wid}/trace",
    "/v1/flows/{flow}/instances/{wid}/attempts",
    "/v1/flows/{flow}/attempts",
    "/v1/flows/{flow}/jobs",
    "/v1/audit",
];

/// A replica and the routes over it.
#[derive(Clone)]
pub(crate) struct Replica {
    /// Routes whose handlers read from the replica.
    routes: Router,
    /// Moment of the primary that the replica has reached; none while it cannot be used.
    reached: watch::Receiver<Option<Instant>>,
    /// Largest age of an answer.
    staleness_max: Duration,
}

impl Replica {
    /// Begins to follow a replica. `routes` are those over it.
    pub(crate) fn follow(primary: Store, replica: Store, routes: Router, staleness_max: Duration) -> Self {
        let (sender, reached) = watch::channel(None);
        tokio::spawn(follow(primary, replica, sender));
        Replica { routes, reached, staleness_max }
    }

    /// Returns how old an answer of the replica may be; none while that is too old.
    fn staleness(&self) -> Option<Duration> {
        let staleness = self.reached.borrow().map(|reached| reached.elapsed())?;
        (staleness <= self.staleness_max).then_some(staleness)
    }

    /// Asks the replica; none where the primary is to be asked: the replica failed, or does not know the thing yet.
    async fn answer(&self, request: Request) -> Option<Response> {
        let staleness = self.staleness()?;
        let began = Instant::now();
        let mut response = self.routes.clone().oneshot(request).await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        // What was read was at most as old when it was read.
        let staleness = staleness + began.elapsed();
        let seconds = HeaderValue::from_str(&format!("{:.3}", staleness.as_secs_f64())).ok()?;
        response.headers_mut().insert(STALENESS, seconds);
        Some(response)
    }
}

/// Copies a request without a body, if its answer may come from a replica.
fn copy_of(request: &Request, path: &MatchedPath) -> Option<Request> {
    let wants_newest = (request.headers().get_all(header::CACHE_CONTROL).iter()).any(|value| {
        let value = value.as_bytes().to_ascii_lowercase();
        value.windows(8).any(|word| word == b"no-cache")
    });
    if request.method() != Method::GET || wants_newest || !PATHS.contains(&path.as_str()) {
        return None;
    }
    let mut copy = Request::new(Body::empty());
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    let extensions = request.extensions();
    (copy.extensions_mut()).insert(extensions.get::<Caller>()?.clone());
    (copy.extensions_mut()).insert(extensions.get::<ShareOf>()?.clone());
    Some(copy)
}

/// Answers from the replica what may come from it, and from the primary all else.
pub(crate) async fn prefer_replica(
    State(replica): State<Replica>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    if let Some(copy) = copy_of(&request, &path)
        && let Some(response) = replica.answer(copy).await
    {
        return response;
    }
    next.run(request).await
}

/// Tells how far the replica has come, until nobody asks any more: positions of the primary are remembered with the
/// moments before they were asked for, and the replica has reached the newest one that it has replayed. No clock of a
/// server has a part in it.
async fn follow(primary: Store, replica: Store, reached: watch::Sender<Option<Instant>>) {
    let mut positions = VecDeque::new();
    let mut is_ours = false;
    while !reached.is_closed() {
        let asked = Instant::now();
        if positions.len() < POSITIONS_MAX
            && let Ok(position) = primary.written_to().await
        {
            positions.push_back((asked, position));
        }
        match look(&primary, &replica, &mut is_ours).await {
            Ok(Some(replayed)) => {
                while let Some((asked, _)) = positions.pop_front_if(|(_, at)| *at <= replayed) {
                    reached.send_replace(Some(asked));
                }
            }
            lost => {
                if let Err(error) = &lost
                    && reached.borrow().is_some()
                {
                    tracing::warn!(%error, "the replica does not answer; the primary is read from");
                }
                reached.send_replace(None);
                positions.clear();
                is_ours = false;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Returns how far the replica has come; none of a server that is no replica, or another installation's.
async fn look(primary: &Store, replica: &Store, is_ours: &mut bool) -> Result<Option<i64>, StoreError> {
    if !*is_ours {
        *is_ours = primary.installation_mark().await? == replica.installation_mark().await?;
    }
    match *is_ours {
        true => replica.replayed_to().await,
        false => Ok(None),
    }
}
