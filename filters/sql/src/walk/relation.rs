//! Finds the relations of the catalog that a statement names.

use sqlparser::ast::{Ident, ObjectName};

use crate::{
    catalog::{Relation, RelationKind},
    mention, names,
    refusal::Refusal,
    resolve::{
        cte::CteRange,
        scope::{Range, Source},
        view,
    },
    walk::Walker,
};

impl<'c> Walker<'_, 'c> {
    /// Returns the range that a table's name in FROM stands for.
    pub fn range(&mut self, name: &ObjectName, alias: Option<&Ident>) -> Result<Range<'c>, Refusal> {
        self.relation(name, alias, true)
    }

    /// Returns the range that the name of a statement's target stands for. It is never a common table expression.
    pub fn target(&mut self, name: &ObjectName, alias: Option<&Ident>) -> Result<Range<'c>, Refusal> {
        self.relation(name, alias, false)
    }

    fn relation(
        &mut self,
        name: &ObjectName,
        alias: Option<&Ident>,
        or_cte: bool,
    ) -> Result<Range<'c>, Refusal> {
        if let Some(range) = self.dual(name, alias) {
            return Ok(range);
        }
        for part in &name.0 {
            if part.as_ident().is_some_and(|ident| names::is_reserved(ident, self.catalog.dialect)) {
                return Err(Refusal::unparsable("a keyword stands where a table is expected"));
            }
        }
        let parts = self.names.read_parts(name)?;
        let alias = alias.map(|ident| self.names.read_plain(ident)).transpose()?;
        let (schema, table) = match parts.as_slice() {
            [table] => (None, table),
            [schema, table] | [_, schema, table] => (Some(schema), table),
            _ => return Err(Refusal::unparsable("a table's name has too many parts")),
        };
        let cte = match schema {
            None if or_cte => self.reach.ctes.named(table),
            _ => None,
        };
        if let Some(CteRange { name: _, outputs }) = cte {
            let Some(outputs) = outputs else {
                return Err(Refusal::unsupported(
                    "a common table expression is used before its first part is known",
                    "define it before it is used, and put the part without itself first",
                ));
            };
            let source = Source::Derived(outputs.clone());
            let range = Range { name: Some(alias.unwrap_or_else(|| table.clone())), schema: None, source };
            self.note_row(&range);
            return Ok(range);
        }
        let relation = self.named(schema, table);
        if let Some(view) = relation.filter(|view| view.kind == RelationKind::UnseenView && !or_cte) {
            return Err(view::unseen(view, self.catalog.dialect));
        }
        // The columns of such a view are not known, like those of a table that isn't protected.
        let relation = relation.filter(|view| view.kind != RelationKind::UnseenView);
        if let Some(relation) = relation.filter(|_| self.catalog.is_exact()) {
            check_case(relation, name)?;
        }
        let own_schema = relation.map(|r| self.catalog.fold(&r.schema).into_owned());
        let own_schema = own_schema.or_else(|| schema.cloned());
        let source = match relation {
            Some(view) if view.kind == RelationKind::View && !or_cte => {
                return Err(self.view_write_refusal(view));
            }
            Some(relation) => Source::Relation(self.touch(relation)?),
            None => Source::Unknown,
        };
        let range = Range {
            schema: alias.is_none().then_some(own_schema),
            name: Some(alias.unwrap_or_else(|| table.clone())),
            source,
        };
        self.note_row(&range);
        Ok(range)
    }

    /// Returns the refusal to write to a view.
    pub fn view_write_refusal(&self, view: &Relation) -> Refusal {
        view::written(view, self.catalog.dialect)
    }

    /// Returns the relation of the catalog that has a table's folded name.
    fn named(&self, schema: Option<&String>, table: &str) -> Option<&'c Relation> {
        let catalog = self.catalog;
        catalog.named(table).find(|relation| {
            schema.map_or(relation.visible, |schema| catalog.is_schema(&relation.schema, schema))
        })
    }

    /// Remembers the name of a range whose whole row must not be used as a value.
    pub fn note_row(&mut self, range: &Range<'c>) {
        if let Some(name) = range.name.as_ref().filter(|_| range.bears()) {
            self.reach.guarded.note(name);
        }
    }

    fn touch(&mut self, relation: &'c Relation) -> Result<&'c Relation, Refusal> {
        if relation.kind == RelationKind::OpaqueView {
            return Err(view::opaque(relation, self.catalog.dialect));
        }
        if self.reach.touched.iter().any(|touched| std::ptr::eq(*touched, relation)) {
            return Ok(relation);
        }
        self.fields.searches.extend(&relation.searches);
        self.fields.compares.extend(&relation.compares);
        if relation.kind == RelationKind::Table && !mention::is_protected(relation) {
            return Err(Refusal::unsupported(
                format!(
                    "rows of a table with sealed columns are reached through {}",
                    names::quote(&relation.name, self.catalog.dialect)
                ),
                "name the table that the policy protects",
            ));
        }
        self.reach.touched.push(relation);
        Ok(relation)
    }
}

/// Refuses a name that differs from a protected table's name only in letter case. It is for servers that tell such names
/// apart.
fn check_case(relation: &Relation, name: &ObjectName) -> Result<(), Refusal> {
    let written = name.0.iter().rev().map(|part| part.as_ident().map(|ident| ident.value.as_str()));
    let own = [relation.name.as_str(), relation.schema.as_str()];
    if written.zip(own).all(|(written, own)| written == Some(own)) {
        return Ok(());
    }
    Err(Refusal::unsupported(
        "a table's name is that of a table with sealed columns but for its letter case",
        "write the name as the database has it",
    ))
}
