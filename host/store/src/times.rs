//! The form in which queries write moments.

/// Format of an instant in answers.
pub(crate) const RFC3339: &str = r#"'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"#;
