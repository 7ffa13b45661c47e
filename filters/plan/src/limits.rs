//! The largest plan that is read.

/// Bytes of an answer that are read at most: 4,096 fields take about 1 MB.
pub const MAX_PLAN_BYTES: usize = 4 << 20;
/// Fields of a plan.
pub const MAX_FIELDS: usize = 4096;
/// Routes of a service: each is compared with the path of every request.
pub const MAX_ROUTES: usize = 4096;
