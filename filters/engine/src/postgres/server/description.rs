//! ParameterDescription and RowDescription: the declared types in the place of the stored ones.

use std::rc::Rc;

use fieldveil_postgres_wire::Format;
use fieldveil_postgres_wire::backend::{ParameterDescription, RowDescription};

use fieldveil_sql::{Form, ParameterUse};
use fieldveil_values::oid;

use super::{Fate, MALFORMED};
use crate::database::{CallbackOutput, CheckedText};
use crate::postgres::pending::{Awaited, OUT_OF_PLACE, PendingResponses};
use crate::postgres::rows::{self, ResultColumn, TreatedColumns};
use crate::postgres::statements::Portal;

impl PendingResponses {
    /// ParameterDescription: the declared types in the place of the stored ones.
    pub fn parameter_description(
        &mut self,
        body: &[u8],
        fate: Fate,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let entry = self.head().ok_or(OUT_OF_PLACE)?;
        let Awaited::DescribeStatement(statement) = &entry.awaited else { return Err(OUT_OF_PLACE) };
        let Some(statement) = statement.as_ref().filter(|s| s.checked.borrow().touched) else {
            return Ok(fate);
        };
        if matches!(fate, Fate::Taken) {
            return Ok(fate);
        }
        let mut parameters = ParameterDescription::parse(body).map_err(|_| MALFORMED)?;
        let checked = statement.checked.borrow();
        for parameter in &checked.analysis.parameters {
            let index = usize::from(parameter.number).saturating_sub(1);
            let field = checked.plan.fields.get(parameter.field);
            let named = statement.parameter_types.get(index).copied().unwrap_or_default();
            if let (Some(oid), Some(field)) = (parameters.types.get_mut(index), field) {
                if named != 0 {
                    *oid = named;
                    continue;
                }
                // What is compared with a varchar is text to the server.
                let declared = match (field.declared.oid(), parameter.use_) {
                    (oid::VARCHAR, ParameterUse::Search) => oid::TEXT,
                    (declared, _) => declared,
                };
                *oid = match parameter.form == Form::Array {
                    true => oid::array_of(declared).unwrap_or(*oid),
                    false => declared,
                };
            }
        }
        parameters.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
        Ok(Fate::Taken)
    }

    /// RowDescription: the declared types in the place of the stored ones.
    pub fn row_description(
        &mut self,
        body: &[u8],
        fate: Fate,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        match &mut self.head().ok_or(OUT_OF_PLACE)?.awaited {
            Awaited::Query(checked, statement, treated) => {
                let description = parse(body)?;
                let columns = rows::columns(&description);
                // FETCH from a binary cursor brings binary values.
                *treated = checked.touched.then(|| {
                    Rc::new(TreatedColumns::new(checked, *statement, &columns, in_format(&columns)))
                });
                let (checked, number) = (Rc::clone(checked), *statement);
                declare(description, &checked, number, fate, out)
            }
            Awaited::DescribeStatement(statement) => {
                let statement = statement.take();
                self.pop();
                let description = parse(body)?;
                let Some(statement) = statement else { return Ok(fate) };
                statement.described(rows::columns(&description));
                let checked = Rc::clone(&statement.checked.borrow());
                declare(description, &checked, 0, fate, out)
            }
            Awaited::DescribePortal(portal) => {
                let portal = portal.take();
                self.pop();
                let read = |portal: &Rc<Portal>| portal.checked.touched || portal.checked.returns_protected();
                let Some(portal) = portal.filter(read) else { return parse(body).map(|_| fate) };
                if matches!(fate, Fate::Pass)
                    && let Some(treated) =
                        portal.statement.portal_described(&portal.checked, body, &mut out.to_client)
                {
                    portal.treated_columns.get_or_init(|| treated);
                    return Ok(Fate::Taken);
                }
                let description = parse(body)?;
                let columns = rows::columns(&description);
                let new = || Rc::new(TreatedColumns::new(&portal.checked, 0, &columns, in_format(&columns)));
                let is_new = portal.treated_columns.get().is_none() && matches!(fate, Fate::Pass);
                let treated = portal.treated_columns.get_or_init(new);
                let start = out.to_client.len();
                let fate = declare(description, &portal.checked, 0, fate, out)?;
                // What was known before is of an earlier description; what the filter asked for itself goes nowhere.
                if is_new && matches!(fate, Fate::Taken) {
                    let goes = out.to_client.get(start..).unwrap_or_default();
                    portal.statement.keep_description(body, goes, treated);
                }
                Ok(fate)
            }
            _ => Err(OUT_OF_PLACE),
        }
    }
}

fn parse(body: &[u8]) -> Result<RowDescription<'_>, &'static str> {
    RowDescription::parse(body).map_err(|_| MALFORMED)
}

/// The formats that a description names.
fn in_format(columns: &[ResultColumn]) -> impl Fn(usize) -> Format {
    |index| columns.get(index).map_or(Format::Text, |column| column.format)
}

/// What goes to the client of the description of the rows of one statement of a text.
fn declare(
    mut description: RowDescription<'_>,
    checked: &CheckedText,
    statement: usize,
    fate: Fate,
    out: &mut CallbackOutput,
) -> Result<Fate, &'static str> {
    if !checked.touched || !matches!(fate, Fate::Pass) {
        return Ok(fate);
    }
    rows::declare(&mut description, checked, statement);
    description.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
    Ok(Fate::Taken)
}
