//! Statements about prepared statements and cursors: PREPARE, EXECUTE, DEALLOCATE, DECLARE, FETCH; and those of
//! transactions, which end cursors.

use std::rc::Rc;

use sqlparser::{ast::Statement as Tree, dialect::PostgreSqlDialect, parser::Parser};

use crate::{
    analysis::{
        FieldUses, Form, Parameter, PreparedText, Replacement, SessionUse, Splice, Statement,
        effects::Effects,
    },
    catalog::Catalog,
    kind, mention,
    refusal::Refusal,
    resolve::{outputs::Outputs, protected::Protected, scope::Scope},
    segment::Segment,
    statement::{self, Analyzed, dml, postgres::prepared},
    walk::{search::operand, value::reader::Fault},
};

/// What a session has prepared and declared by SQL, and in the protocol.
pub trait Names {
    /// A prepared statement that the server knows under a name of the filter's, by its folded name.
    fn prepared(&self, name: &str) -> Option<Rc<Prepared>>;
    /// What the server may have under this folded name, where it is the client's own.
    fn own_name(&self, _name: &str) -> OwnName {
        OwnName::Unknown
    }
    /// The filter's name for what was prepared under this folded name, be it still executed or not.
    fn renamed(&self, name: &str) -> Option<String> {
        self.prepared(name).map(|prepared| prepared.server_name.clone())
    }
    /// The statement of a cursor or portal, by its folded name.
    fn cursor(&self, name: &str) -> Option<Statement>;
    /// The name by which the server is to know what is prepared now under this name: one that nobody else gives, so that
    /// what is executed is what was seen to be prepared.
    fn server_name(&self, name: &str) -> String;
}

/// What the server may have under a name that the client itself gives, in SQL or in the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnName {
    /// Something that was not seen, or that may concern a protected table.
    Unknown,
    /// A statement of the protocol's that concerns a protected table, or may: it did when it was prepared, or its names are not
    /// certain.
    Protected,
    /// Nothing.
    Free,
    /// One of these texts. None of them concerned anything protected when it was prepared.
    Texts(Vec<PreparedText>),
}

/// What EXECUTE needs to know of a prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The name by which the server knows it.
    pub server_name: String,
    /// Its parameters in protected places.
    pub parameters: Vec<Parameter>,
    /// Fields whose values stand sealed in its text, under the keys of then; sorted, each once.
    pub sealed: Vec<usize>,
    /// What it does.
    pub statement: Statement,
    /// Its text, where the server knows it under the client's own name, because nothing protected is concerned.
    pub text: Option<PreparedText>,
}

/// A session without any.
impl Names for () {
    fn prepared(&self, _: &str) -> Option<Rc<Prepared>> {
        None
    }

    fn cursor(&self, _: &str) -> Option<Statement> {
        None
    }

    fn server_name(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// `PREPARE name [(type, …)] AS statement`
pub(crate) fn prepare(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    let (Ok(name), Some(as_)) = (name_at(segment, 1), word_outside(segment, 2, "as")) else {
        return prepared::unreadable(segment, catalog);
    };
    // EXECUTE may come when there are more keys.
    let inner = Segment { outlives_keys: true, ..segment.starting_at(as_.saturating_add(1)) };
    if !kind::is_dml(&inner) {
        return prepared::unreadable(segment, catalog);
    }
    let mut analyzed = statement::analyze(&inner, catalog, &())?;
    if names.prepared(&name).is_some() {
        return Err(Refusal::duplicate_prepared(&name));
    }
    // The name of a table is also that of its rows' type.
    let types_are_plain = !mention::may_name(&segment.part(2..as_), catalog);
    let keeps_name = types_are_plain && !prepared::may_be_the_filters(&name);
    if keeps_name && prepared::concerns_nothing(&inner, &analyzed) {
        return Ok(analyzed.prepare_as_written(name, inner.text));
    }
    if matches!(names.own_name(&name), OwnName::Texts(_)) {
        return Err(Refusal::duplicate_prepared(&name));
    }
    let mut parameters = std::mem::take(&mut analyzed.effects.parameters);
    // The server infers the stored type; the declared one in the list would be another.
    let types = arguments(segment, 2, as_);
    for parameter in &mut parameters {
        let index = usize::from(parameter.number).saturating_sub(1);
        let Some((first, last)) = types.get(index).copied() else { continue };
        check_type(segment, catalog, parameter, (first, last))?;
        if let (Some(first), Some(last)) = (segment.tokens.get(first), segment.tokens.get(last)) {
            let offset = segment.offset;
            let range = first.range.start.saturating_add(offset)..last.range.end.saturating_add(offset);
            analyzed.effects.splices.push(Splice { range, with: Replacement::Text("unknown".to_owned()) });
        }
    }
    Ok(analyzed.prepare(segment, name, names, parameters))
}

/// Tokens of a type: `timestamp(3) without time zone[]` has nine.
const MOST_TYPE_TOKENS: usize = 12;

/// Checks the type that PREPARE names for a parameter which is looked for: it may choose another comparison.
fn check_type(
    segment: &Segment<'_>,
    catalog: &Catalog,
    parameter: &mut Parameter,
    (first, last): (usize, usize),
) -> Result<(), Refusal> {
    let range = |index: usize| segment.tokens.get(index).map(|token| token.range.clone());
    let source = range(first).zip(range(last)).and_then(|(f, l)| segment.text.get(f.start..l.end));
    // The parser goes into types of types.
    let is_short = last.saturating_sub(first) < MOST_TYPE_TOKENS;
    let source = source.filter(|_| is_short).ok_or_else(not_understood)?;
    if !parameter.searched || source.eq_ignore_ascii_case("unknown") {
        return Ok(());
    }
    let field = Protected::of_field(catalog, parameter.field).ok_or_else(not_understood)?.field;
    let named = Parser::new(&PostgreSqlDialect {}).try_with_sql(source);
    let named = named.and_then(|mut parser| parser.parse_data_type()).map_err(|_| not_understood())?;
    let operand = operand::of_parameter(field, &named, parameter.form == Form::Array);
    let operand = operand.map_err(|Fault(reason, remedy)| Refusal::on(field, reason, remedy))?;
    parameter.operand = parameter.operand.max(operand);
    Ok(())
}

impl Analyzed {
    /// It does nothing yet: a PREPARE keeps it under a name.
    pub fn prepare(
        mut self,
        segment: &Segment<'_>,
        name: String,
        names: &dyn Names,
        parameters: Vec<Parameter>,
    ) -> Self {
        // What it takes the place of in MySQL, it takes the place of in the server too.
        let before = names.prepared(&name).map(|prepared| prepared.server_name.clone());
        let server_name = before.unwrap_or_else(|| names.server_name(&name));
        let splices = &mut self.effects.splices;
        let mut sealed: Vec<usize> = splices.iter().filter_map(|splice| splice.with.field()).collect();
        sealed.sort_unstable();
        sealed.dedup();
        splices.extend(renamed(segment, 1, &server_name));
        Splice::sort(splices);
        self.effects.session =
            Some(SessionUse::Prepare { name, server_name, parameters, sealed, text: None });
        self.is_dml = false;
        self.changes_catalog = false;
        self
    }

    /// The same where a PREPARE keeps it under the client's own name.
    fn prepare_as_written(mut self, name: String, text: &str) -> Self {
        let (server_name, text) = (name.clone(), Some(PreparedText::from(text)));
        let (parameters, sealed) = (Vec::new(), Vec::new());
        self.effects.session = Some(SessionUse::Prepare { name, server_name, parameters, sealed, text });
        self.is_dml = false;
        self.changes_catalog = false;
        self
    }
}

/// `DECLARE name … CURSOR … FOR query`
pub(crate) fn declare(segment: &Segment<'_>, catalog: &Catalog) -> Result<Analyzed, Refusal> {
    let cursor = word_outside(segment, 2, "cursor");
    let for_ = cursor.and_then(|cursor| word_outside(segment, cursor, "for"));
    let (Ok(name), Some(cursor), Some(for_)) = (name_at(segment, 1), cursor, for_) else {
        return prepared::unreadable(segment, catalog);
    };
    let inner = segment.starting_at(for_.saturating_add(1));
    if !kind::is_dml(&inner) {
        return prepared::unreadable(segment, catalog);
    }
    let mut analyzed = statement::analyze(&inner, catalog, &())?;
    let holds = segment.is_word(cursor.saturating_add(1), "with");
    analyzed.effects.session = Some(SessionUse::Declare { name, holds });
    analyzed.is_dml = false;
    analyzed.changes_catalog = false;
    Ok(analyzed)
}

/// `EXECUTE name [(value, …)]`; in MySQL `EXECUTE name [USING @variable, …]`, where nothing protected is a parameter.
pub(crate) fn execute(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    let name = match name_at(segment, 1) {
        Ok(name) => name,
        Err(_) if !segment.dialect.is_mysql() => return prepared::unreadable(segment, catalog),
        Err(refusal) => return Err(refusal),
    };
    let Some(prepared) = names.prepared(&name) else {
        // Only where there is nothing to protect does a PREPARE pass unseen.
        if !catalog.protects() {
            return Ok(Analyzed::unread());
        }
        return match segment.dialect.is_mysql() {
            true => Err(prepared::unseen()),
            false => prepared::execute(segment, catalog, name.clone(), names.own_name(&name)),
        };
    };
    let Prepared { server_name, parameters, statement, .. } = prepared.as_ref();
    let mut splices = Vec::from_iter(renamed(segment, 1, server_name));
    if !parameters.is_empty() {
        splices.extend(sealed_arguments(segment, catalog, parameters)?);
    }
    let (kind, changes_catalog) = (statement.kind, statement.changes_catalog);
    let effects = Effects {
        touched: statement.touched || !catalog.relations.is_empty(),
        copy: None,
        session: Some(SessionUse::Execute { name }),
        splices,
        ..Effects::from(statement.clone())
    };
    Ok(Analyzed { kind, changes_catalog, effects, is_dml: true })
}

fn sealed_arguments(
    segment: &Segment<'_>,
    catalog: &Catalog,
    parameters: &[Parameter],
) -> Result<Vec<Splice>, Refusal> {
    let effects = dml::walk(segment, catalog, |walker, tree| {
        let Tree::Execute { parameters: values, using, .. } = tree else { return Err(not_understood()) };
        if !using.is_empty() {
            return Err(not_understood());
        }
        for (index, value) in values.iter().enumerate() {
            // They are sorted by their numbers.
            let number = |p: &Parameter| usize::from(p.number);
            let placed = parameters.binary_search_by_key(&index.saturating_add(1), number);
            match placed.ok().and_then(|place| parameters.get(place)) {
                Some(placed) => {
                    let at = Protected::of_field(catalog, placed.field).ok_or_else(not_understood)?;
                    walker.argument(at, placed, value)?;
                }
                None => walker.expr(value, &Scope::default())?,
            }
        }
        Ok(Outputs::default())
    })?;
    if !effects.parameters.is_empty() {
        return Err(Refusal::unsupported(
            "EXECUTE has a parameter for a sealed column",
            "write the value as a literal, or use the driver's prepared statements",
        ));
    }
    Ok(effects.splices)
}

/// FETCH and MOVE: the cursor's name comes last.
pub(crate) fn fetch(segment: &Segment<'_>, names: &dyn Names, catalog: &Catalog) -> Result<Effects, Refusal> {
    let name = name_at(segment, segment.tokens.len().saturating_sub(1))?;
    let cursor = names.cursor(&name);
    let session = Some(SessionUse::Fetch { name });
    let touched = !catalog.relations.is_empty() && segment.is_word(0, "fetch");
    let (columns, reads) = cursor.map(|cursor| (cursor.columns, cursor.fields.reads)).unwrap_or_default();
    let fields = FieldUses { reads, ..FieldUses::default() };
    Ok(Effects { touched, fields, columns, session, ..Effects::default() })
}

/// `DEALLOCATE [PREPARE] name | ALL`, `DISCARD ALL`; in MySQL `DROP PREPARE name`
pub(crate) fn deallocate(segment: &Segment<'_>, names: &dyn Names) -> Result<Effects, Refusal> {
    let last = segment.tokens.len().saturating_sub(1);
    let name = if segment.is_word(last, "all") { None } else { Some(name_at(segment, last)?) };
    let server_name = name.as_ref().and_then(|name| names.renamed(name));
    let splices = server_name.and_then(|server_name| renamed(segment, last, &server_name));
    let session = Some(SessionUse::Deallocate { name });
    Ok(Effects { session, splices: Vec::from_iter(splices), ..Effects::default() })
}

/// `CLOSE name | ALL`
pub(crate) fn close(segment: &Segment<'_>) -> Result<Effects, Refusal> {
    let name = if segment.is_word(1, "all") { None } else { Some(name_at(segment, 1)?) };
    Ok(Effects { session: Some(SessionUse::Close { name }), ..Effects::default() })
}

/// Whether a FETCH, MOVE, CLOSE or DEALLOCATE has no name where each must have one, so that it is no SQL to the server. With UESCAPE
/// the name may stand before its end.
pub(crate) fn lacks_name(segment: &Segment<'_>) -> bool {
    let last = segment.tokens.len().saturating_sub(1);
    let place = if segment.is_word(0, "close") { 1 } else { last };
    name_at(segment, place).is_err() && !segment.tokens.iter().any(|token| token.is_word("uescape"))
}

/// What the end or a savepoint of a transaction does with cursors.
pub(crate) fn transaction(segment: &Segment<'_>) -> Option<SessionUse> {
    let name = || name_at(segment, segment.tokens.len().saturating_sub(1)).ok();
    match (segment.word(0), segment.word(1)) {
        ("savepoint", _) => Some(SessionUse::Savepoint { name: name()? }),
        ("release", _) => Some(SessionUse::Release { name: name()? }),
        ("rollback", _) if word_outside(segment, 1, "to").is_some() => {
            Some(SessionUse::RollBackTo { name: name()? })
        }
        // Of a transaction that was prepared before, it may be of another session.
        ("commit" | "rollback", "prepared") => None,
        ("commit" | "end" | "prepare", _) => Some(SessionUse::End { rolls_back: false }),
        ("rollback" | "abort", _) => Some(SessionUse::End { rolls_back: true }),
        _ => None,
    }
}

/// The name that the server knows in the place of a token.
fn renamed(segment: &Segment<'_>, index: usize, server_name: &str) -> Option<Splice> {
    let token = segment.tokens.get(index)?;
    let (start, end) = (token.range.start, token.range.end);
    let range = start.saturating_add(segment.offset)..end.saturating_add(segment.offset);
    Some(Splice { range, with: Replacement::Text(crate::names::quote(server_name, segment.dialect)) })
}

pub(crate) fn name_at(segment: &Segment<'_>, index: usize) -> Result<String, Refusal> {
    let name = segment.tokens.get(index).and_then(|token| token.name());
    name.map(str::to_owned).ok_or_else(not_understood)
}

/// The first such keyword outside of brackets, from a token on.
fn word_outside(segment: &Segment<'_>, from: usize, word: &str) -> Option<usize> {
    let mut depth = 0_usize;
    (from..segment.tokens.len()).find(|index| {
        if segment.is_symbol(*index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(*index, ")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && segment.is_word(*index, word)
    })
}

/// The first and last token of each item of a list in brackets that starts at a token, and ends before another.
fn arguments(segment: &Segment<'_>, open: usize, end: usize) -> Vec<(usize, usize)> {
    let mut items = Vec::new();
    if !segment.is_symbol(open, "(") {
        return items;
    }
    let mut depth = 0_usize;
    let mut first = open.saturating_add(1);
    for index in open..end {
        if segment.is_symbol(index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(index, ")") {
            depth = depth.saturating_sub(1);
        }
        let ends = depth == 0 || (depth == 1 && segment.is_symbol(index, ","));
        if ends && index > first {
            items.push((first, index.saturating_sub(1)));
            first = index.saturating_add(1);
        }
        if depth == 0 {
            break;
        }
    }
    items
}

pub(crate) fn not_understood() -> Refusal {
    Refusal::unparsable("a statement about a prepared statement or a cursor isn't understood")
}
