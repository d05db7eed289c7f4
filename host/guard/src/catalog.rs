//! The operators and functions of Postgres's catalog that fragments may use, with their signatures.
//! An acceptance test holds the two lists against a server's own.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::kind::Kind;

/// `name left right result`; `-` for what is missing.
const OPERATORS: &str = include_str!("catalog/operators.txt");
/// `name(argument …) result`, with `default:N` for N arguments that may be left out, `variadic`, and
/// `volatile` for what gives another result each time.
const FUNCTIONS: &str = include_str!("catalog/functions.txt");

/// What an operator or function takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) arguments: Vec<Kind>,
    pub(crate) result: Kind,
    defaults: usize,
    variadic: bool,
    pub(crate) volatile: bool,
}

impl Signature {
    /// How many arguments it takes at least and at most.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let all = self.arguments.len();
        match self.variadic {
            true => (all, usize::MAX),
            false => (all - self.defaults, all),
        }
    }

    /// The types of `count` arguments; nothing when it does not take so many.
    pub(crate) fn for_count(&self, count: usize) -> Option<Vec<Kind>> {
        let least = self.arguments.len() - self.defaults;
        if !self.variadic {
            return (least..=self.arguments.len())
                .contains(&count)
                .then(|| self.arguments[..count].to_vec());
        }
        let (last, fixed) = self.arguments.split_last()?;
        // jsonb_extract_path takes the elements of an array, the others whatever comes.
        let each = if last.array { last.element() } else { *last };
        (count > fixed.len()).then(|| {
            let mut kinds = fixed.to_vec();
            kinds.resize(count, each);
            kinds
        })
    }
}

/// Signatures by name.
type Lists = HashMap<&'static str, Vec<Signature>>;

static BY_OPERATOR: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists = Lists::new();
    for line in OPERATORS.lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let kinds: Vec<Kind> = words
            .filter(|word| *word != "-")
            .filter_map(Kind::named)
            .collect();
        if let Some((result, arguments)) = kinds.split_last() {
            lists.entry(name).or_default().push(Signature {
                arguments: arguments.to_vec(),
                result: *result,
                defaults: 0,
                variadic: false,
                volatile: false,
            });
        }
    }
    lists
});

static BY_FUNCTION: LazyLock<Lists> = LazyLock::new(|| {
    let mut lists = Lists::new();
    for line in FUNCTIONS.lines() {
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        let Some((arguments, rest)) = rest.split_once(") ") else {
            continue;
        };
        let mut words = rest.split(' ');
        let Some(result) = words.next().and_then(Kind::named) else {
            continue;
        };
        let mut signature = Signature {
            arguments: arguments
                .split_whitespace()
                .filter_map(Kind::named)
                .collect(),
            result,
            defaults: 0,
            variadic: false,
            volatile: false,
        };
        for word in words {
            match word.split_once(':') {
                Some(("default", count)) => signature.defaults = count.parse().unwrap_or(0),
                _ if word == "variadic" => signature.variadic = true,
                _ if word == "volatile" => signature.volatile = true,
                _ => {}
            }
        }
        lists.entry(name).or_default().push(signature);
    }
    lists
});

/// The operators of a name with so many operands.
pub(crate) fn operators(name: &str, operands: usize) -> Vec<&'static Signature> {
    BY_OPERATOR
        .get(name)
        .into_iter()
        .flatten()
        .filter(|signature| signature.arguments.len() == operands)
        .collect()
}

/// The functions of a name; none when it is not on the list.
pub(crate) fn functions(name: &str) -> Option<(&'static str, &'static [Signature])> {
    BY_FUNCTION
        .get_key_value(name)
        .map(|(name, list)| (*name, list.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        let operators: usize = BY_OPERATOR.values().map(Vec::len).sum();
        assert_eq!(operators, OPERATORS.lines().count());
        let functions: usize = BY_FUNCTION.values().map(Vec::len).sum();
        assert_eq!(functions, FUNCTIONS.lines().count());
        for (name, list) in BY_OPERATOR.iter() {
            for signature in list {
                assert!((1..=2).contains(&signature.arguments.len()), "{name}");
            }
        }
        for line in FUNCTIONS.lines() {
            let (name, rest) = line.split_once('(').expect(line);
            let (arguments, _) = rest.split_once(')').expect(line);
            let count = arguments.split_whitespace().count();
            assert!(
                BY_FUNCTION[name]
                    .iter()
                    .any(|signature| signature.arguments.len() == count),
                "{line}"
            );
        }
    }
}
