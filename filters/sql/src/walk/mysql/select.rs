//! Finds what names mean in a SELECT of MySQL.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart, TableIndexHints};

use crate::{
    names,
    refusal::Refusal,
    resolve::{
        outputs::{OutputColumn, Outputs, STEPS_A_COLUMN},
        protected::Protected,
        scope::{Meaning, Range, Scope, Source},
    },
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Returns the names that HAVING sees, and the expressions of GROUP BY and ORDER BY: the names of the select list come
    /// before those of FROM. A name that means one thing in the list and another in FROM is in doubt.
    pub fn with_aliases<'s>(
        &self,
        outputs: &Outputs<'c>,
        scope: &'s Scope<'s, 'c>,
    ) -> Result<Scope<'s, 'c>, Refusal> {
        let mut around = Scope::within(Some(scope));
        if !self.is_mysql() {
            return Ok(around);
        }
        self.spend(outputs.len().saturating_mul(STEPS_A_COLUMN.saturating_add(scope.reach())))?;
        let field = |protected: Option<Protected<'c>>| protected.map(|protected| protected.field.id);
        // For each name, these are the fields that it means in the list and in FROM.
        let mut meant: BTreeMap<&str, (&OutputColumn<'c>, BTreeSet<Option<usize>>)> = BTreeMap::new();
        for output in outputs.columns() {
            let Some(name) = output.name.as_deref() else { continue };
            let (_, fields) = meant.entry(name).or_insert_with(|| (output, BTreeSet::new()));
            fields.insert(field(output.protected));
        }
        let mut columns: Vec<OutputColumn<'c>> = Vec::with_capacity(meant.len());
        for (name, (output, mut fields)) in meant {
            match scope.unqualified(name) {
                Ok(Meaning::Nothing) => {}
                Ok(Meaning::Plain) => drop(fields.insert(None)),
                Ok(Meaning::Protected(protected)) => drop(fields.insert(field(Some(protected)))),
                // The name is in doubt in FROM, and so it is in doubt here.
                Err(_) => fields.extend([None, Some(usize::MAX)]),
            }
            columns.push(output.clone());
            if fields.len() > 1 {
                // The name stands twice in the list, which makes it ambiguous.
                columns.push(output.clone());
            }
        }
        let source = Source::Derived(Outputs::of(columns));
        around.ranges.push(Range { name: None, schema: None, source });
        Ok(around)
    }

    /// Returns the range of `DUAL`, the table without columns.
    pub fn dual(&self, name: &ObjectName, alias: Option<&Ident>) -> Option<Range<'c>> {
        let [ObjectNamePart::Identifier(Ident { value, quote_style: None, span: _ })] = name.0.as_slice()
        else {
            return None;
        };
        let is_dual = self.is_mysql() && alias.is_none() && value.eq_ignore_ascii_case("dual");
        is_dual.then(|| Range { name: None, schema: None, source: Source::Derived(Outputs::default()) })
    }

    /// Walks `PARTITION (…)` and index hints behind a table's name.
    pub fn partitions_and_hints(
        &mut self,
        partitions: &[Ident],
        hints: &[TableIndexHints],
    ) -> Result<(), Refusal> {
        let hinted = hints.iter().flat_map(|hint| &hint.index_names);
        partitions.iter().chain(hinted).try_for_each(|ident| self.names.read(ident).map(|_| ()))
    }

    /// Returns the name of an output. If the name is written as a string, it is not known, because the parser doesn't say
    /// where it stands.
    pub fn output_alias(&mut self, ident: &Ident) -> Result<Option<String>, Refusal> {
        match ident.quote_style {
            Some('\'') if self.is_mysql() => Ok(None),
            Some('"') if self.is_mysql() && names::fold(ident, self.catalog.dialect).is_none() => Ok(None),
            _ => self.names.read(ident).map(Some),
        }
    }

    /// Returns true if the name may be that of a row or of an output with protected values.
    pub fn may_name_protected(&self, name: &str) -> bool {
        self.is_mysql() && self.reach.guarded.contains(name)
    }

    /// Remembers the name of a protected output. Sub-selects of the select list see it too, and the analysis doesn't follow
    /// that.
    pub fn note_alias(&mut self, name: Option<&str>) {
        match name {
            _ if !self.is_mysql() => {}
            Some(name) => self.reach.guarded.note(name),
            None => self.reach.guarded.note_strings(self.text.segment),
        }
    }
}
