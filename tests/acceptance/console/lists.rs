//! Long lists, and acts that apply: nothing is cut without a word, and nothing is offered that would do nothing.

use serde_json::json;
use wedflow_console::Links;

use super::places::with_everything;
use super::{form, page, proof, served, with_exception};
use crate::support::database::TENANT;

/// Entries of a list of which a page shows fifty.
const ENTRIES: u32 = 53;

/// The address of the next part of a list, as a page gives it.
fn next(text: &str) -> Option<String> {
    let (_, link) = text.split_once("rel=\"next\" href=\"")?;
    link.split('"').next().map(|address| address.replace("&amp;", "&"))
}

#[harness::test]
fn long_list_says_how_much_is_left_and_leads_there() {
    let api = served(&Links::default());
    let client = api.user(TENANT, "ann", "admin");
    with_exception(&client, "f", 1);
    let schema = api.database.owner().line("SELECT schema_name FROM wed.flow WHERE name = 'f'");
    let rows = ENTRIES - 1;
    api.database.owner().run(&format!("INSERT INTO \"{schema}\".wed_flow SELECT FROM generate_series(1, {rows})"));
    for (place, said, search) in [
        ("/console/jobs", "50 of 53 are shown.", ""),
        ("/console/flows/f/instances", "50 are shown; there are more.", "?where=a1+%3D+'ready'&"),
    ] {
        let first = page(&client, &format!("{place}{search}")).is(200).text;
        let words = first.replace("</span>", "");
        assert!(words.contains(said), "{place}: {first}");
        let shown = |text: &str| text.matches("<th scope=\"row\"><a href=\"/console/flows/f/instances/").count();
        assert_eq!(shown(&first), 50, "{place}");
        let address = next(&first).expect("an address");
        assert!(search.is_empty() || address.contains("where="), "{address}");
        let second = page(&client, &format!("{place}{address}")).is(200).text;
        assert_eq!((shown(&second), next(&second)), (3, None), "{place}: {second}");
    }
    let foreign = page(&client, "/console/jobs?flow=f&cursor=guess").is(400).text;
    assert!(foreign.contains("id=\"refused\"") && foreign.contains("50 of 53"), "{foreign}");
}

#[harness::test]
fn old_states_of_an_instance_are_a_page_away() {
    let (_api, client, _) = with_everything();
    let place = "/console/flows/f/instances/2";
    let newest = page(&client, place).is(200).text;
    assert!(newest.contains("data-step=\"1\"") && !newest.contains("?before="), "{newest}");
    let older = page(&client, &format!("{place}?before=3")).is(200).text;
    assert!(older.contains("data-step=\"2\"") && !older.contains("data-step=\"3\""), "{older}");
}

#[harness::test]
fn page_offers_what_applies_alone() {
    let (api, client, _) = with_everything();
    let offers = |path: &str| {
        let shown = page(&client, path).is(200).text;
        ["pause", "resume"].map(|act| shown.contains(&format!("value=\"{act}\"")))
    };
    let of = "/console/flows/f";
    let instance = format!("{of}/instances/1");
    let own = proof(&page(&client, of).text).to_owned();
    for place in [of, &instance] {
        assert_eq!(offers(place), [true, false], "{place}");
        form(&client, &format!("{place}/do"), &[], &format!("proof={own}&act=pause&reason=x"));
        assert_eq!(offers(place), [false, true], "{place}");
        form(&client, &format!("{place}/do"), &[], &format!("proof={own}&act=resume&reason="));
        assert_eq!(offers(place), [true, false], "{place}");
    }
    // A paused trigger is resumed by itself.
    client.json("POST", "/v1/flows/f/pause", &json!({ "trigger": "t2", "reason": "x" })).is(200);
    assert_eq!(offers(of), [true, true]);
    form(&client, &format!("{of}/do"), &[], &format!("proof={own}&act=resume&trigger=t2&reason="));
    assert_eq!(offers(of), [true, false]);
    // Work is for persons.
    let leads = |text: &str| text.contains("href=\"/console/work\"");
    assert!(leads(&page(&client, "/console").text));
    let viewer = api.user(TENANT, "vic", "viewer");
    let shown = page(&viewer, "/console").is(200).text;
    assert!(!leads(&shown), "{shown}");
    assert!(page(&viewer, "/console/work").is(404).text.contains("wed work people --add"));
}

#[harness::test]
fn exception_names_what_keeps_it_from_firing() {
    let (_api, client, _) = with_everything();
    let shown = page(&client, "/console/flows/f/instances/2").is(200).text;
    let (_, banner) = shown.split_once("<div class=\"alert\">").expect("a banner");
    let banner = banner.split("</div>").next().unwrap_or_default();
    assert!(banner.contains("<strong>t2</strong> would fire if: <code>(n &gt; 3 OR"), "{banner}");
    let place = |text: &str| banner.find(text).expect("it is said");
    assert!(place("t2") < place("tr_a2 was skipped"), "{banner}");
}
