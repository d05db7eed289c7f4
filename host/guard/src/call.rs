//! Function calls: by name from the list, with nothing but plain arguments.

use pg_query::protobuf::{CoercionForm, FuncCall, NamedArgExpr, TypeCast, TypeName, a_const::Val};
use pg_query::{Node, NodeEnum};

use crate::advice::way;
use crate::allowed::{self, INTERVAL_PARTS};
use crate::catalog::{self, CATALOG, Signature};
use crate::expression::{Checked, Done, Walk};
use crate::kind::{Base, Context, Kind};
use crate::literal::small_integer;
use crate::node::{constant_text, text_constant, text_of, written_text};
use crate::pattern;
use crate::refusal::{ByteRefusal, RefusalCode};
use crate::resolve::{self, ResolveError};
use crate::time_part::{self, is_part};
use crate::weight::{Operands, Seen};
use crate::written::Offset;
use crate::zone::{is_choice_of_zones, is_zone};

/// The longest that `lpad`, `rpad` and `repeat` make of a text, in characters or repetitions.
const MAX_LENGTH: i64 = 1000;
/// The longest of what is searched for, the most characters of a set, the longest text that a regular expression is
/// held against, where they are written there: as `short`, `few` and `matched` of the table.
const MAX_SHORT: usize = 256;
const MAX_SET: usize = 64;
const MAX_MATCHED: usize = 8 << 10;
/// The most bytes that `repeat` makes.
const MAX_REPEATED: i64 = 64 << 10;
/// The most arguments of a call, as Postgres has it.
const MAX_ARGUMENTS: usize = 100;
/// Notations of the bounds that belong to a range.
const RANGES: [&str; 4] = ["[)", "[]", "(]", "()"];
/// The types that are called as functions to cast to them.
const CASTS: [&str; 8] = ["bool", "float4", "float8", "int2", "int4", "int8", "text", "uuid"];
impl Walk<'_> {
    /// Refuses what a call may carry beyond its arguments.
    pub(crate) fn plain(&self, call: &FuncCall) -> Done {
        let FuncCall {
            funcname: _,
            args: _,
            agg_order,
            agg_filter,
            over,
            agg_within_group,
            agg_star,
            agg_distinct,
            func_variadic,
            funcformat: _,
            location,
        } = call;
        let aggregate = !agg_order.is_empty()
            || agg_filter.is_some()
            || over.is_some()
            || *agg_within_group
            || *agg_star
            || *agg_distinct;
        if aggregate {
            let message = "aggregates and windows are not allowed here";
            return Err(self
                .refuse(RefusalCode::Aggregate, message, *location)
                .hint("a fragment sees one instance only"));
        }
        if *func_variadic {
            let message = "VARIADIC is not allowed here";
            return Err(self.refuse(RefusalCode::Function, message, *location));
        }
        Ok(())
    }

    /// A call of a function on the list.
    pub(crate) fn call(&mut self, call: &FuncCall) -> Checked {
        self.plain(call)?;
        let location = call.location;
        let Some(name) = function_name(call) else {
            let message = "functions are named without a schema";
            return Err(self.refuse(RefusalCode::Function, message, location));
        };
        // A type's name with one value in brackets is the cast.
        if let [value] = call.args.as_slice()
            && CASTS.contains(&name)
        {
            return self.cast(&cast_to(name, value, location));
        }
        let (name, signatures) = self.listed_function(name, location)?;
        let args = call.args.as_slice();
        if name == "substring" && args.get(2).is_some_and(|last| constant_text(last).is_some()) {
            return Err(self.no_substring(location));
        }
        self.counted(name, signatures, args.len(), location)?;
        self.bounds(name, args, location)?;
        self.written(name, signatures, args, location)?;
        if name == "make_interval" && args.iter().any(is_named) {
            return self.interval(args, location);
        }
        let at = self.out.offset();
        let seen = self.arguments(name, args, location)?;
        if let ([field, ..], [_, of, ..]) = (args, seen.as_slice()) {
            time_part::check(name, field, of.kind).map_err(|refusal| self.at_location(refusal, location))?;
        }
        self.resolve_function(name, signatures, (args, &seen), at, location)
    }

    /// Finds a function on the list by its name.
    fn listed_function(&self, name: &str, location: i32) -> Result<(&'static str, &'static [Signature]), ByteRefusal> {
        // What the grammar makes of ESCAPE and SIMILAR TO is met there, and is nobody's to call.
        let known = catalog::functions(name).filter(|(name, _)| !matches!(*name, "like_escape" | "similar_to_escape"));
        let Some((name, signatures)) = known else {
            let code = match name {
                "count" | "sum" | "avg" | "min" | "max" | "array_agg" | "string_agg" | "row_number" => {
                    RefusalCode::Aggregate
                }
                _ => RefusalCode::Function,
            };
            let message = format!("the function `{name}` is not allowed here");
            return Err(self.refuse(code, message, location).hint(allowed::why_not(name)));
        };
        if signatures.iter().all(|signature| signature.volatile) && !self.volatile {
            let message = format!("`{name}` gives another result each time");
            return Err(self
                .refuse(RefusalCode::Function, message, location)
                .hint("a condition must depend on the state; compare with now() for points in time"));
        }
        Ok((name, signatures))
    }

    /// Refuses a number of arguments that no function of the name takes.
    fn counted(&self, name: &str, signatures: &[Signature], count: usize, location: i32) -> Done {
        if !signatures.iter().any(|signature| signature.for_count(count).is_some()) {
            let least = signatures.iter().map(|one| one.counts().0).min();
            let most = signatures.iter().map(|one| one.counts().1).max();
            let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
            let taken = match least == most {
                true => least.to_string(),
                false if most == usize::MAX => format!("{least} or more"),
                false => format!("{least} to {most}"),
            };
            let message = format!("`{name}` takes {taken} arguments here, not {count}");
            return Err(self.refuse(RefusalCode::Function, message, location));
        }
        if count > MAX_ARGUMENTS {
            let message = format!("more than {MAX_ARGUMENTS} arguments");
            return Err(self.refuse(RefusalCode::Function, message, location));
        }
        Ok(())
    }

    /// Writes the name and the arguments, in the syntax that the grammar has for them.
    fn arguments(&mut self, name: &str, args: &[Node], location: i32) -> Result<Vec<Seen>, ByteRefusal> {
        match (name, args) {
            ("extract", [field, value]) => {
                let Some(word) = text_constant(field) else {
                    let message = "the field of EXTRACT must be a word";
                    return Err(self.refuse(RefusalCode::Function, message, location));
                };
                self.out.push_str("EXTRACT(");
                self.text(word);
                self.out.push_str(" FROM ");
                let seen = self.expression(value)?;
                self.out.push(')');
                Ok(vec![Seen::narrow(Kind::UNKNOWN, true), seen])
            }
            ("overlaps", [a, b, c, d]) => {
                let mut seen = self.list("((", &[a.clone(), b.clone()], ") OVERLAPS ")?;
                seen.extend(self.list("(", &[c.clone(), d.clone()], "))")?);
                Ok(seen)
            }
            // AT LOCAL, which is UTC here, as versions write it that know no AT LOCAL.
            ("timezone", [value]) => {
                self.out.push_str("timezone('UTC', ");
                let seen = self.expression(value)?;
                self.out.push(')');
                Ok(vec![seen])
            }
            // POSITION(a IN b) under the name that can be called like any other.
            ("position", _) => self.list("strpos(", args, ")"),
            (name, args) => self.list(&format!("{name}("), args, ")"),
        }
    }

    /// Suggests arguments for a call whose given ones do not fit.
    fn arguments_hint(signatures: &[Signature], kinds: &[Kind]) -> String {
        // Of those that fit best: which argument does not, and what it is there.
        let misfits = |wanted: &[Kind]| -> Vec<usize> {
            (0..kinds.len()).filter(|at| !kinds[*at].becomes(wanted[*at], Context::Implicit)).collect()
        };
        let all: Vec<(Vec<Kind>, Vec<usize>)> = signatures
            .iter()
            .filter_map(|signature| signature.for_count(kinds.len()))
            .map(|wanted| {
                let misfits = misfits(&wanted);
                (wanted, misfits)
            })
            .collect();
        let least = all.iter().map(|(_, misfits)| misfits.len()).min();
        let Some((_, first)) = all.iter().find(|(_, misfits)| Some(misfits.len()) == least) else {
            return "cast the arguments".to_owned();
        };
        let Some(at) = first.first().copied() else {
            return "cast the constants, for example 'x'::text".to_owned();
        };
        let mut wanted: Vec<Kind> = Vec::new();
        for (kinds, misfits) in &all {
            if misfits == first && !wanted.contains(&kinds[at]) {
                wanted.push(kinds[at]);
            }
        }
        let number = at + 1;
        match wanted.as_slice() {
            _ if wanted.contains(&Kind::TEXT) => {
                format!("argument {number} is text; {}", way(kinds[at], Kind::TEXT))
            }
            [one] if one.is_polymorphic() && !kinds[at].array => {
                format!("argument {number} is an array")
            }
            [one] if one.is_polymorphic() => "its arguments must fit each other".to_owned(),
            [one] => format!("argument {number} is {one}; {}", way(kinds[at], *one)),
            many => {
                let names: Vec<String> = many.iter().map(Kind::to_string).collect();
                format!("argument {number} is one of {}", names.join(", "))
            }
        }
    }

    /// Finds which function of the name is meant, and runs the bounded one where there is one.
    fn resolve_function(
        &mut self,
        name: &str,
        signatures: &'static [Signature],
        (args, seen): (&[Node], &[Seen]),
        at: Offset,
        location: i32,
    ) -> Checked {
        // A function named as a type is the cast.
        if name == "date"
            && let ([arg], [Seen { kind, constant, .. }]) = (args, seen)
            && (kind.is_unknown() || kind.category() == 'S')
        {
            self.fits(arg, *kind, Kind::one(Base::Date), Context::Explicit)?;
            return Ok(Seen::narrow(Kind::one(Base::Date), *constant));
        }
        let kinds: Vec<Kind> = seen.iter().map(|seen| seen.kind).collect();
        let resolved = resolve::select(&signatures.iter().collect::<Vec<_>>(), &kinds)
            .map_err(|why| self.no_function(name, signatures, &kinds, why, location))?;
        for ((arg, kind), wanted) in args.iter().zip(&kinds).zip(&resolved.arguments) {
            self.fits(arg, *kind, *wanted, Context::Implicit)?;
        }
        if name == "substring"
            && resolved.arguments.get(1) == Some(&Kind::TEXT)
            && args.get(1).is_none_or(|pattern| constant_text(pattern).is_none())
        {
            return Err(self.no_substring(location));
        }
        let signature = resolved.signature;
        if signature.bounded {
            self.out.bound_call(at, "");
            self.within_bounds(signature, &args.iter().collect::<Vec<_>>())?;
        }
        let constant = !signature.volatile && seen.iter().all(|seen| seen.constant);
        let mut taken = self.taken(seen, &resolved.arguments)?;
        if let Some((last, fixed)) = signature.arguments.split_last()
            && signature.variadic
            && last.array
        {
            // Postgres makes one array of them.
            let rest = taken.split_off(fixed.len());
            taken.push(self.made("copy", *last, &rest)?);
        }
        let mut operands = Operands::of(&taken);
        if name == "format" {
            let format = args.first().and_then(constant_text).unwrap_or_default();
            operands = operands.formatted(pattern::repeats(format));
        }
        self.weighed(operands.made(signature.makes, resolved.result), resolved.result, constant)
    }

    /// Refuses operands that are written there and are beyond their bounds.
    pub(crate) fn within_bounds(&self, signature: &Signature, operands: &[&Node]) -> Done {
        for ((bound, kind), operand) in (signature.bounds.iter().zip(&signature.arguments)).zip(operands) {
            let (found, most, of) = match *bound {
                "short" if kind.category() == 'S' => (written_text(operand).map(str::len), MAX_SHORT, "bytes"),
                "short" if kind.array => (written_elements(operand), MAX_SHORT, "elements"),
                "few" => (written_text(operand).map(|text| text.chars().count()), MAX_SET, "characters"),
                "matched" => (constant_text(operand).map(str::len), MAX_MATCHED, "bytes"),
                _ => continue,
            };
            if found.is_some_and(|found| found > most) {
                let message = format!("more than {most} {of}");
                let refusal = ByteRefusal::new(RefusalCode::TooLarge, message)
                    .hint("search for less; compare whole values with = or IN (…)");
                return Err(self.at_node(refusal, operand));
            }
        }
        Ok(())
    }

    /// Says that no function of the name takes values of these types, or several do.
    fn no_function(
        &self,
        name: &str,
        signatures: &[Signature],
        kinds: &[Kind],
        why: ResolveError,
        location: i32,
    ) -> ByteRefusal {
        let shown: Vec<String> = kinds
            .iter()
            .map(|kind| match kind.is_unknown() {
                true => "a constant".to_owned(),
                false => kind.to_string(),
            })
            .collect();
        let message = match why {
            ResolveError::NoCandidate => format!("there is no {name}({})", shown.join(", ")),
            ResolveError::Ambiguous => {
                format!("{name}({}) could mean several functions", shown.join(", "))
            }
        };
        self.refuse(RefusalCode::Type, message, location).hint(Self::arguments_hint(signatures, kinds))
    }

    fn no_substring(&self, location: i32) -> ByteRefusal {
        let message = "`substring` takes a position here, or a regular expression written in quotes";
        self.refuse(RefusalCode::Function, message, location)
            .hint("use substr(text, start, length), split_part or LIKE")
    }

    /// Returns true for an interval, which is no name of a zone.
    fn may_be_interval(&self, node: &Node) -> bool {
        match &node.node {
            Some(NodeEnum::FuncCall(call)) => function_name(call) == Some("make_interval"),
            Some(NodeEnum::ColumnRef(column)) => column
                .fields
                .last()
                .and_then(text_of)
                .and_then(|name| self.attributes.find(name))
                .is_some_and(|index| Kind::of(&self.attributes.get(index).kind) == Kind::one(Base::Interval)),
            Some(NodeEnum::TypeCast(cast)) => {
                cast.type_name.as_ref().and_then(|kind| kind.names.last()).and_then(text_of) == Some("interval")
            }
            _ => false,
        }
    }

    /// Requires small constants where a small input could make a large value.
    fn bounds(&mut self, name: &str, args: &[Node], location: i32) -> Done {
        match (name, args) {
            ("power" | "pow", [_, exponent]) => self.small_power(exponent, location),
            ("lpad" | "rpad" | "repeat", [_, length, ..])
                if small_integer(length, MAX_LENGTH).is_none() && is_number(length) =>
            {
                let message = format!("the length of `{name}` is at most {MAX_LENGTH}");
                Err(self.refuse(RefusalCode::TooLarge, message, location).hint("make it shorter"))
            }
            ("repeat", [text, times]) if repeated(text, times).is_some_and(|bytes| bytes > MAX_REPEATED) => {
                let message = format!("`repeat` makes at most {MAX_REPEATED} bytes");
                Err(self.refuse(RefusalCode::TooLarge, message, location).hint("repeat it less often"))
            }
            ("jsonb_build_object" | "json_build_object", args) if args.len() % 2 == 1 => {
                let message = format!("`{name}` takes pairs of a name and a value");
                Err(self.refuse(RefusalCode::Function, message, location))
            }
            ("chr", [code]) if small_integer(code, 0) == Some(0) => {
                let message = "no text holds the character 0";
                Err(self.refuse(RefusalCode::TooLarge, message, location))
            }
            _ => self.words(name, args, location),
        }
    }

    /// Refuses words that some functions do not know: bounds of ranges, parts of a time.
    fn words(&mut self, name: &str, args: &[Node], location: i32) -> Done {
        match (name, args) {
            ("int4range" | "int8range" | "numrange" | "daterange" | "tsrange" | "tstzrange", [_, _, kinds])
                if !text_constant(kinds).is_some_and(|kinds| RANGES.contains(&kinds)) =>
            {
                let message = format!("the third argument of `{name}` says which bounds are within it");
                let refusal = ByteRefusal::new(RefusalCode::Function, message).hint("write '[)', '[]', '(]' or '()'");
                Err(self.at_node(refusal, kinds))
            }
            ("jsonb_path_exists" | "jsonb_path_match" | "jsonb_path_query_first", [_, _, _, ..]) => {
                let message = format!("`{name}` takes a document and a path here");
                Err(self.refuse(RefusalCode::Function, message, location).hint("write the values into the path"))
            }
            ("extract" | "date_part" | "date_trunc", [field, ..])
                if text_constant(field).is_some_and(|word| !is_part(word)) =>
            {
                let message = "there is no such part of a point in time";
                let refusal = ByteRefusal::new(RefusalCode::Function, message)
                    .hint("for example year, month, week, day, dow, hour, minute, second, epoch");
                Err(self.at_node(refusal, field))
            }
            _ => Ok(()),
        }
    }

    /// Requires operands to be written there where the table says so; the last is looked at first.
    fn written(&self, name: &str, signatures: &[Signature], args: &[Node], location: i32) -> Done {
        for (at, arg) in args.iter().enumerate().rev() {
            let bound = (signatures.iter())
                .filter(|one| one.for_count(args.len()).is_some())
                .filter_map(|one| one.bounds.get(at).copied())
                .find(|bound| CATALOG.bounds.written.contains_key(*bound));
            match bound {
                // With a number it is a position.
                Some("pattern") if name == "substring" && constant_text(arg).is_none() => {}
                Some("pattern") => self.pattern_size(arg)?,
                Some("path") => self.path(arg, location)?,
                Some("zone") => self.zone(arg)?,
                Some(bound) => self.quoted(name, bound, arg, location)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Requires flags or a format as text in quotes.
    fn quoted(&self, name: &str, bound: &str, arg: &Node, location: i32) -> Done {
        let is_format = bound == "format";
        let Some(text) = constant_text(arg) else {
            let (message, hint) = match is_format {
                true => (
                    "the format of `format` is text in quotes".to_owned(),
                    "write the format itself; compose text with || or concat",
                ),
                false => (format!("the flags of `{name}` are text in quotes"), ""),
            };
            return Err(self.refuse(RefusalCode::Function, message, location).hint(hint));
        };
        let judged = match is_format {
            true => pattern::places(text),
            false => pattern::flags(text, name == "regexp_replace"),
        };
        judged.map_err(|refusal| self.at_node(refusal, arg))
    }

    /// A time zone is written there, or is an interval.
    fn zone(&self, zone: &Node) -> Done {
        if self.may_be_interval(zone) || written_text(zone).is_some_and(is_zone) || is_choice_of_zones(zone) {
            return Ok(());
        }
        let message = "a time zone is written there, by its name";
        let refusal = ByteRefusal::new(RefusalCode::Function, message).hint(
            "for example 'UTC', 'Europe/Berlin' or '+02:00'; of a few zones write CASE a1 WHEN 'DE' \
                     THEN 'Europe/Berlin' ELSE 'UTC' END",
        );
        Err(self.at_node(refusal, zone))
    }

    fn interval(&mut self, args: &[Node], location: i32) -> Checked {
        self.out.push_str("make_interval(");
        let mut named = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            let (name, value) = match &arg.node {
                Some(NodeEnum::NamedArgExpr(argument)) => {
                    let NamedArgExpr { arg, name, .. } = argument.as_ref();
                    (Some(name.as_str()), self.required(arg.as_deref())?)
                }
                _ => (None, arg),
            };
            let part = match name {
                // Behind one that is named all are.
                None if args[..at].iter().any(is_named) => None,
                None => INTERVAL_PARTS.get(at),
                Some(name) => INTERVAL_PARTS.iter().find(|part| **part == name),
            };
            let Some(part) = part.filter(|part| !named.contains(*part)) else {
                let name = name.unwrap_or("that");
                let message = format!("`make_interval` has no argument `{name}`, or has it already");
                return Err(self
                    .refuse(RefusalCode::Function, message, location)
                    .hint(format!("its arguments are {}", INTERVAL_PARTS.join(", "))));
            };
            named.push(*part);
            if name.is_some() {
                self.out.push_str(part);
                self.out.push_str(" => ");
            }
            let seen = self.expression(value)?;
            let base = if *part == "secs" { Base::Float8 } else { Base::Int4 };
            self.fits(value, seen.kind, Kind::one(base), Context::Implicit)?;
        }
        self.out.push(')');
        Ok(Seen::narrow(Kind::one(Base::Interval), false))
    }
}

/// The cast that a type's name means which is called like a function.
fn cast_to(name: &str, value: &Node, location: i32) -> TypeCast {
    let name = NodeEnum::String(pg_query::protobuf::String { sval: name.to_owned() });
    TypeCast {
        arg: Some(Box::new(value.clone())),
        type_name: Some(TypeName {
            names: vec![Node { node: Some(name) }],
            typemod: -1,
            location,
            ..TypeName::default()
        }),
        location,
    }
}

/// Returns true for a literal number.
pub(crate) fn is_number(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::AConst(constant)) => {
            matches!(constant.val, Some(Val::Ival(_) | Val::Fval(_)))
        }
        Some(NodeEnum::AExpr(minus)) => minus.lexpr.is_none() && minus.rexpr.as_deref().is_some_and(is_number),
        _ => false,
    }
}

/// Returns the maximum number of elements of a literal array.
fn written_elements(node: &Node) -> Option<usize> {
    match &node.node {
        Some(NodeEnum::AArrayExpr(list)) => Some(list.elements.len()),
        _ => written_text(node).map(|text| text.matches(',').count() + 1),
    }
}

/// Returns the bytes that a repetition of a literal text makes.
fn repeated(text: &Node, times: &Node) -> Option<i64> {
    let once = match &text.node {
        Some(NodeEnum::FuncCall(call)) => match (function_name(call), call.args.as_slice()) {
            (Some("repeat"), [text, times]) => repeated(text, times)?,
            _ => return None,
        },
        _ => i64::try_from(constant_text(text)?.len()).ok()?,
    };
    Some(once.saturating_mul(small_integer(times, MAX_LENGTH)?))
}

fn is_named(arg: &Node) -> bool {
    matches!(arg.node, Some(NodeEnum::NamedArgExpr(_)))
}

/// The name of a function that is named alone, or in the schema of Postgres's own, which is where
/// the grammar puts what has a syntax of its own.
pub(crate) fn function_name(call: &FuncCall) -> Option<&str> {
    match call.funcname.as_slice() {
        [name] => {
            // EXTRACT, POSITION and OVERLAY are words of the grammar; a plain call of that name is
            // of a function of someone's own.
            text_of(name).filter(|name| !matches!(*name, "extract" | "position" | "overlaps" | "similar_to_escape"))
        }
        [schema, name] if text_of(schema) == Some("pg_catalog") => {
            let written = CoercionForm::try_from(call.funcformat);
            let name = text_of(name)?;
            if written != Ok(CoercionForm::CoerceSqlSyntax)
                && !matches!(name, "extract" | "position" | "overlaps" | "similar_to_escape" | "like_escape")
            {
                return Some(name);
            }
            let of_the_grammar = matches!(name, "like_escape" | "similar_to_escape");
            (written == Ok(CoercionForm::CoerceSqlSyntax) || of_the_grammar).then_some(name)
        }
        _ => None,
    }
}
