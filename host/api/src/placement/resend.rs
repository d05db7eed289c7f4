//! A request that can be sent a second time, as long as nobody has read its body.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use hyper::body::{Frame, SizeHint};

/// Body that is lent to whoever answers the request.
struct Lent(Arc<Kept>);

struct Kept {
    body: Mutex<Body>,
    is_read: AtomicBool,
}

/// Request as it came.
pub(super) struct Again {
    parts: Parts,
    kept: Arc<Kept>,
}

impl Again {
    /// Returns a request that reads the body of this one, and what is needed to send it again.
    pub(super) fn of(request: Request) -> (Request, Again) {
        let (parts, body) = request.into_parts();
        let kept = Arc::new(Kept { body: Mutex::new(body), is_read: AtomicBool::new(false) });
        let lent = Body::new(Lent(Arc::clone(&kept)));
        let first = Request::from_parts(parts.clone(), lent);
        (first, Again { parts, kept })
    }

    /// Returns the request once more; none when its body was begun to be read.
    pub(super) fn request(self) -> Option<Request> {
        let is_read = self.kept.is_read.load(Ordering::Acquire);
        (!is_read).then(|| Request::from_parts(self.parts, Body::new(Lent(self.kept))))
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.0.is_read.store(true, Ordering::Release);
        let mut body = self.0.body.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        let body = self.0.body.lock().unwrap_or_else(PoisonError::into_inner);
        body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let body = self.0.body.lock().unwrap_or_else(PoisonError::into_inner);
        body.size_hint()
    }
}
