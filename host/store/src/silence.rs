//! Sockets of connections with the database's servers: options by which the system finds a connection whose network has
//! forgotten it, and the end of all connections at once.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{Shutdown, SocketAddrAny, SocketAddrUnix, getpeername, shutdown, sockopt};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use sqlx::postgres::PgConnectOptions;

use crate::Store;

/// Silence of a connection after which the system asks whether the other side is there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(4);
/// Time between two such questions.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
/// Number of questions without an answer that end a connection.
const KEEPALIVE_COUNT: u32 = 3;
/// Longest time that data which was sent goes unacknowledged; milliseconds.
const UNACKNOWLEDGED_MAX_MS: u32 = 10_000;

/// Error of an answer that did not come in time.
pub(crate) fn silent() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())
}

impl Store {
    /// Shuts down every connection of this process to the database's server; returns how many there were. Whoever uses
    /// one gets an error of the connection, and the next use opens another.
    pub fn cut_sessions(&self) -> usize {
        let server = Server::of(&self.servers.chosen(&self.options));
        (sockets().iter())
            .filter(|socket| server.is_peer(socket))
            .filter(|socket| shutdown(socket, Shutdown::Both).is_ok())
            .count()
    }
}

/// Has the system watch this process's connections to a server: one whose other side has vanished ends within seconds.
pub(crate) fn watch_sockets(options: &PgConnectOptions) {
    let server = Server::of(options);
    if server.addresses.is_empty() {
        return;
    }
    for socket in sockets().iter().filter(|socket| server.is_peer(socket)) {
        // A system that refuses an option leaves the limit on each call.
        let _ = sockopt::set_socket_keepalive(socket, true);
        let _ = sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE);
        let _ = sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL);
        let _ = sockopt::set_tcp_keepcnt(socket, KEEPALIVE_COUNT);
        let _ = sockopt::set_tcp_user_timeout(socket, UNACKNOWLEDGED_MAX_MS);
    }
}

/// Address of a server: addresses of a network, or the path of a socket.
struct Server {
    addresses: Vec<SocketAddr>,
    path: Option<PathBuf>,
}

impl Server {
    fn of(options: &PgConnectOptions) -> Self {
        let (host, port) = (options.get_host(), options.get_port());
        let folder = (options.get_socket().cloned())
            .or_else(|| host.starts_with('/').then(|| PathBuf::from(host)));
        if let Some(folder) = folder {
            return Server {
                addresses: Vec::new(),
                path: Some(folder.join(format!(".s.PGSQL.{port}"))),
            };
        }
        let addresses = (host.trim_matches(['[', ']']), port).to_socket_addrs();
        Server {
            addresses: addresses.map(Iterator::collect).unwrap_or_default(),
            path: None,
        }
    }

    fn is_peer(&self, socket: &OwnedFd) -> bool {
        let Ok(Some(peer)) = getpeername(socket) else {
            return false;
        };
        match &self.path {
            None => SocketAddr::try_from(peer).is_ok_and(|peer| self.addresses.contains(&peer)),
            Some(path) => is_at(&peer, path),
        }
    }
}

fn is_at(peer: &SocketAddrAny, path: &std::path::Path) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let peer = SocketAddrUnix::try_from(peer.clone());
    peer.is_ok_and(|peer| {
        (peer.path()).is_some_and(|bound| bound.to_bytes() == path.as_os_str().as_bytes())
    })
}

/// The sockets of this process, each by a descriptor of our own.
fn sockets() -> Vec<OwnedFd> {
    let (Ok(own), Ok(entries)) = (
        pidfd_open(getpid(), PidfdFlags::empty()),
        std::fs::read_dir("/proc/self/fd"),
    ) else {
        return Vec::new();
    };
    let is_socket = |entry: &std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().starts_with("socket:")
    };
    entries
        .flatten()
        .filter(is_socket)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|number| pidfd_getfd(&own, number, PidfdGetfdFlags::empty()).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    fn store(url: &str) -> Store {
        Store::lazy(url).expect("a URL")
    }

    #[tokio::test]
    async fn what_waits_for_an_answer_ends() {
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("an address").port();
        let store = store(&format!("postgres://x@127.0.0.1:{port}/x"));
        let mut waits = TcpStream::connect(("127.0.0.1", port)).expect("connected");
        let stays = TcpStream::connect(other.local_addr().expect("an address")).expect("connected");
        assert_eq!(store.cut_sessions(), 1);
        assert_eq!(waits.read(&mut [0]).expect("the end"), 0);
        assert!(stays.peer_addr().is_ok());
    }

    #[tokio::test]
    async fn connections_over_a_path_end_too() {
        let folder = std::env::temp_dir().join(format!("wedflow-cut-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(".s.PGSQL.5432");
        let _ = std::fs::remove_file(&path);
        let _listener = UnixListener::bind(&path).expect("a socket");
        let mut waits = UnixStream::connect(&path).expect("connected");
        let store = store(&format!(
            "postgres://x@localhost/x?host={}",
            folder.display()
        ));
        assert_eq!(store.cut_sessions(), 1);
        assert_eq!(waits.read(&mut [0]).expect("the end"), 0);
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn system_watches_connections_to_the_server() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let connected = TcpStream::connect(("127.0.0.1", port)).expect("connected");
        let options = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(port);
        watch_sockets(&options);
        let unacknowledged = sockopt::tcp_user_timeout(&connected).expect("an option");
        assert_eq!(unacknowledged, UNACKNOWLEDGED_MAX_MS);
        assert!(sockopt::socket_keepalive(&connected).expect("an option"));
    }
}
