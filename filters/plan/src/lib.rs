//! The policy's two documents: what OPA is asked ([`PlanInput`]) and what it answers ([`Plan`]).
//!
//! A plan says, for one principal, which columns are protected, how each is stored, and what the principal gets on
//! reading and may do on writing. [`Plan::from_json`] turns OPA's answer into checked types once; nothing later looks
//! at the JSON. Whatever is unknown, missing, doubled or contradictory makes the whole plan unusable: a field that
//! were skipped would be a field left open. Only unknown names at the top level are ignored, so that a policy
//! library may grow (paths for HTTP bodies, say) ahead of the filters that read it.
//!
//! Not for deciding anything: types and mask formats are kept as words here, and it is the engine that knows
//! whether it can do them. Not for reading a plan out of an untrusted document either: whoever writes the plan
//! decides who sees what.
//!
//! It assumes that the answer came from OPA's data API (`POST /v1/data/…`), whole and with status 200. Errors name the
//! place in the plan, the reason and the remedy; they may quote the plan's own words, which are policy and never values.

mod error;
mod field;
mod input;
mod names;
mod plan;
mod reader;

pub use error::PlanError;
pub use field::{PlanField, Protection, Treatment, WriteRule};
pub use input::{PlanInput, SessionInput, Workload};
pub use names::{MAX_IDENTIFIER_BYTES, MAX_NAME_BYTES};
pub use plan::{
    DEFAULT_MAX_STALE_SECONDS, DEFAULT_TTL_SECONDS, MAX_FIELDS, MAX_MAX_STALE_SECONDS, MAX_PLAN_BYTES,
    MAX_TTL_SECONDS, Plan,
};
