//! The graph that is derived from a definition, and its picture.

use std::fmt::Write;

use serde_json::json;

use super::{MARKUP, served, with_exception};
use crate::support::database::TENANT;

#[harness::test]
fn an_edge_leads_from_what_writes_to_what_reads() {
    let api = served(&wedflow_console::Links::default());
    let client = api.user(TENANT, "ann", "developer");
    with_exception(&client, "f", 3);
    let graph = client.get("/v1/flows/f/graph").is(200).json();
    let edges = graph["edges"].as_array().expect("edges");
    let first = MARKUP.replace('/', "");
    assert!(edges.contains(&json!({ "from": first, "to": "t2", "attributes": ["a2"], "number": 0 })), "{edges:?}");
    assert!(edges.contains(&json!({ "from": null, "to": first, "attributes": [], "number": 3 })), "{edges:?}");
    // Whoever writes a2 makes the first condition false: it only guards it.
    assert_eq!(graph["triggers"][0]["guards"], json!(["a1", "a2"]));
    assert_eq!(graph["triggers"][0]["jobs"], 3);
}

#[harness::test]
fn a_picture_of_sixty_triggers_is_drawn_without_overlap() {
    let api = served(&wedflow_console::Links::default());
    let client = api.user(TENANT, "ann", "developer");
    let attributes: Vec<_> =
        (0..61).map(|n| json!({ "name": format!("a{n}"), "default": (n == 0).then_some("x") })).collect();
    let triggers: Vec<_> = (0..60)
        .map(|n| {
            let from = if n % 3 == 0 { n } else { n / 2 };
            json!({ "name": format!("t{n}"), "transition": format!("tr{n}"), "writes": [format!("a{}", n + 1)],
                "when": format!("a{from} = 'x' and a{} is null", n + 1) })
        })
        .collect();
    let flow = json!({ "name": "wide", "final": "a60 = 'x'", "attribute": attributes, "trigger": triggers });
    client.json("PUT", "/v1/flows/wide", &flow).is(201);
    let text = client.get("/v1/flows/wide/graph").is(200).text;
    let graph = serde_json::from_str(&text).expect("a graph");
    let drawing = wedflow_picture::svg("wide", &graph, wedflow_picture::Place::File);
    let boxes = boxes(&drawing);
    assert_eq!(boxes.len(), 61);
    let mut overlaps = String::new();
    for (at, one) in boxes.iter().enumerate() {
        for other in &boxes[..at] {
            let apart = one[0] + one[2] <= other[0]
                || other[0] + other[2] <= one[0]
                || one[1] + one[3] <= other[1]
                || other[1] + other[3] <= one[1];
            if !apart {
                let _ = writeln!(overlaps, "{one:?} {other:?}");
            }
        }
    }
    assert_eq!(overlaps, "");
}

#[harness::test]
fn texts_of_a_definition_are_no_markup_in_its_picture() {
    let api = served(&wedflow_console::Links::default());
    let client = api.user(TENANT, "ann", "developer");
    with_exception(&client, "f", 1);
    let text = client.get("/v1/flows/f/graph").is(200).text;
    let graph = serde_json::from_str(&text).expect("a graph");
    for place in [wedflow_picture::Place::File, wedflow_picture::Place::Page("/x?t=")] {
        let drawing = wedflow_picture::svg(MARKUP, &graph, place);
        assert!(!drawing.contains("<script>") && !drawing.contains("<img"), "{drawing}");
    }
    assert!(wedflow_picture::dot("f", &graph).starts_with("digraph \"f\" {"));
}

/// The boxes of a drawing: x, y, width, height.
fn boxes(drawing: &str) -> Vec<[i64; 4]> {
    let number = |part: &str, name: &str| {
        let (_, rest) = part.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()?.parse().ok()
    };
    let parts = drawing.split("<rect class=\"box\"").skip(1);
    parts.map(|part| ["x", "y", "width", "height"].map(|name| number(part, name).expect("a number"))).collect()
}
