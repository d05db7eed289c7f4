//! Servers that a database's URL names, and the choice among them: hosts write, so they connect to the one that takes
//! writes, whichever it is just now.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, Row};

use crate::error::Unfit;
use crate::{StoreError, silence};

/// Longest wait for one of several servers.
const SERVER_TIME_MAX: Duration = Duration::from_secs(3);
/// Longest wait for the only server.
const ONLY_SERVER_TIME_MAX: Duration = Duration::from_secs(10);
/// Setting that a session has if its server was told of all its settings.
const KEPT: &str = "wed.settings_kept";
/// Most sessions of this program that are remembered.
const BACKENDS_MAX: usize = 64;

/// Demands on a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Any session; of several servers preferably one that takes writes.
    Any,
    /// A session of no replica that has the settings that were asked for; preferably one that takes writes.
    Reader,
    /// A session that takes writes and has the settings that were asked for.
    Host,
}

/// Servers of a database.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// Host and port of each, where the URL names several.
    several: Vec<(String, u16)>,
    /// Number of the server that was chosen last.
    last: AtomicUsize,
    /// Processes of the server that serve the newest sessions of this program.
    backends: Mutex<VecDeque<i32>>,
}

impl Servers {
    /// Reads a database's URL.
    pub(crate) fn of(url: &str) -> Result<(Servers, PgConnectOptions), StoreError> {
        let malformed = |reason: &str| StoreError::Url(reason.to_owned());
        let rest = ["postgres://", "postgresql://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| malformed("it does not begin with postgres://"))?;
        let authority = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
        let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
        let (plain, attributes) = without_attributes(url);
        if !matches!(attributes, None | Some("any" | "read-write" | "primary")) {
            return Err(malformed("target_session_attrs is any, read-write or primary"));
        }
        let read = |url: &str| -> Result<PgConnectOptions, StoreError> {
            url.parse().map_err(|source: sqlx::Error| StoreError::Url(source.to_string()))
        };
        if !hosts.contains(',') {
            return Ok((Servers::default(), read(&plain)?));
        }
        let each: Vec<PgConnectOptions> =
            (hosts.split(',')).map(|one| read(&plain.replacen(hosts, one, 1))).collect::<Result<_, _>>()?;
        let several = (each.iter()).map(|options| (options.get_host().to_owned(), options.get_port())).collect();
        let servers = Servers { several, ..Servers::default() };
        let first = each.into_iter().next();
        let options = first.ok_or_else(|| malformed("it names no server"))?;
        Ok((servers, options))
    }

    /// Names the servers as a URL does.
    pub(crate) fn authority(&self, options: &PgConnectOptions) -> String {
        if self.several.is_empty() {
            return format!("{}:{}", options.get_host(), options.get_port());
        }
        let each: Vec<String> = (self.several.iter()).map(|(host, port)| format!("{host}:{port}")).collect();
        each.join(",")
    }

    /// Options of the server that was chosen last.
    pub(crate) fn chosen(&self, options: &PgConnectOptions) -> PgConnectOptions {
        self.at(self.last.load(Ordering::Relaxed), options)
    }

    /// Returns the processes of the server that serve the newest sessions of this program.
    pub(crate) fn backends(&self) -> Vec<i32> {
        let backends = self.backends.lock();
        let backends = backends.unwrap_or_else(PoisonError::into_inner);
        backends.iter().copied().collect()
    }

    fn remember(&self, backend: i32) {
        let backends = self.backends.lock();
        let mut backends = backends.unwrap_or_else(PoisonError::into_inner);
        if backends.len() >= BACKENDS_MAX {
            backends.pop_front();
        }
        backends.push_back(backend);
    }

    fn at(&self, number: usize, options: &PgConnectOptions) -> PgConnectOptions {
        match self.several.get(number % self.several.len().max(1)) {
            Some((host, port)) => options.clone().host(host).port(*port),
            None => options.clone(),
        }
    }

    /// Opens a session that fits, at the first server that gives one; begins with the last that did.
    pub(crate) async fn connect(
        &self,
        options: &PgConnectOptions,
        access: Access,
    ) -> Result<PgConnection, sqlx::Error> {
        let opened = self.open_any(options, access).await;
        opened.map(|(connection, _)| connection)
    }

    /// Opens a session as [`Servers::connect`]; says too if it takes writes.
    pub(crate) async fn open_any(
        &self,
        options: &PgConnectOptions,
        access: Access,
    ) -> Result<(PgConnection, bool), sqlx::Error> {
        let options = options.clone().options([(KEPT, "yes")]);
        let first = self.last.load(Ordering::Relaxed);
        let mut fallback = Err(sqlx::Error::PoolTimedOut);
        for number in first..first + self.several.len().max(1) {
            match self.open(&self.at(number, &options), access).await {
                Ok((connection, true)) => {
                    self.last.store(number, Ordering::Relaxed);
                    return Ok((connection, true));
                }
                Ok((connection, false)) => fallback = Ok((connection, false)),
                // A server that takes no changes says more than one that is away.
                Err(error) if fallback.is_err() && !is_read_only(&fallback) => fallback = Err(error),
                Err(_) => {}
            }
        }
        fallback
    }

    /// Opens a session at one server; says too if it takes writes.
    async fn open(&self, options: &PgConnectOptions, access: Access) -> Result<(PgConnection, bool), sqlx::Error> {
        let limit = match self.several.len() {
            0 | 1 => ONLY_SERVER_TIME_MAX,
            _ => SERVER_TIME_MAX,
        };
        let opening = async {
            let mut connection = options.connect().await?;
            let watched = options.clone();
            // The name of a server is looked up.
            let _ = tokio::task::spawn_blocking(move || silence::watch_sockets(&watched)).await;
            let state = sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
                "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, \
                 current_setting('{KEPT}', true) IS NOT DISTINCT FROM 'yes', pg_backend_pid()"
            )))
            .fetch_one(&mut connection)
            .await?;
            let replica: bool = state.try_get(0)?;
            let read_only: bool = replica || state.try_get(1)?;
            let kept: bool = state.try_get(2)?;
            self.remember(state.try_get(3)?);
            match access {
                Access::Host | Access::Reader if !kept => Err(Unfit::Pooler.into()),
                Access::Host if read_only => Err(Unfit::ReadOnly.into()),
                Access::Reader if replica => Err(Unfit::ReadOnly.into()),
                _ => Ok((connection, !read_only)),
            }
        };
        tokio::time::timeout(limit, opening).await.unwrap_or_else(|_| Err(silence::silent()))
    }
}

fn is_read_only<T>(answer: &Result<T, sqlx::Error>) -> bool {
    match answer {
        Err(sqlx::Error::Configuration(source)) => {
            matches!(source.downcast_ref(), Some(Unfit::ReadOnly))
        }
        _ => false,
    }
}

/// Takes `target_session_attrs` out of a URL, which the driver does not know.
fn without_attributes(url: &str) -> (String, Option<&str>) {
    let Some((place, query)) = url.split_once('?') else {
        return (url.to_owned(), None);
    };
    let mut attributes = None;
    let others: Vec<&str> = (query.split('&'))
        .filter(|pair| match pair.strip_prefix("target_session_attrs=") {
            Some(value) => {
                attributes = Some(value);
                false
            }
            None => true,
        })
        .collect();
    match others.is_empty() {
        true => (place.to_owned(), attributes),
        false => (format!("{place}?{}", others.join("&")), attributes),
    }
}

/// Returns a database's URL with `…` in the place of its password: hints end in logs.
pub fn without_password(url: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_names_several_servers() {
        let (servers, options) =
            Servers::of("postgres://u:p%2C@one:5433,two,[::1]:6000/d?target_session_attrs=primary&sslmode=disable")
                .expect("a URL");
        assert_eq!(servers.authority(&options), "one:5433,two:5432,[::1]:6000");
        assert_eq!(options.get_username(), "u");
        assert_eq!(options.get_database(), Some("d"));
        assert_eq!(servers.at(4, &options).get_host(), "two");
        for refused in ["mysql://one/d", "postgres://one,two:x/d", "postgres://one/d?target_session_attrs=standby"] {
            assert!(Servers::of(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn url_of_one_server_is_the_drivers() {
        let (servers, options) = Servers::of("postgres://u@host:5433/d?application_name=x").expect("a URL");
        assert!(servers.several.is_empty());
        assert_eq!(servers.authority(&options), "host:5433");
    }

    #[test]
    fn hints_hold_no_password() {
        for (url, shown) in [
            ("postgres://u:p%40@h:1/d", "postgres://u:…@h:1/d"),
            ("postgres://u:p@x@h/d", "postgres://u:…@h/d"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("postgres:///d?user=u&password=p&host=/x", "postgres:///d?user=u&password=…&host=/x"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
