//! The languages of the pages: English, and Portuguese as it is written in Brazil.

use axum::http::{HeaderMap, header};
use maud::{Markup, html};

use crate::cookies::{LANGUAGE, cookie};
use crate::shown::prose;

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    /// English.
    English,
    /// Portuguese, as it is written in Brazil.
    Portuguese,
}

impl Language {
    /// The language of a request: that of its cookie, or else what the browser asks for first.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let chosen = cookie(headers, LANGUAGE);
        match chosen.as_deref().or(asked) {
            Some(text) if text.to_ascii_lowercase().starts_with("pt") => Language::Portuguese,
            _ => Language::English,
        }
    }

    /// Returns the tag of the language, for the page.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Portuguese => "pt-BR",
        }
    }

    /// Returns an English text in this language.
    pub(crate) fn say(self, english: &str) -> &str {
        self.known(english).unwrap_or(english)
    }

    /// Returns an English text in this language; none if it has no translation.
    pub(crate) fn known(self, english: &str) -> Option<&str> {
        match self {
            Language::English => Some(english),
            Language::Portuguese => {
                let found = PORTUGUESE.binary_search_by(|(known, _)| known.cmp(&english)).ok()?;
                PORTUGUESE.get(found).map(|(_, text)| *text)
            }
        }
    }
}

/// A text that the API tells: translated where it is a fixed one, else marked as English.
pub(crate) fn told(language: Language, english: &str) -> Markup {
    html! {
        @match language.known(english) {
            Some(text) => (prose(text)),
            None => span lang="en" { (prose(english)) },
        }
    }
}

/// Texts in English and in Portuguese, in the order of the English ones.
const PORTUGUESE: &[(&str, &str)] = include!("portuguese.in");

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that the pages say: the first argument of each call of `say`.
    fn said(source: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for (_, rest) in source.match_indices("say(\"").map(|(at, found)| source.split_at(at + found.len())) {
            let mut text = String::new();
            let mut characters = rest.chars();
            while let Some(character) = characters.next() {
                match character {
                    // A line that continues below.
                    '\\' if characters.as_str().starts_with('\n') => {
                        characters = characters.as_str().trim_start().chars();
                    }
                    '\\' => text.extend(characters.next()),
                    '"' => break,
                    other => text.push(other),
                }
            }
            texts.push(text);
        }
        texts
    }

    #[test]
    fn every_text_of_the_pages_is_translated() {
        let folders = ["src", "src/pages"];
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("the folder is read"));
        let mut missing = Vec::new();
        for file in files {
            let path = file.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("words.rs") {
                continue;
            }
            for text in said(&std::fs::read_to_string(path).expect("text")) {
                if PORTUGUESE.binary_search_by(|(known, _)| (*known).cmp(&text)).is_err() {
                    missing.push(text);
                }
            }
        }
        missing.sort();
        missing.dedup();
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn texts_are_in_order_and_once() {
        assert!(PORTUGUESE.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
