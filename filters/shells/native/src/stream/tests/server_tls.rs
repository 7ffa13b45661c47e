//! TLS with servers that are asked for it.

use super::*;
use crate::server_tls::ServerTls;

#[test]
fn client_waits_until_tls_with_the_server_begins() {
    let (stream, envoy) =
        begin_with(ServerTls::WANTED, vec![(to_server(b"sealed"), false), (unchanged(4), false)]);
    assert_eq!(from_client(&stream, &envoy, b"start"), Flow::Stop);
    assert_eq!(from_client(&stream, &envoy, b"up"), Flow::Stop);
    assert_eq!(
        (envoy.0.borrow().read.as_slice(), envoy.0.borrow().injected.as_slice()),
        (&b"startup"[..], &ServerTls::REQUEST[..])
    );
    GIVEN.with_borrow(|given| assert!(given.is_empty()));
    assert_eq!(from_server(&stream, &envoy, b"S"), Flow::Continue);
    assert!(envoy.0.borrow().tls_started);
    assert_eq!((envoy.0.borrow().write.as_slice(), envoy.0.borrow().continued), (&b""[..], 1));
    assert_eq!(envoy.0.borrow().read, b"sealed");
    assert_eq!(from_server(&stream, &envoy, b"auth"), Flow::Continue);
    assert_eq!(envoy.0.borrow().write, b"auth");
    assert_eq!(stream.state.borrow().server_tls, ServerTls::Established);
}

#[test]
fn nothing_of_the_client_goes_to_a_server_that_begins_no_tls() {
    for said in [&b"N"[..], b"E\0\0\0\x04", b"SS", b"R"] {
        let (stream, envoy) = begin_with(ServerTls::WANTED, vec![]);
        assert_eq!(from_client(&stream, &envoy, b"startup"), Flow::Stop);
        assert_eq!(from_server(&stream, &envoy, said), Flow::Continue);
        assert_eq!(envoy.0.borrow().injected, ServerTls::REQUEST);
        let told = String::from_utf8_lossy(&envoy.0.borrow().write).into_owned();
        assert!(told.starts_with('E') && told.contains("FATAL") && told.contains("fieldveil: the server:"));
        assert!(!envoy.0.borrow().tls_started && !envoy.0.borrow().closed);
        stream.woken();
        assert!(envoy.0.borrow().closed);
        assert_eq!(from_client(&stream, &envoy, b"more"), Flow::Continue);
        assert_eq!((envoy.0.borrow().read.as_slice(), envoy.0.borrow().continued), (&b""[..], 0));
    }
}

#[test]
fn client_that_ends_its_side_before_the_server_is_asked_leaves_no_connection() {
    for begun in [&b""[..], b"\0\0\0"] {
        let (stream, envoy) = begin_with(ServerTls::WANTED, vec![]);
        envoy.0.borrow_mut().read.extend_from_slice(begun);
        assert_eq!(stream.client_bytes(true), Flow::Stop);
        assert!(envoy.0.borrow().closed && envoy.0.borrow().injected.is_empty());
    }
}

#[test]
fn cluster_that_can_not_begin_tls_gets_nothing_of_the_client() {
    let (stream, envoy) = begin_with(ServerTls::WANTED, vec![]);
    envoy.0.borrow_mut().starts_tls = false;
    from_client(&stream, &envoy, b"startup");
    assert_eq!(from_server(&stream, &envoy, b"S"), Flow::Continue);
    assert!(String::from_utf8_lossy(&envoy.0.borrow().write).contains("starttls"));
    assert_eq!((envoy.0.borrow().read.as_slice(), envoy.0.borrow().continued), (&b"startup"[..], 0));
}

#[test]
fn server_that_does_not_go_on_in_time_is_given_up() {
    for begun in [false, true] {
        let (stream, envoy) = begin_with(ServerTls::WANTED, vec![(unchanged(7), false)]);
        from_client(&stream, &envoy, b"startup");
        if begun {
            from_server(&stream, &envoy, b"S");
        }
        stream.woken();
        assert!(!envoy.0.borrow().closed, "there is time yet");
        let late =
            if begun { ServerTls::Begun { deadline_ms: 1 } } else { ServerTls::Asked { deadline_ms: 1 } };
        stream.state.borrow_mut().server_tls = late;
        stream.woken();
        assert!(envoy.0.borrow().closed);
        assert!(String::from_utf8_lossy(&envoy.0.borrow().told).contains("TLS did not begin in time"));
    }
}

#[test]
fn requests_of_the_client_for_encryption_are_declined_before_the_server_is_asked_for_tls() {
    let (stream, envoy) = begin_with(ServerTls::WANTED, vec![]);
    for byte in ServerTls::REQUEST {
        assert_eq!(envoy.0.borrow().told, b"");
        assert_eq!(from_client(&stream, &envoy, &[byte]), Flow::Stop);
    }
    assert_eq!((envoy.0.borrow().told.as_slice(), envoy.0.borrow().read.as_slice()), (&b"N"[..], &b""[..]));
    assert_eq!(envoy.0.borrow().injected, b"");
    from_client(&stream, &envoy, b"startup");
    assert_eq!(
        (envoy.0.borrow().injected.as_slice(), envoy.0.borrow().read.as_slice()),
        (&ServerTls::REQUEST[..], &b"startup"[..])
    );
}

/// What Envoy does when a hook has asked for it: calls it again, until it does not ask.
fn turn(stream: &DatabaseStream<Scripted>, envoy: &FakeEnvoy) -> Flow {
    loop {
        let turns = envoy.0.borrow().turns;
        let flow = stream.client_bytes(false);
        if envoy.0.borrow().turns == turns {
            return flow;
        }
    }
}

const GREETING: &[u8] = b"\x49\0\0\0\x0a8.0.0\0\x01\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xff\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0mysql_native_password\0";

#[test]
fn mysql_server_is_asked_ahead_of_the_clients_answer_and_numbers_packets_anew() {
    let answer: Vec<u8> = [&[36, 0, 0, 1, 0x85, 0xa2, 0, 0][..], &[7; 28], b"app\0"].concat();
    let says =
        vec![(unchanged(GREETING.len()), false), (unchanged(answer.len()), false), (unchanged(11), false)];
    let (stream, envoy) = begin_with(ServerTls::Greeting, says);
    assert_eq!(from_server(&stream, &envoy, GREETING), Flow::Continue);
    assert_eq!(stream.state.borrow().server_tls, ServerTls::Offered);
    assert_eq!(from_client(&stream, &envoy, &answer), Flow::Stop);
    let request: Vec<u8> = [&[32, 0, 0, 1, 0x85, 0xaa, 0, 0][..], &[7; 28]].concat();
    assert_eq!((envoy.0.borrow().injected.as_slice(), envoy.0.borrow().tls_started), (&request[..], false));
    assert_eq!((turn(&stream, &envoy), envoy.0.borrow().tls_started), (Flow::Continue, true));
    let sent: Vec<u8> = [&[36, 0, 0, 2, 0x85, 0xaa, 0, 0][..], &[7; 28], b"app\0"].concat();
    assert_eq!((envoy.0.borrow().read.as_slice(), envoy.0.borrow().turns), (&sent[..], 5));
    assert_eq!(from_server(&stream, &envoy, b"\x07\0\0\x03\0\0\0\x02\0\0\0"), Flow::Continue);
    assert_eq!(envoy.0.borrow().write, b"\x07\0\0\x02\0\0\0\x02\0\0\0");
    assert!(stream.state.borrow().login.is_none());
}

#[test]
fn mysql_server_that_offers_no_tls_gets_nothing_of_the_client() {
    let (stream, envoy) = begin_with(ServerTls::Greeting, vec![]);
    let mut without = GREETING.to_vec();
    let capabilities = without.windows(2).position(|bytes| bytes == [0xff, 0xff]).unwrap();
    without[capabilities + 1] = 0xf7;
    assert_eq!(from_server(&stream, &envoy, &without), Flow::Continue);
    let told = envoy.0.borrow().write.clone();
    assert_eq!(told.get(3..7), Some(&b"\0\xff\x13\x04"[..]));
    assert!(String::from_utf8_lossy(&told).contains("it offers no TLS"));
    stream.woken();
    assert!(envoy.0.borrow().closed);
}
