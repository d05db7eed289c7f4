//! Function calls: by name from the list, with nothing but plain arguments.

use pg_query::protobuf::{
    AExprKind, CoercionForm, FuncCall, NamedArgExpr, TypeCast, TypeName, a_const::Val,
};
use pg_query::{Node, NodeEnum};

use crate::advice::way;
use crate::allowed::{self, INTERVAL_PARTS};
use crate::catalog::{self, Signature};
use crate::expression::{Checked, Done, Seen, Walk};
use crate::kind::{Base, Context, Kind};
use crate::literal::{small_integer, write_text};
use crate::node::{constant_length, constant_text, text_constant, text_of, written_text};
use crate::operation::{MAX_SHORT, SMALL_POWER, Sought};
use crate::pattern;
use crate::rejection::{Fault, RejectionCode};
use crate::resolve::{self, Unresolved};
use crate::type_name::as_text;
use crate::written::Guard;

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
    /// What has a zone.
    Zone,
}

/// The parts by the names Postgres knows; it looks at their first ten characters.
const PARTS: [(Part, &str); 7] = [
    (
        Part::Calendar,
        "c cent century centuries d day days dec decs decade decades mil mils millennia millennium mon mons month months y yr yrs year years",
    ),
    (Part::Calendar, "quarter qtr"),
    (Part::Week, "w week weeks"),
    (
        Part::Clock,
        "h hr hrs hour hours m min mins minute minutes s sec secs second seconds ms msec msecs msecond mseconds millisecon us usec usecs usecond useconds microsecon",
    ),
    (Part::Day, "dow doy isodow isoyear j jd julian"),
    (Part::Epoch, "epoch"),
    (Part::Zone, "timezone timezone_h timezone_m"),
];

/// Whether an interval is written in units of this name.
pub(crate) fn is_unit(word: &str) -> bool {
    let units = PARTS.iter().filter(|(part, names)| {
        matches!(part, Part::Calendar | Part::Week | Part::Clock) && !names.starts_with("quarter")
    });
    let word = crate::literal::token(word);
    units
        .flat_map(|(_, names)| names.split(' '))
        .any(|name| name == word)
}

/// The part of this name.
fn part(word: &str) -> Option<Part> {
    let word = crate::literal::token(word);
    let (part, _) = PARTS
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == word))?;
    Some(*part)
}

/// How much larger than its input text may grow through nested replacements: unbounded, sixty of
/// them in a row double a text sixty times.
const MAX_GROWTH: usize = 1024;
/// The longest that `lpad`, `rpad` and `repeat` make of a text, in characters or repetitions.
const MAX_LENGTH: i64 = 1000;
/// The most arguments of a call, as Postgres has it.
const MAX_ARGUMENTS: usize = 100;
/// Which bounds of a range belong to it.
const RANGES: [&str; 4] = ["[)", "[]", "(]", "()"];
/// The types that are called as functions to cast to them.
const CASTS: [&str; 8] = [
    "bool", "float4", "float8", "int2", "int4", "int8", "text", "uuid",
];
/// The most function calls of a fragment: each may look at all of a long text.
const MAX_CALLS: usize = 200;

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
                .refuse(RejectionCode::Aggregate, message, *location)
                .hint("a fragment sees one instance only"));
        }
        if *func_variadic {
            let message = "VARIADIC is not allowed here";
            return Err(self.refuse(RejectionCode::Function, message, *location));
        }
        Ok(())
    }

    /// A call of a function on the list.
    pub(crate) fn call(&mut self, call: &FuncCall) -> Checked {
        self.plain(call)?;
        let place = call.location;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            let message = format!("more than {MAX_CALLS} function calls");
            return Err(self.refuse(RejectionCode::TooComplex, message, place));
        }
        let Some(name) = function_name(call) else {
            let message = "functions are named without a schema";
            return Err(self.refuse(RejectionCode::Function, message, place));
        };
        // A type's name with one value in brackets is the cast.
        if let [value] = call.args.as_slice()
            && CASTS.contains(&name)
        {
            let type_name = TypeName {
                names: vec![Node {
                    node: Some(NodeEnum::String(pg_query::protobuf::String {
                        sval: name.to_owned(),
                    })),
                }],
                typemod: -1,
                location: place,
                ..TypeName::default()
            };
            return self.cast(&TypeCast {
                arg: Some(Box::new(value.clone())),
                type_name: Some(type_name),
                location: place,
            });
        }
        // What the grammar makes of ESCAPE and SIMILAR TO is met there, and is nobody's to call.
        let known = catalog::functions(name)
            .filter(|(name, _)| !matches!(*name, "like_escape" | "similar_to_escape"));
        let Some((name, signatures)) = known else {
            let code = match name {
                "count" | "sum" | "avg" | "min" | "max" | "array_agg" | "string_agg"
                | "row_number" => RejectionCode::Aggregate,
                _ => RejectionCode::Function,
            };
            let message = format!("the function `{name}` is not allowed here");
            return Err(self
                .refuse(code, message, place)
                .hint(allowed::why_not(name)));
        };
        if signatures.iter().all(|signature| signature.volatile) && !self.volatile {
            let message = format!("`{name}` gives another result each time");
            return Err(self.refuse(RejectionCode::Function, message, place).hint(
                "a condition must depend on the state; compare with now() for points in time",
            ));
        }
        let count = call.args.len();
        if !signatures
            .iter()
            .any(|signature| signature.for_count(count).is_some())
        {
            let least = signatures.iter().map(|one| one.counts().0).min();
            let most = signatures.iter().map(|one| one.counts().1).max();
            let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
            let taken = match least == most {
                true => least.to_string(),
                false if most == usize::MAX => format!("{least} or more"),
                false => format!("{least} to {most}"),
            };
            let message = format!("`{name}` takes {taken} arguments here, not {count}");
            return Err(self.refuse(RejectionCode::Function, message, place));
        }
        if count > MAX_ARGUMENTS {
            let message = format!("more than {MAX_ARGUMENTS} arguments");
            return Err(self.refuse(RejectionCode::Function, message, place));
        }
        let args = call.args.as_slice();
        self.bounds(name, args, place)?;
        let seen = match (name, args) {
            ("extract", [field, value]) => {
                let Some(word) = text_constant(field) else {
                    let message = "the field of EXTRACT must be a word";
                    return Err(self.refuse(RejectionCode::Function, message, place));
                };
                self.out.push_str("EXTRACT(");
                write_text(self.out.text(), word);
                self.out.push_str(" FROM ");
                let seen = self.expression(value)?;
                self.out.push(')');
                vec![CONSTANT, seen]
            }
            ("overlaps", [a, b, c, d]) => {
                let mut seen = self.list("((", &[a.clone(), b.clone()], ") OVERLAPS ")?;
                seen.extend(self.list("(", &[c.clone(), d.clone()], "))")?);
                seen
            }
            // AT LOCAL, which is UTC here, as versions write it that know no AT LOCAL.
            ("timezone", [value]) => {
                self.out.push_str("timezone('UTC', ");
                let seen = self.expression(value)?;
                self.out.push(')');
                vec![seen]
            }
            ("make_interval", args) if args.iter().any(is_named) => {
                return self.interval(args, place);
            }
            // POSITION(a IN b) under the name that can be called like any other.
            ("position", _) => self.arguments("strpos", args)?,
            (
                "regexp_count"
                | "regexp_instr"
                | "regexp_like"
                | "regexp_match"
                | "regexp_replace"
                | "regexp_split_to_array"
                | "regexp_substr",
                args,
            ) => self.regular(name, args, place)?,
            ("substring", [_, pattern]) if constant_text(pattern).is_some() => {
                self.regular(name, args, place)?
            }
            (name, args) => self.arguments(name, args)?,
        };
        self.has_part(name, args, &seen, place)?;
        self.settle(name, signatures, args, &seen, place)
    }

    /// Refuses a part that what it is taken out of, or is cut to it, has not.
    fn has_part(&self, name: &str, args: &[Node], seen: &[Seen], place: i32) -> Done {
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
                "cut to year, quarter, month, week, day, hour, minute or second; extract(… from …) takes other parts out",
            ),
            _ => (
                format!("{} has no {word}", of.kind),
                "take it out of a point in time; an interval has years, months, days, hours, minutes, seconds and epoch",
            ),
        };
        Err(self.refuse(RejectionCode::Type, message, place).hint(hint))
    }

    /// What the arguments of a call are instead of those that were given.
    fn arguments_hint(signatures: &[Signature], kinds: &[Kind]) -> String {
        // Of those that fit best: which argument does not, and what it is there.
        let misfits = |wanted: &[Kind]| -> Vec<usize> {
            (0..kinds.len())
                .filter(|at| !kinds[*at].becomes(wanted[*at], Context::Implicit))
                .collect()
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

    /// Finds which function of the name is meant.
    fn settle(
        &mut self,
        name: &str,
        signatures: &[Signature],
        args: &[Node],
        seen: &[Seen],
        place: i32,
    ) -> Checked {
        let kinds: Vec<Kind> = seen.iter().map(|seen| seen.kind).collect();
        // A function named as a type is the cast.
        if name == "date"
            && let ([arg], [kind]) = (args, kinds.as_slice())
            && (kind.is_unknown() || kind.category() == 'S')
        {
            self.fits(arg, *kind, Kind::one(Base::Date), Context::Explicit)?;
            return self.made(Kind::one(Base::Date), 0, seen[0].constant);
        }
        let resolved = resolve::select(&signatures.iter().collect::<Vec<_>>(), &kinds);
        let resolved = match resolved {
            Ok(resolved) => resolved,
            Err(why) => {
                let shown: Vec<String> = kinds
                    .iter()
                    .map(|kind| match kind.is_unknown() {
                        true => "a constant".to_owned(),
                        false => kind.to_string(),
                    })
                    .collect();
                let message = match why {
                    Unresolved::None => format!("there is no {name}({})", shown.join(", ")),
                    Unresolved::Ambiguous => {
                        format!("{name}({}) could mean several functions", shown.join(", "))
                    }
                };
                return Err(self
                    .refuse(RejectionCode::Type, message, place)
                    .hint(Self::arguments_hint(signatures, &kinds)));
            }
        };
        for ((arg, kind), wanted) in args.iter().zip(&kinds).zip(&resolved.arguments) {
            self.fits(arg, *kind, *wanted, Context::Implicit)?;
        }
        if name == "substring"
            && resolved.arguments.get(1) == Some(&Kind::TEXT)
            && args
                .get(1)
                .is_none_or(|pattern| args.len() > 2 || constant_text(pattern).is_none())
        {
            let message =
                "`substring` takes a position here, or a regular expression written in quotes";
            return Err(self
                .refuse(RejectionCode::Function, message, place)
                .hint("use substr(text, start, length), split_part or LIKE"));
        }
        if resolved.arguments.contains(&Kind::one(Base::Numeric)) {
            match name {
                "power" | "pow" => {
                    let times = args
                        .get(1)
                        .and_then(|exponent| small_integer(exponent, SMALL_POWER));
                    self.multiplied(power_cost(times))?;
                }
                "exp" | "ln" | "log" | "log10" => self.multiplied(4)?,
                "mod" | "div" | "sqrt" | "width_bucket" => self.multiplied(1)?,
                _ => {}
            }
        }
        let sum: u64 = seen
            .iter()
            .map(|seen| seen.size)
            .fold(0, u64::saturating_add);
        // How many values a format puts in.
        let placed = match (name, args.first().and_then(constant_text)) {
            ("format", Some(text)) => pattern::places(text).unwrap_or(0),
            _ => 1,
        };
        let size = match name {
            "replace" => {
                let by = seen.get(2).map_or(1, |seen| seen.size.max(1));
                sum.saturating_mul(by).min(crate::MAX_REPLACED_BYTES as u64)
            }
            "lpad" | "rpad" | "repeat" => {
                let made = match args
                    .get(1)
                    .and_then(|length| small_integer(length, MAX_LENGTH))
                {
                    Some(length) => {
                        length
                            .unsigned_abs()
                            .saturating_mul(if name == "repeat" { sum } else { 4 })
                    }
                    // Held to it when it is run.
                    None => crate::MAX_REPEATED_BYTES as u64,
                };
                sum.saturating_mul(4).saturating_add(made)
            }
            "format" => {
                let widest = seen.iter().map(|seen| as_text(*seen)).max().unwrap_or(0);
                let each = widest.saturating_add(4 * pattern::MAX_WIDTH as u64);
                sum.saturating_add((placed as u64).saturating_mul(each))
            }
            "concat" | "concat_ws" => seen
                .iter()
                .map(|seen| as_text(*seen))
                .fold(0, u64::saturating_add),
            // What is matched is short, and may be put in as often as the replacement says.
            "regexp_replace" => {
                let by = args.get(2).and_then(constant_text).map_or(256, str::len) as u64;
                sum.saturating_add(by.max(2).saturating_mul(4096))
            }
            "regexp_split_to_array" => 64 << 10,
            "encode" => sum.saturating_mul(4),
            // Quotes and names; of an array's elements each is a value of its own.
            "to_jsonb" | "jsonb_build_array" | "jsonb_build_object" | "jsonb_object" => {
                sum.saturating_mul(2)
            }
            "to_json" | "json_build_array" | "json_build_object" | "array_to_json" => {
                let decimals = kinds.iter().any(|kind| *kind == Kind::many(Base::Numeric));
                sum.saturating_mul(if decimals { 12 } else { 6 })
            }
            "jsonb_extract_path_text" | "json_extract_path_text" => sum.saturating_mul(6),
            // Of each character an element, with its length and aligned.
            "string_to_array" => {
                // The text too, where it is a value of its own.
                self.made(Kind::TEXT, sum, false)?;
                sum.saturating_mul(8)
            }
            "array_to_string" => {
                let list = seen.first().map_or(0, |seen| seen.size);
                let elements = match args.first().map(|list| &list.node) {
                    Some(Some(NodeEnum::ColumnRef(_))) => crate::MAX_ELEMENTS as u64,
                    _ => list / 4 + 1,
                };
                let between = args[1..]
                    .iter()
                    .map(|by| constant_length(by).unwrap_or(MAX_SHORT) as u64)
                    .sum::<u64>();
                let growth = if kinds.first() == Some(&Kind::many(Base::Numeric)) {
                    12
                } else {
                    2
                };
                list.saturating_mul(growth)
                    .saturating_add(elements.saturating_mul(between))
            }
            // At most four bytes each.
            "left" | "right" | "substr" | "substring" => match args
                .get(if args.len() == 3 { 2 } else { 1 })
                .and_then(|length| small_integer(length, i64::MAX))
                .and_then(|length| u64::try_from(length).ok())
            {
                Some(length) if args.len() == 3 || matches!(name, "left" | "right") => {
                    sum.min(length.saturating_mul(4))
                }
                _ => sum,
            },
            "md5" => 32,
            _ => sum,
        };
        match name {
            "to_jsonb" | "to_json" | "array_to_json" | "array_to_string" | "jsonb_object"
            | "jsonb_build_array" | "jsonb_build_object" | "json_build_array"
            | "json_build_object" | "concat" | "concat_ws" | "format" => {
                let format = match name {
                    "format" => args.first().and_then(constant_text),
                    _ => None,
                };
                let mut written = 0_usize;
                for (at, (arg, seen)) in args.iter().zip(seen).enumerate() {
                    let times = format.map_or(1, |format| pattern::uses(format, at));
                    let once = self.written_anew(arg, *seen);
                    written = written.saturating_add(once.saturating_mul(times));
                }
                self.converted(written)?;
            }
            "jsonb_extract_path_text" | "json_extract_path_text" => self.converted(1)?,
            "jsonb_set" | "jsonb_insert" | "jsonb_strip_nulls" => self.converted(2)?,
            _ => {}
        }
        if let "to_jsonb" | "jsonb_object" | "jsonb_build_array" | "jsonb_build_object"
        | "jsonb_set" | "jsonb_insert" | "jsonb_strip_nulls" = name
        {
            self.remade(args.iter().map(|arg| self.documents(arg)).sum())?;
        }
        let volatile = signatures.iter().any(|signature| signature.volatile);
        let constant = !volatile && seen.iter().all(|seen| seen.constant);
        self.made(resolved.result, size, constant)
    }

    /// Whether it is an interval, which is no name of a zone.
    fn may_be_interval(&self, node: &Node) -> bool {
        match &node.node {
            Some(NodeEnum::FuncCall(call)) => function_name(call) == Some("make_interval"),
            Some(NodeEnum::ColumnRef(column)) => column
                .fields
                .last()
                .and_then(text_of)
                .and_then(|name| self.attributes.find(name))
                .is_some_and(|index| {
                    Kind::of(&self.attributes.get(index).kind) == Kind::one(Base::Interval)
                }),
            Some(NodeEnum::TypeCast(cast)) => {
                cast.type_name
                    .as_ref()
                    .and_then(|kind| kind.names.last())
                    .and_then(text_of)
                    == Some("interval")
            }
            _ => false,
        }
    }

    /// What must be small constants, so that a small input cannot make a large value.
    fn bounds(&mut self, name: &str, args: &[Node], place: i32) -> Done {
        match (name, args) {
            ("power" | "pow", [_, exponent]) => self.small_power(exponent, place),
            ("lpad" | "rpad" | "repeat", [_, length, ..])
                if small_integer(length, MAX_LENGTH).is_none() && is_number(length) =>
            {
                let message = format!("the length of `{name}` is at most {MAX_LENGTH}");
                Err(self
                    .refuse(RejectionCode::TooLarge, message, place)
                    .hint("make it shorter"))
            }
            ("format", [format, ..]) => {
                let Some(text) = constant_text(format) else {
                    let message = "the format of `format` is text in quotes";
                    return Err(self
                        .refuse(RejectionCode::Function, message, place)
                        .hint("write the format itself; compose text with || or concat"));
                };
                pattern::places(text)
                    .map(|_| ())
                    .map_err(|objection| self.objection(RejectionCode::TooLarge, objection, format))
            }
            (
                "int4range" | "int8range" | "numrange" | "daterange" | "tsrange" | "tstzrange",
                [_, _, kinds],
            ) if !text_constant(kinds).is_some_and(|kinds| RANGES.contains(&kinds)) => {
                let message =
                    format!("the third argument of `{name}` says which bounds are within it");
                let fault = Fault::new(RejectionCode::Function, message)
                    .hint("write '[)', '[]', '(]' or '()'");
                Err(self.placed(fault, kinds))
            }
            ("jsonb_build_object" | "json_build_object", args) if args.len() % 2 == 1 => {
                let message = format!("`{name}` takes names and values in turn, so an even number");
                Err(self.refuse(RejectionCode::Function, message, place))
            }
            ("chr", [code]) if small_integer(code, 0) == Some(0) => {
                let message = "no text holds the character 0";
                Err(self.refuse(RejectionCode::TooLarge, message, place))
            }
            (
                "jsonb_path_exists" | "jsonb_path_match" | "jsonb_path_query_first",
                [_, path, others @ ..],
            ) => {
                if others.is_empty() {
                    return self.path(path, place);
                }
                let message = format!("`{name}` takes a document and a path here");
                Err(self
                    .refuse(RejectionCode::Function, message, place)
                    .hint("write the values into the path"))
            }
            ("timezone", [zone, _])
            | ("date_trunc", [_, _, zone])
            | ("make_timestamptz", [_, _, _, _, _, _, zone])
                if !self.may_be_interval(zone)
                    && !written_text(zone).is_some_and(is_zone)
                    && !is_choice_of_zones(zone) =>
            {
                let message = "a time zone is written there, by its name";
                let fault = Fault::new(RejectionCode::Function, message)
                    .hint("for example 'UTC', 'Europe/Berlin' or '+02:00'; of a few zones write CASE a1 WHEN 'DE' THEN 'Europe/Berlin' ELSE 'UTC' END");
                Err(self.placed(fault, zone))
            }
            ("extract" | "date_part" | "date_trunc", [field, ..])
                if text_constant(field).is_some_and(|word| part(word).is_none()) =>
            {
                let message = "there is no such part of a point in time";
                let fault = Fault::new(RejectionCode::Function, message)
                    .hint("for example year, month, week, day, dow, hour, minute, second, epoch");
                Err(self.placed(fault, field))
            }
            _ => Ok(()),
        }
    }

    /// The name and the arguments. What is searched for must be short; some functions are replaced
    /// by ones of ours that look at their arguments first.
    fn arguments(&mut self, name: &str, args: &[Node]) -> Result<Vec<Seen>, Fault> {
        let before = self.growth;
        let mut template = false;
        match (name, args) {
            ("lpad" | "rpad" | "repeat", [_, length, ..])
                if small_integer(length, MAX_LENGTH).is_none() =>
            {
                self.out.guard(Guard::Function);
            }
            ("power" | "pow", [_, exponent]) if small_integer(exponent, SMALL_POWER).is_none() => {
                self.out.guard(Guard::Function);
            }
            _ => {}
        }
        if name == "replace" {
            self.out.guard(Guard::Function);
            let found = args.get(1).and_then(constant_text);
            let from = found.map_or(1, |found| found.len().max(1));
            let factor = args
                .get(2)
                .and_then(constant_text)
                .map_or(MAX_GROWTH, |by| by.len().div_ceil(from).max(1));
            self.growth = before.saturating_mul(factor);
            let varies = |by: &Node| constant_length(by).is_none();
            template = args.first().is_some_and(is_template)
                && args.get(2).is_some_and(varies)
                && found.is_some_and(|found| !found.is_empty());
            if self.growth > MAX_GROWTH && !template {
                let message = "nested replacements could make the text far too large";
                return Err(Fault::new(RejectionCode::TooLarge, message)
                    .hint("replace by short constants, or compose the text with concat"));
            }
        }
        let grown = self.growth;
        self.out.push_str(name);
        self.out.push('(');
        let mut seen = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            // What fills a template is a text of its own.
            if template {
                self.growth = if at == 0 { before } else { grown };
            }
            // Other names than these are for values that are looked at once.
            let sought = match (name, at) {
                ("btrim" | "ltrim" | "rtrim" | "translate", 1) => Some(Sought::Set),
                (
                    "strpos" | "split_part" | "string_to_array" | "array_to_string" | "to_char"
                    | "to_date" | "to_number" | "to_timestamp" | "replace",
                    1,
                )
                | ("translate" | "string_to_array" | "array_to_string" | "replace", 2)
                | ("lpad" | "rpad", 2)
                | ("concat_ws", 0) => Some(Sought::Text),
                ("jsonb_exists_any" | "jsonb_exists_all", 1) => Some(Sought::Parts),
                _ => None,
            };
            let Some(how) = sought else {
                seen.push(self.expression(arg)?);
                continue;
            };
            let found = self.sought_for(arg, how)?;
            // What can be bounded by what is written is; the rest is held to it when it is run.
            let written = match name {
                "concat_ws" | "lpad" | "rpad" | "jsonb_exists_any" | "jsonb_exists_all" => false,
                "replace" => at == 1,
                _ => true,
            };
            if how == Sought::Parts && !found.constant {
                self.list_against_list(arg, found)?;
            }
            if written && !found.constant && found.size > MAX_SHORT as u64 {
                let message = format!("what `{name}` looks for may be long here");
                let fault = Fault::new(RejectionCode::TooLarge, message)
                    .hint("write it in quotes, or no more of it than is needed: left(…, 64)");
                return Err(self.placed(fault, arg));
            }
            seen.push(found);
        }
        self.out.push(')');
        self.growth = before;
        Ok(seen)
    }

    /// A function of regular expressions: the text it looks at is held to a length, the rest is written there.
    fn regular(&mut self, name: &str, args: &[Node], place: i32) -> Result<Vec<Seen>, Fault> {
        let [subject, pattern, others @ ..] = args else {
            return self.list(&format!("{name}("), args, ")");
        };
        // The last argument is the flags, but for the replacement.
        let flags = match (name, others) {
            ("regexp_replace", [_, flags]) => Some(flags),
            ("regexp_replace", _) => None,
            (_, others) => others.first(),
        };
        let mut all = matches!(name, "regexp_count" | "regexp_split_to_array");
        if let Some(flags) = flags {
            let Some(text) = constant_text(flags) else {
                let message = format!("the flags of `{name}` are text in quotes");
                return Err(self.refuse(RejectionCode::Function, message, place));
            };
            pattern::flags(text, name == "regexp_replace")
                .map_err(|objection| self.objection(RejectionCode::Function, objection, flags))?;
            all |= text.contains('g');
        }
        self.pattern_size(pattern, if all { 4 } else { 1 })?;
        self.out.push_str(name);
        self.out.push('(');
        let mut seen = vec![self.matched(subject, all)?];
        for (at, arg) in args.iter().enumerate().skip(1) {
            self.out.push_str(", ");
            let replacement = name == "regexp_replace" && at == 2;
            seen.push(if replacement {
                self.sought_for(arg, Sought::Text)?
            } else {
                self.expression(arg)?
            });
        }
        self.out.push(')');
        Ok(seen)
    }

    fn interval(&mut self, args: &[Node], place: i32) -> Checked {
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
                let message =
                    format!("`make_interval` has no argument `{name}`, or has it already");
                return Err(self
                    .refuse(RejectionCode::Function, message, place)
                    .hint(format!("its arguments are {}", INTERVAL_PARTS.join(", "))));
            };
            named.push(*part);
            if name.is_some() {
                self.out.push_str(part);
                self.out.push_str(" => ");
            }
            let seen = self.expression(value)?;
            let base = if *part == "secs" {
                Base::Float8
            } else {
                Base::Int4
            };
            self.fits(value, seen.kind, Kind::one(base), Context::Implicit)?;
        }
        self.out.push(')');
        self.made(Kind::one(Base::Interval), 0, false)
    }
}

/// The zones with digits in their names, besides those of Greenwich.
const AMERICAN: [&str; 4] = ["EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT"];

/// A word of the grammar as an argument.
const CONSTANT: Seen = Seen {
    kind: Kind::UNKNOWN,
    size: 0,
    constant: true,
};

/// Whether a text names a time zone as Postgres's list of them does, or is an offset. Zones of one's own
/// making, with rules in the name, each take memory of the server that it does not give back.
pub(crate) fn is_zone(text: &str) -> bool {
    let text = text.trim();
    // Without a digit no name makes a zone.
    let name = text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|c| c.is_ascii_alphabetic() || matches!(c, b'/' | b'_' | b'-'));
    let upper = text.to_ascii_uppercase();
    let hours = |text: &str| {
        let digits = text.bytes().all(|c| c.is_ascii_digit());
        digits && text.len() <= 2 && text.parse::<u8>().is_ok_and(|hours| hours < 24)
    };
    let bare = upper.strip_prefix("ETC/").unwrap_or(&upper);
    let from_greenwich = ["GMT", "UTC", "UCT"]
        .iter()
        .find_map(|prefix| bare.strip_prefix(prefix))
        .is_some_and(|rest| hours(rest.strip_prefix(['+', '-']).unwrap_or(rest)));
    let offset = text.strip_prefix(['+', '-']).unwrap_or(text);
    let quarter = ["00", "15", "30", "45"].iter().any(|minutes| {
        offset.strip_suffix(minutes).is_some_and(|rest| {
            let whole = rest.strip_suffix(':').unwrap_or(rest);
            !whole.is_empty() && hours(whole)
        })
    });
    name || from_greenwich || AMERICAN.contains(&bare) || hours(offset) || quarter
}

/// Whether it is one of several time zones that are written there, whichever. The database looks at the same
/// (`wed.check_work`).
fn is_choice_of_zones(node: &Node) -> bool {
    let one = |node: &Node| {
        let null = matches!(&node.node, Some(NodeEnum::AConst(constant)) if constant.isnull);
        null || constant_text(node).is_some_and(is_zone) || is_choice_of_zones(node)
    };
    let each = |node: &Option<Box<Node>>| node.as_deref().is_some_and(one);
    match &node.node {
        Some(NodeEnum::CaseExpr(case)) => {
            case.args.iter().all(|branch| match &branch.node {
                Some(NodeEnum::CaseWhen(branch)) => each(&branch.result),
                _ => false,
            }) && (case.defresult.is_none() || each(&case.defresult))
        }
        Some(NodeEnum::CoalesceExpr(first)) => first.args.iter().all(one),
        Some(NodeEnum::AExpr(operation)) => {
            operation.kind == AExprKind::AexprNullif as i32 && each(&operation.lexpr)
        }
        _ => false,
    }
}

/// Whether a text is written there, with replacements of what is written there in it. However often they find something,
/// also in what others put in: each puts in 256 bytes at most (`wed_bounded.short`), and what it makes stays below 4 MiB
/// (`wed_bounded.replace`), so a chain of them makes no more than each by itself.
fn is_template(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::FuncCall(call)) => match (function_name(call), call.args.as_slice()) {
            (Some("replace"), [text, found, _]) => {
                constant_text(found).is_some_and(|found| !found.is_empty()) && is_template(text)
            }
            _ => false,
        },
        _ => constant_text(node).is_some(),
    }
}

/// Whether it is a number, written there.
pub(crate) fn is_number(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::AConst(constant)) => {
            matches!(constant.val, Some(Val::Ival(_) | Val::Fval(_)))
        }
        Some(NodeEnum::AExpr(minus)) => {
            minus.lexpr.is_none() && minus.rexpr.as_deref().is_some_and(is_number)
        }
        _ => false,
    }
}

/// How many products a power is: of an exponent that is not small, its digits are bounded when it is run.
pub(crate) fn power_cost(exponent: Option<i64>) -> usize {
    exponent.map_or(16, |times| {
        usize::try_from(times.unsigned_abs()).unwrap_or(16).max(1)
    })
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
            text_of(name).filter(|name| {
                !matches!(
                    *name,
                    "extract" | "position" | "overlaps" | "similar_to_escape"
                )
            })
        }
        [schema, name] if text_of(schema) == Some("pg_catalog") => {
            let written = CoercionForm::try_from(call.funcformat);
            let name = text_of(name)?;
            if written != Ok(CoercionForm::CoerceSqlSyntax)
                && !matches!(
                    name,
                    "extract" | "position" | "overlaps" | "similar_to_escape" | "like_escape"
                )
            {
                return Some(name);
            }
            let of_the_grammar = matches!(name, "like_escape" | "similar_to_escape");
            (written == Ok(CoercionForm::CoerceSqlSyntax) || of_the_grammar).then_some(name)
        }
        _ => None,
    }
}
