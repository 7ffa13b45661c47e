//! Addresses as Envoy writes them.

use std::net::SocketAddr;

/// The IP address of a peer, without the port. A Unix socket has none.
pub fn ip(address: &[u8]) -> String {
    let parsed = String::from_utf8_lossy(address).parse::<SocketAddr>();
    parsed.map(|parsed| parsed.ip().to_string()).unwrap_or_default()
}

/// Whether an address is of this machine: loopback, or a Unix socket by its path or its abstract name.
pub fn is_local(address: &str) -> bool {
    match address.parse::<SocketAddr>() {
        Ok(address) => address.ip().to_canonical().is_loopback(),
        Err(_) => address.starts_with(['/', '@']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_unix_sockets_are_local_and_nothing_else_is() {
        for address in
            ["127.0.0.1:3306", "[::1]:3306", "[::ffff:127.0.0.1]:3306", "/run/mysqld.sock", "@mysqld"]
        {
            assert!(is_local(address), "{address}");
        }
        for address in ["", "10.0.0.7:3306", "[2001:db8::1]:3306", "envoy://internal/1", "localhost:3306"] {
            assert!(!is_local(address), "{address}");
        }
    }

    #[test]
    fn port_is_no_part_of_a_peers_address() {
        assert_eq!(ip(b"192.0.2.7:5432"), "192.0.2.7");
        assert_eq!(ip(b"[2001:db8::1]:5432"), "2001:db8::1");
        assert_eq!(ip(b"/run/socket"), "");
    }
}
