//! A statement's text after its check: the result of its analysis, with the plan and the catalog that it was checked against.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_sql::{
    Analysis, Copy, Form, Parameter, ParameterUse, Replacement, ResultField, SessionUse, Statement,
    StatementKind,
};
use fieldveil_values::oid;

use crate::compiled_plan::CompiledPlan;
use crate::field::ReadTreatment;
use crate::memory::Weight;
use crate::server_catalog::ServerCatalog;

/// Values of one field in a statement from which on they are sealed together: to begin a batch takes the time that it saves for
/// some three of them.
const LEAST_OF_BATCH: usize = 5;

/// One text, checked under one plan and one catalog.
///
/// Large: it keeps what the check found and what it was made under, which later stages ask for.
pub struct CheckedText {
    /// The plan it was checked against.
    pub plan: Arc<CompiledPlan>,
    /// The catalog it was checked against. An empty plan needs none.
    pub catalog: Option<Rc<ServerCatalog>>,
    /// What the text does.
    pub analysis: Rc<Analysis>,
    /// Whether it names a protected relation.
    pub touched: bool,
    /// Whether it may set or reset who the end user is.
    pub speaks_of_end_user: bool,
    /// The fields that any of its statements overwrites; filled when they are first needed.
    pub overwritten: OnceCell<HashSet<usize>>,
    /// The client's parameters that become several of the server's; filled when they are first needed.
    pub more_parameters: OnceCell<Box<[(u16, usize)]>>,
    /// The memory that it takes, without catalog and plan.
    pub(crate) weight: Weight,
    /// The memory that its plan takes. All texts that this connection checked under one plan share it.
    pub(crate) _plan_weight: Option<Rc<Weight>>,
}

impl CheckedText {
    /// Makes the result for a text that concerns nothing protected and was not compared with a catalog. It weighs nothing.
    pub fn untouched(plan: &Arc<CompiledPlan>, analysis: Rc<Analysis>, speaks_of_end_user: bool) -> Self {
        Self {
            plan: Arc::clone(plan),
            catalog: None,
            analysis,
            touched: false,
            speaks_of_end_user,
            overwritten: OnceCell::new(),
            more_parameters: OnceCell::new(),
            weight: Weight::default(),
            _plan_weight: None,
        }
    }

    /// Finds the protected place of the parameter with this number, which counts from 1.
    pub fn parameter(&self, number: u16) -> Option<&Parameter> {
        let parameters = &self.analysis.parameters;
        let index = parameters.binary_search_by_key(&number, |parameter| parameter.number).ok()?;
        parameters.get(index)
    }

    /// Counts the parameters that the server has in the place of one of the client's.
    pub fn envelopes(&self, parameter: &Parameter) -> usize {
        if parameter.form != Form::Envelopes {
            return 1;
        }
        let keys = self.catalog.as_ref().and_then(|catalog| catalog.keys.get(parameter.field));
        keys.map_or(1, Vec::len).max(1)
    }

    /// Lists the client's parameters that become several of the server's, each with how many more the server has up to it.
    pub fn more_parameters(&self) -> &[(u16, usize)] {
        self.more_parameters.get_or_init(|| {
            let mut more = 0_usize;
            let several = self.analysis.parameters.iter().filter_map(|parameter| {
                let count = self.envelopes(parameter);
                more = more.saturating_add(count.saturating_sub(1));
                (count > 1).then_some((parameter.number, more))
            });
            several.collect()
        })
    }

    /// Whether several parameters are values that one field stores, as those of an INSERT of many rows are.
    pub fn stores_many(&self) -> bool {
        has_many_of_the_first(self.analysis.parameters.iter().filter_map(|parameter| {
            let stores = parameter.use_ == ParameterUse::Store && parameter.form == Form::Value;
            stores.then_some(parameter.field)
        }))
    }

    /// The same of the literals that its text has.
    pub fn text_stores_many(&self) -> bool {
        has_many_of_the_first(self.analysis.splices.iter().filter_map(|splice| match splice.with {
            Replacement::Seal { field, use_: ParameterUse::Store, form: Form::Value, .. } => Some(field),
            _ => None,
        }))
    }

    /// Whether protected columns may come back in rows.
    pub fn returns_protected(&self) -> bool {
        self.analysis.statements.iter().any(Statement::returns_protected)
    }

    /// Whether it writes, compares or returns values of protected fields.
    pub fn concerns_fields(&self) -> bool {
        let concerns = |s: &Statement| {
            [&s.fields.reads, &s.fields.writes, &s.fields.searches, &s.fields.copies]
                .iter()
                .any(|fields| !fields.is_empty())
        };
        self.analysis.statements.iter().any(concerns) || self.sealed_searches().next().is_some()
    }

    /// Whether it is a single statement that was compared with a catalog, and names no protected table, prepared statement or
    /// cursor.
    pub fn concerns_nothing(&self) -> bool {
        let [statement] = self.analysis.statements.as_slice() else { return false };
        let is_plain = self.analysis.splices.is_empty() && self.analysis.parameters.is_empty();
        let is_alone = statement.session.is_none() && statement.copy.is_none();
        self.catalog.is_some() && !self.touched && is_plain && is_alone && !self.concerns_fields()
    }

    /// Whether it only reads.
    pub fn only_reads(&self) -> bool {
        self.analysis.statements.iter().all(|s| s.kind == StatementKind::Select)
    }

    /// Describes a field independently of its place in the plan.
    fn meaning(&self, field: usize) -> impl PartialEq + use<> {
        self.plan.fields.get(field).map(|field| {
            let spec = &field.spec;
            let names = (spec.label.clone(), spec.keyset.clone(), spec.tenant.clone());
            (names, spec.protection, field.declared.oid())
        })
    }

    /// Whether the description of parameters and columns that the client received for `other` is also true of `self`. This is so
    /// where only the keys differ. Otherwise both must concern the same fields, and the columns must be known.
    pub fn is_described_as(&self, other: &Self) -> bool {
        let shape = |checked: &Self| checked.catalog.as_ref().map(|catalog| catalog.shape);
        if shape(self) == shape(other) {
            return true;
        }
        let parameters = |checked: &Self| -> Vec<_> {
            let parameters = checked.analysis.parameters.iter();
            parameters.map(|p| (p.number, p.use_, p.form == Form::Array, checked.meaning(p.field))).collect()
        };
        let concerned = |checked: &Self| -> Vec<_> {
            let fields =
                |fields: &[usize]| -> Vec<_> { fields.iter().map(|f| checked.meaning(*f)).collect() };
            let statements = checked.analysis.statements.iter();
            statements
                .map(|s| {
                    (s.kind, fields(&s.fields.reads), fields(&s.fields.searches), fields(&s.fields.writes))
                })
                .collect()
        };
        let columns = |checked: &Self| -> Option<Vec<Vec<_>>> {
            let column = |column: &Option<ResultField>| column.map(|c| (c.cast, checked.meaning(c.field)));
            let statements = checked.analysis.statements.iter();
            statements.map(|s| Some(s.columns.as_ref()?.iter().map(column).collect())).collect()
        };
        self.touched == other.touched
            && !self.resolves_late()
            && parameters(self) == parameters(other)
            && concerned(self) == concerned(other)
            && columns(self).is_some_and(|known| columns(other) == Some(known))
    }

    /// Whether the columns have the types that the client received for `other`: a concealed column has the type that is stored.
    pub fn shows_types_as(&self, other: &Self) -> bool {
        let reads = self.analysis.statements.iter().flat_map(|statement| &statement.fields.reads);
        let pairs = reads.map(|field| (self.plan.fields.get(*field), other.plan.fields.get(*field)));
        pairs.into_iter().all(|(now, then)| match (now, then) {
            (Some(now), Some(then)) => {
                let conceals = matches!(now.read, ReadTreatment::Conceal);
                conceals == matches!(then.read, ReadTreatment::Conceal) || now.declared.oid() == oid::TEXT
            }
            _ => false,
        })
    }

    /// Whether the server would receive the same text for `self` as for `other`.
    pub fn is_sent_as(&self, other: &Self) -> bool {
        let parameters = |checked: &Self| -> Vec<_> {
            let parameters = checked.analysis.parameters.iter();
            parameters.map(|p| (p.number, p.use_, p.form, checked.meaning(p.field))).collect()
        };
        let splices = |checked: &Self| -> Vec<_> {
            let keys = |field: usize| checked.catalog.as_ref().and_then(|c| c.keys.get(field).cloned());
            let kind = |with: &Replacement| match with {
                Replacement::Text(text) => (Some(text.clone()), None),
                Replacement::Seal { field, .. }
                | Replacement::Nulls { field }
                | Replacement::Placeholders { field } => {
                    (None, Some((checked.meaning(*field), keys(*field))))
                }
            };
            checked.analysis.splices.iter().map(|s| (s.range.clone(), kind(&s.with))).collect()
        };
        self.touched == other.touched
            && parameters(self) == parameters(other)
            && splices(self) == splices(other)
    }

    /// Whether it may overwrite values of the field.
    pub fn overwrites(&self, field: usize) -> bool {
        if let [statement] = self.analysis.statements.as_slice() {
            return statement.fields.overwrites.contains(&field);
        }
        let all = || self.analysis.statements.iter().flat_map(|statement| &statement.fields.overwrites);
        self.overwritten.get_or_init(|| all().copied().collect()).contains(&field)
    }

    /// Whether its effect depends on what a name stands for when it is executed.
    pub fn goes_by_name(&self) -> bool {
        let by_name =
            |s: &Statement| matches!(s.session, Some(SessionUse::Execute { .. } | SessionUse::Fetch { .. }));
        self.analysis.statements.iter().any(by_name)
    }

    /// Whether the server resolves its names only when it is executed, not when it is bound.
    pub fn resolves_late(&self) -> bool {
        let late = |s: &Statement| {
            let by_name = s.session.is_some() && s.kind != StatementKind::Transaction;
            s.kind == StatementKind::Other || s.copy.is_some() || by_name
        };
        self.catalog.is_some() && self.analysis.statements.iter().any(late)
    }

    /// Whether the columns of its rows are known only when it is executed, as those of a cursor are.
    pub fn is_fetch(&self) -> bool {
        self.analysis.statements.iter().any(|s| matches!(s.session, Some(SessionUse::Fetch { .. })))
    }

    /// The COPY between the client and a protected table that it begins, if it does.
    pub fn copy(&self) -> Option<&Copy> {
        self.analysis.statements.iter().find_map(|s| s.copy.as_ref())
    }

    /// Lists the fields whose stored values are compared with each other while this principal may store a value of its own: it
    /// could search for a value by storing one and looking where it comes.
    pub fn searches_by_writing(&self) -> impl Iterator<Item = usize> + '_ {
        let compared =
            self.analysis.statements.iter().flat_map(|statement| &statement.fields.compares).copied();
        compared.filter(|index| self.plan.fields.get(*index).is_some_and(|field| self.plan.may_write(field)))
    }

    /// Lists the fields that values are searched in.
    pub fn sealed_searches(&self) -> impl Iterator<Item = usize> + '_ {
        let spliced = self.analysis.splices.iter().filter_map(|s| match s.with {
            Replacement::Seal { field, use_: ParameterUse::Search, .. } => Some(field),
            _ => None,
        });
        let prepared = self.analysis.statements.iter().filter_map(|s| match &s.session {
            Some(SessionUse::Prepare { parameters, .. }) => Some(parameters),
            _ => None,
        });
        let parameters = self.analysis.parameters.iter().chain(prepared.flatten());
        spliced.chain(parameters.filter(|p| p.searched).map(|p| p.field))
    }
}

/// Whether the first of these fields has enough values for a batch.
fn has_many_of_the_first(mut fields: impl Iterator<Item = usize>) -> bool {
    let others = LEAST_OF_BATCH.saturating_sub(2);
    fields.next().is_some_and(|first| fields.filter(|field| *field == first).nth(others).is_some())
}
