//! The places that the navigation leads to.

use maud::{Markup, html};

use crate::ROOT;
use crate::words::Language;

/// Pages that the navigation leads to: address, name, key.
pub(crate) const PLACES: [(&str, &str, &str); 12] = [
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
    ("/work", "Work", "i"),
];

/// Links to places; the one that is the page's own is marked.
pub(crate) fn links(language: Language, places: &[(&str, &'static str, &str)], path: Option<&str>) -> Markup {
    let here = path.and_then(|path| {
        let here = places.iter().filter(|place| is_at(path, place.0));
        here.map(|place| place.0).max_by_key(|place| place.len())
    });
    html! {
        nav aria-label=(language.say("Pages")) {
            @for &(place, name, key) in places {
                a href=(format!("{ROOT}{place}")) data-key=(key)
                    aria-current=[(Some(place) == here).then_some("page")] { (place_name(language, name)) }
            }
        }
    }
}

/// Translates the name of a page.
fn place_name(language: Language, name: &'static str) -> &'static str {
    match name {
        "Overview" => language.say("Overview"),
        "Flows" => language.say("Flows"),
        "Exceptions" => language.say("Exceptions"),
        "Jobs" => language.say("Jobs"),
        "Reservations" => language.say("Reservations"),
        "Schedules" => language.say("Schedules"),
        "Components" => language.say("Components"),
        "Webhooks" => language.say("Webhooks"),
        "Hosts" => language.say("Hosts"),
        "Users and tokens" => language.say("Users and tokens"),
        "Work" => language.say("Work"),
        "Inbox" => language.say("Inbox"),
        "Messages" => language.say("Messages"),
        "Start a process" => language.say("Start a process"),
        "Console" => language.say("Console"),
        _ => language.say("Audit log"),
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
