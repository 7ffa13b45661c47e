//! SELECT, INSERT, UPDATE, DELETE and MERGE: parse, walk, check.

use sqlparser::ast::Statement as Tree;

use crate::{
    analysis::{ResultField, effects::Effects},
    catalog::Catalog,
    lex::Kind,
    mention,
    parse::{
        self, Unparsed, faithful,
        mysql::Reading,
        position::{self, Positions},
    },
    refusal::Refusal,
    resolve::outputs::{OutputColumn, Outputs},
    segment::Segment,
    walk::Walker,
};

/// Tokens of a statement that is parsed: its tree takes some 300 bytes for each, so that the largest takes some
/// 20 MB, and 1500 rows of 20 values fit.
const MAX_TOKENS: usize = 65_536;

/// Analyzes a statement that may name a relation of the catalog.
pub(crate) fn analyze(segment: &Segment<'_>, catalog: &Catalog) -> Result<Effects, Refusal> {
    walk(segment, catalog, |walker, tree| walker.statement(tree))
}

/// Parses the statement and runs a walk over its tree, which says what it yields.
pub(crate) fn walk<'c>(
    segment: &Segment<'_>,
    catalog: &'c Catalog,
    run: impl FnOnce(&mut Walker<'_, 'c>, &Tree) -> Result<Outputs<'c>, Refusal>,
) -> Result<Effects, Refusal> {
    mention::refuse_resembling(segment, catalog)?;
    let Parsed { reading, positions, tree } = parse(segment)?;
    let mut walker = Walker::new(segment, &positions, catalog);
    let outputs = run(&mut walker, &tree)?;
    if let Some(column) = outputs.first_protected().filter(|_| reading.into_variables) {
        return Err(Refusal::on(
            column.field,
            "a sealed value would be kept in a variable of the session",
            "select the column as it is, and keep the value in the application",
        ));
    }
    walker.fields.reads.extend(outputs.protected().map(|column| column.field.id));
    walker.check_all_seen()?;
    let parameters = walker.parameters.all(segment)?;
    walker.parameters.write_stored(&mut walker.splices);
    if walker.reach.touched.is_empty() && walker.splices.is_empty() && parameters.is_empty() {
        return Ok(Effects::default());
    }
    if let Some(column) = outputs.protected().find(|column| column.lost && outputs.open) {
        return Err(Refusal::on(
            column.field,
            "not all columns of the result are known, so the sealed ones can't be told by position",
            "name the columns in place of *",
        ));
    }
    let field = |column: &OutputColumn<'_>| {
        column.protected.map(|column| ResultField { field: column.field.id, cast: column.cast })
    };
    let columns = (!outputs.open).then(|| outputs.columns().iter().map(field).collect());
    check_strings(segment)?;
    if !faithful::reads_back(&tree, segment, &reading) {
        return Err(Refusal::unparsable("the statement has a part that isn't understood"));
    }
    let splices = walker.splices.into_sorted()?;
    Ok(Effects {
        touched: true,
        fields: walker.fields.into(),
        columns,
        copy: None,
        load: None,
        session: None,
        splices,
        parameters,
    })
}

/// A statement's tree, and where in the text its parts are.
struct Parsed {
    reading: Reading,
    positions: Positions,
    tree: Tree,
}

#[inline]
fn parse(segment: &Segment<'_>) -> Result<Parsed, Refusal> {
    if segment.tokens.len() > MAX_TOKENS {
        return Err(Refusal::unsupported(
            "the statement is too long to be analyzed",
            "spread its rows or values over several statements",
        ));
    }
    segment.check_bounds()?;
    let (tokens, positions) =
        position::agree(segment.text, &segment.tokens, segment.dialect).map_err(|_| {
            Refusal::unparsable("the statement's words and literals can't be told apart with certainty")
        })?;
    let reading = Reading::of(segment);
    let tree =
        parse::statement(reading.apply(tokens), segment.dialect, segment.budget).map_err(
            |why| match why {
                Unparsed::Unparsable => Refusal::unparsable("the statement can't be parsed"),
                Unparsed::Exceeded(exceeded) => exceeded.into(),
            },
        )?;
    Ok(Parsed { reading, positions, tree })
}

/// Whether the statement can be parsed.
pub(crate) fn parses(segment: &Segment<'_>) -> bool {
    parse(segment).is_ok()
}

/// Two strings in a row are one to the server, if a line ends between them. (To MySQL they always are, and so they
/// are read.)
fn check_strings(segment: &Segment<'_>) -> Result<(), Refusal> {
    if segment.dialect.is_mysql() {
        return Ok(());
    }
    let is_text = |kind: &Kind| matches!(kind, Kind::Text { .. });
    if segment.tokens.windows(2).any(|pair| matches!(pair, [a, b] if is_text(&a.kind) && is_text(&b.kind))) {
        return Err(Refusal::unparsable("a string goes on in a second pair of quotes"));
    }
    Ok(())
}
