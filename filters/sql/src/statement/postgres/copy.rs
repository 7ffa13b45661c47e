//! COPY between the client and a protected relation. The grammar is small, and the parser's own reading of it takes
//! the data for a part of the text; so it is read here by its tokens.

mod options;

use self::options::Options;
use crate::{
    analysis::{Copy, CopyFormat, Replacement, Splice, effects::Effects},
    catalog::{Catalog, Column, Relation, RelationKind},
    dialect::Dialect,
    lex::Kind,
    mention, names,
    refusal::Refusal,
    segment::{Segment, reader::Reader},
    statement::dml,
    walk::write::insert::{refuse_defaults, refuse_generated, refuse_twice},
};

/// Analyzes a COPY that may name a relation of the catalog.
pub(crate) fn analyze(segment: &Segment<'_>, catalog: &Catalog) -> Result<Effects, Refusal> {
    let start = if segment.is_word(1, "binary") { 2 } else { 1 };
    if segment.is_symbol(start, "(") {
        return query(segment, start, catalog);
    }
    let mut reader = Reader { segment, at: start };
    let (schema, name) = table(&mut reader)?;
    let relation = catalog.named(&name).find(|relation| {
        schema.as_ref().map_or(relation.visible, |schema| catalog.is_schema(&relation.schema, schema))
    });
    let Some(relation) = relation else { return Ok(Effects::default()) };
    touchable(relation)?;
    let listed = columns(&mut reader)?;
    let behind = reader.at.saturating_sub(1);
    let columns = targets(relation, listed.as_deref())?;
    let from_client = direction(&mut reader)?;
    client(&mut reader, from_client)?;
    let (options, rest) = Options::read(segment, reader.at, start == 2)?;
    if rest < segment.tokens.len() {
        return Err(not_understood());
    }
    let mut effects = Effects { touched: true, ..Effects::default() };
    if listed.is_none() {
        // So that a column added meanwhile can't shift a value.
        let list: Vec<String> =
            columns.iter().map(|column| names::quote(&column.name, Dialect::Postgres)).collect();
        if let Some(token) = segment.tokens.get(behind) {
            let at = segment.offset.saturating_add(token.range.end);
            let with = Replacement::Text(format!(" ({})", list.join(", ")));
            effects.splices.push(Splice { range: at..at, with });
        }
    }
    let mut fields: Vec<usize> =
        columns.iter().filter_map(|column| column.field.as_ref()).map(|field| field.id).collect();
    fields.sort_unstable();
    fields.dedup();
    if from_client {
        if relation.kind == RelationKind::View {
            return Err(not_understood());
        }
        refuse_generated(relation)?;
        refuse_defaults(relation, &columns)?;
        effects.fields.writes = fields;
    } else {
        effects.fields.reads = fields;
        effects.fields.searches.clone_from(&relation.searches);
        effects.fields.compares.clone_from(&relation.compares);
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let format = options.format(&names)?;
    let columns = columns.iter().map(|column| column.field.as_ref().map(|field| field.id)).collect();
    effects.copy = Some(Copy { from_client, columns, format });
    Ok(effects)
}

/// `COPY (query) TO STDOUT`
fn query(segment: &Segment<'_>, open: usize, catalog: &Catalog) -> Result<Effects, Refusal> {
    let mut depth = 0_usize;
    let close = (open..segment.tokens.len()).find(|index| {
        if segment.is_symbol(*index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(*index, ")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0
    });
    let close = close.ok_or_else(not_understood)?;
    let inner = segment.starting_at(open.saturating_add(1));
    let inner = inner.up_to(close.saturating_sub(open).saturating_sub(1));
    let mut effects = dml::analyze(&inner, catalog)?;
    if !effects.touched {
        return Ok(effects);
    }
    let mut reader = Reader { segment, at: close.saturating_add(1) };
    if direction(&mut reader)? {
        return Err(not_understood());
    }
    client(&mut reader, false)?;
    let (options, rest) = Options::read(segment, reader.at, false)?;
    if rest < segment.tokens.len() {
        return Err(not_understood());
    }
    let columns = effects.columns.take().ok_or_else(|| {
        Refusal::unsupported(
            "COPY of a query over a table with sealed columns, and not all of its columns are known",
            "name the columns in place of *",
        )
    })?;
    let format: CopyFormat = options.format(&[])?;
    let columns = columns.into_iter().map(|column| column.map(|column| column.field)).collect();
    effects.copy = Some(Copy { from_client: false, columns, format });
    Ok(effects)
}

fn touchable(relation: &Relation) -> Result<(), Refusal> {
    if relation.kind == RelationKind::OpaqueView || !mention::is_protected(relation) {
        return Err(Refusal::unsupported(
            format!(
                "rows of a table with sealed columns are reached through {}",
                names::quote(&relation.name, Dialect::Postgres)
            ),
            "name the table that the policy protects",
        ));
    }
    Ok(())
}

/// The columns in the data's order: those listed, else all that are not computed.
fn targets<'c>(relation: &'c Relation, listed: Option<&[String]>) -> Result<Vec<&'c Column>, Refusal> {
    let Some(listed) = listed else {
        let mut columns: Vec<&Column> = relation.columns.iter().filter(|column| !column.generated).collect();
        columns.sort_by_key(|column| column.number);
        return Ok(columns);
    };
    refuse_twice(relation, listed.len())?;
    let find = |name: &String| {
        relation.columns.named(name).ok_or_else(|| {
            Refusal::unsupported(
                "a column that is copied isn't known in a table with sealed columns",
                "check its name; after a change of the table, try again",
            )
        })
    };
    listed.iter().map(find).collect()
}

fn read_name(reader: &mut Reader<'_, '_>) -> Result<String, Refusal> {
    reader.takes_name().ok_or_else(not_understood)
}

/// `[database.][schema.]table`
fn table(reader: &mut Reader<'_, '_>) -> Result<(Option<String>, String), Refusal> {
    let mut schema = None;
    let mut name = read_name(reader)?;
    while reader.takes_symbol(".") {
        schema = Some(std::mem::replace(&mut name, read_name(reader)?));
    }
    Ok((schema, name))
}

fn columns(reader: &mut Reader<'_, '_>) -> Result<Option<Vec<String>>, Refusal> {
    if !reader.takes_symbol("(") {
        return Ok(None);
    }
    let mut columns = vec![read_name(reader)?];
    while reader.takes_symbol(",") {
        columns.push(read_name(reader)?);
    }
    if reader.takes_symbol(")") { Ok(Some(columns)) } else { Err(not_understood()) }
}

/// Whether it is FROM.
fn direction(reader: &mut Reader<'_, '_>) -> Result<bool, Refusal> {
    let from = reader.takes_word("from");
    if from || reader.takes_word("to") { Ok(from) } else { Err(not_understood()) }
}

/// STDIN or STDOUT: the server takes either word both ways.
fn client(reader: &mut Reader<'_, '_>, from: bool) -> Result<(), Refusal> {
    if reader.takes_word("stdin") || reader.takes_word("stdout") {
        return Ok(());
    }
    let other = reader.segment.tokens.get(reader.at);
    if reader.segment.is_word(reader.at, "program")
        || other.is_some_and(|t| matches!(t.kind, Kind::Text { .. }))
    {
        return Err(Refusal::unsupported(
            "COPY of a table with sealed columns to or from a file or program of the server",
            if from { "send the data: COPY … FROM STDIN" } else { "take the data: COPY … TO STDOUT" },
        ));
    }
    Err(not_understood())
}

fn not_understood() -> Refusal {
    Refusal::unparsable("the COPY isn't understood")
}
