//! The attributes that the corpora and random fragments speak of.

use wedflow_guard::FlowAttributes;

/// Returns the attributes of `data/attributes.txt`.
pub(crate) fn attributes() -> FlowAttributes {
    let lines = include_str!("../data/attributes.txt").lines();
    let rows = lines.filter(|line| !line.starts_with('#'));
    FlowAttributes::new(rows.map(|row| {
        let (name, kind) = row.split_once(' ').expect("name and type");
        (name, kind.parse().expect("a type"))
    }))
}
