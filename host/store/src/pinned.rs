//! Settings of a session that could change the meaning of a condition, a comparison or an output. The list is the
//! database's: functions that clients call have them from there too.

/// Text of the function that lists them.
const LIST: &str = include_str!("../../../migrations/functions/pinned_settings.sql");

/// Names and values, as the list has them: a line for each, `('name', 'value')`.
pub(crate) fn settings() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIST.lines().filter_map(|line| {
        let line = line.trim().strip_prefix("('")?.trim_end_matches(',');
        line.strip_suffix("')")?.split_once("', '")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_read() {
        let read: Vec<_> = settings().collect();
        assert_eq!(read.len(), LIST.matches("    ('").count());
        assert!(read.contains(&("timezone", "UTC")) && read.contains(&("extra_float_digits", "1")));
    }
}
