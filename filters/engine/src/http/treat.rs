//! One value of a body, a query, a path or a header: what becomes of it on its way.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_envelope::looks_sealed;
use fieldveil_json_stream::{Found, Kind, Replacement, read_string, write_string};
use fieldveil_plan::Protection;
use fieldveil_sql::Envelopes;
use fieldveil_values::ValueUse;
use zeroize::Zeroizing;

use super::audits::Handle;
use super::problem::Problem;
use super::value;
use crate::compiled_plan::CompiledPlan;
use crate::field::{CompiledField, FieldValue, ReadTreatment, Shown, StoredForm};
use crate::keyring::Keyring;
use crate::ports::Ports;
use crate::spending::{self, Spent};
use crate::value_buffers::Buffers;
use crate::value_counts::ValueOutcome;
use crate::worker::Worker;

/// All that the treatment of one exchange's values needs.
pub struct Context {
    /// Whose limits, budgets and counts they are.
    pub worker: Rc<RefCell<Worker>>,
    /// Randomness, and the log.
    pub ports: Rc<RefCell<dyn Ports>>,
    /// The plan that the exchange is under to its end.
    pub plan: Arc<CompiledPlan>,
    /// The keys that it is under to its end.
    pub keyring: Arc<Keyring>,
    /// Where is counted what happened.
    pub audit: Handle,
    /// Now.
    pub now_ms: u64,
}

/// How a service holds values of the field.
fn stored_as(field: &CompiledField) -> StoredForm {
    match field.spec.protection {
        Protection::FormatPreserving => StoredForm::Formatted,
        _ => StoredForm::Armored,
    }
}

/// What takes the place of a value that a request sends to be stored. `null` stays.
pub fn seal(ctx: &Context, field: &CompiledField, found: Found<'_>) -> Result<Replacement, Problem> {
    let label = &field.spec.label;
    if !field.writable() {
        return Err(Problem::denied(label, "write"));
    }
    let invalid = |reason: &str| Problem::invalid_value(label, reason, field.declared.name());
    let text = value::to_text(&field.declared, found.kind, found.json);
    // As text the value may be something else: of a `json` it has quotes around it.
    let is_sealed = match &text {
        Ok(Some(text)) if value::holds_text(&field.declared) => looks_sealed(text),
        _ => found.kind == Kind::String && read_string(found.json).is_ok_and(|text| looks_sealed(&text)),
    };
    if is_sealed {
        return Err(Problem::shown_instead(label, "it is sealed already"));
    }
    let text = text.map_err(|mismatch| invalid(&mismatch.to_string()))?;
    if field.shows_instead(text.as_deref()) {
        return Err(Problem::shown_instead(
            label,
            "it is what this principal is shown in a value's place, and would replace the value",
        ));
    }
    let Some(text) = text else { return Ok(Replacement::Keep) };
    let json = with_buffers(ctx, |buffers| {
        Ok::<_, Problem>(json_string(sealed(ctx, field, ValueUse::Store, &text, buffers)?))
    })?;
    json.map(Replacement::Json).ok_or_else(|| invalid("it has no sealed form in UTF-8"))
}

/// Lends the worker's buffers, which are wiped when one value has been treated in them.
fn with_buffers<T>(ctx: &Context, run: impl FnOnce(&mut Buffers) -> T) -> T {
    let mut buffers = ctx.worker.borrow_mut().buffers.take().unwrap_or_default();
    let done = run(&mut buffers);
    buffers.wipe();
    ctx.worker.borrow_mut().buffers = Some(buffers);
    done
}

/// What a service looks for in place of a value that stands in a query, a path or a header.
pub fn search(ctx: &Context, field: &CompiledField, text: &[u8]) -> Result<Vec<u8>, Problem> {
    let label = &field.spec.label;
    if !field.searchable() {
        return Err(Problem::denied(label, "search by"));
    }
    if !field.equality() {
        return Err(Problem::not_searchable(field));
    }
    // Who past the budget sees nothing may not test guesses either.
    if let Some(budget) = field.budget.as_ref().filter(|budget| !budget.then.searchable()) {
        spending::check(&ctx.worker, &ctx.ports, &ctx.plan, budget, ctx.now_ms)
            .map_err(|spent| Problem::budget_spent(label, budget.allowance, spent.again_seconds))?;
    }
    if field.envelopes(&field.sealing_keys(&ctx.keyring)) == Envelopes::Several {
        return Err(Problem::several_keys(label, &field.spec.keyset));
    }
    with_buffers(ctx, |buffers| sealed(ctx, field, ValueUse::Search, text, buffers).map(<[u8]>::to_vec))
}

fn sealed<'b>(
    ctx: &Context,
    field: &CompiledField,
    use_: ValueUse,
    text: &[u8],
    buffers: &'b mut Buffers,
) -> Result<&'b [u8], Problem> {
    let label = &field.spec.label;
    let limit = ctx.worker.borrow().config().limits.protected_value_bytes;
    if text.len() > limit {
        return Err(Problem::long_value(label, limit));
    }
    let (value, random) = (FieldValue { bytes: text, how: stored_as(field) }, &mut *ctx.ports.borrow_mut());
    let Buffers { scratch, shown: sealed, .. } = buffers;
    field.seal_into(&ctx.keyring, random, use_, value, limit, scratch, sealed)?;
    let mut worker = ctx.worker.borrow_mut();
    field.uses(&ctx.keyring, use_, |key| worker.count_key(key, 1));
    drop(worker);
    let outcome = match use_ {
        ValueUse::Store => ValueOutcome::Sealed,
        ValueUse::Search => ValueOutcome::Searched,
    };
    ctx.audit.count(&ctx.plan, &field.label, outcome, ctx.now_ms);
    Ok(sealed)
}

/// Bytes of a stored value that is opened. An envelope is longer than the canonical text that was sealed, by its header, the
/// primitive's part and base64, and what stands around it in JSON.
pub(super) fn longest_stored(value_bytes: usize) -> usize {
    value_bytes.saturating_mul(3).saturating_add(4096)
}

/// What takes the place of a value that a service answers with. `null` stays.
pub fn open(ctx: &Context, field: &CompiledField, found: Found<'_>) -> Result<Replacement, Problem> {
    let label = &field.spec.label;
    if matches!(field.read, ReadTreatment::Refuse) {
        return Err(Problem::denied(label, "read"));
    }
    if found.kind == Kind::Null {
        return Ok(Replacement::Keep);
    }
    let how = stored_as(field);
    if how == StoredForm::Formatted && found.kind != Kind::String && field.read != ReadTreatment::Null {
        return Err(Problem::unreadable(label, "it is not a string"));
    }
    // What is no text is no envelope either.
    let text = read_string(found.json).ok();
    let stored = text.as_deref().unwrap_or(found.json);
    let read = treatment_of(ctx, field, stored, how)?;
    let (shown, json) = match read {
        ReadTreatment::Conceal => (field.conceal(stored, how)?, None),
        _ => {
            let stored = FieldValue { bytes: stored, how };
            let (shown, json) =
                with_buffers(ctx, |buffers| opened(ctx, field, read, found, stored, buffers))?;
            (Some(shown), json)
        }
    };
    ctx.audit.count(&ctx.plan, &field.label, ValueOutcome::of(read), ctx.now_ms);
    let Some(shown) = shown else { return Ok(Replacement::Keep) };
    if shown.was_plaintext {
        ctx.audit.count(&ctx.plan, &field.label, ValueOutcome::Plaintext, ctx.now_ms);
    }
    Ok(Replacement::Json(json.unwrap_or_else(|| b"null".to_vec())))
}

/// What a reader gets for a stored value, and its JSON unless it is null.
fn opened(
    ctx: &Context,
    field: &CompiledField,
    read: &ReadTreatment,
    found: Found<'_>,
    stored: FieldValue<'_>,
    buffers: &mut Buffers,
) -> Result<(Shown, Option<Vec<u8>>), Problem> {
    let Buffers { scratch, canonical, .. } = buffers;
    let plaintext = || plaintext(field, found);
    let shown = field.read_text(read, &ctx.keyring, stored, plaintext, scratch, canonical)?;
    if shown.is_null {
        return Ok((shown, None));
    }
    let json = value::to_json(&field.declared, canonical)
        .map_err(|error| Problem::unreadable(&field.spec.label, &error.to_string()))?;
    Ok((shown, Some(json)))
}

/// The text of a value that stands unsealed where an envelope should.
fn plaintext(field: &CompiledField, found: Found<'_>) -> Result<Zeroizing<Vec<u8>>, String> {
    let text = value::to_text(&field.declared, found.kind, found.json);
    let text = text.map_err(|mismatch| mismatch.to_string())?.ok_or_else(|| "it is null".to_owned())?;
    Ok(Zeroizing::new(text.to_vec()))
}

/// What the field says, or what its budget says of values past it. One value is one row.
fn treatment_of<'f>(
    ctx: &Context,
    field: &'f CompiledField,
    stored: &[u8],
    how: StoredForm,
) -> Result<&'f ReadTreatment, Problem> {
    // Of what comes back as null nothing is revealed.
    let Some(budget) = field.budget.as_ref().filter(|_| !field.nulls(stored, how)) else {
        return Ok(&field.read);
    };
    let spent = spending::spend(&ctx.worker, &ctx.ports, &ctx.plan, budget, 1, ctx.now_ms);
    let Err(Spent { again_seconds }) = spent else { return Ok(&field.read) };
    ctx.audit.spent(&ctx.plan, budget, ctx.now_ms);
    match &budget.then {
        ReadTreatment::Refuse => Err(Problem::budget_spent(&budget.label, budget.allowance, again_seconds)),
        then => Ok(then),
    }
}

fn json_string(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut json = Vec::with_capacity(text.len().saturating_add(2));
    write_string(text, &mut json);
    Some(json)
}
