//! Words of a query that name Postgres's catalog: it tells the definitions of every tenant in the database.

use pg_query::protobuf::Token;

/// Functions that run text as a query, or tell the names of things by their numbers.
const TELLING: &str = "\
    acldefault aclexplode aclitem aclitemin col_description current_schemas cursor_to_xml cursor_to_xmlschema \
    database_to_xml database_to_xml_and_xmlschema database_to_xmlschema format_type information_schema \
    makeaclitem obj_description query_to_xml query_to_xml_and_xmlschema query_to_xmlschema row_security_active \
    schema_to_xml schema_to_xml_and_xmlschema schema_to_xmlschema shobj_description table_to_xml \
    table_to_xml_and_xmlschema table_to_xmlschema ts_rewrite ts_stat";

/// Functions that are named like the catalog and tell nothing of it.
const HARMLESS: &str = "pg_column_size pg_size_pretty pg_sleep pg_sleep_for pg_sleep_until pg_typeof";

/// Types whose values are numbers of things, written as their names.
const NAMING: &str = "\
    regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole \
    regtype";

/// Returns the first word of a query that names Postgres's catalog, or a function or type by which a query comes to it.
/// The words are Postgres's own tokens, so that no spelling and no place in the query hides one; a text in quotes is
/// none. A name with Unicode escapes counts as one, and so does a text that Postgres cannot split.
pub fn catalog_word(sql: &str) -> Option<String> {
    let Ok(tokens) = pg_query::scan_tokens(sql) else {
        return Some("a text that is no SQL".to_owned());
    };
    tokens.iter().find_map(|token| {
        let range = usize::try_from(token.start).ok()?..usize::try_from(token.end).ok()?;
        let text = sql.get(range)?;
        match Token::try_from(token.token) {
            Ok(Token::Uident) => Some(text.to_owned()),
            Ok(Token::Sconst | Token::Usconst | Token::Bconst | Token::Xconst) => None,
            Ok(Token::SqlComment | Token::CComment) => None,
            _ => {
                let word = text.trim_matches('"').to_lowercase();
                is_of_catalog(&word).then_some(word)
            }
        }
    })
}

fn is_of_catalog(word: &str) -> bool {
    // An array's type has its element's name behind an underscore.
    let word = word.trim_start_matches('_');
    let is_of = |words: &str| words.split(' ').any(|known| known == word);
    word.starts_with("pg_") && !is_of(HARMLESS)
        || word.starts_with("to_reg")
        || word.starts_with("binary_upgrade_")
        || word.starts_with("has_") && word.ends_with("_privilege")
        || is_of(TELLING)
        || is_of(NAMING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_catalog_are_found_however_they_are_written() {
        for sql in [
            "TABLE pg_attribute",
            "SELECT * FROM Pg_Catalog.PG_ATTRDEF",
            r#"SELECT * FROM "pg_attribute""#,
            r#"SELECT * FROM U&"pg\005fattribute""#,
            "SELECT 1/**/FROM/**/pg_enum",
            "SELECT query_to_xml('TABLE wed_flow', true, true, '')",
            "SELECT * FROM information_schema.columns",
            "SELECT wid::regclass FROM wed_flow",
            "SELECT '{1259}'::_regclass",
            "SELECT array[1259::oid]::\"_regclass\"",
            "SELECT '{}'::_pg_class",
            "SELECT acldefault('r', 16384)",
            "SELECT makeaclitem(16384, 10, 'select', false)::text",
            "SELECT has_column_privilege(16384, 'nope', 'select')",
            "SELECT CAST(wid AS pg_catalog.regtype) FROM wed_flow",
            "SELECT pg_get_expr('x', 1)",
            "SELECT format_type(wid::oid, NULL) FROM wed_flow",
            "SELECT * FROM ts_stat('SELECT 1')",
            "SELECT 'unended",
        ] {
            assert!(catalog_word(sql).is_some(), "{sql}");
        }
    }

    #[test]
    fn queries_of_a_flow_name_nothing_of_it() {
        for sql in [
            "SELECT wid, state FROM wed_flow WHERE a1 = 'pg_attribute' ORDER BY wid",
            "WITH q AS (TABLE wed_trace) SELECT count(*) FROM q -- pg_class",
            "SELECT to_char(now(), 'YYYY'), $$pg_proc$$, regexp_replace(a1, 'x', 'y') FROM wed_flow",
            "SELECT pg_typeof(a1), pg_sleep(1) FROM wed_flow",
            r#"SELECT a1 AS "what a page says" FROM wed_flow"#,
        ] {
            assert_eq!(catalog_word(sql), None, "{sql}");
        }
    }
}
