//! Servers that a person speaks to, by name: one file in the configuration folder, which only its owner reads.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// Name that stands for the database instead of a server.
pub(crate) const LOCAL: &str = "local";

/// A server and a token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    pub(crate) server: String,
    pub(crate) token: String,
    /// Tenant of the token, as it was told at the login.
    pub(crate) tenant: String,
    /// User of the token.
    pub(crate) user: String,
    /// File of authorities whose certificates are trusted as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trust_ca: Option<PathBuf>,
}

/// All contexts, and the one in use.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contexts {
    /// Name of the one in use; the database without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    #[serde(default)]
    pub(crate) context: BTreeMap<String, Context>,
}

/// Returns the configuration folder: `WEDFLOW_CONFIG`, else `wedflow` in `XDG_CONFIG_HOME`, else in `~/.config`.
pub(crate) fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("WEDFLOW_CONFIG").map(PathBuf::from);
    let shared = || {
        let shared = variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let shared = shared.filter(|path| path.is_absolute());
        shared.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))
    };
    folder.or_else(|| shared().map(|folder| folder.join("wedflow")))
}

/// Returns the file of the contexts.
pub(crate) fn file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("contexts.toml"))
}

/// Makes a folder that only its owner reads, unless it is there.
pub(crate) fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

impl Contexts {
    /// Reads the contexts; none where there is no file.
    pub(crate) fn read() -> Result<Self, Problem> {
        let Some(file) = file() else {
            return Ok(Contexts::default());
        };
        match fs::read_to_string(&file) {
            Ok(text) => toml::from_str(&text).map_err(|source| {
                Problem::usage(format!("{} cannot be used", file.display()))
                    .because(source)
                    .hint("Mend it, or remove it and log in again: `wed login`.")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Contexts::default()),
            Err(source) => Err(Problem::new(format!("{} cannot be read", file.display())).because(source)),
        }
    }

    /// Writes the contexts as a whole: mode 600, in a folder of mode 700.
    pub(crate) fn write(&self) -> Result<PathBuf, Problem> {
        let file = file().ok_or_else(|| {
            Problem::usage("there is no folder to keep the token in")
                .hint("Set WEDFLOW_CONFIG to a folder, or say --server and --token.")
        })?;
        let failed =
            |source: std::io::Error| Problem::new(format!("{} cannot be written", file.display())).because(source);
        let text =
            toml::to_string(self).map_err(|source| Problem::new("the contexts cannot be written").because(source))?;
        let folder = file.parent().unwrap_or(&file);
        make_folder(folder).map_err(failed)?;
        let new = folder.join(format!("contexts.{}.new", std::process::id()));
        let written = (fs::OpenOptions::new().write(true).create(true).truncate(true))
            .mode(0o600)
            .open(&new)
            .and_then(|mut opened| opened.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&new, &file));
        if written.is_err() {
            // The token must not stay behind under another name.
            let _ = fs::remove_file(&new);
        }
        written.map_err(failed)?;
        Ok(file)
    }

    /// Returns the context of a name.
    pub(crate) fn named(&self, name: &str) -> Result<&Context, Problem> {
        self.context.get(name).ok_or_else(|| {
            Problem::new(format!("there is no context \"{name}\""))
                .code("not_found")
                .exit(3)
                .hint("`wed context list` shows those there are; `wed login` makes one.")
        })
    }
}
