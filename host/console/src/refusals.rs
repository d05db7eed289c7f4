//! Refusals of the API by their codes, in the languages that the API does not speak.

use crate::words::Language;

/// Codes of the API in Portuguese: what is wrong, and what to do where the code says it all.
const PORTUGUESE: &[(&str, &str, &str)] = include!("refusals.in");

/// Returns what a code says is wrong, and what to do; none in English, which the API speaks, or of an unknown code.
pub(crate) fn of_code(language: Language, code: &str) -> Option<(&'static str, &'static str)> {
    match language {
        Language::English => None,
        Language::Portuguese => {
            let found = PORTUGUESE.iter().find(|(known, ..)| *known == code);
            found.map(|(_, meaning, advice)| (*meaning, *advice))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes that people never see: they pass between programs.
    const UNSEEN: [&str; 3] = ["WF016", "WF018", "WF089"];

    #[test]
    fn every_code_of_the_database_is_translated() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/errors.md");
        let page = std::fs::read_to_string(page).expect("the page of errors");
        let codes = page.lines().filter_map(|line| line.strip_prefix("| WF")?.split(' ').next());
        let codes: Vec<String> = codes.map(|digits| format!("WF{digits}")).collect();
        assert!(codes.len() > 50, "{codes:?}");
        let is_missing =
            |code: &&String| !UNSEEN.contains(&code.as_str()) && of_code(Language::Portuguese, code).is_none();
        assert_eq!(codes.iter().filter(is_missing).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
