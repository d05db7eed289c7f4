//! What may stand in a fragment: operators and types; functions are in `catalog/functions.txt`.
//! Everything else may not.
//!
//! Left out on purpose, although harmless to look at: what can make a small input large (`format`,
//! `char(n)`), what can take long (regular expressions, factorials, logarithms of decimals, JSON
//! paths), what returns sets, and what sees or changes more than its arguments.

/// Operators with two operands. (`!=` is `<>` by the time it gets here.)
pub(crate) const BINARY: [&str; 33] = [
    "=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "^", "||", "->", "->>", "#>", "#>>",
    "#-", "@>", "<@", "?", "?|", "?&", "&&", "&", "|", "#", "<<", ">>", "~~", "!~~", "~~*", "!~~*",
];

/// Operators with one operand, before it.
pub(crate) const PREFIX: [&str; 2] = ["-", "+"];

/// Operators that compare, for `ANY` and `ALL`.
pub(crate) const COMPARISON: [&str; 6] = ["=", "<>", "<", ">", "<=", ">="];

/// The named arguments of `make_interval`, the one function that is mostly called with names.
pub(crate) const INTERVAL_PARTS: [&str; 7] =
    ["years", "months", "weeks", "days", "hours", "mins", "secs"];

/// Well-known functions that are refused, and what to write instead or why.
pub(crate) fn why_not(name: &str) -> &'static str {
    match name {
        "count" | "sum" | "avg" | "min" | "max" | "array_agg" | "string_agg" | "jsonb_agg"
        | "json_agg" | "bool_and" | "bool_or" | "every" => {
            "a fragment sees one instance, so there is nothing to aggregate; use GREATEST and LEAST for the larger and the smaller of values"
        }
        "row_number" | "rank" | "dense_rank" | "lag" | "lead" | "first_value" | "last_value" => {
            "a fragment sees one instance, so there is no window"
        }
        "format" | "generate_series" | "array_fill" => {
            "it can make a large value of a small one; compose text with || or concat"
        }
        "regexp_replace"
        | "regexp_match"
        | "regexp_matches"
        | "regexp_like"
        | "regexp_substr"
        | "regexp_count"
        | "regexp_instr"
        | "regexp_split_to_array" => {
            "regular expressions can run for very long; use LIKE, replace, split_part or strpos"
        }
        "exp" | "factorial" | "ln" | "log" => {
            "it can make a number too large to compute with; multiply instead"
        }
        "json_build_object" | "json_build_array" | "to_json" | "row_to_json" => {
            "use its jsonb counterpart"
        }
        _ => {
            "the functions allowed are those of text, numbers, dates, arrays and jsonb that depend on their arguments only"
        }
    }
}

/// A type: Postgres's internal name, how it is written here, and how many modifiers it takes.
pub(crate) struct Type {
    name: &'static str,
    pub(crate) written: &'static str,
    pub(crate) modifiers: usize,
}

const TYPES: [Type; 16] = [
    kind("bool", "boolean", 0),
    kind("date", "date", 0),
    kind("float4", "real", 0),
    kind("float8", "double precision", 0),
    kind("int2", "smallint", 0),
    kind("int4", "integer", 0),
    kind("int8", "bigint", 0),
    kind("interval", "interval", 0),
    kind("jsonb", "jsonb", 0),
    kind("numeric", "numeric", 2),
    kind("text", "text", 0),
    kind("time", "time", 1),
    kind("timestamp", "timestamp", 1),
    kind("timestamptz", "timestamptz", 1),
    kind("uuid", "uuid", 0),
    kind("varchar", "varchar", 1),
];

const fn kind(name: &'static str, written: &'static str, modifiers: usize) -> Type {
    Type {
        name,
        written,
        modifiers,
    }
}

/// Looks a type up by its internal name.
pub(crate) fn find_type(name: &str) -> Option<&'static Type> {
    TYPES.iter().find(|kind| kind.name == name)
}
