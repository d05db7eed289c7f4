//! Style and script, in the program itself.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

/// Files that pages name.
#[derive(RustEmbed)]
#[folder = "assets"]
struct Assets;

/// Digest of all files: it is a part of their addresses, so that files that name each other fit together.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut whole = Sha256::new();
    for name in Assets::iter() {
        if let Some(file) = Assets::get(&name) {
            whole.update(file.metadata.sha256_hash());
        }
    }
    tag_of(&whole.finalize())
});

/// Files that a device keeps for when there is no network.
const KEPT: [&str; 9] =
    ["console.css", "console.js", "icon.svg", "work.js", "away.js", "store.js", "outbox.js", "form.js", "leave.js"];

/// The service worker of people's work: it keeps the page for when there is no network, and the files of that page.
pub(crate) async fn worker() -> Response {
    let files: Vec<String> = KEPT.iter().map(|name| address(name)).collect();
    let script = Assets::get("worker.js").map(|file| file.data).unwrap_or_default();
    let text = format!(
        "const version = '{}', root = '{}/work', files = {};\n{}",
        *VERSION,
        crate::ROOT,
        serde_json::json!(files),
        String::from_utf8_lossy(&script)
    );
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (HeaderName::from_static("service-worker-allowed"), format!("{}/work", crate::ROOT)),
    ];
    (headers, text).into_response()
}

/// The manifest by which a device installs the pages of work.
pub(crate) async fn manifest() -> Response {
    let place = format!("{}/work", crate::ROOT);
    let manifest = serde_json::json!({
        "name": "Wedflow", "short_name": "Wedflow", "id": place, "start_url": place, "scope": place,
        "display": "standalone", "background_color": "#ffffff", "theme_color": "#1f5fbf",
        "icons": [{ "src": address("icon.svg"), "sizes": "any", "type": "image/svg+xml", "purpose": "any" }],
    });
    ([(header::CONTENT_TYPE, "application/manifest+json")], manifest.to_string()).into_response()
}

/// Sends a file. Its address changes with the program's version, so a browser keeps it.
pub(crate) async fn asset(Path((_version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
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
    if headers.get(header::IF_NONE_MATCH).is_some_and(|asked| asked == tag.as_str()) {
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

/// The address of a file: it holds what tells the files of one program from those of another.
pub(crate) fn address(name: &str) -> String {
    format!("{}/assets/{}/{name}", crate::ROOT, *VERSION)
}

/// The first bytes of a digest, in hexadecimal.
fn tag_of(digest: &[u8]) -> String {
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
