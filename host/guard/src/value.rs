//! Text in quotes that is read as a value of a type: refused here where Postgres would plainly not read it.

use crate::MAX_DIGITS;
use crate::kind::{Base, Kind};
use crate::literal::is_bounded;
use crate::refusal::{ByteRefusal, RefusalCode};
use crate::time_part::{is_unit, token};

/// Refuses text in quotes that Postgres would not read as a value of the type, where that is plain to
/// see. Dates and intervals are left to Postgres, which reads many forms of them.
pub(crate) fn fits(text: &str, kind: Kind) -> Result<(), ByteRefusal> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    if is_dated(kind) {
        fits_date(text, trimmed, kind)?;
    }
    if let Some(bounds) = kind.bounds() {
        return range(trimmed, bounds).unwrap_or_else(|| {
            let what = format!("{kind}; its notation is [from,to) with either bracket");
            Err(no(text, &what))
        });
    }
    if kind.array {
        return fits_array(text, trimmed, kind);
    }
    let fits = match kind.base {
        Base::Int2 => is_whole(trimmed, i64::from(i16::MIN), i64::from(i16::MAX)),
        Base::Int4 => is_whole(trimmed, i64::from(i32::MIN), i64::from(i32::MAX)),
        Base::Int8 => is_whole(trimmed, i64::MIN, i64::MAX),
        Base::Numeric if !is_bounded(trimmed) => return Err(too_many_digits()),
        Base::Numeric | Base::Float4 | Base::Float8 => is_number(trimmed, kind.base),
        Base::Bool => is_boolean(trimmed),
        Base::Uuid => is_uuid(text),
        Base::Jsonb => return fits_document(text),
        Base::Json => serde_json::from_str::<serde_json::Value>(text).is_ok(),
        Base::Bytea => is_bytes(text),
        Base::Interval if may_be_time(trimmed) => return fits_interval(text, trimmed),
        Base::Interval => false,
        _ => !is_dated(kind) || may_be_time(trimmed),
    };
    if fits {
        return Ok(());
    }
    Err(match kind.base {
        Base::Int2 => no(text, "smallint"),
        Base::Int4 => no(text, "integer"),
        Base::Int8 => no(text, "bigint"),
        Base::Float4 | Base::Float8 if has_one_notation(trimmed) => no(text, "number of double precision"),
        Base::Numeric | Base::Float4 | Base::Float8 => no(text, "number"),
        Base::Bool => no(text, "boolean"),
        Base::Uuid => no(text, "uuid"),
        Base::Json => no(text, "JSON"),
        Base::Bytea => no(text, "bytea; its notation is \\x…, in hexadecimal digits"),
        _ => no(text, &kind.to_string()),
    })
}

/// The refusal of a text that is no value of a type.
fn no(text: &str, what: &str) -> ByteRefusal {
    let shown = crate::refusal::shorten(text, 40);
    ByteRefusal::new(RefusalCode::Type, format!("'{shown}' is no {what}"))
}

fn too_many_digits() -> ByteRefusal {
    let message = format!("a number of more than {MAX_DIGITS} digits");
    ByteRefusal::new(RefusalCode::TooLarge, message)
}

fn is_dated(kind: Kind) -> bool {
    matches!(kind.base, Base::Date | Base::Time | Base::Timetz | Base::Timestamp | Base::Timestamptz)
}

/// Refuses a date or time that makes a zone, has no year in front, or an hour that there is not.
fn fits_date(text: &str, trimmed: &str, kind: Kind) -> Result<(), ByteRefusal> {
    let shown = crate::refusal::shorten(text, 40);
    if makes_zone(trimmed) {
        let message = format!("'{shown}' makes a time zone of its own");
        return Err(ByteRefusal::new(RefusalCode::Type, message)
            .hint("write an offset, as 2024-01-31 12:00+01, or the name of a zone: Europe/Berlin"));
    }
    if kind.array {
        return Ok(());
    }
    if !matches!(kind.base, Base::Time | Base::Timetz) && !is_year_first(trimmed) {
        let message = format!("'{shown}' is no date: the year comes first, then month and day");
        return Err(ByteRefusal::new(RefusalCode::Type, message).hint("write it so: 2024-01-15"));
    }
    if is_late(trimmed) {
        let what = "time of day: its hours are at most 24, its minutes 59";
        return Err(no(text, what));
    }
    Ok(())
}

fn fits_array(text: &str, trimmed: &str, kind: Kind) -> Result<(), ByteRefusal> {
    if !trimmed.starts_with(['{', '[']) || !trimmed.ends_with('}') {
        let what = format!("array; its notation is {{…}}, of {kind}");
        return Err(no(text, &what));
    }
    let (bounds, body) = match trimmed.split_once('=') {
        Some((bounds, body)) if trimmed.starts_with('[') => (Some(bounds), body.trim_start()),
        _ => (None, trimmed),
    };
    let is_far = |bounds: &str| {
        let mut numbers = bounds.split(|c: char| !c.is_ascii_digit());
        numbers.any(|number| number.len() > 5)
    };
    if bounds.is_some_and(is_far) {
        let what = "array that an attribute can hold; leave its bounds out";
        return Err(no(text, what));
    }
    let each = &mut |element: &str| fits(element, kind.element());
    match elements(&mut body.chars().peekable(), each) {
        Ok(sizes) if bounds.is_none_or(|bounds| are_of(bounds, &sizes)) => Ok(()),
        Ok(_) => Err(no(text, "array whose bounds are those of its elements; leave them out")),
        Err(Misread::Element(refusal)) => Err(refusal),
        Err(Misread::Notation) => {
            Err(no(text, "array: write {a,b}; what holds a comma, a brace, a quote or nothing stands in \" \""))
        }
    }
}

/// Returns true if Postgres may read it as a whole number between two. Those to another base are left to Postgres.
fn is_whole(trimmed: &str, least: i64, most: i64) -> bool {
    let digits = trimmed.replace('_', "").to_ascii_lowercase();
    let unsigned = digits.trim_start_matches(['-', '+']);
    let of_other_base = ["0x", "0o", "0b"].iter().any(|prefix| unsigned.starts_with(prefix));
    let value = digits.parse::<i64>();
    of_other_base || value.is_ok_and(|value| (least..=most).contains(&value))
}

/// Returns true for a notation of numbers that those of double precision do not have.
fn has_one_notation(trimmed: &str) -> bool {
    let digits = trimmed.trim_start_matches(['-', '+']).to_ascii_lowercase();
    trimmed.contains('_') || ["0b", "0o"].iter().any(|base| digits.starts_with(base))
}

fn is_number(trimmed: &str, base: Base) -> bool {
    if base != Base::Numeric && has_one_notation(trimmed) {
        return false;
    }
    let lower = trimmed.to_ascii_lowercase();
    let word = lower.trim_start_matches(['-', '+']);
    let begins = word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !begins && !["nan", "inf", "infinity"].contains(&word) {
        return false;
    }
    if ["0x", "0o", "0b"].iter().any(|base| word.starts_with(base)) {
        return true;
    }
    match (lower.replace('_', "").parse::<f64>(), base) {
        (Ok(value), Base::Float8) => value.is_finite() || !word.starts_with(|c: char| c.is_ascii_digit()),
        #[expect(clippy::cast_possible_truncation, reason = "whether it fits is the question")]
        (Ok(value), Base::Float4) => (value as f32).is_finite() || !value.is_finite(),
        (Ok(_), _) => true,
        (Err(_), _) => false,
    }
}

fn is_boolean(trimmed: &str) -> bool {
    let word = trimmed.to_ascii_lowercase();
    let starts = |full: &str, least: usize| word.len() >= least && full.starts_with(&word);
    ["true", "false", "yes", "no"].iter().any(|full| starts(full, 1))
        || starts("off", 2)
        || ["on", "1", "0"].contains(&word.as_str())
}

fn is_uuid(text: &str) -> bool {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let bare = inner.unwrap_or(text);
    let digits = bare.bytes().filter(u8::is_ascii_hexdigit).count();
    digits == 32 && bare.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

fn fits_document(text: &str) -> Result<(), ByteRefusal> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if holds_nul(&value) => Err(no(text, "JSON that Postgres takes: no text in it holds \\u0000")),
        Ok(value) if numbers_are_bounded(&value) => Ok(()),
        Ok(_) => Err(too_many_digits()),
        Err(_) => Err(no(text, "JSON")),
    }
}

fn fits_interval(text: &str, trimmed: &str) -> Result<(), ByteRefusal> {
    unknown_unit(trimmed).map_or(Ok(()), |word| {
        let refusal = no(text, &format!("interval: there is no unit `{word}`"));
        Err(refusal.hint("units are year, month, week, day, hour, minute, second"))
    })
}

/// Returns true if bounds such as `[1:2][0:1]` fit these sizes.
fn are_of(bounds: &str, sizes: &[usize]) -> bool {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let each = bounds.trim().split(']').filter(|bound| !bound.trim().is_empty());
    let counts = each.map(|bound| {
        let bound = bound.trim().strip_prefix('[')?;
        let (from, to) = bound.split_once(':').unwrap_or(("1", bound));
        let count = number(to)?.checked_sub(number(from)?)?.checked_add(1)?;
        usize::try_from(count).ok().filter(|count| *count > 0)
    });
    counts.eq(sizes.iter().map(|size| Some(*size)))
}

/// The most dimensions of an array, as Postgres has it.
const MAX_DIMENSIONS: usize = 6;

/// Why a constant is no array.
enum Misread {
    /// The braces, commas or quotes are not those of an array, or its parts differ in length.
    Notation,
    /// An element is no value of the type.
    Element(ByteRefusal),
}

/// Reads an array in Postgres's notation up to its end, and looks at `each` element that is not null. Answers how many
/// elements each dimension has.
fn elements(
    text: &mut std::iter::Peekable<std::str::Chars<'_>>,
    each: &mut dyn FnMut(&str) -> Result<(), ByteRefusal>,
) -> Result<Vec<usize>, Misread> {
    let sizes = dimension(text, each, 1)?;
    match text.next() {
        None => Ok(sizes),
        Some(_) => Err(Misread::Notation),
    }
}

fn dimension(
    text: &mut std::iter::Peekable<std::str::Chars<'_>>,
    each: &mut dyn FnMut(&str) -> Result<(), ByteRefusal>,
    depth: usize,
) -> Result<Vec<usize>, Misread> {
    let space = |text: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        while text.next_if(char::is_ascii_whitespace).is_some() {}
    };
    if text.next() != Some('{') || depth > MAX_DIMENSIONS {
        return Err(Misread::Notation);
    }
    space(text);
    if text.next_if_eq(&'}').is_some() {
        return Ok(vec![0]);
    }
    let mut inner: Option<Vec<usize>> = None;
    let mut count = 0;
    loop {
        space(text);
        let sizes = match text.peek() {
            Some('{') => dimension(text, each, depth + 1)?,
            _ => {
                element(text, each)?;
                Vec::new()
            }
        };
        if *inner.get_or_insert_with(|| sizes.clone()) != sizes {
            return Err(Misread::Notation);
        }
        count += 1;
        space(text);
        match text.next() {
            Some(',') => {}
            Some('}') => break,
            _ => return Err(Misread::Notation),
        }
    }
    let mut sizes = vec![count];
    sizes.append(&mut inner.unwrap_or_default());
    Ok(sizes)
}

fn element(
    text: &mut std::iter::Peekable<std::str::Chars<'_>>,
    each: &mut dyn FnMut(&str) -> Result<(), ByteRefusal>,
) -> Result<(), Misread> {
    let mut value = String::new();
    let quoted = text.next_if_eq(&'"').is_some();
    // Where the value ends that is not space: an escaped space belongs to it.
    let mut end = 0;
    let mut escaped = false;
    loop {
        let c = match text.peek() {
            None => return Err(Misread::Notation),
            Some('"') if quoted => break,
            Some('"' | '{') if !quoted => return Err(Misread::Notation),
            Some(',' | '}') if !quoted => break,
            Some(_) => text.next(),
        };
        match c {
            Some('\\') => {
                value.push(text.next().ok_or(Misread::Notation)?);
                escaped = true;
                end = value.len();
            }
            Some(c) => {
                value.push(c);
                if quoted || !c.is_ascii_whitespace() {
                    end = value.len();
                }
            }
            None => return Err(Misread::Notation),
        }
    }
    if quoted {
        text.next();
    } else {
        value.truncate(end);
        if value.is_empty() {
            return Err(Misread::Notation);
        }
        if !escaped && value.eq_ignore_ascii_case("null") {
            return Ok(());
        }
    }
    each(&value).map_err(Misread::Element)
}

/// A range in its notation: nothing when it is in none.
fn range(text: &str, bounds: Kind) -> Option<Result<(), ByteRefusal>> {
    if text.eq_ignore_ascii_case("empty") {
        return Some(Ok(()));
    }
    let inner = text.strip_prefix(['[', '('])?.strip_suffix([']', ')'])?;
    let (from, to) = inner.split_once(',')?;
    let one = |bound: &str| {
        let bound = bound.strip_prefix('"').unwrap_or(bound);
        let bound = bound.strip_suffix('"').unwrap_or(bound);
        match bound.trim().is_empty() {
            true => Ok(()),
            false => fits(bound, bounds),
        }
    };
    (!to.contains(',')).then(|| one(from).and_then(|()| one(to)))
}

/// The names of months and days, as Postgres reads them.
const CALENDAR: &str = "\
    jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september \
    october november december sun mon tue tues wed weds thu thur thurs fri sat sunday monday tuesday wednesday \
    thursday friday saturday";

/// Returns true for one of several words.
fn is_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns true if the text makes a time zone, as `ABC5` and `q/aa5` do: Postgres keeps each that it was ever asked
/// for.
fn makes_zone(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '_' | '.' | ':');
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        rest = rest.get(start..).unwrap_or_default();
        let end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let digits = behind.strip_prefix(['+', '-']).unwrap_or(behind);
        // A month is read as one, whatever stands between it and its numbers: but for a date that is there already.
        let start = text.len() - rest.len();
        let piece = text[..start].rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let month = word.trim_end_matches(['/', '.']);
        let dated = text[..piece]
            .split_ascii_whitespace()
            .any(|piece| piece.contains(|c: char| c.is_ascii_digit()) && !piece.contains(':'));
        let apart = month.len() < word.len() || digits.len() < behind.len();
        let begins = text[piece..].starts_with(|c: char| c.is_ascii_digit());
        let named = is_of(CALENDAR, &month.to_ascii_lowercase()) && !(apart && dated && !begins);
        // With what follows it may be one of those that there are: `Etc/GMT+5`, `EST5EDT`.
        let all = rest.split(char::is_whitespace).next().unwrap_or_default();
        if word.len() > 2 && digits.starts_with(|c: char| c.is_ascii_digit()) && !named {
            if !crate::zone::is_zone(all) {
                return true;
            }
            rest = rest.get(all.len()..).unwrap_or_default();
            continue;
        }
        rest = behind;
    }
    false
}

/// Returns true if Postgres reads the text as bytes: `\x` and digits, or characters and escapes.
fn is_bytes(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: Vec<u8> = digits.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        return digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    }
    let mut rest = text;
    while let Some((_, escape)) = rest.split_once('\\') {
        let octal =
            escape.as_bytes().get(..3).is_some_and(|digits| matches!(digits, [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7']));
        match (escape.starts_with('\\'), octal) {
            (true, _) => rest = &escape[1..],
            (false, true) => rest = &escape[3..],
            (false, false) => return false,
        }
    }
    true
}

/// Words that stand for points in time without a digit.
const POINTS: &str = "now today tomorrow yesterday epoch infinity -infinity allballs";

/// A word of an interval that is no unit.
fn unknown_unit(text: &str) -> Option<String> {
    // P1Y2M is a notation of its own.
    if text.trim_start_matches(['-', '+']).starts_with(['P', 'p']) {
        return None;
    }
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    words
        .filter(|word| !word.is_empty())
        .find(|word| {
            let others = ["ago", "at", "on", "infinity", "inf", "mm"];
            !is_unit(word) && !others.contains(&token(word).as_str())
        })
        .map(|word| crate::refusal::shorten(word, 20))
}

/// Returns true if Postgres, with the year first, may read a date in it: plainly three numbers, a year, a month and
/// a day.
fn is_year_first(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let mut pieces = lower.split_ascii_whitespace();
    let Some(first) = pieces.next() else {
        return true;
    };
    let first = first.split('t').next().unwrap_or_default();
    let mut parts: Vec<&str> = Vec::new();
    for sign in ['-', '/', '.'] {
        let split: Vec<&str> = first.split(sign).collect();
        if split.len() > 1 && split.iter().all(|part| number(part)) {
            parts = split;
            break;
        }
    }
    // With space between.
    if number(first) && first.len() <= 4 {
        parts = std::iter::once(first).chain(pieces.take_while(|piece| number(piece) && piece.len() <= 4)).collect();
    }
    match parts.as_slice() {
        [year, month, day] => is_day(year, month, day, lower.contains("bc")),
        // Of a year and the number of its day, three digits.
        [_, month] if first.len() == lower.len() && first.contains(['-', '/']) => month.len() > 2,
        _ => true,
    }
}

fn is_day(year: &str, month: &str, day: &str, before_christ: bool) -> bool {
    // Three digits are the number of a day in its year.
    if month.len() == 3 || day.len() == 3 {
        return true;
    }
    let short = year.len() <= 2;
    let (Ok(year), Ok(month), Ok(day)) = (year.parse::<u32>(), month.parse::<u32>(), day.parse::<u32>()) else {
        return true;
    };
    let year = match year {
        year if short && year < 70 => 2000 + year,
        year if short => 1900 + year,
        year => year,
    };
    let leap = before_christ || year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Returns true if the text holds an impossible time of day, such as 25:00.
fn is_late(text: &str) -> bool {
    let mut before = ' ';
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        before = rest[..start].chars().last().unwrap_or(before);
        let run = &rest[start..];
        let end = run.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(run.len());
        let mut parts = run[..end].split(':');
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<u64>().ok());
        let hours = number(parts.next()).unwrap_or(0);
        // Behind a sign it is the offset of a zone.
        if let Some(minutes) = number(parts.next())
            && !matches!(before, '+' | '-')
            && (hours > 24 || minutes > 59 || number(parts.next()).is_some_and(|s| s > 60))
        {
            return true;
        }
        before = ':';
        rest = &run[end..];
    }
    false
}

/// Returns true if Postgres might read a date, a time or an interval in it.
fn may_be_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return POINTS.split(' ').any(|word| text.contains(word));
    }
    true
}

fn holds_nul(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(holds_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        _ => false,
    }
}

fn numbers_are_bounded(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Number(number) => is_bounded(&number.to_string()),
        Value::Array(list) => list.iter().all(numbers_are_bounded),
        Value::Object(fields) => fields.values().all(numbers_are_bounded),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_postgres_does() {
        let of = |text: &str, base: Base| fits(text, Kind::many(base));
        for fine in [
            "{}",
            " { } ",
            "{a}",
            "{a, b c ,NULL}",
            r#"{"a,b","",\{,x\ }"#,
            "{{a,b},{c,d}}",
            "[0:1]={a,b}",
            "[1:1] = {a}",
        ] {
            assert!(of(fine, Base::Text).is_ok(), "{fine}");
        }
        for bad in [
            "{",
            "{a",
            "{a,}",
            "{,a}",
            "{a,,b}",
            "{a,b}}",
            "{\"a}",
            "{a\"b\"}",
            "{{a},b}",
            "{{a},{b,c}}",
            "[1:5]={a}",
            "[1:2][1:2]={a,b}",
            "[2:1]={}",
            "{a{b}}",
            "{a}b",
            "{{{{{{{a}}}}}}}",
        ] {
            assert!(of(bad, Base::Text).is_err(), "{bad}");
        }
        assert!(of(&"{".repeat(10_000), Base::Text).is_err());
        assert!(of("{1,-2,null}", Base::Int4).is_ok());
        for bad in ["{a}", "{1.5}", "{1,x}", "{99999999999}", "{\"\"}"] {
            assert!(of(bad, Base::Int4).is_err(), "{bad}");
        }
        assert!(of(r#"{"{\"a\": 1}"}"#, Base::Jsonb).is_ok() && of("{1e400}", Base::Jsonb).is_err());
    }
}
