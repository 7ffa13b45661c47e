//! The question to the policy and its answer, the plan: what is protected, how, and who sees what.
//!
//! Plain data with its checks; it fetches nothing and knows no protocol. It assumes OPA's data API:
//! `{"input": …}` in, `{"result": …}` out. The same shapes are written as JSON schemas beside the policies.

#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod error;
mod field;
mod input;
mod keyset;
mod limits;
mod place;
mod plan;
mod relation;
mod service;
mod spiffe_id;
mod treatment;

pub use error::PlanError;
pub use field::{OnPlaintext, PlanField, Protection, WriteRule};
pub use input::{ClientCertificate, CommentInput, PlanInput, SessionInput, Workload};
pub use limits::{MAX_FIELDS, MAX_PLAN_BYTES, MAX_ROUTES};
pub use place::{Column, Place, is_header};
pub use plan::Plan;
pub use service::{RoutePlan, ServicePlan};
pub use spiffe_id::check_spiffe_id;
pub use treatment::{Budget, Then, Treatment};
