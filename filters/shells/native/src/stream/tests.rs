//! A connection between an Envoy and a session that do as the test says.

use std::borrow::Cow;
use std::collections::VecDeque;

use fieldveil_engine::config::Protocol;
use fieldveil_engine::fetch::Fetch;
use fieldveil_engine::ports::Ports;
use fieldveil_engine::worker::Worker;

use super::*;
use crate::envoy::{NoWaker, Server, Wake};
use crate::sidecar::Sidecar;
use crate::transport::{CertificateNames, Transport};

const CONFIG: &[u8] = br#"{
    "listener": "l",
    "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": 1000},
    "keys": {"cluster": "key_agent", "path": "/v1/keysets", "timeout_ms": 1000,
             "refresh_seconds": 5, "max_stale_seconds": 600}
}"#;

/// What became of the connection.
#[derive(Default)]
struct Seen {
    read: Vec<u8>,
    write: Vec<u8>,
    injected: Vec<u8>,
    continued: usize,
    closed: bool,
    /// What the client got outside of the hook of the server's bytes.
    told: Vec<u8>,
    starts_tls: bool,
    tls_started: bool,
    /// How often the hook of the client's bytes is to come again.
    turns: usize,
}

#[derive(Clone, Default)]
struct FakeEnvoy(Rc<RefCell<Seen>>);

impl Transport for FakeEnvoy {
    fn start_server_tls(&mut self) -> bool {
        let mut seen = self.0.borrow_mut();
        seen.tls_started = seen.starts_tls;
        seen.tls_started
    }

    fn come_again(&mut self) {
        self.0.borrow_mut().turns += 1;
    }

    fn inject_to_client(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().told.extend_from_slice(bytes);
    }

    fn verified_client(&self) -> Option<CertificateNames> {
        None
    }
}

impl Filter for FakeEnvoy {
    fn read_buffer(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.0.borrow().read.clone())
    }

    fn replace_read_buffer(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().read = bytes.to_vec();
    }

    fn write_buffer(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.0.borrow().write.clone())
    }

    fn replace_write_buffer(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().write = bytes.to_vec();
    }

    fn inject(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().injected.extend_from_slice(bytes);
    }

    fn continue_reading(&mut self) {
        self.0.borrow_mut().continued += 1;
    }

    fn close(&mut self) {
        self.0.borrow_mut().closed = true;
    }

    fn source(&self) -> Vec<u8> {
        Vec::new()
    }

    fn client_certificate(&self) -> Vec<u8> {
        Vec::new()
    }

    fn server(&self) -> Box<dyn Fn() -> Server> {
        Box::new(Server::default)
    }

    fn waker(&self) -> Box<dyn Wake> {
        Box::new(NoWaker)
    }
}

/// What the session does with the next bytes of either side: it writes this, and waits or not.
type Says = (CallbackOutput, bool);

thread_local! {
    static SAYS: RefCell<VecDeque<Says>> = const { RefCell::new(VecDeque::new()) };
    static GIVEN: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static ENDED: Cell<Option<Ended>> = const { Cell::new(None) };
}

struct Scripted {
    waits: bool,
    ended: Option<Ended>,
}

impl Scripted {
    fn say(&mut self, bytes: &[u8], out: &mut CallbackOutput) {
        GIVEN.with_borrow_mut(|given| given.push(bytes.to_vec()));
        let (said, waits) = SAYS.with_borrow_mut(VecDeque::pop_front).unwrap();
        *out = said;
        self.waits = waits;
    }
}

impl Connection for Scripted {
    fn new(_: Rc<RefCell<Worker>>, _: Rc<RefCell<dyn Ports>>, _: Client) -> Self {
        Self { waits: false, ended: None }
    }

    fn is_waiting(&self) -> bool {
        self.waits
    }

    fn client_bytes(&mut self, bytes: &[u8], out: &mut CallbackOutput) {
        self.say(bytes, out);
    }

    fn server_bytes(&mut self, bytes: &[u8], out: &mut CallbackOutput) {
        self.say(bytes, out);
    }

    fn answered(&mut self, _: &Fetch, _: Result<(), String>) {
        self.waits = false;
    }

    fn end(&mut self, how: Ended) {
        ENDED.set(Some(self.ended.unwrap_or(how)));
    }

    fn note_end(&mut self, how: Ended) {
        self.ended.get_or_insert(how);
    }
}

fn unchanged(bytes: usize) -> CallbackOutput {
    CallbackOutput { unchanged: bytes, ..CallbackOutput::default() }
}

fn to_server(bytes: &[u8]) -> CallbackOutput {
    CallbackOutput { to_server: bytes.to_vec(), ..CallbackOutput::default() }
}

fn to_client(bytes: &[u8]) -> CallbackOutput {
    CallbackOutput { to_client: bytes.to_vec(), ..CallbackOutput::default() }
}

fn begin(says: Vec<Says>) -> (DatabaseStream<Scripted>, FakeEnvoy) {
    begin_with(ServerTls::OfCluster, says)
}

fn begin_with(tls: ServerTls, says: Vec<Says>) -> (DatabaseStream<Scripted>, FakeEnvoy) {
    SAYS.set(says.into());
    GIVEN.set(Vec::new());
    let envoy = FakeEnvoy::default();
    let worker = ThreadWorker::of(&Sidecar::of(Protocol::Postgres, CONFIG).unwrap()).unwrap();
    envoy.0.borrow_mut().starts_tls = true;
    (DatabaseStream::new(worker, Box::new(envoy.clone()), tls), envoy)
}

fn from_client(stream: &DatabaseStream<Scripted>, envoy: &FakeEnvoy, bytes: &[u8]) -> Flow {
    envoy.0.borrow_mut().read.extend_from_slice(bytes);
    stream.client_bytes(false)
}

fn from_server(stream: &DatabaseStream<Scripted>, envoy: &FakeEnvoy, bytes: &[u8]) -> Flow {
    envoy.0.borrow_mut().write = bytes.to_vec();
    stream.server_bytes(false)
}

/// A fetch for which the connection waits is answered.
fn answer(stream: &DatabaseStream<Scripted>) {
    let fetch = stream.worker.sidecar.state.fetch_keys(0);
    stream.waiter.give((fetch, Ok(())));
    stream.woken();
}

#[test]
fn bytes_that_are_unchanged_stay_where_they_are() {
    let (stream, envoy) = begin(vec![(unchanged(5), false), (unchanged(4), false)]);
    assert_eq!(from_client(&stream, &envoy, b"hello"), Flow::Continue);
    assert_eq!(envoy.0.borrow().read, b"hello");
    assert_eq!(from_server(&stream, &envoy, b"back"), Flow::Continue);
    assert_eq!(envoy.0.borrow().write, b"back");
}

#[test]
fn what_the_session_writes_takes_the_place_of_what_came() {
    let (stream, envoy) =
        begin(vec![(to_server(b"sealed"), false), (to_client(b"opened"), false), (unchanged(3), false)]);
    assert_eq!(from_client(&stream, &envoy, b"clear"), Flow::Continue);
    assert_eq!(envoy.0.borrow().read, b"sealed");
    assert_eq!(from_server(&stream, &envoy, b"envelope"), Flow::Continue);
    assert_eq!(envoy.0.borrow().write, b"opened");
    // The beginning alone is unchanged: the session has kept the rest.
    assert_eq!(from_server(&stream, &envoy, b"rowro"), Flow::Continue);
    assert_eq!(envoy.0.borrow().write, b"row");
}

#[test]
fn client_waits_until_what_was_fetched_has_come() {
    let (stream, envoy) = begin(vec![(to_server(b"question"), true), (to_server(b"sealed"), false)]);
    assert_eq!(from_client(&stream, &envoy, b"insert"), Flow::Stop);
    assert_eq!((envoy.0.borrow().read.len(), envoy.0.borrow().injected.clone()), (0, b"question".to_vec()));
    // What comes meanwhile stays in Envoy's buffer, and the session does not see it.
    assert_eq!(from_client(&stream, &envoy, b"more"), Flow::Stop);
    assert_eq!(envoy.0.borrow().read, b"more");
    GIVEN.with_borrow(|given| assert_eq!(given.len(), 1));
    answer(&stream);
    GIVEN.with_borrow(|given| assert_eq!(given.last().unwrap(), b"more"));
    assert_eq!((envoy.0.borrow().read.as_slice(), envoy.0.borrow().continued), (&b"sealed"[..], 1));
}

#[test]
fn bytes_that_pass_unchanged_before_a_wait_are_sent_on() {
    let (stream, envoy) = begin(vec![(unchanged(5), true)]);
    assert_eq!(from_client(&stream, &envoy, b"hello"), Flow::Stop);
    assert_eq!((envoy.0.borrow().read.len(), envoy.0.borrow().injected.clone()), (0, b"hello".to_vec()));
}

#[test]
fn session_that_waited_for_the_server_goes_on_with_its_bytes() {
    let resume = CallbackOutput { resume: true, to_server: b"first ".to_vec(), ..unchanged(2) };
    let (stream, envoy) = begin(vec![(to_server(b""), true), (resume, false), (to_server(b"then"), false)]);
    assert_eq!(from_client(&stream, &envoy, b"select"), Flow::Stop);
    assert_eq!(from_server(&stream, &envoy, b"ok"), Flow::Continue);
    assert_eq!((envoy.0.borrow().read.as_slice(), envoy.0.borrow().continued), (&b"first then"[..], 1));
}

#[test]
fn last_word_leaves_before_the_connection_is_closed_and_nothing_passes_behind_it() {
    let last = CallbackOutput { close: true, ..to_client(b"error") };
    let (stream, envoy) = begin(vec![(last, false)]);
    assert_eq!(from_server(&stream, &envoy, b"row"), Flow::Continue);
    assert_eq!((envoy.0.borrow().write.as_slice(), envoy.0.borrow().closed), (&b"error"[..], false));
    assert_eq!(from_server(&stream, &envoy, b"row"), Flow::Continue);
    assert_eq!(envoy.0.borrow().write, b"");
    stream.woken();
    assert!(envoy.0.borrow().closed);
    assert_eq!(from_client(&stream, &envoy, b"select"), Flow::Continue);
    assert_eq!(envoy.0.borrow().read, b"");
    GIVEN.with_borrow(|given| assert_eq!(given.len(), 1));
}

#[test]
fn nothing_of_a_connection_that_has_failed_passes() {
    let (stream, envoy) = begin(vec![]);
    envoy.0.borrow_mut().read = b"insert".to_vec();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stream.client_bytes(false)));
    assert!(panicked.is_err(), "the script is over");
    stream.fail();
    assert_eq!((envoy.0.borrow().read.as_slice(), envoy.0.borrow().closed), (&b""[..], true));
    assert_eq!(from_client(&stream, &envoy, b"insert"), Flow::Stop);
    assert_eq!(from_server(&stream, &envoy, b"row"), Flow::Stop);
    assert_eq!(envoy.0.borrow().read, b"");
    GIVEN.with_borrow(|given| assert_eq!(given.len(), 1));
}

#[test]
fn who_ended_the_connection_is_noted() {
    for (by_client, how) in [(true, Ended::Client), (false, Ended::Proxy)] {
        let (stream, envoy) = begin(vec![(unchanged(5), false)]);
        from_client(&stream, &envoy, b"hello");
        stream.closes(by_client);
        drop(stream);
        assert_eq!(ENDED.take(), Some(how));
    }
}

#[test]
fn connection_without_a_byte_has_no_session() {
    let (stream, _) = begin(vec![]);
    stream.waiter.tick();
    stream.woken();
    drop(stream);
    assert_eq!(ENDED.take(), None);
}

#[test]
fn listeners_with_one_configuration_share_what_they_hold_and_what_they_wait_for() {
    let (stream, _) = begin(vec![]);
    let (other, _) = begin(vec![]);
    assert!(Arc::ptr_eq(&stream.worker.sidecar, &other.worker.sidecar));
    let sidecar = &stream.worker.sidecar;
    let fetch = sidecar.state.fetch_keys(0);
    sidecar.wait(fetch.clone(), &stream.waiter);
    sidecar.wait(fetch.clone(), &other.waiter);
    assert_eq!(sidecar.take_wanted(), std::slice::from_ref(&fetch));
    assert!(sidecar.hand_out(&(fetch.clone(), Ok(()))));
    assert!(!sidecar.hand_out(&(fetch, Ok(()))));
    assert_eq!((stream.waiter.take_fetched().len(), other.waiter.take_fetched().len()), (1, 1));
}

mod server_tls;
