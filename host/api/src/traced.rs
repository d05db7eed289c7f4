//! Spans of requests, in the traces of those who sent them.

use std::time::SystemTime;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use wedflow_model::{FlowId, Wid};
use wedflow_telemetry::{Kind, Span, Tracer};

/// State of an instance that a request wrote. An answer brings it along for the span of its request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WroteState {
    pub(crate) flow: FlowId,
    pub(crate) wid: Wid,
    pub(crate) seq: i32,
}

/// Sends the span of a request with the header `traceparent`; it links to the state that the request wrote.
pub(crate) async fn traced(State(tracer): State<Tracer>, request: Request, next: Next) -> Response {
    let header = request.headers().get("traceparent");
    let caller = header.and_then(|header| tracer.caller(header.to_str().ok()?));
    let Some(caller) = caller else {
        return next.run(request).await;
    };
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map_or("nothing", MatchedPath::as_str).to_owned();
    let method = request.method().to_string();
    let begun = SystemTime::now();
    let response = next.run(request).await;
    let status = response.status();
    let wrote = response.extensions().get::<WroteState>();
    let link = wrote.and_then(|wrote| {
        let trace = tracer.instance(wrote.flow.get(), wrote.wid.get())?;
        Some((trace.id, trace.state(wrote.seq)))
    });
    let since = begun.duration_since(SystemTime::UNIX_EPOCH);
    let moment = since.unwrap_or_default().as_nanos();
    tracer.send(Span {
        trace: caller.trace,
        id: caller.child(&format!("{method} {path} {moment}")),
        parent: Some(caller.span),
        link,
        name: format!("{method} {path}"),
        kind: Kind::Server,
        begun,
        ended: SystemTime::now(),
        attributes: vec![
            ("http.request.method", method.into()),
            ("http.route", path.into()),
            ("http.response.status_code", status.as_u16().into()),
        ],
        failure: status.is_server_error().then(|| status.to_string()),
    });
    response
}
