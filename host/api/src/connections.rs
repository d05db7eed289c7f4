//! Connections that are being served: a number in all and a smaller one for an address. Whoever is late with the head
//! of a request makes room for others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, Response};
use hyper::body::{Frame, SizeHint};
use ipnet::IpNet;
use tokio::sync::Notify;

/// Connections above the share of an address that are served for health alone, of all addresses.
const NARROW_MAX: usize = 32;
/// Bits of an IPv6 address that its holder chooses freely.
const HOST_BITS_V6: u32 = 64;

/// Returns the address that a share is counted by: IPv6 addresses of a /64 are one.
pub(crate) fn grouped(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> HOST_BITS_V6 << HOST_BITS_V6).into()),
        address => address,
    }
}

/// Reads an address, or a network such as `10.0.0.0/8`.
///
/// # Errors
/// When the text is neither.
pub fn network_of(text: &str) -> Result<IpNet, String> {
    let address = || text.parse().ok().map(|address: IpAddr| address.into());
    let network = text.parse().ok().or_else(address);
    network.ok_or_else(|| format!("\"{text}\" is no address and no network, such as 10.0.0.0/8"))
}

/// Proxies whose header `X-Forwarded-For` is believed, and whose connections are everybody's.
#[derive(Debug, Clone)]
pub(crate) struct Proxies(pub(crate) Arc<[IpNet]>);

impl Proxies {
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the client's address: the last of `X-Forwarded-For` that is no proxy, if a proxy says so.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.has(peer) {
            return peer;
        }
        let told = headers.get_all("x-forwarded-for").into_iter();
        let told: Vec<&str> = told.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).collect();
        let mut client = peer;
        for address in told.into_iter().rev().map_while(address_of) {
            client = address;
            if !self.has(address) {
                break;
            }
        }
        client
    }
}

/// Reads an address, with or without a port.
fn address_of(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let alone = text.trim_start_matches('[').trim_end_matches(']');
    let with_port = || text.parse().ok().map(|socket: std::net::SocketAddr| socket.ip());
    alone.parse().ok().or_else(with_port)
}

/// Address of a request's client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

/// Mark of a request on a connection above its address's share: only health is served.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Narrow;

/// Connections that are being served. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Shared>);

struct Shared {
    most: usize,
    of_address: usize,
    state: Mutex<State>,
    /// A connection has ended.
    freed: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    open: HashMap<u64, Open>,
    /// Number of connections by address, without those of proxies and narrow ones.
    shares: HashMap<IpAddr, usize>,
    narrow: usize,
}

struct Open {
    /// Address whose share counts it.
    share: Option<IpAddr>,
    narrow: bool,
    /// Time since which no request is being answered.
    idle: Option<Instant>,
    end: Arc<Notify>,
}

/// A connection, until it is dropped.
pub(crate) struct Connection {
    connections: Connections,
    number: u64,
    /// Told when the connection is to make room.
    pub(crate) end: Arc<Notify>,
    pub(crate) narrow: bool,
}

impl Connections {
    pub(crate) fn new(most: usize, of_address: usize) -> Self {
        Connections(Arc::new(Shared { most, of_address, state: Mutex::default(), freed: Notify::new() }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more connection may be taken. A full server takes one more while another is idle, which ends.
    pub(crate) async fn room(&self) {
        loop {
            let freed = self.0.freed.notified();
            {
                let state = self.state();
                if state.open.len() < self.0.most || state.open.values().any(|open| open.idle.is_some()) {
                    return;
                }
            }
            freed.await;
        }
    }

    /// Counts a connection of an address; one without an address belongs to a proxy and counts in no share. Returns
    /// none when the address has too many.
    pub(crate) fn take(&self, address: Option<IpAddr>) -> Option<Connection> {
        let mut state = self.state();
        let mut narrow = false;
        if let Some(address) = address
            && state.shares.get(&address).copied().unwrap_or_default() >= self.0.of_address
            && !state.end_idle(Some(address))
        {
            if state.narrow >= NARROW_MAX {
                return None;
            }
            narrow = true;
        }
        if state.open.len() >= self.0.most {
            state.end_idle(None);
        }
        let share = address.filter(|_| !narrow);
        if let Some(address) = share {
            *state.shares.entry(address).or_default() += 1;
        }
        state.narrow += usize::from(narrow);
        let (number, end) = (state.next, Arc::new(Notify::new()));
        state.next += 1;
        let open = Open { share, narrow, idle: Some(Instant::now()), end: Arc::clone(&end) };
        state.open.insert(number, open);
        Some(Connection { connections: self.clone(), number, end, narrow })
    }
}

impl State {
    /// Ends the connection, of an address or of all, that has been idle longest. Returns false if none is idle.
    fn end_idle(&mut self, address: Option<IpAddr>) -> bool {
        let idle = self.open.iter().filter_map(|(number, open)| {
            let is_of = address.is_none() || open.share == address;
            open.idle.filter(|_| is_of).map(|since| (since, *number))
        });
        let Some((_, number)) = idle.min() else {
            return false;
        };
        self.remove(number);
        true
    }

    /// Takes a connection out of the counts, and tells it to end.
    fn remove(&mut self, number: u64) {
        let Some(open) = self.open.remove(&number) else {
            return;
        };
        open.end.notify_one();
        self.narrow -= usize::from(open.narrow);
        if let Some(address) = open.share
            && let Some(count) = self.shares.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.shares.remove(&address);
            }
        }
    }
}

impl Connection {
    /// Takes it that a request is being answered, until the guard is dropped.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.set_idle(None);
        Busy(Arc::clone(self))
    }

    fn set_idle(&self, idle: Option<Instant>) {
        if let Some(open) = self.connections.state().open.get_mut(&self.number) {
            open.idle = idle;
        }
        if idle.is_some() {
            self.connections.0.freed.notify_one();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.state().remove(self.number);
        self.connections.0.freed.notify_one();
    }
}

/// A request that is being answered on a connection.
pub(crate) struct Busy(Arc<Connection>);

impl Busy {
    /// Holds the connection busy until an answer's body was sent.
    pub(crate) fn until_sent(self, response: Response<Body>) -> Response<Body> {
        response.map(|body| Body::new(Sent { body, _busy: self }))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set_idle(Some(Instant::now()));
    }
}

/// A body during which a connection is busy.
struct Sent {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn addresses_of_a_v6_network_share() {
        assert_eq!(grouped(address("2001:db8::1")), grouped(address("2001:db8::ffff:1")));
        assert_ne!(grouped(address("2001:db8::1")), grouped(address("2001:db8:0:1::1")));
        assert_eq!(grouped(address("::ffff:10.0.0.1")), address("10.0.0.1"));
    }

    #[test]
    fn forwarded_address_is_believed_of_proxies_only() {
        let proxies = Proxies(Arc::new(["10.0.0.0/8".parse().expect("a network")]));
        let mut headers = HeaderMap::new();
        let told = "1.2.3.4, 198.51.100.7:9, 10.9.9.9".parse().expect("a value");
        headers.insert("x-forwarded-for", told);
        let client = |peer| proxies.client(address(peer), &headers);
        assert_eq!(client("10.0.0.1"), address("198.51.100.7"));
        assert_eq!(client("192.0.2.1"), address("192.0.2.1"));
        headers.insert("x-forwarded-for", "nobody".parse().expect("a value"));
        assert_eq!(proxies.client(address("10.0.0.1"), &headers), address("10.0.0.1"));
    }

    #[tokio::test]
    async fn full_server_ends_what_has_been_idle_longest() {
        let connections = Connections::new(2, 2);
        let (a, b) = (address("192.0.2.1"), address("192.0.2.2"));
        let first = Arc::new(connections.take(Some(a)).expect("room"));
        let _second = connections.take(Some(a)).expect("room");
        let busy = first.busy();
        connections.room().await;
        // The second one is idle, and goes.
        let third = Arc::new(connections.take(Some(b)).expect("room"));
        assert_eq!(connections.state().shares.get(&a), Some(&1));
        let _answering = third.busy();
        let full = tokio::time::timeout(std::time::Duration::from_millis(20), connections.room());
        assert!(full.await.is_err());
        drop(busy);
        connections.room().await;
    }

    #[test]
    fn address_above_its_share_is_served_narrowly() {
        let connections = Connections::new(100, 1);
        let a = address("192.0.2.1");
        let first = Arc::new(connections.take(Some(a)).expect("room"));
        let _busy = first.busy();
        let narrow: Vec<_> = (0..NARROW_MAX).map(|_| connections.take(Some(a)).expect("a narrow one")).collect();
        assert!(narrow.iter().all(|connection| connection.narrow));
        assert!(connections.take(Some(a)).is_none());
        assert!(connections.take(None).is_some_and(|connection| !connection.narrow));
    }
}
