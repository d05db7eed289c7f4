//! Parts of points in time and of intervals, as `extract`, `date_trunc` and intervals name them.

use pg_query::Node;

use crate::kind::{Base, Kind};
use crate::node::text_constant;
use crate::refusal::{ByteRefusal, RefusalCode};

/// A part of a point in time or an interval: what has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All but times of day; also points in time are cut to it.
    Calendar,
    /// The same, but of an interval that is cut to it.
    Week,
    /// All but dates.
    Clock,
    /// Points in time alone, and nothing is cut to it.
    Day,
    /// All values, none of which is cut to it.
    Epoch,
    /// A value with a zone.
    Zone,
}

/// The parts by the names Postgres knows; it looks at their first ten characters.
const PARTS: [(Part, &str); 7] = [
    (
        Part::Calendar,
        "c cent century centuries d day days dec decs decade decades mil mils millennia millennium mon mons month \
         months y yr yrs year years",
    ),
    (Part::Calendar, "quarter qtr"),
    (Part::Week, "w week weeks"),
    (
        Part::Clock,
        "h hr hrs hour hours m min mins minute minutes s sec secs second seconds ms msec msecs msecond mseconds \
         millisecon us usec usecs usecond useconds microsecon",
    ),
    (Part::Day, "dow doy isodow isoyear j jd julian"),
    (Part::Epoch, "epoch"),
    (Part::Zone, "timezone timezone_h timezone_m"),
];

/// A word as Postgres compares it with those that it knows in dates and intervals.
pub(crate) fn token(word: &str) -> String {
    word.chars().take(10).collect::<String>().to_ascii_lowercase()
}

/// Returns true if intervals have a unit of this name.
pub(crate) fn is_unit(word: &str) -> bool {
    let units = PARTS.iter().filter(|(part, names)| {
        matches!(part, Part::Calendar | Part::Week | Part::Clock) && !names.starts_with("quarter")
    });
    let word = token(word);
    units.flat_map(|(_, names)| names.split(' ')).any(|name| name == word)
}

/// The part of this name.
fn part(word: &str) -> Option<Part> {
    let word = token(word);
    let (part, _) = PARTS.iter().find(|(_, names)| names.split(' ').any(|name| name == word))?;
    Some(*part)
}

/// Returns true if points in time or intervals have a part of this name.
pub(crate) fn is_part(word: &str) -> bool {
    part(word).is_some()
}

/// Refuses a part that the value it is taken out of, or that is cut to it, does not have: the field and the type of
/// the value that a call of `extract`, `date_part` or `date_trunc` names.
pub(crate) fn check(name: &str, field: &Node, of: Kind) -> Result<(), ByteRefusal> {
    if !matches!(name, "extract" | "date_part" | "date_trunc") {
        return Ok(());
    }
    let Some((word, part)) = text_constant(field).and_then(|word| Some((word, part(word)?))) else {
        return Ok(());
    };
    let cut = name == "date_trunc";
    let dated = matches!(of.base, Base::Date | Base::Timestamp | Base::Timestamptz);
    let has = match (of.base, part) {
        _ if of.array => true,
        (_, Part::Day | Part::Epoch | Part::Zone) if cut => false,
        // As a point in time, at midnight.
        (Base::Date, Part::Clock) => name != "extract",
        (Base::Date | Base::Timestamp | Base::Time | Base::Interval, Part::Zone) => false,
        (Base::Time | Base::Timetz, Part::Calendar | Part::Week | Part::Day) => false,
        (Base::Interval, Part::Day) => false,
        (Base::Interval, Part::Week) => !cut,
        _ => true,
    };
    if has {
        return Ok(());
    }
    let word = word.to_ascii_lowercase();
    let (message, hint) = match (part, cut) {
        (Part::Clock, _) => (format!("a date has no {word}"), "take it out of a timestamptz"),
        (_, true) if dated || part != Part::Week => (
            format!("nothing is cut to its {word}"),
            "cut to year, quarter, month, week, day, hour, minute or second; extract(… from …) takes other \
             parts out",
        ),
        _ => (
            format!("{of} has no {word}"),
            "take it out of a point in time; an interval has years, months, days, hours, minutes, seconds and \
             epoch",
        ),
    };
    Err(ByteRefusal::new(RefusalCode::Type, message).hint(hint))
}
