//! What one callback may do with the values of a body.

use fieldveil_json_stream::{Found, Replacement};

use crate::field::CompiledField;
use crate::http::cost;
use crate::http::problem::{Problem, Side};
use crate::output_limit::{OutputLimit, OutputTooLong};

/// Values of fields that are treated in one callback whatever came in it, in which the worker serves nobody else: 0.1 s of
/// `float8` on a processor, a quarter of a second of the slowest. A piece of the shipped configuration's size holds fewer, unless it is encoded.
const FREE_VALUES: usize = 65_536;
/// Bytes that have to come for each value beyond that. What was kept while plan and keys were awaited may hold more.
const BYTES_PER_VALUE: usize = 64;

/// What one callback may do with values: the worker serves nobody else meanwhile.
pub(super) struct Work {
    most_values: usize,
    values: usize,
    output_limit: OutputLimit,
}

impl Work {
    /// Of a callback in which so many bytes came, encoded if the body is.
    pub(super) fn of(came: usize) -> Self {
        let most_values = FREE_VALUES.saturating_add(came / BYTES_PER_VALUE);
        Self { most_values, values: 0, output_limit: OutputLimit::of(came) }
    }

    /// A value is to be treated; some cost as much as many.
    pub(super) fn treat(
        &mut self,
        side: Side,
        field: &CompiledField,
        found: &Found<'_>,
    ) -> Result<(), Problem> {
        self.values = self.values.saturating_add(cost::of(field, found));
        if self.values > self.most_values {
            return Err(Problem::too_much_at_once(side, self.most_values));
        }
        Ok(())
    }

    /// It was treated.
    pub(super) fn write(&mut self, side: Side, replacement: &Replacement) -> Result<(), Problem> {
        let Replacement::Json(json) = replacement else { return Ok(()) };
        self.output_limit
            .take(json.len())
            .map_err(|OutputTooLong(limit)| Problem::output_too_long(side, limit))
    }
}
