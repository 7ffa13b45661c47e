//! LOAD DATA LOCAL INFILE into a protected table. The client's file is sealed on its way; the statement is rewritten so
//! that the server takes from it what was sealed, and so that a row can make it fail.

mod format;
mod grammar;

use std::collections::HashSet;

use self::grammar::{Clauses, Duplicates, Item};
use crate::{
    analysis::{Load, LoadCharset, ParameterUse, Replacement, Splice, effects::Effects},
    catalog::{Catalog, Column, Relation, RelationKind, StorageType},
    field::Declared,
    lex::{Kind, Style, Token},
    mention, names,
    refusal::Refusal,
    resolve::protected::Protected,
    segment::Segment,
    walk::{
        value::cast::is_plain_number,
        write::insert::{refuse_defaults, refuse_generated, written_column},
    },
};

/// Analyzes a LOAD that may name a relation of the catalog.
pub(crate) fn analyze(segment: &Segment<'_>, catalog: &Catalog) -> Result<Effects, Refusal> {
    if segment.is_word(1, "xml") {
        return Err(Refusal::unsupported(
            "LOAD XML into a table with sealed columns isn't sealed",
            "write the rows as fields of text, and use LOAD DATA LOCAL INFILE",
        ));
    }
    let clauses = Clauses::read(segment)?;
    let relation = target(segment, &clauses, catalog)?;
    if !clauses.local {
        return Err(Refusal::unsupported(
            "LOAD DATA INFILE reads a file of the server's, whose values would be stored as they are",
            "send the file from the client: LOAD DATA LOCAL INFILE",
        ));
    }
    refuse_generated(relation)?;
    let listed = Listed::of(segment, relation, &clauses)?;
    let mut effects = Effects { touched: true, ..Effects::default() };
    let given = assignments(segment, catalog, relation, &clauses, &listed, &mut effects)?;
    let all: Vec<&Column> = listed.columns.iter().copied().flatten().chain(given).collect();
    refuse_defaults(relation, &all)?;
    effects.fields.writes.extend(all.iter().filter_map(|column| field(column)));
    duplicates(relation, clauses.duplicates, &mut effects)?;
    if listed.protected().next().is_some() {
        effects.load = Some(Load {
            columns: listed.columns.iter().map(|column| column.and_then(field)).collect(),
            format: clauses.format.checked()?,
            charset: clauses.charset,
            skipped: clauses.skipped,
        });
        listed.rewrite(segment, &clauses, &mut effects);
    } else {
        listed.name_all(segment, &clauses, &mut effects);
    }
    Splice::sort(&mut effects.splices);
    for fields in [&mut effects.fields.writes, &mut effects.fields.searches, &mut effects.fields.compares] {
        fields.sort_unstable();
        fields.dedup();
    }
    Ok(effects)
}

fn field(column: &Column) -> Option<usize> {
    column.field.as_ref().map(|field| field.id)
}

/// The table, if it is one that the policy protects.
fn target<'c>(
    segment: &Segment<'_>,
    clauses: &Clauses,
    catalog: &'c Catalog,
) -> Result<&'c Relation, Refusal> {
    let (schema, name) = (clauses.schema.as_deref(), clauses.table.as_str());
    let relation = catalog
        .named(name)
        .find(|relation| schema.map_or(relation.visible, |schema| catalog.is_name(&relation.schema, schema)));
    let relation = relation.filter(|relation| mention::is_protected(relation)).ok_or_else(|| {
        Refusal::unsupported(
            "LOAD DATA names a table with sealed columns otherwise than as the table that it loads",
            "load into the table that the policy protects, or leave the name out",
        )
    })?;
    if relation.kind != RelationKind::Table {
        return Err(Refusal::unsupported(
            format!(
                "{} is a view over a table with sealed columns",
                names::quote(&relation.name, catalog.dialect)
            ),
            "load into the table itself",
        ));
    }
    let written = |index: Option<usize>, own: &str| {
        let token = index.and_then(|index| segment.tokens.get(index));
        token.is_none_or(|token| token.source(segment.text).trim_matches(['`', '"']) == own)
    };
    let schema_at = schema.and_then(|_| clauses.table_at.checked_sub(2));
    if catalog.is_exact()
        && !(written(Some(clauses.table_at), &relation.name) && written(schema_at, &relation.schema))
    {
        return Err(Refusal::unsupported(
            "a table's name is that of a table with sealed columns but for its letter case",
            "write the name as the database has it",
        ));
    }
    Ok(relation)
}

/// Rows that have the same value in a unique index as one that is loaded. Where nothing is said the client's rows give
/// way, as those of an INSERT would.
fn duplicates(relation: &Relation, said: Option<Duplicates>, effects: &mut Effects) -> Result<(), Refusal> {
    if said.is_none() {
        return Ok(());
    }
    let protected = || relation.columns.iter().filter_map(Protected::of);
    // A column that is given no value is NULL, which is equal to nothing.
    let compares = |column: &Protected<'_>| column.field.equality || column.field.indexed;
    let compared = protected().filter(compares).map(|column| column.field.id);
    let compared: Vec<usize> = compared.filter(|field| effects.fields.writes.contains(field)).collect();
    effects.fields.searches.extend(&compared);
    effects.fields.compares.extend(compared);
    if said == Some(Duplicates::Replace) {
        // What the row held before is lost, also in the columns that get no value.
        let all: Vec<usize> = protected().map(|column| column.field.id).collect();
        effects.fields.writes.extend(&all);
        effects.fields.empties.extend(&all);
        effects.fields.overwrites.extend(&all);
        for fields in [&mut effects.fields.empties, &mut effects.fields.overwrites] {
            fields.sort_unstable();
            fields.dedup();
        }
    }
    Ok(())
}

/// What each field of a line goes to.
struct Listed<'c> {
    /// The column; None for a variable.
    columns: Vec<Option<&'c Column>>,
    /// The tokens of the list; None where the statement has none.
    tokens: Option<Vec<usize>>,
}

impl<'c> Listed<'c> {
    fn of(segment: &Segment<'_>, relation: &'c Relation, clauses: &Clauses) -> Result<Self, Refusal> {
        let Some(list) = &clauses.list else {
            if relation.columns.iter().any(|column| column.generated) {
                return Err(Refusal::unsupported(
                    "the table has computed columns, and LOAD DATA doesn't say which fields the file has",
                    "list the columns",
                ));
            }
            return Ok(Self {
                columns: relation.columns.in_order().into_iter().map(Some).collect(),
                tokens: None,
            });
        };
        let mut columns: Vec<Option<&Column>> = Vec::with_capacity(list.len());
        let mut listed: HashSet<*const Column> = HashSet::new();
        for item in list {
            let column = match item {
                Item::Column { name, .. } => Some(written_column(relation, name)?),
                Item::Variable(at) => {
                    let name = segment.tokens.get(*at).and_then(Token::user_variable).unwrap_or_default();
                    if name.starts_with("fieldveil") {
                        return Err(not_understood());
                    }
                    None
                }
            };
            if column.is_some_and(|column| !listed.insert(std::ptr::from_ref(column))) {
                return Err(Refusal::unsupported("a column is listed twice", "list each column once"));
            }
            columns.push(column);
        }
        let at = |item: &Item| match item {
            Item::Column { at, .. } | Item::Variable(at) => *at,
        };
        Ok(Self { columns, tokens: Some(list.iter().map(at).collect()) })
    }

    fn protected(&self) -> impl Iterator<Item = (usize, Protected<'c>)> {
        let protected = |column: &Option<&'c Column>| column.and_then(Protected::of);
        self.columns.iter().enumerate().filter_map(move |(index, column)| Some((index, protected(column)?)))
    }

    /// The columns' names where none are listed, so that a column added meanwhile can't shift a value.
    fn name_all(&self, segment: &Segment<'_>, clauses: &Clauses, effects: &mut Effects) {
        if self.tokens.is_none() {
            insert(segment, clauses.list_behind, self.list(segment, |_| None), effects);
        }
    }

    /// The list, with what takes the place of some of its names.
    fn list(&self, segment: &Segment<'_>, other: impl Fn(usize) -> Option<String>) -> String {
        let name = |(index, column): (usize, &Option<&Column>)| {
            let own = || column.map(|column| names::quote(&column.name, segment.dialect));
            other(index).or_else(own).unwrap_or_default()
        };
        format!(" ({})", self.columns.iter().enumerate().map(name).collect::<Vec<_>>().join(", "))
    }

    /// Fields of protected columns go to variables, and from there to the columns.
    fn rewrite(&self, segment: &Segment<'_>, clauses: &Clauses, effects: &mut Effects) {
        let variable = |index: usize| format!("@fieldveil_load_{index}");
        match &self.tokens {
            Some(tokens) => {
                for (index, _) in self.protected() {
                    if let Some(token) = tokens.get(index).and_then(|at| segment.tokens.get(*at)) {
                        let at = |place: usize| segment.offset.saturating_add(place);
                        let range = at(token.range.start)..at(token.range.end);
                        effects.splices.push(Splice { range, with: Replacement::Text(variable(index)) });
                    }
                }
            }
            None => {
                let column = |index: usize| self.columns.get(index).copied().flatten();
                let replaced = |index| column(index).and_then(Protected::of).map(|_| variable(index));
                insert(segment, clauses.list_behind, self.list(segment, replaced), effects);
            }
        }
        let mut text = String::new();
        for (nth, (index, column)) in self.protected().enumerate() {
            let variable = variable(index);
            let source = if nth == 0 { failing(&variable, clauses.charset) } else { variable };
            let name = names::quote(&column.column.name, segment.dialect);
            let begins = if nth == 0 && clauses.set.is_empty() { " SET" } else { "," };
            let value = match column.column.stored {
                StorageType::Bytes => format!("UNHEX({source})"),
                StorageType::Text | StorageType::Other => format!("CONVERT(UNHEX({source}) USING utf8mb4)"),
            };
            text.push_str(&format!("{begins} {name} = {value}"));
        }
        insert(segment, segment.tokens.len().saturating_sub(1), text, effects);
    }
}

/// The variable, but an error of the statement where it is [`Load::GIVES_UP`], or where the file isn't read as UTF-8: an
/// overflow is no warning, whatever the sql_mode and though LOCAL makes warnings of most errors.
fn failing(variable: &str, charset: LoadCharset) -> String {
    let another = match charset {
        LoadCharset::Unnamed => " OR @@character_set_database NOT IN ('utf8mb4', 'utf8mb3', 'utf8')",
        LoadCharset::Utf8 | LoadCharset::Binary | LoadCharset::SingleByte => "",
    };
    let gives_up = String::from_utf8_lossy(Load::GIVES_UP);
    format!("IF({variable} = '{gives_up}'{another}, EXP(1000 + IFNULL(LENGTH({variable}), 0)), {variable})")
}

/// Puts a text behind a token.
fn insert(segment: &Segment<'_>, behind: usize, text: String, effects: &mut Effects) {
    if let Some(token) = segment.tokens.get(behind) {
        let at = segment.offset.saturating_add(token.range.end);
        effects.splices.push(Splice { range: at..at, with: Replacement::Text(text) });
    }
}

/// `SET column = expression, …`; gives the protected columns that are set.
fn assignments<'c>(
    segment: &Segment<'_>,
    catalog: &Catalog,
    relation: &'c Relation,
    clauses: &Clauses,
    listed: &Listed<'_>,
    effects: &mut Effects,
) -> Result<Vec<&'c Column>, Refusal> {
    let mut set = Vec::new();
    let in_list: HashSet<*const Column> =
        listed.columns.iter().flatten().map(|column| std::ptr::from_ref(*column)).collect();
    for assignment in &clauses.set {
        let column = written_column(relation, &assignment.name)?;
        let Some(protected) = Protected::of(column) else {
            let expression = segment.part(assignment.value.clone());
            let sealed = |name: &str| relation.columns.named(name).is_some_and(|c| c.field.is_some());
            let names_sealed = expression.tokens.iter().filter_map(Token::name).any(sealed);
            if names_sealed || mention::may_name(&expression, catalog) {
                return Err(Refusal::unsupported(
                    "SET computes with a table with sealed columns",
                    "leave the sealed columns out of the expression",
                ));
            }
            continue;
        };
        if in_list.contains(&std::ptr::from_ref(column)) {
            return Err(Refusal::on(
                protected.field,
                "the column stands in the list and in SET",
                "leave it out of one of the two",
            ));
        }
        effects.splices.extend(literal(segment, protected, assignment.value.clone())?);
        set.push(column);
    }
    Ok(set)
}

/// What SET gives a protected column: a literal, NULL, or its default if it has none.
fn literal(
    segment: &Segment<'_>,
    protected: Protected<'_>,
    value: std::ops::Range<usize>,
) -> Result<Option<Splice>, Refusal> {
    let computed = || {
        Refusal::on(
            protected.field,
            "SET gives the column a value that the server computes, and would store unsealed",
            "name the column itself in the list in place of a variable, or SET it to a literal",
        )
    };
    let (Some(token), 1) = (segment.tokens.get(value.start), value.len()) else { return Err(computed()) };
    let text = match &token.kind {
        Kind::Word { value, quoted: false } if value == "null" => return Ok(None),
        Kind::Word { value, quoted: false } if value == "default" && !protected.column.has_default => {
            return Ok(None);
        }
        Kind::Text { value, style: Style::Plain } if protected.field.declared != Declared::Bytea => {
            value.clone()
        }
        Kind::Number if is_plain_number(token.source(segment.text)) => {
            token.source(segment.text).to_owned().into()
        }
        _ => return Err(computed()),
    };
    let at = |place: usize| segment.offset.saturating_add(place);
    let with = Replacement::Seal {
        field: protected.field.id,
        use_: ParameterUse::Store,
        form: crate::analysis::Form::Value,
        value: text,
    };
    Ok(Some(Splice { range: at(token.range.start)..at(token.range.end), with }))
}

fn not_understood() -> Refusal {
    Refusal::unparsable("the LOAD DATA isn't understood")
}
