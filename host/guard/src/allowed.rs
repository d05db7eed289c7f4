//! What may stand in a fragment: operators, functions, types. Everything else may not.
//!
//! Left out on purpose, although harmless to look at: what can make a small input large (`repeat`,
//! `lpad`, `format`, `char(n)`), what can take long (regular expressions, powers, factorials, JSON
//! paths), what returns sets, and what sees or changes more than its arguments.

/// Operators with two operands. (`!=` is `<>` by the time it gets here.)
pub(crate) const BINARY: [&str; 23] = [
    "=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "->", "->>", "#>", "#>>", "#-",
    "@>", "<@", "?", "?|", "?&", "&&",
];

/// Operators with one operand, before it.
pub(crate) const PREFIX: [&str; 2] = ["-", "+"];

/// Operators that compare, for `ANY` and `ALL`.
pub(crate) const COMPARISON: [&str; 6] = ["=", "<>", "<", ">", "<=", ">="];

/// A function and how many arguments it takes.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// Whether it may give another result each time: not for conditions.
    pub(crate) volatile: bool,
}

const fn function(name: &'static str, least: usize, most: usize) -> Function {
    Function {
        name,
        least,
        most,
        volatile: false,
    }
}

const fn volatile(name: &'static str, least: usize, most: usize) -> Function {
    Function {
        name,
        least,
        most,
        volatile: true,
    }
}

/// As many arguments as Postgres takes.
const ANY: usize = 100;

/// Sorted by name, for the search.
const FUNCTIONS: [Function; 98] = [
    function("abs", 1, 1),
    function("age", 1, 2),
    function("array_append", 2, 2),
    function("array_cat", 2, 2),
    function("array_length", 2, 2),
    function("array_ndims", 1, 1),
    function("array_position", 2, 3),
    function("array_positions", 2, 2),
    function("array_prepend", 2, 2),
    function("array_remove", 2, 2),
    function("array_replace", 3, 3),
    function("array_to_string", 2, 3),
    function("array_upper", 2, 2),
    function("ascii", 1, 1),
    function("bit_length", 1, 1),
    function("btrim", 1, 2),
    function("cardinality", 1, 1),
    function("ceil", 1, 1),
    function("ceiling", 1, 1),
    function("char_length", 1, 1),
    function("character_length", 1, 1),
    function("chr", 1, 1),
    volatile("clock_timestamp", 0, 0),
    function("concat", 1, ANY),
    function("concat_ws", 2, ANY),
    function("date", 1, 1),
    function("date_bin", 3, 3),
    function("date_part", 2, 2),
    function("date_trunc", 2, 3),
    function("div", 2, 2),
    function("extract", 2, 2),
    function("floor", 1, 1),
    function("gcd", 2, 2),
    volatile("gen_random_uuid", 0, 0),
    function("initcap", 1, 1),
    function("isfinite", 1, 1),
    function("jsonb_array_length", 1, 1),
    function("jsonb_build_array", 0, ANY),
    function("jsonb_build_object", 0, ANY),
    function("jsonb_extract_path", 2, ANY),
    function("jsonb_extract_path_text", 2, ANY),
    function("jsonb_insert", 3, 4),
    function("jsonb_object", 1, 2),
    function("jsonb_set", 3, 4),
    function("jsonb_strip_nulls", 1, 1),
    function("jsonb_typeof", 1, 1),
    function("justify_days", 1, 1),
    function("justify_hours", 1, 1),
    function("justify_interval", 1, 1),
    function("lcm", 2, 2),
    function("left", 2, 2),
    function("length", 1, 1),
    function("like_escape", 2, 2),
    function("lower", 1, 1),
    function("ltrim", 1, 2),
    function("make_date", 3, 3),
    function("make_interval", 0, 7),
    function("make_time", 3, 3),
    function("make_timestamp", 6, 6),
    function("make_timestamptz", 6, 7),
    function("md5", 1, 1),
    function("min_scale", 1, 1),
    function("mod", 2, 2),
    function("now", 0, 0),
    function("num_nonnulls", 1, ANY),
    function("num_nulls", 1, ANY),
    function("octet_length", 1, 1),
    function("overlay", 3, 4),
    function("position", 2, 2),
    volatile("random", 0, 2),
    function("replace", 3, 3),
    function("reverse", 1, 1),
    function("right", 2, 2),
    function("round", 1, 2),
    function("rtrim", 1, 2),
    function("scale", 1, 1),
    function("sign", 1, 1),
    function("split_part", 3, 3),
    function("sqrt", 1, 1),
    function("starts_with", 2, 2),
    function("statement_timestamp", 0, 0),
    function("string_to_array", 2, 3),
    function("strpos", 2, 2),
    function("substr", 2, 3),
    function("substring", 2, 3),
    function("timezone", 2, 2),
    function("to_char", 2, 2),
    function("to_date", 2, 2),
    function("to_hex", 1, 1),
    function("to_jsonb", 1, 1),
    function("to_number", 2, 2),
    function("to_timestamp", 1, 2),
    function("transaction_timestamp", 0, 0),
    function("translate", 3, 3),
    function("trim_array", 2, 2),
    function("trim_scale", 1, 1),
    function("trunc", 1, 2),
    function("upper", 1, 1),
];

/// The named arguments of `make_interval`, the one function that is mostly called with names.
pub(crate) const INTERVAL_PARTS: [&str; 7] =
    ["years", "months", "weeks", "days", "hours", "mins", "secs"];

/// Looks a function up.
pub(crate) fn find_function(name: &str) -> Option<&'static Function> {
    FUNCTIONS
        .binary_search_by(|function| function.name.cmp(name))
        .ok()
        .map(|index| &FUNCTIONS[index])
}

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
        "repeat" | "lpad" | "rpad" | "format" | "generate_series" | "array_fill" => {
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
        "power" | "pow" | "exp" | "factorial" => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_sorted() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
