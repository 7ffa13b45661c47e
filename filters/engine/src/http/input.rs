//! What the host gives an exchange: one input for each of its calls.

use super::head::{Head, Peer};
use crate::fetch::Fetch;

/// One call of the host. Nothing depends on the trailers of a response, so they are given as the end of its body.
pub(super) enum ExchangeInput<'a> {
    /// The head of the request, and who sent it. `ends`: neither body nor trailers follow.
    RequestHead { head: Head, peer: Peer, ends: bool },
    /// Bytes of the request's body, and with `is_last` its end.
    RequestBody { bytes: &'a [u8], is_last: bool },
    /// The trailers of the request, with which its body ends.
    RequestTrailers(Head),
    /// A question was answered, and the worker has taken the answer in; or it was not.
    Fetched { fetch: &'a Fetch, result: Result<(), String> },
    /// The head of the response. `from_upstream` is false for what Envoy or this filter answered itself.
    ResponseHead { head: Head, from_upstream: bool, ends: bool },
    /// Bytes of the response's body, and with `is_last` its end.
    ResponseBody { bytes: &'a [u8], is_last: bool },
}
