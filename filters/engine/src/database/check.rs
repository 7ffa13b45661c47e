//! Checks a statement's text against plan and catalog: whether it may go to the server.

use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::{Dialect, Envelopes, Names, identity};

use super::{CheckedText, Core, PolicyGate};
use crate::analyses::WeighedAnalysis;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::field::{CompiledField, ReadTreatment};
use crate::server_catalog::ServerCatalog;

impl Core {
    /// Checks a text. The error is the one that the client gets. `names` are the statements and cursors that the session has made
    /// in SQL.
    pub fn check_text(
        &self,
        text: &str,
        plan: &Arc<CompiledPlan>,
        catalog: &Rc<ServerCatalog>,
        names: &dyn Names,
    ) -> Result<CheckedText, ClientError> {
        self.memory.has_room()?;
        let in_use = || self.memory.in_use();
        let analyzed =
            self.worker.borrow_mut().analysis(text, &catalog.sql, catalog.fingerprint, names, &in_use);
        let WeighedAnalysis { analysis, bytes } =
            analyzed.map_err(|refusal| ClientError::refused(&refusal, &catalog.labels_named_in(text)))?;
        let touched = analysis.statements.iter().any(|s| s.touched);
        let checked = CheckedText {
            plan: Arc::clone(plan),
            catalog: Some(Rc::clone(catalog)),
            analysis,
            touched,
            speaks_of_end_user: identity::may_mention(text.as_bytes()),
            overwritten: Default::default(),
            more_parameters: Default::default(),
            _plan_weight: Some(self.memory.plan_weight(plan)),
            weight: self.memory.weight(bytes.saturating_add(size_of::<CheckedText>())),
        };
        self.memory.has_room()?;
        allowed(&checked, catalog)?;
        self.policy.require_keys(&checked)?;
        self.within_budgets(&checked)?;
        self.policy.refuse_incomparable(&checked)?;
        Ok(checked)
    }
}

impl PolicyGate {
    /// Refuses a statement that needs a keyset which the agent does not have, such as that of one tenant, before the server has it.
    pub fn require_keys(&self, checked: &CheckedText) -> Result<(), ClientError> {
        let Some(keyring) = self.keyring() else { return Ok(()) };
        let concerned = checked.analysis.statements.iter().flat_map(|statement| {
            statement.fields.reads.iter().chain(&statement.fields.writes).chain(&statement.fields.searches)
        });
        concerned
            .filter_map(|index| checked.plan.fields.get(*index))
            .filter(|field| field.needs_keys() && field.spec.has_tenant_keyset())
            .try_for_each(|field| field.require_keys(&keyring).map_err(ClientError::from))
    }

    /// Refuses a statement in which the server compares ciphertexts of a field whose equal values may have different ones.
    fn refuse_incomparable(&self, checked: &CheckedText) -> Result<(), ClientError> {
        let Some(keyring) = self.keyring() else { return Ok(()) };
        let compared = checked.analysis.statements.iter().flat_map(|statement| &statement.fields.compares);
        for field in compared.filter_map(|index| checked.plan.fields.get(*index)) {
            if field.envelopes(&field.sealing_keys(&keyring)) == Envelopes::Several {
                return Err(ClientError::several_keys(&field.spec.label, &field.spec.keyset));
            }
        }
        Ok(())
    }

    /// Says how many different envelopes equal values of the field may have now.
    pub fn envelopes(&self, field: &CompiledField) -> Envelopes {
        let keys = self.keyring().map(|keyring| field.sealing_keys(&keyring));
        field.envelopes(&keys.unwrap_or_default())
    }

    /// Counts the envelopes that a value of the field can have: none without the keyset or where a PRF makes them.
    pub fn envelope_count(&self, field: &CompiledField) -> usize {
        self.keyring().map_or(1, |keyring| field.sealing_keys(&keyring).len())
    }
}

/// Refuses an accepted statement that the policy does not allow.
fn allowed(checked: &CheckedText, catalog: &ServerCatalog) -> Result<(), ClientError> {
    if let Some(reason) = &checked.plan.denied
        && checked.concerns_fields()
    {
        return Err(ClientError::invalid_token(reason, catalog.sql.dialect()));
    }
    let field = |index: &usize| checked.plan.fields.get(*index);
    for statement in &checked.analysis.statements {
        let concerned =
            statement.fields.reads.iter().chain(&statement.fields.writes).chain(&statement.fields.searches);
        for index in concerned {
            if let (Some(field), Some(reason)) = (field(index), catalog.unusable(*index)) {
                return Err(ClientError::unsupported(
                    format!("{} cannot be sealed: {reason}", field.spec.label),
                    match catalog.sql.dialect() {
                        Dialect::Postgres => {
                            "Change the column's type to text (or to bytea), or make it wide enough."
                        }
                        Dialect::MySql(_) => {
                            "Change the column to VARBINARY (or BLOB), or to VARCHAR (or TEXT) with a collation that ends in _bin, and make it wide enough."
                        }
                    },
                ));
            }
        }
        for field in statement.fields.copies.iter().filter_map(field) {
            if !matches!(field.read, ReadTreatment::Conceal) {
                return Err(ClientError::unsupported(
                    format!(
                        "envelopes of {} would be copied to where nothing is protected",
                        field.spec.label
                    ),
                    "Protect the target's columns under the same labels too, or connect as a principal that sees envelopes.",
                ));
            }
        }
        for field in statement.fields.writes.iter().filter_map(field) {
            if !field.writable() {
                return Err(ClientError::denied(&field.spec.label, "write"));
            }
        }
        for field in statement.fields.empties.iter().filter_map(field) {
            if field.shows_instead(None) {
                return Err(ClientError::shown_instead(&field.spec.label));
            }
        }
        for field in statement.fields.reads.iter().chain(&statement.fields.searches).filter_map(field) {
            if matches!(field.read, ReadTreatment::Refuse) {
                return Err(ClientError::denied(&field.spec.label, "read"));
            }
        }
    }
    for field in checked.sealed_searches().filter_map(|index| checked.plan.fields.get(index)) {
        if !field.searchable() {
            return Err(ClientError::denied(&field.spec.label, "search by"));
        }
    }
    for field in checked.searches_by_writing().filter_map(|index| checked.plan.fields.get(index)) {
        if !field.searchable() {
            return Err(ClientError::search_by_writing(&field.spec.label));
        }
    }
    Ok(())
}
