//! An exchange with an Envoy that calls back as the test says.

use std::borrow::Cow;

use fieldveil_engine::config::Protocol;

use super::*;
use crate::envoy::{NoWaker, Wake};
use crate::sidecar::Sidecar;

const CONFIG: &str = r#"{
    "listener": "exchange",
    "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": 1000},
    "keys": {"cluster": "key_agent", "path": "/v1/keysets", "timeout_ms": 1000,
             "refresh_seconds": 5, "max_stale_seconds": 600},
    "http": {"service": "shop"}
}"#;

/// What became of the exchange.
#[derive(Default)]
struct SeenExchange {
    replies: Vec<u16>,
    responses: Vec<u16>,
    resets: usize,
    /// What Envoy does within an answer.
    within: Option<Box<dyn Fn()>>,
}

#[derive(Clone, Default)]
struct FakeHttpFilter(Rc<RefCell<SeenExchange>>, &'static [(&'static str, &'static str)]);

impl FakeHttpFilter {
    fn call_back(&self) {
        let within = self.0.borrow_mut().within.take();
        within.iter().for_each(|within| within());
    }
}

impl HttpFilter for FakeHttpFilter {
    fn fields(&self, _: Fields) -> Vec<(String, Vec<u8>)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
        self.1.iter().map(owned).collect()
    }

    fn set_field(&self, _: Fields, _: &str, _: Option<&[u8]>) -> bool {
        true
    }

    fn add_field(&self, _: Fields, _: &str, _: &[u8]) -> bool {
        true
    }

    fn body(&self, _: Direction) -> Cow<'_, [u8]> {
        Cow::Borrowed(b"{}")
    }

    fn replace_body(&self, _: Direction, _: &[u8]) -> bool {
        true
    }

    fn append_held_body(&self, _: Direction, _: &[u8]) -> bool {
        true
    }

    fn reply(&self, status: u16, _: &[(String, String)], _: &[u8]) {
        self.0.borrow_mut().replies.push(status);
        self.call_back();
    }

    fn respond(&self, status: u16, _: &[(String, String)], _: &[u8]) {
        self.0.borrow_mut().responses.push(status);
        self.call_back();
    }

    fn reset(&self) {
        self.0.borrow_mut().resets += 1;
        self.call_back();
    }

    fn continue_request(&self) {}

    fn source(&self) -> Vec<u8> {
        b"10.0.0.1:4000".to_vec()
    }

    fn response_details(&self) -> Option<Vec<u8>> {
        None
    }

    fn claims(&self) -> Option<Vec<u8>> {
        None
    }

    fn waker(&self) -> Box<dyn Wake> {
        Box::new(NoWaker)
    }
}

/// A request that waits for a plan and keys, in a sidecar of this name.
fn waiting(envoy: &FakeHttpFilter, sidecar: &str) -> (Rc<ExchangeStream>, Arc<Sidecar>) {
    let sidecar = Sidecar::of(Protocol::Http, CONFIG.replace("exchange", sidecar).as_bytes()).unwrap();
    let stream = Rc::new(ExchangeStream::new(ThreadWorker::of(&sidecar).unwrap(), Box::new(envoy.clone())));
    assert_eq!(stream.request_head(false), Action::Pause);
    (stream, sidecar)
}

/// Nothing that was asked for comes.
fn nothing_comes(stream: &ExchangeStream, sidecar: &Sidecar) {
    for fetch in sidecar.take_wanted() {
        assert!(sidecar.hand_out(&(fetch, Err("it is away".into()))));
    }
    stream.woken();
}

const POST: &[(&str, &str)] = &[(":method", "POST"), (":path", "/customers"), (":authority", "shop")];
const GRPC: &[(&str, &str)] = &[
    (":method", "POST"),
    (":path", "/customers"),
    (":authority", "shop"),
    ("content-type", "application/grpc+proto"),
];

#[test]
fn request_that_gets_no_plan_is_answered_and_the_answer_passes() {
    let envoy = FakeHttpFilter(Rc::default(), POST);
    let (stream, sidecar) = waiting(&envoy, "plan");
    assert_eq!(stream.body(Direction::Request, false), Action::Pause);
    nothing_comes(&stream, &sidecar);
    assert_eq!(envoy.0.borrow().replies, [503]);
    assert_eq!(stream.response_head(false), Action::Continue);
    assert_eq!(stream.body(Direction::Response, true), Action::Continue);
    assert_eq!(stream.body(Direction::Request, true), Action::Pause);
}

#[test]
fn grpc_is_answered_with_a_status_that_is_no_success() {
    let envoy = FakeHttpFilter(Rc::default(), GRPC);
    let (stream, sidecar) = waiting(&envoy, "grpc");
    nothing_comes(&stream, &sidecar);
    assert_eq!((&envoy.0.borrow().replies[..], &envoy.0.borrow().responses[..]), (&[][..], &[503][..]));
}

#[test]
fn hooks_of_the_answer_may_come_and_the_stream_may_go_within_it() {
    let envoy = FakeHttpFilter(Rc::default(), POST);
    let (stream, sidecar) = waiting(&envoy, "within");
    let again = Rc::clone(&stream);
    envoy.0.borrow_mut().within = Some(Box::new(move || {
        assert_eq!(again.response_head(true), Action::Continue);
        again.destroyed();
    }));
    nothing_comes(&stream, &sidecar);
    assert_eq!((envoy.0.borrow().replies.len(), envoy.0.borrow().resets), (1, 0));
    // Envoy's half is gone: it is not asked for anything.
    stream.fail();
    assert_eq!(envoy.0.borrow().resets, 0);
}

#[test]
fn nothing_of_a_response_passes_that_was_refused_when_its_head_had_come() {
    let envoy = FakeHttpFilter(Rc::default(), POST);
    let (stream, _sidecar) = waiting(&envoy, "begun");
    stream.has_response.set(true);
    stream.reply(&Reply { status: 502, headers: Vec::new(), body: Vec::new() });
    assert_eq!((&envoy.0.borrow().replies[..], envoy.0.borrow().resets), (&[502][..], 0));
    assert_eq!(stream.body(Direction::Response, true), Action::Pause);
    assert_eq!(stream.response_trailers(), Action::Pause);
}

#[test]
fn exchange_that_is_over_waits_for_nothing() {
    let envoy = FakeHttpFilter(Rc::default(), POST);
    let (stream, sidecar) = waiting(&envoy, "over");
    stream.end();
    // Nobody is there to be answered, as whoever waits would be.
    nothing_comes(&stream, &sidecar);
    assert_eq!(envoy.0.borrow().replies.len(), 0);
}

#[test]
fn exchange_that_failed_is_cut_once_and_nothing_passes() {
    let envoy = FakeHttpFilter(Rc::default(), POST);
    let (stream, _sidecar) = waiting(&envoy, "failed");
    stream.fail();
    stream.fail();
    assert_eq!(envoy.0.borrow().resets, 1);
    assert_eq!(stream.body(Direction::Request, true), Action::Pause);
    assert_eq!(stream.response_head(true), Action::Pause);
}
