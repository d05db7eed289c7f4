//! Sockets of connections with the database's servers: options by which the system finds a connection whose network has
//! forgotten it, and the end of all connections at once.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
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
        let mut count = 0;
        for_each_socket(|socket| {
            if server.is_peer(socket) && shutdown(socket, Shutdown::Both).is_ok() {
                count += 1;
            }
        });
        count
    }
}

/// Has the system watch this process's connections to a server: one whose other side has vanished ends within seconds.
pub(crate) fn watch_sockets(options: &PgConnectOptions) {
    let server = Server::of(options);
    if server.addresses.is_empty() {
        return;
    }
    for_each_socket(|socket| {
        if !server.is_peer(socket) {
            return;
        }
        // The driver writes a COPY's rows and its end one after the other: the end must not wait for an acknowledgement.
        let _ = sockopt::set_tcp_nodelay(socket, true);
        // A system that refuses an option leaves the limit on each call.
        let _ = sockopt::set_socket_keepalive(socket, true);
        let _ = sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE);
        let _ = sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL);
        let _ = sockopt::set_tcp_keepcnt(socket, KEEPALIVE_COUNT);
        let _ = sockopt::set_tcp_user_timeout(socket, UNACKNOWLEDGED_MAX_MS);
    });
}

/// Address of a server: addresses of a network, or the path of a socket.
struct Server {
    addresses: Vec<SocketAddr>,
    path: Option<PathBuf>,
}

impl Server {
    fn of(options: &PgConnectOptions) -> Self {
        let (host, port) = (options.get_host(), options.get_port());
        let folder = (options.get_socket().cloned()).or_else(|| host.starts_with('/').then(|| PathBuf::from(host)));
        if let Some(folder) = folder {
            return Server { addresses: Vec::new(), path: Some(folder.join(format!(".s.PGSQL.{port}"))) };
        }
        let addresses = (host.trim_matches(['[', ']']), port).to_socket_addrs();
        Server { addresses: addresses.map(Iterator::collect).unwrap_or_default(), path: None }
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
    peer.is_ok_and(|peer| (peer.path()).is_some_and(|bound| bound.to_bytes() == path.as_os_str().as_bytes()))
}

/// Does something with each socket of this process, by a descriptor of our own.
///
/// One thread at a time has one such descriptor at a time: threads that copied each other's copies would use up the
/// process's descriptors.
fn for_each_socket(mut act: impl FnMut(&OwnedFd)) {
    static LOOKING: Mutex<()> = Mutex::new(());
    let _looking = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
    let (Ok(own), Ok(entries)) = (pidfd_open(getpid(), PidfdFlags::empty()), std::fs::read_dir("/proc/self/fd")) else {
        return;
    };
    let is_socket = |entry: &std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().starts_with("socket:")
    };
    let numbers: Vec<i32> =
        (entries.flatten().filter(is_socket)).filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers {
        if let Ok(socket) = pidfd_getfd(&own, number, PidfdGetfdFlags::empty()) {
            act(&socket);
        }
    }
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
        let store = store(&format!("postgres://x@localhost/x?host={}", folder.display()));
        assert_eq!(store.cut_sessions(), 1);
        assert_eq!(waits.read(&mut [0]).expect("the end"), 0);
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn system_watches_connections_to_the_server() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let connected = TcpStream::connect(("127.0.0.1", port)).expect("connected");
        let options = PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(port);
        watch_sockets(&options);
        let unacknowledged = sockopt::tcp_user_timeout(&connected).expect("an option");
        assert_eq!(unacknowledged, UNACKNOWLEDGED_MAX_MS);
        assert!(sockopt::socket_keepalive(&connected).expect("an option"));
        assert!(sockopt::tcp_nodelay(&connected).expect("an option"), "the end of a COPY follows its rows at once");
    }

    #[test]
    fn descriptors_of_threads_that_look_at_once_do_not_multiply() {
        const SOCKETS: usize = 100;
        const LOOKS: usize = 20;
        const THREADS: usize = 8;
        // Sessions of tests that run at the same time.
        const OTHERS: usize = 200;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let options = PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(address.port());
        let kept: Vec<_> = (0..SOCKETS).map(|_| TcpStream::connect(address).expect("connected")).collect();
        let count = || std::fs::read_dir("/proc/self/fd").expect("them").count();
        let before = count();
        let most = std::thread::scope(|scope| {
            let looks = || (0..LOOKS).for_each(|_| watch_sockets(&options));
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(looks)).collect();
            let mut most = 0;
            while threads.iter().any(|thread| !thread.is_finished()) {
                most = most.max(count());
            }
            most
        });
        assert!(most < before + OTHERS, "{before} descriptors, then {most}");
        drop(kept);
    }
}
