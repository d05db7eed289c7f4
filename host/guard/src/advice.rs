//! Advice where types do not fit: casts that exist, and other ways.

use crate::allowed::COMPARISON;
use crate::kind::{Base, Context, Kind};
use crate::refusal::{ByteRefusal, RefusalCode};
use crate::resolve::ResolveError;

/// Says that no operator takes values of these types, or several do.
pub(crate) fn no_operator(sign: &str, kinds: &[Kind], why: ResolveError) -> ByteRefusal {
    let shown = |kind: &Kind| match kind.is_unknown() {
        true => "a constant".to_owned(),
        false => kind.to_string(),
    };
    let operands = match kinds {
        [one, other] => format!("{} {sign} {}", shown(one), shown(other)),
        _ => format!("{sign} {}", kinds.first().map(shown).unwrap_or_default()),
    };
    let (message, hint) = match why {
        ResolveError::NoCandidate => (format!("there is no operator for {operands}"), instead_of(sign, kinds)),
        ResolveError::Ambiguous => (format!("{operands} could mean several operators"), "cast the constant".to_owned()),
    };
    ByteRefusal::new(RefusalCode::Type, message).hint(hint)
}

/// Suggests what may have been meant where these types have no such operator.
fn instead_of(sign: &str, kinds: &[Kind]) -> String {
    let [one, other] = kinds else {
        return "cast it: (…)::numeric".to_owned();
    };
    let (one, other) = (*one, *other);
    let either = |kind: Kind| one == kind || other == kind;
    let of = |category: char| [one, other].into_iter().find(|kind| kind.category() == category);
    let known = match sign {
        "&&" if either(Kind::BOOL) => "between truth values write AND",
        "||" if either(Kind::BOOL) => "between truth values write OR; to join text, cast them: ok::text",
        "+" if of('S').is_some() => "text is joined by ||; to add, cast it: a1::integer + 1",
        _ if either(Kind::one(Base::Interval)) && of('N').is_some() => {
            "write how long: interval '3 days', or extract(epoch from …) for seconds"
        }
        _ if either(Kind::one(Base::Jsonb)) && COMPARISON.contains(&sign) => {
            "compare with to_jsonb(…), or take the value out: (doc->>'a')::integer"
        }
        _ if of('D').is_some() && of('N').is_some() => {
            "a point in time is written in quotes: '2024-01-15'; whole days are added to a date"
        }
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let text = of('S');
    match (text, of('N')) {
        (Some(_), Some(number)) => {
            return format!("cast the text: (…)::{number}, or the number: (…)::text");
        }
        (Some(text), None) => {
            let wanted = if one == text { other } else { one };
            return format!("cast the text: (…)::{wanted}");
        }
        _ => {}
    }
    if one.array != other.array {
        return "write … = ANY (…) for a value in an array, ARRAY[…] for an array of one".to_owned();
    }
    let towards =
        [(other, one), (one, other)].into_iter().find(|(from, to)| from != to && from.becomes(*to, Context::Explicit));
    match towards {
        Some((_, to)) => format!("cast one side: (…)::{to}"),
        None => format!("{one} and {other} have no such operator, and no cast to each other"),
    }
}

/// Says how a value converts to another type: by a cast, where one exists.
pub(crate) fn way(found: Kind, wanted: Kind) -> String {
    let text = found.category() == 'S';
    let known = match (found.category(), wanted.category(), wanted.base) {
        (_, _, Base::Jsonb) if !wanted.array && text => {
            return "write to_jsonb(…), or (…)::jsonb where the text is a document itself".to_owned();
        }
        (_, _, Base::Jsonb) if !wanted.array => "write to_jsonb(…)",
        _ if found.becomes(wanted, Context::Explicit) => {
            return format!("cast it: (…)::{wanted}");
        }
        ('N', 'T', _) => "write how long: make_interval(days => …), or … * interval '1 day'",
        ('N', _, Base::Date) => "add days to a date: CURRENT_DATE + …",
        ('N', 'D', _) => "write to_timestamp(…) of seconds since 1970",
        ('D', 'N', _) => "subtract one date from another for days, or write extract(epoch from …)",
        ('D', 'T', _) => "subtract one point in time from another: now() - …",
        ('T', 'N', _) => "write extract(epoch from …) for seconds",
        ('T', 'D', _) => "add it to a point in time: now() + …",
        (_, 'B', _) => "write a comparison: … > 0, … = 'yes', … IS NOT NULL",
        _ if found.base == Base::Jsonb && wanted.array => {
            "a document becomes no array; ask it with ?, ?| or @>, or take out an element: doc->>0"
        }
        _ if found.array && !wanted.array => "take out an element: (…)[1], or write … = ANY (…)",
        _ if wanted.array => "write ARRAY[…]",
        _ => return format!("there is no cast from {found} to {wanted}"),
    };
    known.to_owned()
}
