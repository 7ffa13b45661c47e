//! ParameterDescription and RowDescription: the declared types in the place of the stored ones.

use std::rc::Rc;

use fieldveil_pg_wire::Format;
use fieldveil_pg_wire::backend::{ParameterDescription, RowDescription, tag};

use fieldveil_sql::{Form, ParameterUse};
use fieldveil_values::oid;

use super::{Fate, MALFORMED, OUT_OF_PLACE};
use crate::database::Checked;
use crate::postgres::flight::Awaited;
use crate::postgres::rows::{self, RowPlan};
use crate::postgres::{Output, Session};

impl Session {
    /// ParameterDescription or RowDescription: the declared types in the place of the stored ones.
    pub(super) fn description(
        &mut self,
        tag: u8,
        body: &[u8],
        fate: Fate,
        out: &mut Output,
    ) -> Result<Fate, &'static str> {
        let entry = self.flight.head().ok_or(OUT_OF_PLACE)?;
        if tag == tag::PARAMETER_DESCRIPTION {
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
            return Ok(Fate::Taken);
        }
        let mut description = RowDescription::parse(body).map_err(|_| MALFORMED)?;
        let mut number = 0;
        let checked: Option<Rc<Checked>> = match &mut entry.awaited {
            Awaited::Query(checked, statement, rows) => {
                let columns = rows::columns(&description);
                // FETCH from a binary cursor brings binary values.
                let format = |index: usize| columns.get(index).map_or(Format::Text, |column| column.format);
                *rows = checked.touched.then(|| Rc::new(RowPlan::new(checked, *statement, &columns, format)));
                number = *statement;
                Some(Rc::clone(checked))
            }
            Awaited::DescribeStatement(statement) => {
                let statement = statement.take();
                self.flight.pop();
                statement.map(|statement| {
                    statement.described(rows::columns(&description));
                    Rc::clone(&statement.checked.borrow())
                })
            }
            Awaited::DescribePortal(portal) => {
                let portal = portal.take();
                self.flight.pop();
                portal.map(|portal| {
                    let columns = rows::columns(&description);
                    let format =
                        |index: usize| columns.get(index).map_or(Format::Text, |column| column.format);
                    portal.rows.get_or_init(|| Rc::new(RowPlan::new(&portal.checked, 0, &columns, format)));
                    Rc::clone(&portal.checked)
                })
            }
            _ => return Err(OUT_OF_PLACE),
        };
        match checked {
            Some(checked) if checked.touched && matches!(fate, Fate::Pass) => {
                rows::declare(&mut description, &checked, number);
                description.encode(&mut out.to_client).map_err(|_| MALFORMED)?;
                Ok(Fate::Taken)
            }
            _ => Ok(fate),
        }
    }
}
