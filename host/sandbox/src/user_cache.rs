//! Folder of this user's compiled components.

use std::path::PathBuf;

/// `WEDFLOW_CACHE` (empty: nowhere); else the folder `wedflow` in `XDG_CACHE_HOME` or `~/.cache`.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    if let Some(given) = variable("WEDFLOW_CACHE") {
        return Some(given).filter(|folder| !folder.as_os_str().is_empty());
    }
    variable("XDG_CACHE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .filter(|base| base.is_absolute())
        .map(|base| base.join("wedflow"))
}
