//! `wed explain`: error codes and the pages of the documentation, without a server and without a network.

use std::collections::BTreeMap;

use rust_embed::RustEmbed;
use serde_json::json;
use wedflow_model::{ERROR_CODES, ErrorCode, PROBLEM_CODES};

use crate::problem::Problem;
use crate::terminal::Terminal;

#[derive(RustEmbed)]
#[folder = "../../docs/guide/"]
struct Guide;

#[derive(RustEmbed)]
#[folder = "../../docs/reference/"]
struct Reference;

#[derive(RustEmbed)]
#[folder = "../../docs/explanation/"]
struct Explanation;

/// Least likeness of a topic that is suggested for a mistyped one.
const LIKENESS_MIN: f64 = 0.75;

/// Prints what a code means, or a page; without a topic, what there is.
pub(crate) fn run(topic: Option<&str>, terminal: &Terminal) -> Result<(), Problem> {
    let pages = pages();
    let Some(topic) = topic else {
        list(&pages, terminal);
        return Ok(());
    };
    if let Some(code) = codes().find(|one| one.code.eq_ignore_ascii_case(topic)) {
        explain(code, &pages, terminal);
        return Ok(());
    }
    let name = topic.trim_end_matches(".md").trim_start_matches("docs/");
    let name = name.strip_prefix("reference/").unwrap_or(name);
    match pages.get(name) {
        Some(text) => {
            terminal.answer(&json!({ "page": name, "text": text }), || {
                terminal.line(text.trim_end());
            });
            Ok(())
        }
        None => Err(unknown(topic, &pages)),
    }
}

/// All codes: SQLSTATEs of our own, then words.
fn codes() -> impl Iterator<Item = &'static ErrorCode> {
    ERROR_CODES.iter().chain(PROBLEM_CODES)
}

/// All pages, by the names that `wed explain` takes. A guide that has the name of a reference keeps its folder's.
pub(crate) fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    collect::<Reference>("reference", &mut pages);
    collect::<Guide>("guide", &mut pages);
    collect::<Explanation>("explanation", &mut pages);
    pages
}

fn collect<E: RustEmbed>(folder: &str, pages: &mut BTreeMap<String, String>) {
    for path in E::iter() {
        let (Some(stem), Some(file)) = (path.strip_suffix(".md"), E::get(&path)) else {
            continue;
        };
        let text = without_comments(&String::from_utf8_lossy(&file.data));
        let name = match pages.contains_key(stem) {
            true => format!("{folder}/{stem}"),
            false => stem.to_owned(),
        };
        pages.insert(name, text);
    }
}

/// Leaves out comments, with their lines: what tests of a page need is nothing to read.
fn without_comments(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, comment)) = rest.split_once("<!--") {
        text.push_str(before);
        let after = comment.split_once("-->").map_or("", |(_, after)| after);
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    text + rest
}

fn list(pages: &BTreeMap<String, String>, terminal: &Terminal) {
    let title = |text: &str| {
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches('#').trim().to_owned()
    };
    let document = json!({
        "pages": pages.iter().map(|(name, text)| json!({ "page": name, "title": title(text) })).collect::<Vec<_>>(),
        "codes": codes()
            .map(|one| json!({ "code": one.code, "meaning": one.meaning, "remedy": one.remedy }))
            .collect::<Vec<_>>(),
    });
    terminal.answer(&document, || {
        let rows = pages.iter().map(|(name, text)| vec![name.clone(), title(text)]);
        terminal.table(&["page", "title"], rows);
        let codes: Vec<&str> = codes().map(|one| one.code).collect();
        terminal.line(&format!("\nCodes of errors: {}", codes.join(" ")));
        terminal.say("\n`wed explain PAGE` prints a page, `wed explain CODE` what a code means.");
    });
}

fn explain(code: &ErrorCode, pages: &BTreeMap<String, String>, terminal: &Terminal) {
    let (meaning, remedy) = (plain(code.meaning, pages), plain(code.remedy, pages));
    let document = json!({ "code": code.code, "meaning": meaning, "remedy": remedy });
    terminal.answer(&document, || {
        terminal.line(&format!("{}: {meaning}", code.code));
        if !remedy.is_empty() {
            terminal.line(&format!("what to do: {remedy}"));
        }
    });
}

/// Writes links of Markdown as a terminal's reader can follow them.
fn plain(text: &str, pages: &BTreeMap<String, String>) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        told.push_str(before);
        let Some((words, target)) = link.split_once("](") else {
            told.push('[');
            rest = link;
            continue;
        };
        let (target, after) = target.split_once(')').unwrap_or((target, ""));
        let file = target.split('#').next().unwrap_or_default();
        let page = file.rsplit('/').next().unwrap_or_default();
        let page = page.trim_end_matches(".md");
        told.push_str(words);
        if pages.contains_key(page) {
            told.push_str(&format!(" (`wed explain {page}`)"));
        }
        rest = after;
    }
    told.push_str(rest);
    told
}

fn unknown(topic: &str, pages: &BTreeMap<String, String>) -> Problem {
    let problem = Problem::new(format!("there is no page and no code \"{topic}\"")).code("not_found").exit(3);
    let is_sqlstate = topic.len() == 5 && topic.chars().all(|c| c.is_ascii_alphanumeric());
    if is_sqlstate && topic.starts_with(|c: char| c.is_ascii_digit()) {
        return problem.hint("It is a code of Postgres itself; `wed explain errors` says which of them Wedflow gives.");
    }
    let lower = topic.to_lowercase();
    let known = pages.keys().map(String::as_str);
    let nearest = known
        .chain(codes().map(|one| one.code))
        .map(|one| (strsim::jaro_winkler(&lower, &one.to_lowercase()), one))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, name)) if likeness >= LIKENESS_MIN => {
            problem.hint(format!("Perhaps you mean `wed explain {name}`."))
        }
        _ => problem.hint("`wed explain` lists the pages and codes there are."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_a_page_are_not_printed() {
        let page = "a\n<!-- run\nx\n-->\n```sh\nb\n```\n<!-- cut off";
        assert_eq!(without_comments(page), "a\n```sh\nb\n```\n");
        assert!(pages().values().all(|text| !text.contains("<!--")));
    }
}
