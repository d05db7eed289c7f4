//! Constants: their bounds, how they are written, and when one may be bound instead of written.

use pg_query::protobuf::{AConst, a_const::Val};
use pg_query::{Node, NodeEnum};
use wedflow_model::{AttributeType, ScalarType};

use crate::MAX_DIGITS;
use crate::kind::Base;
use crate::node::text_of;

/// A constant, as the parser sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant<'a> {
    Null,
    Boolean(bool),
    /// Digits with an optional minus sign in front.
    Integer(&'a str),
    /// Any other number, with an optional minus sign in front.
    Number(&'a str),
    Text(&'a str),
}

impl Constant<'_> {
    /// The text to bind where this constant is all there is on the right of `attribute =`, or
    /// nothing when Postgres would not read that text as it reads the constant: then it is written
    /// as an expression. The outer `Option` is that choice, the inner one is SQL null.
    pub(crate) fn bound(self, kind: &AttributeType) -> Option<Option<String>> {
        use ScalarType::{Bigint, Boolean, Enum, Float, Integer, Numeric, Text};
        let scalar = (!kind.array).then_some(&kind.scalar);
        match self {
            Constant::Null => Some(None),
            Constant::Text(text) => Some(Some(text.to_owned())),
            Constant::Boolean(value) => {
                matches!(scalar, Some(Boolean | Text | Enum(_))).then(|| Some(value.to_string()))
            }
            Constant::Integer(digits) if is_plain(digits) => {
                matches!(scalar, Some(Text | Enum(_) | Integer | Bigint | Numeric | Float))
                    .then(|| Some(digits.to_owned()))
            }
            // An integer attribute takes 1.5 as a number (and rounds it), but not as text.
            Constant::Number(number) if is_plain(number) => {
                let fits = match scalar {
                    Some(Text | Enum(_) | Numeric | Float) => true,
                    Some(Integer | Bigint) => !number.contains('.'),
                    _ => false,
                };
                fits.then(|| Some(number.to_owned()))
            }
            Constant::Integer(_) | Constant::Number(_) => None,
        }
    }
}

/// Returns true if a number is written the way Postgres itself writes it.
fn is_plain(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let only_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    only_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(only_digits)
        && (digits.len() == number.len() || digits.bytes().any(|b| (b'1'..=b'9').contains(&b)))
}

/// Returns true if a number (a constant, or text that is cast to one) stays within the bound on digits, before and
/// after the point. Postgres judges text that is no number at all.
pub(crate) fn is_bounded(number: &str) -> bool {
    let number = number.trim().trim_start_matches(['-', '+']);
    if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return true;
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        // Not an exponent but a digit of a hexadecimal number.
        _ if number.starts_with("0x") || number.starts_with("0X") => (number, None),
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (number, None),
    };
    let digits = mantissa.bytes().filter(u8::is_ascii_alphanumeric).count();
    let shift = match exponent {
        None => 0,
        Some(exponent) => match exponent.replace('_', "").parse::<i64>() {
            Ok(shift) => usize::try_from(shift.unsigned_abs()).unwrap_or(usize::MAX),
            Err(_) => return exponent.len() <= 4,
        },
    };
    digits.saturating_add(shift) <= MAX_DIGITS
}

/// A number as every version of Postgres reads it: without underscores, and to the base of ten.
pub(crate) fn plain_number(number: &str) -> String {
    let digits = number.replace('_', "").to_ascii_lowercase();
    match radix(&digits) {
        Some((digits, radix)) => {
            u128::from_str_radix(digits, radix).map_or_else(|_| number.to_owned(), |n| n.to_string())
        }
        None => number.replace('_', ""),
    }
}

/// The digits of a number to another base than ten, and its base.
fn radix(digits: &str) -> Option<(&str, u32)> {
    let bases = [("0x", 16), ("0o", 8), ("0b", 2)];
    (bases.into_iter()).find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)))
}

/// The type of a number that is not a plain small integer.
pub(crate) fn kind_of_number(number: &str) -> Base {
    let digits = number.replace('_', "").to_ascii_lowercase();
    let value = match radix(&digits) {
        Some((digits, radix)) => i64::from_str_radix(digits, radix).ok(),
        None => digits.parse::<i64>().ok(),
    };
    match value {
        Some(value) if i32::try_from(value).is_ok() => Base::Int4,
        Some(_) => Base::Int8,
        None => Base::Numeric,
    }
}

/// A whole number that is written as such, between minus and plus `most`.
pub(crate) fn small_integer(node: &Node, most: i64) -> Option<i64> {
    let value = match node.node.as_ref()? {
        NodeEnum::AConst(AConst { val: Some(Val::Ival(value)), .. }) => i64::from(value.ival),
        NodeEnum::AExpr(minus) if minus.lexpr.is_none() && minus.name.first().and_then(text_of) == Some("-") => {
            -small_integer(minus.rexpr.as_deref()?, most)?
        }
        _ => return None,
    };
    (-most..=most).contains(&value).then_some(value)
}

/// Writes a text constant. A backslash needs the escaping form, which means the same whatever
/// `standard_conforming_strings` says.
pub(crate) fn write_text(out: &mut String, text: &str) {
    if text.contains('\\') {
        out.push('E');
    }
    out.push('\'');
    for c in text.chars() {
        if c == '\'' || c == '\\' {
            out.push(c);
        }
        out.push(c);
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_on_digits() {
        let nines = "9".repeat(38);
        for fine in ["0", "1.5", "-3", "1e10", "1E-10", "NaN", "", "0xFF", "1_000", &nines] {
            assert!(is_bounded(fine), "{fine}");
        }
        let many = "9".repeat(39);
        let small = format!("0.{many}");
        for wild in ["1e100000", " 1e39", "1e-131000", "1e99999999999999999999", &many, &small] {
            assert!(!is_bounded(wild), "{wild}");
        }
    }

    #[test]
    fn plain_numbers() {
        for plain in ["0", "7", "-7", "0.50", "-0.1", "120"] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in ["007", ".5", "5.", "1e3", "-0", "-0.0", "", "-", "0xFF", "1_000"] {
            assert!(!is_plain(odd), "{odd}");
        }
    }

    #[test]
    fn constants_are_bound_only_where_it_means_the_same() {
        let kind = |name: &str| name.parse::<AttributeType>().expect("type");
        let bound = |constant: Constant<'_>, name: &str| constant.bound(&kind(name));
        assert_eq!(bound(Constant::Integer("5"), "text"), Some(Some("5".into())));
        assert_eq!(bound(Constant::Integer("5"), "jsonb"), None);
        assert_eq!(bound(Constant::Integer("5"), "integer[]"), None);
        assert_eq!(bound(Constant::Number("1.5"), "integer"), None);
        assert_eq!(bound(Constant::Number("1.50"), "numeric"), Some(Some("1.50".into())));
        assert_eq!(bound(Constant::Boolean(true), "boolean"), Some(Some("true".into())));
        assert_eq!(bound(Constant::Boolean(true), "integer"), None);
        assert_eq!(bound(Constant::Null, "uuid[]"), Some(None));
        assert_eq!(bound(Constant::Text("{}"), "jsonb"), Some(Some("{}".into())));
    }

    #[test]
    fn text_is_written_so_that_it_is_read_the_same() {
        let mut out = String::new();
        write_text(&mut out, r"it's a \ slash");
        assert_eq!(out, r"E'it''s a \\ slash'");
    }
}
