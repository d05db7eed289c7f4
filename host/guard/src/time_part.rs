//! Parts of points in time and of intervals, as `extract` and `date_trunc` name them.

use pg_query::Node;

use crate::expression::{Done, Seen, Walk};
use crate::kind::Base;
use crate::node::text_constant;
use crate::rejection::RejectionCode;

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
    /// Everything, and nothing is cut to it.
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

/// Returns true if intervals have a unit of this name.
pub(crate) fn is_unit(word: &str) -> bool {
    let units = PARTS.iter().filter(|(part, names)| {
        matches!(part, Part::Calendar | Part::Week | Part::Clock) && !names.starts_with("quarter")
    });
    let word = crate::value::token(word);
    units
        .flat_map(|(_, names)| names.split(' '))
        .any(|name| name == word)
}

/// The part of this name.
fn part(word: &str) -> Option<Part> {
    let word = crate::value::token(word);
    let (part, _) = PARTS
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == word))?;
    Some(*part)
}

/// Returns true if points in time or intervals have a part of this name.
pub(crate) fn is_part(word: &str) -> bool {
    part(word).is_some()
}

impl Walk<'_> {
    /// Refuses a part that what it is taken out of, or is cut to it, has not.
    pub(crate) fn has_part(&self, name: &str, args: &[Node], seen: &[Seen], place: i32) -> Done {
        let ("extract" | "date_part" | "date_trunc", [field, ..], [_, of, ..]) = (name, args, seen)
        else {
            return Ok(());
        };
        let Some((word, part)) = text_constant(field).and_then(|word| Some((word, part(word)?)))
        else {
            return Ok(());
        };
        let cut = name == "date_trunc";
        let dated = matches!(
            of.kind.base,
            Base::Date | Base::Timestamp | Base::Timestamptz
        );
        let has = match (of.kind.base, part) {
            _ if of.kind.array => true,
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
            (Part::Clock, _) => (
                format!("a date has no {word}"),
                "take it out of a timestamptz",
            ),
            (_, true) if dated || part != Part::Week => (
                format!("nothing is cut to its {word}"),
                "cut to year, quarter, month, week, day, hour, minute or second; extract(… from …) takes other \
                 parts out",
            ),
            _ => (
                format!("{} has no {word}", of.kind),
                "take it out of a point in time; an interval has years, months, days, hours, minutes, seconds and \
                 epoch",
            ),
        };
        Err(self.refuse(RejectionCode::Type, message, place).hint(hint))
    }
}
