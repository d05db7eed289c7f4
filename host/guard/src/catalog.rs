//! The table of what a fragment may call (`catalog.toml`): signatures, bounds of operands, what a call weighs.
//! An acceptance test compares it with a server's own catalog.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::kind::Kind;

/// The table as it is written.
const TABLE: &str = include_str!("catalog.toml");

/// Lists of signatures by the name of what has them.
type Signatures = BTreeMap<String, Vec<String>>;

/// The table as it is read.
#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) bounds: Bounds,
    pub(crate) makes: BTreeMap<String, Makes>,
    pub(crate) casts: BTreeMap<String, String>,
    pub(crate) types: BTreeMap<String, (String, usize)>,
    /// Functions by group, then by name.
    pub(crate) functions: BTreeMap<String, Signatures>,
    pub(crate) operators: Signatures,
}

/// Bounds by name, each with its words for people.
#[derive(Debug, Deserialize)]
pub(crate) struct Bounds {
    /// Held to when the call is run.
    pub(crate) run: BTreeMap<String, String>,
    /// Looked at when the fragment is checked.
    pub(crate) written: BTreeMap<String, String>,
}

/// Weight of a call, for each row-sized operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Makes {
    /// Weight for an operand that is text.
    pub(crate) text: u64,
    /// Weight for an operand that is a document or an array.
    pub(crate) documents: u64,
}

/// Arguments and result of an operator or function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) arguments: Vec<Kind>,
    /// The bound of each operand, as the table names it; empty where it has none.
    pub(crate) bounds: Vec<&'static str>,
    pub(crate) result: Kind,
    /// Way in which the result is made, as the table names it; empty where that follows from its type.
    pub(crate) makes: &'static str,
    defaults: usize,
    pub(crate) variadic: bool,
    pub(crate) volatile: bool,
    /// True if its bounded function is written by hand.
    pub(crate) own: bool,
    /// True if the function of the schema `wed_bounded` is run instead.
    pub(crate) bounded: bool,
}

impl Signature {
    /// Reads `operand ... -> result`, as the table describes it.
    fn read(line: &'static str) -> Option<Signature> {
        let (operands, rest) = line.split_once("-> ")?;
        let mut words = rest.split(' ');
        let parts = |word: &'static str| word.split_once(':').unwrap_or((word, ""));
        let (result, makes) = parts(words.next()?);
        let mut signature = Signature {
            arguments: Vec::new(),
            bounds: Vec::new(),
            result: Kind::named(result)?,
            makes,
            defaults: 0,
            variadic: false,
            volatile: false,
            own: false,
            bounded: false,
        };
        for (name, bound) in operands.split_whitespace().map(parts) {
            signature.arguments.push(Kind::named(name)?);
            signature.bounds.push(bound);
            signature.bounded |= CATALOG.bounds.run.contains_key(bound);
        }
        for word in words {
            match parts(word) {
                ("default", count) => signature.defaults = count.parse().ok()?,
                ("variadic", _) => signature.variadic = true,
                ("volatile", _) => signature.volatile = true,
                ("own", _) => signature.own = true,
                _ => return None,
            }
        }
        Some(signature)
    }

    /// Returns the minimum and maximum number of arguments.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let all = self.arguments.len();
        match self.variadic {
            true => (all, usize::MAX),
            false => (all - self.defaults, all),
        }
    }

    /// Returns the types of `count` arguments; none when it takes fewer.
    pub(crate) fn for_count(&self, count: usize) -> Option<Vec<Kind>> {
        let least = self.arguments.len() - self.defaults;
        if !self.variadic {
            return (least..=self.arguments.len()).contains(&count).then(|| self.arguments[..count].to_vec());
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

/// The table. It is part of the program, and a test reads all of it.
pub(crate) static CATALOG: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(TABLE).unwrap_or_else(|error| unreachable!("catalog.toml: {error}")));

static BY_OPERATOR: LazyLock<Lists> = LazyLock::new(|| lists([&CATALOG.operators]));
static BY_FUNCTION: LazyLock<Lists> = LazyLock::new(|| lists(CATALOG.functions.values()));

fn lists(all: impl IntoIterator<Item = &'static Signatures>) -> Lists {
    let read = |lines: &'static Vec<String>| lines.iter().filter_map(|line| Signature::read(line));
    all.into_iter().flatten().map(|(name, lines)| (name.as_str(), read(lines).collect())).collect()
}

/// Returns the signs of the operators with this number of operands.
pub(crate) fn signs(operands: usize) -> Vec<&'static str> {
    let has = |lines: &Vec<String>| {
        (lines.iter().filter_map(|line| line.split_once("-> ")))
            .any(|(of, _)| of.split_whitespace().count() == operands)
    };
    let signs = CATALOG.operators.iter().filter(|(_, lines)| has(lines));
    signs.map(|(sign, _)| sign.as_str()).collect()
}

/// Returns the operators of a name with this number of operands.
pub(crate) fn operators(name: &str, operands: usize) -> Vec<&'static Signature> {
    BY_OPERATOR.get(name).into_iter().flatten().filter(|signature| signature.arguments.len() == operands).collect()
}

/// The functions of a name; none when it is not on the list.
pub(crate) fn functions(name: &str) -> Option<(&'static str, &'static [Signature])> {
    BY_FUNCTION.get_key_value(name).map(|(name, list)| (*name, list.as_slice()))
}

/// All functions, then all operators, by name.
pub(crate) fn all() -> [Vec<(&'static str, &'static Signature)>; 2] {
    [&*BY_FUNCTION, &*BY_OPERATOR].map(|lists| {
        let mut all: Vec<_> =
            lists.iter().flat_map(|(name, list)| list.iter().map(|signature| (*name, signature))).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    })
}

/// Returns the weight of a class of the table.
pub(crate) fn makes(name: &str) -> Makes {
    CATALOG.makes.get(name).copied().unwrap_or(Makes { text: 0, documents: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_every_name_in_it_is_known() {
        let table = &*CATALOG;
        let lines: usize = [&table.operators]
            .into_iter()
            .chain(table.functions.values())
            .flat_map(BTreeMap::values)
            .map(Vec::len)
            .sum();
        let [functions, operators] = all();
        assert_eq!(functions.len() + operators.len(), lines);
        for (name, signature) in functions.iter().chain(&operators) {
            for bound in signature.bounds.iter().filter(|bound| !bound.is_empty()) {
                let known = table.bounds.run.contains_key(*bound) || table.bounds.written.contains_key(*bound);
                assert!(known, "{name}: {bound}");
            }
            let made = signature.makes.is_empty() || table.makes.contains_key(signature.makes);
            assert!(made, "{name}: {}", signature.makes);
        }
        for (_, signature) in &operators {
            assert!((1..=2).contains(&signature.arguments.len()));
        }
        for (name, makes) in &table.casts {
            assert!(table.makes.contains_key(makes), "{name}");
        }
        for name in table.types.keys() {
            assert!(Kind::named(name).is_some(), "{name}");
        }
    }
}
