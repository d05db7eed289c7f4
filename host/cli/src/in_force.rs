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
    let Some((options, commands)) = IN_FORCE.get().filter(|(options, _)| !options.is_empty())
    else {
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

/// Returns a database's URL with `…` in the place of its password: hints end in logs.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, place)) => match user.split_once(':') {
            Some((user, _)) => format!("{user}:…@{place}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    let path = match path.split_once("password=") {
        Some((before, after)) => {
            let others = after.find('&').map_or("", |at| &after[at..]);
            format!("{before}password=…{others}")
        }
        None => path.to_owned(),
    };
    format!("{scheme}://{authority}{path}")
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

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn hints_hold_no_password() {
        for (url, shown) in [
            ("postgres://u:p%40@h:1/d", "postgres://u:…@h:1/d"),
            ("postgres://u:p@x@h/d", "postgres://u:…@h/d"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            (
                "postgres:///d?user=u&password=p&host=/x",
                "postgres:///d?user=u&password=…&host=/x",
            ),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
