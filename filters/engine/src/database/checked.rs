//! A statement's text as it was checked: what analysis said of it, under which plan and catalog.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

use fieldveil_sql::{
    Analysis, Copy, Form, Parameter, ParameterUse, Replacement, ResultField, SessionUse, Statement,
    StatementKind,
};
use fieldveil_values::oid;

use super::ServerCatalog;
use crate::field::{CompiledPlan, Read};
use crate::memory::Weight;

/// One text under one plan and one catalog: what analysis said, and by what it is treated.
pub struct Checked {
    /// The plan it was checked against.
    pub plan: Rc<CompiledPlan>,
    /// The catalog it was checked against; none is needed while the plan is empty.
    pub catalog: Option<Rc<ServerCatalog>>,
    /// What the text does.
    pub analysis: Rc<Analysis>,
    /// Whether it names a protected relation.
    pub touched: bool,
    /// Whether it may set or reset who the end user is.
    pub speaks_of_end_user: bool,
    /// The fields that any of its statements overwrites, once it was asked.
    pub overwritten: OnceCell<HashSet<usize>>,
    /// The parameters that stand for several of the server's, once it was asked.
    pub more_parameters: OnceCell<Box<[(u16, usize)]>>,
    /// What it takes of memory, catalog and plan aside.
    pub(crate) weight: Weight,
    /// What the plan takes: all that was checked under it on this connection bears it once.
    pub(crate) _plan_weight: Option<Rc<Weight>>,
}

impl Checked {
    /// Of a text that concerns nothing protected, and was not read against a catalog: it weighs nothing.
    pub fn untouched(plan: &Rc<CompiledPlan>, analysis: Rc<Analysis>, speaks_of_end_user: bool) -> Self {
        Self {
            plan: Rc::clone(plan),
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

    /// The protected place that the parameter of this number, from 1 on, stands in.
    pub fn parameter(&self, number: u16) -> Option<&Parameter> {
        let parameters = &self.analysis.parameters;
        let index = parameters.binary_search_by_key(&number, |parameter| parameter.number).ok()?;
        parameters.get(index)
    }

    /// How many parameters the server has in the place of one of the client's.
    pub fn envelopes(&self, parameter: &Parameter) -> usize {
        if parameter.form != Form::Envelopes {
            return 1;
        }
        let keys = self.catalog.as_ref().and_then(|catalog| catalog.keys.get(parameter.field));
        keys.map_or(1, Vec::len).max(1)
    }

    /// The numbers of the client's parameters that stand for several of the server's, and how many more the server has up to
    /// each.
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

    /// Whether protected columns may come back in rows.
    pub fn returns_protected(&self) -> bool {
        self.analysis.statements.iter().any(Statement::returns_protected)
    }

    /// Whether values of protected fields come into it.
    pub fn concerns_fields(&self) -> bool {
        let concerns = |s: &Statement| {
            [&s.reads, &s.writes, &s.searches, &s.copies].iter().any(|fields| !fields.is_empty())
        };
        self.analysis.statements.iter().any(concerns) || self.sealed_searches().next().is_some()
    }

    /// Whether it only reads.
    pub fn only_reads(&self) -> bool {
        self.analysis.statements.iter().all(|s| s.kind == StatementKind::Select)
    }

    /// What a field is, whatever its place in the plan.
    fn meaning(&self, field: usize) -> impl PartialEq + use<> {
        self.plan.fields.get(field).map(|field| {
            let spec = &field.spec;
            let names = (spec.label.clone(), spec.keyset.clone(), spec.tenant.clone());
            (names, spec.protection, field.declared.oid())
        })
    }

    /// Whether what the client was told of `other`, its parameters and its columns, is true of `self` too: of what
    /// differs by the keys alone it is; else it must concern the same fields, and its columns must be known.
    pub fn told_as(&self, other: &Self) -> bool {
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
            statements.map(|s| (s.kind, fields(&s.reads), fields(&s.searches), fields(&s.writes))).collect()
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

    /// Whether the columns that the client was told of `other` are of the same types still: what is concealed is of the
    /// stored type.
    pub fn shows_types_as(&self, other: &Self) -> bool {
        let reads = self.analysis.statements.iter().flat_map(|statement| &statement.reads);
        let pairs = reads.map(|field| (self.plan.fields.get(*field), other.plan.fields.get(*field)));
        pairs.into_iter().all(|(now, then)| match (now, then) {
            (Some(now), Some(then)) => {
                let conceals = matches!(now.read, Read::Conceal);
                conceals == matches!(then.read, Read::Conceal) || now.declared.oid() == oid::TEXT
            }
            _ => false,
        })
    }

    /// Whether what was sent to the server under `other` would be sent under `self` too.
    pub fn same_as(&self, other: &Self) -> bool {
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

    /// Whether what it stores in the field may take the place of a value.
    pub fn overwrites(&self, field: usize) -> bool {
        if let [statement] = self.analysis.statements.as_slice() {
            return statement.overwrites.contains(&field);
        }
        let all = || self.analysis.statements.iter().flat_map(|statement| &statement.overwrites);
        self.overwritten.get_or_init(|| all().copied().collect()).contains(&field)
    }

    /// Whether it means what a name stands for when it is executed.
    pub fn goes_by_name(&self) -> bool {
        let by_name =
            |s: &Statement| matches!(s.session, Some(SessionUse::Execute { .. } | SessionUse::Fetch { .. }));
        self.analysis.statements.iter().any(by_name)
    }

    /// Whether the server finds out what its names mean only when it is executed, not when it is bound.
    pub fn resolves_late(&self) -> bool {
        let late = |s: &Statement| {
            let by_name = s.session.is_some() && s.kind != StatementKind::Transaction;
            s.kind == StatementKind::Other || s.copy.is_some() || by_name
        };
        self.catalog.is_some() && self.analysis.statements.iter().any(late)
    }

    /// Whether what its rows hold is known only when it is executed.
    pub fn is_fetch(&self) -> bool {
        self.analysis.statements.iter().any(|s| matches!(s.session, Some(SessionUse::Fetch { .. })))
    }

    /// The data of its COPY between the client and a protected table.
    pub fn copy(&self) -> Option<&Copy> {
        self.analysis.statements.iter().find_map(|s| s.copy.as_ref())
    }

    /// The fields whose stored values are compared with each other, and of whose label this principal may store a value
    /// of its own: what becomes of that one beside the others is a search for it.
    pub fn searches_by_writing(&self) -> impl Iterator<Item = usize> + '_ {
        let compared = self.analysis.statements.iter().flat_map(|statement| &statement.compares).copied();
        compared.filter(|index| self.plan.fields.get(*index).is_some_and(|field| self.plan.may_write(field)))
    }

    /// The fields that values are looked for in.
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
