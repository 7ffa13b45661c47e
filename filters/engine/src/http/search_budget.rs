//! How many values of one request's head are sealed, and how much is written of them: the worker serves nobody else meanwhile,
//! and keeps them with the head until the body has come.

use super::problem::Problem;
use super::treat::{self, Context};
use crate::field::CompiledField;

/// Values of one head: 10 ms of a processor. A long one counts as [`CompiledField::cost`] says.
const MAX_VALUES: usize = 2048;
/// Bytes that are written of them: twice what Envoy takes of a head. A short value becomes 50 bytes, and `1e4000` many more.
const MAX_BYTES: usize = 128 << 10;

/// What is left to one request's head.
pub struct SearchBudget {
    values: usize,
    bytes: usize,
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { values: MAX_VALUES, bytes: MAX_BYTES }
    }
}

impl SearchBudget {
    /// What a service looks for in place of a value, if that is within the budget.
    pub fn search(&mut self, ctx: &Context, field: &CompiledField, text: &[u8]) -> Result<Vec<u8>, Problem> {
        let label = &field.spec.label;
        let values = || {
            Problem::head_too_large(label, &format!("more than {MAX_VALUES} of its values are looked for"))
        };
        self.values = self.values.checked_sub(field.cost(text.len())).ok_or_else(values)?;
        let sealed = treat::search(ctx, field, text)?;
        let bytes = || {
            Problem::head_too_large(
                label,
                &format!("the values that are looked for take more than {MAX_BYTES} bytes"),
            )
        };
        self.bytes = self.bytes.checked_sub(sealed.len()).ok_or_else(bytes)?;
        Ok(sealed)
    }
}
