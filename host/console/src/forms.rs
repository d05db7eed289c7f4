//! Forms that were refused: the page is shown again with what was typed in its form, and the reason at its top.
//!
//! No page does this by itself. Whatever answers a form with a [`Failure`] leaves it to this layer, which asks for the
//! page that the form stands on and writes the fields into its text. Pages are ours alone: their tags and attributes
//! are written in one way, by `maud`, which escapes `>` and `"` in values.

use std::collections::HashMap;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Form, Router};
use http_body_util::{BodyExt, Full};
use maud::{Markup, PreEscaped, html};
use wedflow_client::{InProcess, Transport};

use crate::document::confined;
use crate::failure::Failure;

/// Most bytes of a form.
const FORM_BYTES_MAX: usize = 2 << 20;
/// Beginning of what is a page's own, inside of its frame.
const CONTENT: &str = "<main id=\"main\" tabindex=\"-1\">";
/// Types of fields that keep what they have: what is hidden is the page's, and a secret is not written into a page.
const KEPT: [&str; 4] = ["hidden", "password", "file", "checkbox"];

/// Answers a request; shows the page of a form again that was refused.
pub(crate) async fn shown_again(pages: Router, request: Request, next: Next) -> Response {
    if !is_form(&request) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, FORM_BYTES_MAX).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let request = || Request::from_parts(parts.clone(), Body::from(body.clone()));
    let answer = next.run(request()).await;
    let Some(failure) = answer.extensions().get::<Failure>().filter(|failure| failure.is_of_form) else {
        return answer;
    };
    let Ok(Form(fields)) = Form::<HashMap<String, String>>::from_request(request(), &()).await else {
        return answer;
    };
    match page_of(pages, &parts).await {
        Some(page) => {
            let page = Typed::new(&parts, fields, failure).filled(&page);
            confined(failure.status, &PreEscaped(page))
        }
        None => answer,
    }
}

/// Returns true for a form that a browser sends for a page, with fields in its body or in its address.
fn is_form(request: &Request) -> bool {
    let says = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    // A script shows the reason by itself.
    let is_for_page = matches!(says("sec-fetch-mode"), None | Some("navigate"));
    let is_sent = match *request.method() {
        Method::GET => request.uri().query().is_some(),
        Method::POST => says("content-type").is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")),
        _ => false,
    };
    is_for_page && is_sent
}

/// Asks for the page that a form stands on; none if there is no such page.
async fn page_of(pages: Router, parts: &Parts) -> Option<String> {
    let mut request = axum::http::Request::new(Full::new(Bytes::new()));
    for name in [header::COOKIE, header::ACCEPT_LANGUAGE] {
        if let Some(value) = parts.headers.get(&name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    let from = from(&parts.headers).filter(|_| parts.method == Method::POST);
    *request.uri_mut() = from.unwrap_or(parts.uri.path()).parse().ok()?;
    let page = InProcess::new(pages, "the console").send(request).await.ok()?;
    if page.status() != StatusCode::OK {
        return None;
    }
    let page = page.into_body().collect().await.ok()?.to_bytes();
    String::from_utf8(page.to_vec()).ok()
}

/// Returns the page of ours that a form was sent from, with its query.
fn from(headers: &HeaderMap) -> Option<&str> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let (_, address) = text(header::REFERER)?.split_once("://")?;
    let page = address.strip_prefix(text(header::HOST)?)?;
    page.starts_with(crate::ROOT).then_some(page)
}

/// Fields of a form as they were typed, escaped as in a page's text.
struct Typed {
    path: String,
    is_search: bool,
    fields: HashMap<String, String>,
    /// Field that is wrong.
    wrong: Option<String>,
    reason: String,
}

impl Typed {
    fn new(parts: &Parts, fields: HashMap<String, String>, failure: &Failure) -> Self {
        let fields = fields.into_iter().map(|(name, text)| (escaped(&name), escaped(&text)));
        let reason =
            html! { div class="alert" role="alert" tabindex="-1" autofocus id="refused" { (failure.reason()) } };
        Typed {
            path: escaped(parts.uri.path()),
            is_search: parts.method == Method::GET,
            fields: fields.collect(),
            wrong: failure.field.as_deref().map(escaped),
            reason: reason.0,
        }
    }

    /// Fills in the form of a page; one that has it no more gets the reason at its top.
    fn filled(&self, page: &str) -> String {
        let mut at = 0;
        while let Some((begin, length)) = form_from(page, at) {
            let form = page.get(at + begin..at + begin + length).unwrap_or_default();
            if self.is_of(form) {
                let (before, after) = (&page[..at + begin], &page[at + begin + length..]);
                return [before, &self.form(form), after].concat();
            }
            at += begin + length;
        }
        page.replacen(CONTENT, &format!("{CONTENT}{}", self.reason), 1)
    }

    /// Returns true for the form that was sent: it has its address, its fields, and the same in those that are hidden.
    fn is_of(&self, form: &str) -> bool {
        let head = tag_of(form);
        let leads = |tag: &str, name: &str| attribute(tag, name).is_some_and(|place| place == self.path);
        let is_sent_there = leads(head, "action")
            || attribute(head, "action").is_none()
            || tags(form).any(|tag| leads(tag, "formaction"));
        let is_search = attribute(head, "method") != Some("post");
        let has_all = self
            .fields
            .keys()
            .all(|name| name == "proof" || tags(form).any(|tag| attribute(tag, "name") == Some(name)));
        let is_same = tags(form).filter(|tag| attribute(tag, "type") == Some("hidden")).all(|tag| {
            let (name, value) = (attribute(tag, "name").unwrap_or_default(), attribute(tag, "value"));
            name == "proof" || self.fields.get(name).map(String::as_str) == value
        });
        is_sent_there && is_search == self.is_search && has_all && is_same
    }

    /// A form with the reason at its top and what was typed in its fields.
    fn form(&self, form: &str) -> String {
        let head = tag_of(form);
        let mut filled = format!("{} data-typed>{}", head.trim_end_matches('>'), self.reason);
        let mut rest = form.get(head.len()..).unwrap_or_default();
        let mut chosen = None;
        while let Some((text, behind)) = rest.split_once('<') {
            filled.push_str(text);
            let tag = tag_of(rest.get(text.len()..).unwrap_or_default());
            rest = behind.get(tag.len() - 1..).unwrap_or_default();
            let typed = attribute(tag, "name").and_then(|name| self.fields.get(name));
            match (tag.split([' ', '>']).next(), typed) {
                (Some("<input"), Some(typed)) if !attribute(tag, "type").is_some_and(|kind| KEPT.contains(&kind)) => {
                    filled.push_str(&self.input(tag, typed));
                }
                (Some("<textarea"), Some(typed)) => {
                    filled.push_str(&format!("{tag}\n{typed}"));
                    rest = rest.find("</textarea>").and_then(|end| rest.get(end..)).unwrap_or_default();
                }
                (Some("<select"), typed) => {
                    chosen = typed;
                    filled.push_str(tag);
                }
                (Some("<option"), _) if chosen.is_some() => {
                    let own = attribute(tag, "value").or(rest.split('<').next());
                    let head = tag.trim_end_matches('>').trim_end_matches(" selected");
                    let word = if own == chosen.map(String::as_str) { " selected>" } else { ">" };
                    filled.push_str(&[head, word].concat());
                }
                // It could be pressed, and so it can be again.
                (Some("<button"), _) => filled.push_str(&tag.replace(" disabled>", ">")),
                _ => filled.push_str(tag),
            }
        }
        filled + rest
    }

    /// A field with what was typed, marked if it is the one that is wrong.
    fn input(&self, tag: &str, typed: &str) -> String {
        let own = attribute(tag, "value").map(|value| format!(" value=\"{value}\""));
        let tag = own.map_or_else(|| tag.to_owned(), |own| tag.replacen(&own, "", 1));
        let name = attribute(&tag, "name").unwrap_or_default();
        let is_wrong =
            self.wrong.as_deref().is_some_and(|wrong| name == wrong || name.strip_prefix("a.") == Some(wrong));
        let mark = if is_wrong { " aria-invalid=\"true\" aria-describedby=\"refused\"" } else { "" };
        format!("{} value=\"{typed}\"{mark}>", tag.trim_end_matches('>'))
    }
}

/// Finds the first form of a text from a place on: where it begins behind that place, and its length without its end.
fn form_from(page: &str, at: usize) -> Option<(usize, usize)> {
    let rest = page.get(at..)?;
    let begin = rest.find("<form")?;
    Some((begin, rest.get(begin..)?.find("</form>")?))
}

/// The tag that a text begins with.
fn tag_of(text: &str) -> &str {
    text.find('>').and_then(|end| text.get(..=end)).unwrap_or(text)
}

/// The tags of a text.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('<').map(|(at, _)| tag_of(text.get(at..).unwrap_or_default()))
}

/// The value of a tag's attribute, as it is written there.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

/// A text as a page has it.
fn escaped(text: &str) -> String {
    let text: Markup = html! { (text) };
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(
        "<main id=\"main\" tabindex=\"-1\"><form method=\"post\" action=\"/a\">",
        "<input type=\"hidden\" name=\"k\" value=\"1\">",
        "<input name=\"n\" value=\"old\"></form><form method=\"post\" action=\"/a\">",
        "<input type=\"hidden\" name=\"k\" value=\"2\"><input name=\"n\" value=\"old\" size=\"3\">",
        "<input type=\"password\" name=\"p\"><select name=\"s\">",
        "<option selected>x</option><option value=\"y\">Y</option></select><textarea name=\"t\">old</textarea></form>",
    );

    fn typed(fields: &[(&str, &str)]) -> Typed {
        let fields = fields.iter().map(|(name, text)| (escaped(name), escaped(text)));
        Typed {
            path: "/a".to_owned(),
            is_search: false,
            fields: fields.collect(),
            wrong: Some("n".to_owned()),
            reason: "<p>no</p>".to_owned(),
        }
    }

    #[test]
    fn form_of_the_same_hidden_fields_is_filled_in() {
        let fields = [("proof", "p"), ("k", "2"), ("n", "\"<b>"), ("p", "secret"), ("s", "y"), ("t", "a\n</form>")];
        let page = typed(&fields).filled(PAGE);
        assert_eq!(page.matches("<p>no</p>").count(), 1, "{page}");
        assert!(page.contains("size=\"3\" value=\"&quot;&lt;b&gt;\" aria-invalid=\"true\""), "{page}");
        assert!(page.contains("<option>x</option><option value=\"y\" selected>Y</option>"), "{page}");
        assert!(page.contains("<textarea name=\"t\">\na\n&lt;/form&gt;</textarea></form>"), "{page}");
        assert!(!page.contains("secret") && page.contains("name=\"n\" value=\"old\"></form>"), "{page}");
    }

    #[test]
    fn page_without_the_form_has_the_reason_at_its_top() {
        for fields in [[("k", "3"), ("n", "x")], [("k", "1"), ("other", "x")]] {
            let page = typed(&fields).filled(PAGE);
            assert!(page.starts_with(&format!("{CONTENT}<p>no</p>")), "{page}");
            assert!(!page.contains("value=\"x\""), "{page}");
        }
    }
}
