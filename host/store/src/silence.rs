//! Connections that have gone silent: a network that forgot them, a server that lost power. Nobody resets them, so
//! whoever waits for an answer waits for ever; to shut them down ends all such waits at once.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;

use rustix::net::{Shutdown, getpeername, shutdown};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use crate::Store;

impl Store {
    /// Shuts down every connection of this process to the database's server; returns how many there were. Whoever uses
    /// one gets an error of the connection, and the next use opens another.
    pub fn cut_sessions(&self) -> usize {
        let (host, port, _) = self.place();
        // What is named by a path is on this machine, and is reset when its server ends.
        let addresses: Vec<SocketAddr> = (host.trim_matches(['[', ']']), port)
            .to_socket_addrs()
            .map(Iterator::collect)
            .unwrap_or_default();
        let mut cut = 0;
        for socket in sockets() {
            let peer = getpeername(&socket).ok().flatten();
            let peer = peer.and_then(|peer| peer.try_into().ok());
            if peer.is_some_and(|peer: SocketAddr| addresses.contains(&peer))
                && shutdown(&socket, Shutdown::Both).is_ok()
            {
                cut += 1;
            }
        }
        cut
    }
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

    use super::*;

    #[tokio::test]
    async fn what_waits_for_an_answer_ends() {
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("an address").port();
        let options =
            crate::options_of(&format!("postgres://x@127.0.0.1:{port}/x")).expect("options");
        let store = Store {
            pool: crate::pool_of(1).connect_lazy_with(options.clone()),
            options,
            actor: "test".into(),
            request: "".into(),
        };
        let mut waits = TcpStream::connect(("127.0.0.1", port)).expect("connected");
        let stays = TcpStream::connect(other.local_addr().expect("an address")).expect("connected");
        assert_eq!(store.cut_sessions(), 1);
        assert_eq!(waits.read(&mut [0]).expect("the end"), 0);
        assert!(stays.peer_addr().is_ok());
    }
}
