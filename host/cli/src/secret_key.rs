//! The key under which flows' secrets are kept: `WEDFLOW_SECRET_KEY`, else a file in the home folder
//! that is made when the first secret is stored.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use wedflow_worker::SecretKey;

use crate::problem::Problem;

const VARIABLE: &str = "WEDFLOW_SECRET_KEY";

fn file() -> Result<PathBuf, Problem> {
    Ok(wedflow_embedded_postgres::default_home()?.join("secret.key"))
}

/// The key, if there is one.
pub(crate) fn existing() -> Result<Option<SecretKey>, Problem> {
    if let Some(text) = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty()) {
        return parse(&text, VARIABLE).map(Some);
    }
    let file = file()?;
    let shown = file.display().to_string();
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Problem::new(format!("the key file {shown} cannot be read")).exit(3).because(error));
        }
    };
    let mode = fs::metadata(&file).map_or(0, |about| about.permissions().mode());
    if mode & 0o077 != 0 {
        return Err(Problem::new(format!("others may read the key file {shown}"))
            .exit(4)
            .hint(format!("Run: chmod 600 {shown}; and store the secrets anew if somebody did.")));
    }
    parse(&text, &shown).map(Some)
}

/// The key, made now if there is none.
pub(crate) fn existing_or_new() -> Result<SecretKey, Problem> {
    if let Some(key) = existing()? {
        return Ok(key);
    }
    let file = file()?;
    let failed = |error| Problem::new(format!("the key file {} cannot be made", file.display())).exit(3).because(error);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).and_then(|mut made| {
        made.write_all(SecretKey::fresh_hex().as_bytes())?;
        made.sync_all()
    });
    match made {
        Ok(()) => {}
        // Another process was first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    existing()?.ok_or_else(|| Problem::new("the key file is gone again"))
}

fn parse(text: &str, place: &str) -> Result<SecretKey, Problem> {
    SecretKey::from_hex(text).map_err(|error| {
        Problem::new(format!("{place} holds no key: {error}")).exit(4).hint("A new one: openssl rand -hex 32")
    })
}
