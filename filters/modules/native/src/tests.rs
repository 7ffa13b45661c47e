//! The hooks and wrappers over a stand-in for Envoy's functions, which Miri can look at as well.

mod fake_envoy;
#[cfg(target_os = "linux")]
mod keys;
mod tls;

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::c_void;

use fieldveil_native::envoy::Filter;
use fieldveil_native::{Flow, Stream};

use crate::filter::EnvoyFilter;
use crate::hooks::{StreamBox, on_stream};
use crate::tests::fake_envoy::FakeFilter;

/// A stream whose hooks panic, or not.
struct Panics {
    panics: bool,
}

thread_local! {
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

impl Stream for Panics {
    fn client_bytes(&self, _: bool) -> Flow {
        assert!(!self.panics, "a fault");
        Flow::Continue
    }

    fn server_bytes(&self, _: bool) -> Flow {
        Flow::Continue
    }

    fn closes(&self, _: bool) {}

    fn woken(&self) {}

    fn fail(&self) {
        FAILED.set(true);
        // A fault in what ends the connection does not reach Envoy either.
        assert!(!self.panics, "another fault");
    }
}

/// Runs a hook on a stream as Envoy has it.
fn hook_of(panics: bool) -> Flow {
    let stream: Box<StreamBox> = Box::new(Box::new(Panics { panics }));
    let pointer: *const c_void = std::ptr::from_ref::<StreamBox>(&stream).cast();
    on_stream(pointer, Flow::Stop, |stream| stream.client_bytes(false))
}

#[test]
fn panic_in_a_hook_ends_its_connection_and_is_not_seen_by_envoy() {
    assert_eq!((hook_of(false), FAILED.take()), (Flow::Continue, false));
    assert_eq!((hook_of(true), FAILED.take()), (Flow::Stop, true));
}

#[test]
fn buffer_of_one_piece_is_read_where_it_lies_and_of_several_as_one() {
    let mut fake = FakeFilter::default();
    assert_eq!(EnvoyFilter(fake.pointer()).read_buffer(), b"".as_slice());
    fake.read = vec![b"hello".to_vec()];
    let filter = EnvoyFilter(fake.pointer());
    assert!(matches!(filter.read_buffer(), Cow::Borrowed(b"hello")));
    fake.read = (0..9).map(|number| vec![number; 3]).collect();
    let filter = EnvoyFilter(fake.pointer());
    let expected: Vec<u8> = (0..9).flat_map(|number| [number; 3]).collect();
    assert_eq!(filter.read_buffer(), expected);
}

#[test]
fn buffer_is_replaced_whole_and_bytes_are_injected() {
    let mut fake = FakeFilter { read: vec![b"one".to_vec(), b"two".to_vec()], ..FakeFilter::default() };
    let mut filter = EnvoyFilter(fake.pointer());
    filter.replace_read_buffer(b"sealed");
    filter.inject(b"question");
    filter.replace_write_buffer(b"");
    filter.close();
    assert_eq!(fake.read.concat(), b"sealed");
    assert_eq!((fake.injected.as_slice(), fake.write.len(), fake.closed), (&b"question"[..], 0, true));
}

#[test]
fn empty_bytes_of_envoys_may_have_no_place() {
    let fake = &mut FakeFilter::default();
    let filter = EnvoyFilter(fake.pointer());
    assert_eq!((filter.source(), filter.client_certificate()), (Vec::new(), Vec::new()));
}
