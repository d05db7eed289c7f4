//! The places that the navigation leads to.

use maud::{Markup, html};

use crate::ROOT;
use crate::words::Language;

/// Page that the navigation leads to: address, name, key.
pub(crate) type Place = (&'static str, &'static str, &'static str);

/// Page of those who have a worklist.
const WORK: Place = ("/work", "Work", "i");
/// Pages that the navigation of the console leads to.
const PLACES: [Place; 12] = [
    ("", "Overview", "o"),
    ("/flows", "Flows", "f"),
    ("/exceptions", "Exceptions", "e"),
    ("/jobs", "Jobs", "j"),
    ("/schedules", "Schedules", "s"),
    ("/reservations", "Reservations", "r"),
    ("/components", "Components", "c"),
    ("/webhooks", "Webhooks", "w"),
    ("/people", "Users and tokens", "u"),
    ("/hosts", "Hosts", "h"),
    ("/audit", "Audit log", "a"),
    WORK,
];
/// Pages of a person's work.
pub(crate) const WORK_PLACES: [Place; 4] = [
    ("/work", "Inbox", "i"),
    ("/work/messages", "Messages", "m"),
    ("/work/start", "Start a process", "s"),
    ("", "Console", "o"),
];

/// Lists the places of the console; that of work for who is a person.
pub(crate) fn places(is_person: bool) -> Vec<Place> {
    PLACES.into_iter().filter(|place| is_person || *place != WORK).collect()
}

/// Links to places; the one that is the page's own is marked.
pub(crate) fn links(language: Language, places: &[Place], path: Option<&str>) -> Markup {
    let here = path.and_then(|path| {
        let here = places.iter().filter(|place| is_at(path, place.0));
        here.map(|place| place.0).max_by_key(|place| place.len())
    });
    html! {
        nav aria-label=(language.say("Pages")) {
            @for &(place, name, key) in places {
                a href=(format!("{ROOT}{place}")) data-key=(key)
                    aria-current=[(Some(place) == here).then_some("page")] { (language.say(name)) }
            }
        }
    }
}

/// Returns true if a path belongs to a place of the navigation.
fn is_at(path: &str, place: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    match path.strip_prefix(ROOT).unwrap_or_default() {
        "" | "/" => place.is_empty(),
        below => {
            !place.is_empty() && below.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_name_in_each_language() {
        let mut names = PLACES.iter().chain(&WORK_PLACES).map(|place| place.1);
        assert_eq!(names.find(|name| Language::Portuguese.known(name).is_none()), None);
    }
}
