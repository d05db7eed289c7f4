//! Syntax that a fragment may hold besides the calls of `catalog.toml`. All other syntax is refused.
//!
//! Left out on purpose, although harmless to look at: what can make a small input large (`array_fill`), what can
//! take long and cannot be bounded from outside (factorials, JSON paths and regular expressions that are not
//! written there), what returns sets, and what sees or changes more than its arguments.

use crate::catalog::CATALOG;

/// Operators of regular expressions.
pub(crate) const MATCHING: [&str; 4] = ["~", "!~", "~*", "!~*"];

/// Operators that compare.
pub(crate) const COMPARISON: [&str; 6] = ["=", "<>", "<", ">", "<=", ">="];
/// Operators before `ANY` and `ALL`.
pub(crate) const QUANTIFIED: [&str; 10] = ["=", "<>", "<", ">", "<=", ">=", "~~", "!~~", "~~*", "!~~*"];

/// The named arguments of `make_interval`, the one function that is mostly called with names.
pub(crate) const INTERVAL_PARTS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

/// Well-known functions that are refused, and what to write instead or why.
pub(crate) fn why_not(name: &str) -> &'static str {
    match name {
        "count" | "sum" | "avg" | "min" | "max" | "array_agg" | "string_agg" | "jsonb_agg" | "json_agg"
        | "bool_and" | "bool_or" | "every" => {
            "a fragment sees one instance, so there is nothing to aggregate; use GREATEST and LEAST for the larger \
             and the smaller of values"
        }
        "row_number" | "rank" | "dense_rank" | "lag" | "lead" | "first_value" | "last_value" => {
            "a fragment sees one instance, so there is no window"
        }
        "generate_series" | "array_fill" => "it can make a large value of a small one; write the values themselves",
        "regexp_matches" | "regexp_split_to_table" => "it returns a set; use regexp_match or regexp_split_to_array",
        "len" | "datalength" => "write length(…)",
        "ifnull" | "isnull" | "nvl" => "write coalesce(…, …), or IS NULL",
        "getdate" | "sysdate" | "curdate" | "getutcdate" => "write now() or CURRENT_DATE",
        "datediff" | "date_diff" | "dateadd" | "date_add" | "date_sub" | "timestampdiff" | "add_months" => {
            "subtract one point in time from another, or add an interval: now() - created_at > interval '3 days'"
        }
        "if" | "iif" | "decode_case" => "write CASE WHEN … THEN … ELSE … END",
        "instr" | "charindex" | "locate" => "write strpos(text, what)",
        "ucase" => "write upper(…)",
        "lcase" => "write lower(…)",
        "factorial" => "it can make a number too large to compute with; multiply instead",
        "convert_to" | "convert_from" => "cast text to bytea, and encode(…) the result",
        "int2" | "int4" | "int8" | "float4" | "float8" | "numeric" | "text" | "varchar" | "bool" | "timestamp"
        | "timestamptz" | "time" | "uuid" | "jsonb" => "write a cast: a1::integer, or cast(a1 as integer)",
        "normalize" | "is_normalized" | "unaccent" | "to_ascii" => {
            "bring text to one form where it is made; lower(…) and translate(…) are allowed"
        }
        "casefold" => "write lower(…)",
        "xor" => "between truth values write <>",
        "quote_literal" | "quote_ident" | "quote_nullable" => "write format('%L', …) or format('%I', …)",
        "to_tsvector" | "to_tsquery" | "plainto_tsquery" | "phraseto_tsquery" | "websearch_to_tsquery" => {
            "search with LIKE, ILIKE or ~; these read a dictionary of the server"
        }
        "jsonb_pretty" => "write doc::text",
        "array_sort" => "keep the array sorted where it is made",
        "row_to_json" => "use jsonb_build_object with the attributes' names",
        _ => {
            "the functions allowed are those of text, numbers, dates, arrays and jsonb that depend on their \
             arguments only"
        }
    }
}

/// Looks a type up by its internal name: how it is written here, and how many modifiers it takes.
pub(crate) fn find_type(name: &str) -> Option<(&'static str, usize)> {
    let (written, modifiers) = CATALOG.types.get(name)?;
    Some((written, *modifiers))
}
