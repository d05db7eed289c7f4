//! Strings that decide how long a call takes: regular expressions, and the formats of `format`.
//!
//! Postgres turns a regular expression into an automaton: the time is a matter of its size and of the text's length, if
//! it refers to nothing that matched before and does not look around. The database judges both in the same way
//! (`wed.check_pattern`).

/// The largest regular expression: its characters and the repetitions asked for in numbers, times those of groups.
pub(crate) const MAX_SIZE: usize = 400;
/// The widest that a placeholder of `format` makes its value, in characters.
pub(crate) const MAX_WIDTH: usize = 1000;
/// The most placeholders of one format.
const MAX_PLACES: usize = 64;

use crate::refusal::{ByteRefusal, RefusalCode};

/// The refusal of what Postgres would not read.
fn misread(message: &str, hint: &str) -> ByteRefusal {
    ByteRefusal::new(RefusalCode::Syntax, message).hint(hint)
}

/// The refusal of what may take long.
fn complex(message: &str, hint: &str) -> ByteRefusal {
    ByteRefusal::new(RefusalCode::TooComplex, message).hint(hint)
}

/// The longest path into a document, and the most of its parts that stand for many values.
const MAX_PATH: usize = 256;
const MAX_MANY: usize = 2;

/// Refuses a path into a document that could take longer than a few looks at all of it.
pub(crate) fn path(path: &str) -> Result<(), ByteRefusal> {
    const WRITE: &str = "write ->, ->> or @>, or several paths";
    if path.len() > MAX_PATH {
        return Err(complex("the path is longer than 256 bytes", WRITE));
    }
    let (bare, quoted) = without_quoted(path);
    let close: String = bare.split(' ').collect();
    if bare.contains("like_regex") {
        return Err(complex("a path holds no regular expression here", "write ~ of what is at its end"));
    }
    if close.contains("**") {
        return Err(complex("a path names each step here: no **", WRITE));
    }
    if close.contains(',') || bare.contains("/*") {
        return Err(complex("a path takes one element, or all of them: no lists", WRITE));
    }
    let many = close.matches("[*]").count()
        + close.matches(".*").count()
        + bare.matches(" to ").count()
        + bare.matches("]to").count();
    if many > MAX_MANY || close.matches('?').count() > MAX_MANY {
        return Err(complex("a path looks at all elements twice at most", WRITE));
    }
    well_formed(&close, quoted)?;
    if has_arithmetic(&close) {
        return Err(complex("a path does not compute", "compute outside of it: (doc->>'a')::numeric * 2"));
    }
    // Of two lists each element would be compared with each.
    let mut rest = close.as_str();
    while let Some(at) = rest.find(['=', '<', '>']) {
        rest = rest[at..].trim_start_matches(['=', '<', '>', '(', '+', '-']);
        if rest.starts_with(['@', '$']) {
            return Err(complex("a path compares with constants only", "write the constant on the right"));
        }
    }
    known_methods(&close)?;
    if close.contains("startswith@") || close.contains("startswith$") {
        return Err(complex("a path compares with constants only", "write the constant on the right"));
    }
    Ok(())
}

/// Takes out of a path what stands in quotes; all space becomes spaces. Returns too whether a quote stays open.
fn without_quoted(path: &str) -> (String, bool) {
    let mut bare = String::new();
    let mut quoted = false;
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '"' => {
                quoted = !quoted;
                bare.push('"');
            }
            _ if quoted => {}
            c if c.is_whitespace() => bare.push(' '),
            c => bare.push(c),
        }
    }
    (bare, quoted)
}

/// Refuses methods of a path that are not on the list.
fn known_methods(close: &str) -> Result<(), ByteRefusal> {
    let mut rest = close;
    while let Some((before, after)) = rest.split_once('(') {
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = start.map_or(before, |at| &before[at + 1..]);
        let method = start.is_some_and(|at| before[at..].starts_with('.'));
        let known = matches!(name, "type" | "size" | "double" | "ceiling" | "floor" | "abs");
        if !(name.is_empty() || method && known || !method && name == "exists") {
            return Err(complex(
                "this method of a path is not allowed here",
                "allowed are type, size, double, ceiling, floor and abs",
            ));
        }
        rest = after;
    }
    Ok(())
}

/// Returns true if a path, without space and quoted parts, adds or multiplies: its numbers may have any number of
/// digits.
fn has_arithmetic(close: &str) -> bool {
    close.char_indices().any(|(at, c)| {
        let before = &close[..at];
        match c {
            '+' | '/' | '%' => true,
            '*' => !before.ends_with(['[', '.', '*']),
            // A sign, an exponent, or an element counted from the end.
            '-' if close[at + 1..].starts_with(['$', '@', '(']) => true,
            '-' => {
                let sign = ['(', '=', '<', '>', ',', '[', '&', '|', '!', 'e', 'E'];
                !(before.is_empty() || before.ends_with(sign) || before.ends_with("last"))
            }
            _ => false,
        }
    })
}

/// Refuses what Postgres would plainly not read as a path, and a filter that looks at more than its own element.
/// `close` is a path without space and quoted parts.
fn well_formed(close: &str, quoted: bool) -> Result<(), ByteRefusal> {
    // Whether each open bracket is that of a filter.
    let mut open: Vec<bool> = Vec::new();
    let mut before = ' ';
    let mut chars = close.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '?' if chars.peek() != Some(&'(') => {
                return Err(misread("a filter of a path stands in brackets", "write $.items[*] ? (@.qty > 0)"));
            }
            '(' | '[' => open.push(c == '(' && before == '?'),
            ')' | ']' if open.pop().is_none() => {
                return Err(misread("a bracket or quote of the path has no other", "balance its brackets"));
            }
            '$' if open.contains(&true) => {
                return Err(complex(
                    "a filter looks at its own element only: no $ in it",
                    "write ->, ->> or @>, or several paths",
                ));
            }
            '=' if !matches!(before, '=' | '!' | '<' | '>') && chars.peek() != Some(&'=') => {
                return Err(misread("a path compares by ==", "write == instead of ="));
            }
            _ => {}
        }
        before = c;
    }
    let words = ["lax", "strict", "true", "false", "null", "exists"];
    let word = close.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    if !close.contains('$') && !word.is_empty() && !words.iter().any(|known| word.starts_with(known)) {
        return Err(misread("a path begins with $, the document", "write $.a for the value of the key a"));
    }
    if quoted || !open.is_empty() {
        return Err(misread("a bracket or quote of the path has no other", "balance its brackets and quotes"));
    }
    Ok(())
}

/// Refuses a regular expression whose automaton could be large.
pub(crate) fn size(pattern: &str) -> Result<(), ByteRefusal> {
    if pattern.len() > MAX_SIZE {
        return Err(too_large());
    }
    let bare = bare(pattern)?;
    nested(&bare)?;
    let mut open = 0_usize;
    let mut before = None;
    // Whether what is in front of the sign is repeated already; once more is only said with `?`.
    let mut repeated = false;
    let mut counts = 0_usize;
    let mut times = 1_usize;
    let mut rest = bare.as_str();
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        let nothing = matches!(before, None | Some('(' | '|' | '^' | '$' | PLACE));
        match c {
            '(' => open += 1,
            ')' => {
                open = open.checked_sub(1).ok_or_else(|| {
                    misread("a bracket is closed that was not opened", "write \\) for the sign itself")
                })?;
            }
            '*' | '+' if nothing || repeated => return Err(nothing_repeated()),
            '?' if nothing => return Err(nothing_repeated()),
            '{' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                if nothing || repeated {
                    return Err(nothing_repeated());
                }
                let (most, length) = repetitions(rest).ok_or_else(|| {
                    misread("a repetition that cannot be read", "write {2}, {2,} or {2,5}, of at most 255")
                })?;
                taken = length;
                if before == Some(')') {
                    times = times.saturating_mul(most.max(1));
                } else {
                    counts = counts.saturating_add(most);
                }
            }
            _ => {}
        }
        repeated = matches!(c, '*' | '+' | '?') || (c == '{' && taken > 1);
        before = Some(c);
        rest = &rest[taken..];
    }
    if open > 0 {
        return Err(misread("a bracket is opened and not closed", "write \\( for the sign itself"));
    }
    let size = pattern.len().saturating_add(counts).saturating_mul(times);
    match size > MAX_SIZE {
        true => Err(too_large()),
        false => Ok(()),
    }
}

/// Checks the additional rules of SIMILAR TO: `%` is a repetition already, which is not repeated.
pub(crate) fn similar(pattern: &str) -> Result<(), ByteRefusal> {
    let bare = bare(pattern)?;
    let repeats = |rest: &str| {
        rest.starts_with(['*', '+'])
            || rest.strip_prefix('{').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    match bare.split('%').skip(1).any(repeats) {
        true => Err(complex("% is repeated", "it stands for any number of characters already")),
        false => Ok(()),
    }
}

fn too_large() -> ByteRefusal {
    complex(
        "a regular expression that could take very long",
        "make it shorter, repeat less often; a repeated group counts as often as it is repeated",
    )
}

/// Stands for one of several characters.
const CLASS: char = '\u{1}';
/// Stands for a group that was looked at, which may be of nothing.
const GROUP: char = '\u{4}';
/// Stands for a character that was escaped.
const SIGN: char = '\u{2}';
/// Stands for an escape that is a place: the beginning of a word, the end of the text.
const PLACE: char = '\u{3}';

/// Refuses a group that is repeated without end, of something that is repeated without end and nothing that must
/// come in between: `(a+)+`. Postgres would run it in a time that is a matter of its size, as any; other programs that
/// such a rule is copied to would not, and it never says more than without the group.
fn nested(bare: &str) -> Result<(), ByteRefusal> {
    let mut text: Vec<char> = bare.chars().collect();
    // From the innermost group outwards; brackets that do not match are found elsewhere.
    while let Some(close) = text.iter().position(|c| *c == ')') {
        let Some(open) = text[..close].iter().rposition(|c| *c == '(') else {
            break;
        };
        let inside: String = text[open + 1..close].iter().collect();
        let after: String = text[close + 1..].iter().collect();
        let endless = inside.split('|').any(is_endless);
        if is_endless(&format!("{CLASS}{}", quantifier(&after)))
            && inside.split('|').any(|branch| is_endless(branch) && !has_fixed(branch))
        {
            return Err(complex(
                "a repetition without end of a repetition without end",
                "leave the inner or the outer one out: (a+)+ is a+",
            ));
        }
        // A group that holds an endless repetition and nothing fixed is one itself to those around.
        let stays = if !endless {
            vec![GROUP]
        } else if inside.split('|').any(|branch| !has_fixed(branch)) {
            vec![GROUP, '+']
        } else {
            vec!['f']
        };
        text.splice(open..=close, stays);
    }
    Ok(())
}

/// The repetition at the beginning of a text, or nothing.
fn quantifier(text: &str) -> &str {
    match text.chars().next() {
        Some('*' | '+' | '?') => &text[..1],
        Some('{') => text.find('}').map_or("", |end| &text[..=end]),
        _ => "",
    }
}

/// Returns true if something in a branch may be repeated without end.
fn is_endless(branch: &str) -> bool {
    branch.contains(['*', '+']) || branch.contains(",}")
}

/// Returns true if a branch holds a character, or one of several, that is not repeated and must occur.
fn has_fixed(branch: &str) -> bool {
    let mut rest = branch;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let repeated = quantifier(rest);
        rest = &rest[repeated.len()..];
        if repeated.is_empty() && !matches!(c, GROUP | PLACE | '.' | '^' | '$' | '?') {
            return true;
        }
    }
    false
}

fn nothing_repeated() -> ByteRefusal {
    misread("there is nothing to repeat in front of a repetition", "write \\* for the sign itself")
}

/// A pattern without its escapes and brackets, of which [`CLASS`] or [`SIGN`] is left each.
fn bare(pattern: &str) -> Result<String, ByteRefusal> {
    if pattern.starts_with("***") {
        return Err(complex("directors are not allowed in a regular expression", "leave *** out"));
    }
    let mut text = pattern;
    if let Some(options) = text.strip_prefix("(?")
        && let Some((letters, rest)) = options.split_once(')')
        && !letters.is_empty()
        && letters.chars().all(is_option)
    {
        text = rest;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push(escape(&mut chars)?),
            '[' => {
                class(&mut chars)?;
                out.push(CLASS);
            }
            c => out.push(c),
        }
    }
    let named = |at: usize| {
        let behind = out[at + 2..].strip_prefix('P').unwrap_or(&out[at + 2..]);
        behind.strip_prefix('<').is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    if out.match_indices("(?").any(|(at, _)| named(at)) {
        return Err(complex("a group of a regular expression has no name here", "write ( ) alone"));
    }
    if out.match_indices("(?").any(|(at, _)| !out[at..].starts_with("(?:")) {
        return Err(complex(
            "a regular expression may not look around",
            "write two conditions, joined by AND or AND NOT; of options only (?i) at the beginning",
        ));
    }
    // A group that is only a group; its `?` repeats nothing.
    Ok(out.replace("(?:", "("))
}

/// Reads the rest of a class after its bracket.
fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(), ByteRefusal> {
    chars.next_if_eq(&'^');
    let mut first = true;
    loop {
        match chars.next() {
            Some(']') if !first => return Ok(()),
            Some('\\') => {
                if escape(chars)? == PLACE {
                    return Err(misread("a place stands within [ ]", "write what is meant by characters"));
                }
            }
            Some('[') => {
                if let Some(sign) = chars.next_if(|c| matches!(c, ':' | '.' | '=')) {
                    // Up to the same sign and a bracket.
                    let mut last = ' ';
                    for c in chars.by_ref() {
                        if last == sign && c == ']' {
                            break;
                        }
                        last = c;
                    }
                }
            }
            Some(_) => {}
            None => {
                return Err(misread("a bracket [ is not closed", "write \\[ for the sign itself"));
            }
        }
        first = false;
    }
}

/// Reads the rest of an escape after its backslash.
fn escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<char, ByteRefusal> {
    let unknown = Err(misread(
        "a regular expression holds an escape that Postgres does not know",
        "write \\\\ for a backslash itself",
    ));
    let Some(letter) = chars.next() else {
        return Err(misread("the pattern ends with its escape character", "write \\\\ for a backslash itself"));
    };
    let digits = match letter {
        '1'..='9' => {
            return Err(complex(
                "a regular expression may not refer to what matched before",
                "such expressions can run for very long",
            ));
        }
        'A' | 'm' | 'M' | 'y' | 'Y' | 'Z' => return Ok(PLACE),
        'd' | 'w' | 's' | 'D' | 'W' | 'S' => return Ok(CLASS),
        'a' | 'b' | 'B' | 'e' | 'f' | 'n' | 'r' | 't' | 'v' | '0' => return Ok(CLASS),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        letter if letter.is_alphanumeric() && letter.is_ascii() => return unknown,
        _ => return Ok(SIGN),
    };
    for _ in 0..digits {
        if chars.next_if(char::is_ascii_hexdigit).is_none() {
            return unknown;
        }
    }
    Ok(CLASS)
}

/// A repetition in braces: how often at most, and its length.
fn repetitions(text: &str) -> Option<(usize, usize)> {
    let (inside, _) = text.strip_prefix('{')?.split_once('}')?;
    let (least, most) = match inside.split_once(',') {
        None => (inside, inside),
        Some((least, "")) => (least, least),
        Some((least, most)) => (least, most),
    };
    let number = |digits: &str| {
        let plain = digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<usize>().ok().filter(|n| plain && *n <= 255)
    };
    let (least, most) = (number(least)?, number(most)?);
    (least <= most).then_some((most, inside.len() + 2))
}

/// A letter of a regular expression's flags that does not change how it is read.
fn is_option(letter: char) -> bool {
    matches!(letter, 'i' | 'c' | 'n' | 's' | 'm' | 'p' | 'w')
}

/// Checks the flags of a regular expression function; `g` only where it has a meaning.
pub(crate) fn flags(flags: &str, all: bool) -> Result<(), ByteRefusal> {
    if flags.chars().all(|c| is_option(c) || (all && c == 'g')) {
        return Ok(());
    }
    let message = "these flags are not allowed here";
    Err(ByteRefusal::new(RefusalCode::Function, message)
        .hint("allowed are i, c, n, s, m, p, w; of regexp_replace also g"))
}

/// Returns how often a format inserts the argument that it inserts most often.
pub(crate) fn repeats(format: &str) -> usize {
    let format = format.replace("%%", "");
    let named = |part: &str| {
        let (digits, _) = part.split_once('$')?;
        digits.parse::<usize>().ok()
    };
    let mut last = 0;
    let mut places: Vec<usize> = format
        .split('%')
        .skip(1)
        .map(|part| {
            last = named(part).unwrap_or(last + 1);
            last
        })
        .collect();
    places.sort_unstable();
    let runs = places.chunk_by(|one, other| one == other).map(<[usize]>::len);
    runs.max().unwrap_or(1)
}

/// Refuses placeholders of a format that could make a large value of small ones.
pub(crate) fn places(format: &str) -> Result<(), ByteRefusal> {
    let large = |message: &str, hint: &str| ByteRefusal::new(RefusalCode::TooLarge, message).hint(hint);
    let mut count = 0;
    let mut parts = format.split('%').skip(1);
    while let Some(part) = parts.next() {
        if part.is_empty() {
            // `%%`: the sign itself; what follows it is text.
            match parts.next() {
                Some(_) => continue,
                None => {
                    return Err(large("a % with nothing behind it", "write %% for the sign itself"));
                }
            }
        }
        count += 1;
        let letter = part.find(|c: char| !c.is_ascii_digit() && !matches!(c, '$' | '-' | '*'));
        let (asked, letter) = part.split_at(letter.unwrap_or(part.len()));
        if !letter.starts_with(['s', 'I', 'L']) {
            return Err(large(
                "a placeholder that `format` does not know",
                "write %s, %I, %L, or %% for the sign itself",
            ));
        }
        let wide = |digits: &str| digits.len() > 4 || digits.parse().is_ok_and(|width: usize| width > MAX_WIDTH);
        if asked.contains('*') || asked.split(['$', '-']).any(wide) {
            return Err(large(
                "a placeholder of `format` may be at most 1000 wide",
                "write the width itself, or use lpad",
            ));
        }
    }
    if count > MAX_PLACES {
        return Err(large("more than 64 placeholders", "compose the text with concat"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rules_say_is_small() {
        for fine in [
            "^[A-Z]{2}[0-9]{6}$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$",
            r"^(\d{1,3}\.){3}\d{1,3}$",
            "^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$",
            "(?i)^order-[[:digit:]]+$",
            r"^\+?[0-9 ()/-]{5,20}$",
            r"^\(?\d{3}\)?",
            "(?:a|b)+?c??",
            r"^(\w+\.)+\w+$",
            r"^\w+([.-]\w+)*@\w+([.-]\w+)*\.\w{2,3}$",
            "^[a-z0-9]+(?:[-_][a-z0-9]+)*$",
            r"^[A-Z][a-z]+(?:[ '-][A-Z][a-z]+)*$",
            r"^[A-Z]+(\s[A-Z]+)*$",
            "^([a-z]+-)*[a-z]+$",
            "((ab)*c)+",
            "[]a]",
            "[^]a]",
            "[[:alpha:][:digit:]]",
            r"[\]]+",
            "a{,3}",
            "",
            "^$",
        ] {
            assert!(size(fine).is_ok(), "{fine}: {:?}", size(fine));
        }
    }

    #[test]
    fn what_takes_long_is_refused() {
        let long = "a".repeat(MAX_SIZE + 1);
        for bad in [
            "(a+)+$",
            "(a*)*",
            "(.*)*",
            "(x+x+)+y",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            "((a+))+",
            "(a+|b)+",
            "([a-z]+){2,}",
            r"(a*)\1",
            "(?=a)b",
            "(?!a)",
            "(?<=a)b",
            "(?x)a",
            "***=a",
            "(a{1,255}){1,255}",
            "((a{9}){9}){9}",
            "(a",
            "a)",
            "[a",
            "*a",
            "a|*",
            "a**",
            "a{2}{3}",
            "^*",
            "${0,200}",
            r"\y+",
            r"\q",
            r"\u12",
            r"[\m]",
            r"[\q]",
            "a\\",
            "a{256}",
            "a{3,2}",
            "a{1 }",
            &long,
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_from_what_takes_long() {
        let code = |text: &str| size(text).expect_err(text).code;
        for text in ["[", "(", "a)", "*a", "a{3,1}", r"\q", "a\\"] {
            assert_eq!(code(text), RefusalCode::Syntax, "{text}");
        }
        for text in ["(a+)+", r"(a)\1", "(?=a)", "(?<name>x)"] {
            assert_eq!(code(text), RefusalCode::TooComplex, "{text}");
        }
        assert!(size("(?<name>x)").expect_err("a name").message.contains("name"));
        assert!(size("(?<=x)y").expect_err("around").message.contains("around"));
    }

    #[test]
    fn paths_do_not_compute() {
        for fine in ["$.a[last - 1]", "$[*] ? (@.a > -1.5e-3)", "$.*.b[*]", "$.\"a+b\""] {
            assert!(path(fine).is_ok(), "{fine}");
        }
        for bad in ["$[*] ? ((@ * @ + 1) % (@ + 7) < 0)", "$.a + 1", "-$.a", "$.a - 1", "$.a * 2 > 1"] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn filters_end_where_their_brackets_do() {
        for fine in [
            "exists($.items[*] ? (@.qty > 0)) && $.ok == true",
            "$.a ? ((@.b > 1) && @.c == 2).d",
            "$.\"$ ? (\" ? (@ == \"$\")",
            "$.a ? (@ >= 1 || @ <= 2 || @ != 3 || @ <> 4)",
        ] {
            assert!(path(fine).is_ok(), "{fine}");
        }
        for bad in [
            "$[*] ? (@.a ? (@.b == 1) == $.c)",
            "$[*] ? ((@.a == 1) && exists($.b))",
            "$.a ? (@ >",
            "$.a ? (@ = 1)",
            "$.a ? @ > 1",
            "$.\"a",
            "$.a)",
            "a.b",
            "$[*] ? (@.a[$.b] == 1)",
        ] {
            assert!(path(bad).is_err(), "{bad}");
        }
        assert_eq!(path("a.b").expect_err("no root").code, RefusalCode::Syntax);
    }

    #[test]
    fn formats() {
        assert!(places("%s-%s %% %1$s %-10s").is_ok() && places("100%% sure").is_ok());
        let all = ["%s-%s %% %1$s %-10s", "%2$s%2$s%%s%2$s", "x", "%1$s"];
        assert_eq!(all.map(repeats), [2, 3, 1, 1]);
        for bad in ["%1000000000s", "%*s", "%-1001s", "%1$*2$s", "%d", "%", &"%s".repeat(65)] {
            assert!(places(bad).is_err(), "{bad}");
        }
    }
}
