//! The console: pages on which a person sees what runs, understands why, and mends it.
//!
//! The console is a client of the API like any other, in this process: whoever is signed in has a token, and each page
//! asks with it. Pages are whole without script; a small script of ours keeps live parts current.
//!
//! - `session`: signing in, by a token or a link that works once; what protects forms
//! - `frame`: navigation around each page; `document`: heads, and headers that confine
//! - `failure`: refusals; `refusals`: the API's by their codes; `forms`: a refused form with what was typed
//! - `parts`: live parts of pages, computed once for all pages that show them
//! - `cookies`: what the browser keeps
//! - `words`: the languages of the pages
//! - `assets`: style and script
//! - `pages`: a file for each kind of page
//! - `shown`: values, times and figures as people read them
//! - `source`: the text of a flow or of processes, read and drawn for the designer

mod assets;
mod cookies;
mod document;
mod failure;
mod forms;
mod frame;
mod pages;
mod parts;
mod places;
mod refusals;
mod session;
mod shown;
mod source;
mod words;

use axum::Router;
use parts::LiveParts;
use session::Console;

pub use session::Links;

/// Path below which all pages are.
pub const ROOT: &str = "/console";

/// Makes the pages of a console over the API's service, which they ask in this process.
pub fn router(api: Router, links: &Links) -> Router {
    pages::router(Console { api, links: links.clone(), parts: LiveParts::default() })
}
