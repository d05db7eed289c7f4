//! Tenant and options that the command was given, for commands in hints.

use std::sync::OnceLock;

/// The options that were given for all commands, as they are to be given again, and the names of the commands.
static IN_FORCE: OnceLock<(String, Vec<String>)> = OnceLock::new();

/// The tenant that the command is for; none where the server knows it.
static TENANT: OnceLock<Option<String>> = OnceLock::new();

/// Names the options that commands in hints are to have, and the commands there are.
pub(crate) fn force(tenant: Option<String>, options: String, commands: Vec<String>) {
    // Once a process.
    let _ = IN_FORCE.set((options, commands));
    let _ = TENANT.set(tenant);
}

/// The tenant that the command is for; none where the server knows it.
pub(crate) fn tenant() -> Option<&'static str> {
    TENANT.get()?.as_deref()
}

/// A text in which each command of ours has the options in force: who pastes it acts on the same tenant and database.
pub(crate) fn with_options(text: &str) -> String {
    let Some((options, commands)) = IN_FORCE.get().filter(|(options, _)| !options.is_empty()) else {
        return text.to_owned();
    };
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("wed ") {
        let (before, after) = rest.split_at(at + "wed".len());
        told.push_str(before);
        let starts = !before[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let word = after[1..].split(|c: char| !c.is_ascii_lowercase()).next();
        if starts && word.is_some_and(|word| commands.iter().any(|one| one == word)) {
            told.push_str(options);
        }
        rest = after;
    }
    told.push_str(rest);
    told
}

/// Returns true if an option was given with the command, not by the environment.
pub(crate) fn is_given(option: &str) -> bool {
    let with_value = format!("{option}=");
    let mut words = std::env::args_os();
    words.any(|word| {
        let word = word.to_string_lossy();
        word == option || word.starts_with(&with_value)
    })
}
