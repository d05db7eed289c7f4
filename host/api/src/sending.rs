//! Sending answers: who does not read them holds little, and not for long.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::problem::Problem;
use crate::state::{Api, Slot};

/// Answers up to this many bytes are not counted: the system takes them at once.
const SMALL_BYTES: u64 = 64 << 10;
/// Bytes that are given to a connection at once.
const PART_BYTES: usize = 16 << 10;

/// Makes an answer of bytes, or of the rest of them from where `Range: bytes=N-` says. The mark names the whole, with
/// its digest.
pub(crate) fn resumable(asked: &HeaderMap, bytes: Vec<u8>, kind: &'static str, mark: &str) -> Response {
    let total = bytes.len();
    let from = asked
        .get(header::RANGE)
        .and_then(|range| {
            let range = range.to_str().ok()?;
            range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
        })
        .filter(|from| *from <= total);
    let rest = bytes.get(from.unwrap_or(0)..).unwrap_or_default().to_vec();
    let mut response = match from {
        None => rest.into_response(),
        Some(_) => (StatusCode::PARTIAL_CONTENT, rest).into_response(),
    };
    let told = response.headers_mut();
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    told.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let last = total.saturating_sub(1);
    let range = from.map(|from| {
        let range = format!("bytes {from}-{last}/{total}");
        (header::CONTENT_RANGE, range)
    });
    for (key, value) in [(header::ETAG, format!("\"{mark}\""))].into_iter().chain(range) {
        if let Ok(value) = HeaderValue::from_str(&value) {
            told.insert(key, value);
        }
    }
    response
}

/// Counts an answer as under way to its tenant until it was sent.
pub(crate) async fn counted(api: &Api, tenant: &str, response: Response) -> Response {
    let Some(bytes) = response.body().size_hint().exact() else {
        return response;
    };
    if bytes <= SMALL_BYTES {
        return response;
    }
    let kib = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
    let place = match api.sending.wait(tenant, kib, api.times.request).await {
        Ok(place) => place,
        Err(problem) => return problem.into_response(),
    };
    let (parts, body) = response.into_parts();
    // It is whole already.
    let Ok(left) = axum::body::to_bytes(body, usize::MAX).await else {
        return Problem::internal().into_response();
    };
    let body = Held { left, _slot: place };
    Response::from_parts(parts, Body::new(body))
}

/// An answer, and its places among those that are under way.
struct Held {
    left: Bytes,
    _slot: Slot,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.left.len().min(PART_BYTES);
        // Copied: a part that waits to be sent must not hold the whole.
        let part = Bytes::copy_from_slice(&self.left.split_to(length));
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left.len()).unwrap_or(u64::MAX))
    }
}

/// The fewest bytes of an answer that a client takes in a second, once its patience is used up.
const SLOWEST_BYTES: u64 = 16 << 10;

/// A connection that fails when the first byte does not come, and when the other side takes answers too slowly: waiting
/// for it uses patience, and each byte that it takes gives some back.
pub(crate) struct Patient<S> {
    inner: S,
    /// Deadline of the first byte; none once it has come.
    first_byte: Option<Pin<Box<Sleep>>>,
    patience_max: Duration,
    /// Time for which writing may still wait.
    patience: Duration,
    /// Beginning and deadline of a wait in which the other side takes nothing.
    stuck: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> Patient<S> {
    pub(crate) fn new(inner: S, first_byte: Duration, patience_max: Duration) -> Self {
        Patient {
            inner,
            first_byte: Some(Box::pin(sleep(first_byte))),
            patience_max,
            patience: patience_max,
            stuck: None,
        }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if let Some((since, _)) = self.stuck.take() {
                self.patience = self.patience.saturating_sub(since.elapsed());
            }
            return written;
        }
        let patience = self.patience;
        let (_, stuck) = (self.stuck).get_or_insert_with(|| (Instant::now(), Box::pin(sleep(patience))));
        ready!(stuck.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Gives patience back for bytes that the other side took.
    fn count(&mut self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            let micros = u64::try_from(*bytes).unwrap_or(u64::MAX).saturating_mul(1_000_000);
            let back = Duration::from_micros(micros / SLOWEST_BYTES);
            self.patience = (self.patience + back).min(self.patience_max);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if read.is_ready() {
            self.first_byte = None;
        } else if let Some(first) = &mut self.first_byte {
            ready!(first.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        let judged = self.judge(cx, written);
        self.count(&judged);
        judged
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bytes);
        let judged = self.judge(cx, written);
        self.count(&judged);
        judged
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.judge(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.judge(cx, shut)
    }
}
