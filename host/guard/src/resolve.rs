//! Resolution of operators and functions by Postgres's own rules ("Operator Type Resolution", "Function Type
//! Resolution", "UNION, CASE, and Related Constructs" in its manual), so that the guard refuses, with the place,
//! what the database would refuse for its types.

use crate::catalog::Signature;
use crate::kind::{Base, Context, Kind};

/// Reason for which no operator or function is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// No candidate takes these arguments.
    NoCandidate,
    /// Several do, and none is better.
    Ambiguous,
}

/// A candidate with its arguments' types made definite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) signature: &'static Signature,
    pub(crate) arguments: Vec<Kind>,
    pub(crate) result: Kind,
}

/// The type that values of several types have in common, as for CASE, COALESCE, IN and ARRAY.
pub(crate) fn common(kinds: &[Kind]) -> Option<Kind> {
    let mut found = Kind::UNKNOWN;
    for kind in kinds.iter().copied().filter(|kind| !kind.is_unknown()) {
        if found.is_unknown() || found == kind {
            found = kind;
            continue;
        }
        if found.category() != kind.category() {
            return None;
        }
        if !found.is_preferred() && found.becomes(kind, Context::Implicit) && !kind.becomes(found, Context::Implicit) {
            found = kind;
        }
    }
    if found.is_unknown() {
        return Some(Kind::TEXT);
    }
    kinds.iter().all(|kind| kind.becomes(found, Context::Implicit)).then_some(found)
}

/// An operator with two operands.
pub(crate) fn binary(candidates: &[&'static Signature], left: Kind, right: Kind) -> Result<Resolved, ResolveError> {
    // A constant without a type is taken for what the other side is.
    let same = match (left.is_unknown(), right.is_unknown()) {
        (true, false) => Some(right),
        (false, true) => Some(left),
        (true, true) => Some(Kind::TEXT),
        (false, false) => None,
    };
    if left.is_unknown() != right.is_unknown()
        && let Some(kind) = same
        && let Some(exact) = candidates.iter().find(|candidate| candidate.arguments == [kind, kind])
    {
        return resolve_candidate(exact, &[kind, kind]);
    }
    select(candidates, &[left, right])
}

/// An operator before its operand, or a function.
pub(crate) fn select(candidates: &[&'static Signature], given: &[Kind]) -> Result<Resolved, ResolveError> {
    let expanded: Vec<(Vec<Kind>, &'static Signature)> =
        candidates.iter().filter_map(|candidate| Some((candidate.for_count(given.len())?, *candidate))).collect();
    if let Some((arguments, exact)) = expanded.iter().find(|(arguments, _)| arguments == given) {
        return resolve_as(exact, arguments, given);
    }
    let mut left: Vec<(Vec<Kind>, &'static Signature)> = expanded
        .into_iter()
        .filter(|(arguments, candidate)| {
            arguments.iter().zip(given).all(|(wanted, given)| given.becomes(*wanted, Context::Implicit))
                && resolve_as(candidate, arguments, given).is_ok()
        })
        .collect();
    if left.is_empty() {
        return Err(ResolveError::NoCandidate);
    }
    // Most exact matches; then most matches of exact or preferred types.
    keep_best(&mut left, |wanted, at| !given[at].is_unknown() && wanted == given[at]);
    if left.len() > 1 {
        keep_best(&mut left, |wanted, at| {
            !given[at].is_unknown()
                && (wanted == given[at] || (wanted.is_preferred() && wanted.category() == given[at].category()))
        });
    }
    if left.len() > 1 && given.iter().any(|kind| kind.is_unknown()) {
        by_category(&mut left, given);
    }
    if left.len() > 1 {
        // All known ones have one type: then the others have it too.
        let mut known = given.iter().filter(|kind| !kind.is_unknown());
        if let Some(first) = known.next()
            && known.all(|kind| kind == first)
            && given.iter().any(|kind| kind.is_unknown())
        {
            let all: Vec<usize> = (0..left.len())
                .filter(|at| left[*at].0.iter().all(|wanted| first.becomes(*wanted, Context::Implicit)))
                .collect();
            if let [one] = all.as_slice() {
                left = vec![left.swap_remove(*one)];
            }
        }
    }
    match left.as_slice() {
        [(arguments, one)] => resolve_as(one, arguments, given),
        _ => Err(ResolveError::Ambiguous),
    }
}

fn keep_best(left: &mut Vec<(Vec<Kind>, &'static Signature)>, matches: impl Fn(Kind, usize) -> bool) {
    let score = |arguments: &[Kind]| arguments.iter().enumerate().filter(|(at, wanted)| matches(**wanted, *at)).count();
    let best = left.iter().map(|(arguments, _)| score(arguments)).max();
    left.retain(|(arguments, _)| Some(score(arguments)) == best);
}

/// Chooses the category of untyped constants: text if some candidate takes text there, else the category that all
/// candidates agree on.
fn by_category(left: &mut Vec<(Vec<Kind>, &'static Signature)>, given: &[Kind]) {
    let mut wanted = Vec::new();
    for (at, kind) in given.iter().enumerate() {
        if !kind.is_unknown() {
            wanted.push(None);
            continue;
        }
        let categories: Vec<char> = left.iter().map(|(arguments, _)| arguments[at].category()).collect();
        let category = if categories.contains(&'S') {
            'S'
        } else if categories.iter().all(|category| *category == categories[0]) {
            categories[0]
        } else {
            return;
        };
        let preferred =
            left.iter().any(|(arguments, _)| arguments[at].category() == category && arguments[at].is_preferred());
        wanted.push(Some((category, preferred)));
    }
    let fits = |arguments: &[Kind]| {
        wanted.iter().zip(arguments).all(|(wanted, kind)| {
            wanted
                .is_none_or(|(category, preferred)| kind.category() == category && (!preferred || kind.is_preferred()))
        })
    };
    if left.iter().any(|(arguments, _)| fits(arguments)) {
        left.retain(|(arguments, _)| fits(arguments));
    }
}

fn resolve_candidate(candidate: &'static Signature, given: &[Kind]) -> Result<Resolved, ResolveError> {
    resolve_as(candidate, &candidate.arguments, given)
}

/// Types that the polymorphic types of a signature stand for, each family for one.
#[derive(Debug, Default)]
struct Families {
    element: Option<Kind>,
    range: Option<Kind>,
    compatible: Option<Kind>,
}

impl Families {
    /// Finds it by the arguments whose types are known.
    fn of(wanted: &[Kind], given: &[Kind]) -> Result<Families, ResolveError> {
        let mut families = Families::default();
        let mut compatible = Vec::new();
        for (wanted, given) in wanted.iter().zip(given).filter(|(_, given)| !given.is_unknown()) {
            let found = match wanted.base {
                Base::AnyArray | Base::AnyCompatibleArray if !given.array => {
                    return Err(ResolveError::NoCandidate);
                }
                Base::AnyNonArray | Base::AnyCompatibleNonArray if given.array => {
                    return Err(ResolveError::NoCandidate);
                }
                Base::AnyArray | Base::AnyCompatibleArray => given.element(),
                Base::AnyRange => given.bounds().ok_or(ResolveError::NoCandidate)?,
                _ => *given,
            };
            if wanted.base == Base::AnyRange {
                families.range = Some(*given);
            }
            if is_of_any(wanted.base) {
                if families.element.is_some_and(|before| before != found) {
                    return Err(ResolveError::NoCandidate);
                }
                families.element = Some(found);
            } else if wanted.is_polymorphic() {
                compatible.push(found);
            }
        }
        if !compatible.is_empty() {
            families.compatible = Some(common(&compatible).ok_or(ResolveError::NoCandidate)?);
        }
        // With nothing but constants without a type there is no telling.
        let nothing = families.element.is_none() && families.compatible.is_none();
        let asks = |kind: &Kind| is_of_any(kind.base) || kind.base == Base::AnyCompatibleArray;
        match nothing && wanted.iter().any(asks) {
            true => Err(ResolveError::NoCandidate),
            false => Ok(families),
        }
    }

    fn definite(&self, kind: Kind) -> Result<Kind, ResolveError> {
        let of = |kind: Option<Kind>| kind.unwrap_or(Kind::TEXT);
        Ok(match kind.base {
            Base::AnyElement | Base::AnyNonArray => of(self.element),
            Base::AnyCompatible | Base::AnyCompatibleNonArray => of(self.compatible),
            Base::AnyArray => array_of(of(self.element))?,
            Base::AnyRange => self.range.ok_or(ResolveError::NoCandidate)?,
            Base::AnyCompatibleArray => array_of(of(self.compatible))?,
            Base::Any => Kind::TEXT,
            _ => kind,
        })
    }
}

/// Returns true for the family in which all arguments have one type exactly.
fn is_of_any(base: Base) -> bool {
    matches!(base, Base::AnyArray | Base::AnyElement | Base::AnyNonArray | Base::AnyRange)
}

/// Makes polymorphic types definite: all of one family must agree.
fn resolve_as(candidate: &'static Signature, wanted: &[Kind], given: &[Kind]) -> Result<Resolved, ResolveError> {
    let families = Families::of(wanted, given)?;
    let mut arguments = Vec::with_capacity(wanted.len());
    for (wanted, given) in wanted.iter().zip(given) {
        let kind = if wanted.base == Base::Any && !given.is_unknown() { *given } else { families.definite(*wanted)? };
        if !given.becomes(kind, Context::Implicit) {
            return Err(ResolveError::NoCandidate);
        }
        arguments.push(kind);
    }
    Ok(Resolved { signature: candidate, arguments, result: families.definite(candidate.result)? })
}

/// The array of a type; there are no arrays of arrays.
fn array_of(kind: Kind) -> Result<Kind, ResolveError> {
    if kind.array {
        return Err(ResolveError::NoCandidate);
    }
    Ok(Kind::many(kind.base))
}
