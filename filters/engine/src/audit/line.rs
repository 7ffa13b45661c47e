//! A line as it is written.

use chrono::{DateTime, Datelike, Timelike};
use fieldveil_plan::{ClientCertificate, Workload};
use serde::{Serialize, Serializer};

use super::period::{Period, Who};

/// One line. The order of the names is that in which they are written.
///
/// Large: a line of the audit has these members, in this order.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    pub(super) version: u32,
    pub(super) session: &'a str,
    pub(super) sequence: u64,
    pub(super) listener: &'a str,
    pub(super) workload: &'a Workload,
    pub(super) source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client_certificate: Option<&'a ClientCertificate>,
    pub(super) user: &'a str,
    pub(super) database: &'a str,
    pub(super) authenticated: bool,
    #[serde(flatten)]
    pub(super) who: &'a Who,
    #[serde(flatten)]
    pub(super) period: &'a Period,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<&'static str>,
}

impl Line<'_> {
    pub(super) fn to_json(&self) -> String {
        // All of its keys are texts, so that nothing can go wrong.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Writes milliseconds since the Unix epoch as RFC 3339 has them, UTC.
pub(super) fn time<S: Serializer>(ms: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    let time = i64::try_from(*ms).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let milliseconds = time.timestamp_subsec_millis();
    serializer.collect_str(&format_args!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"
    ))
}
