//! Style and script, in the program itself.

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

/// Files that pages name.
#[derive(RustEmbed)]
#[folder = "assets"]
struct Assets;

/// Sends a file. Its address changes with the program's version, so a browser keeps it.
pub(crate) async fn asset(
    Path((_version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let Some(file) = Assets::get(&name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let tag = format!("\"{}\"", &tag_of(&file.metadata.sha256_hash()));
    if headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|asked| asked == tag.as_str())
    {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CACHE_CONTROL, "public, max-age=31536000".to_owned()),
        (header::ETAG, tag),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    (headers, file.data).into_response()
}

/// The address of a file: it holds what tells its content from another.
pub(crate) fn address(name: &str) -> String {
    let version =
        Assets::get(name).map_or_else(String::new, |file| tag_of(&file.metadata.sha256_hash()));
    format!("{}/assets/{version}/{name}", crate::ROOT)
}

/// The first bytes of a digest, in hexadecimal.
fn tag_of(digest: &[u8]) -> String {
    digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
