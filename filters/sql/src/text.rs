//! One text: its statements one after the other, and what one changes for those behind it.

use std::{collections::HashMap, rc::Rc};

use crate::{
    analysis::{Analysis, SessionUse, Statement},
    budget::Budget,
    catalog::Catalog,
    dialect::{Dialect, MySqlDialect, OtherMeaning},
    identity, kind,
    lex::Unread,
    mention,
    refusal::{Refusal, RefusalClass},
    segment::{self, Segment},
    statement::{
        self, Analyzed, mysql,
        session::{Names, OwnName, Prepared},
    },
};

/// Analyzes one text, which may hold several statements.
///
/// # Errors
/// A [`Refusal`] when the text can't be seen to be safe. Nothing of it may be forwarded then.
pub fn analyze(text: &str, catalog: &Catalog) -> Result<Analysis, Refusal> {
    analyze_in(text, catalog, &())
}

/// The same for a session with prepared statements and cursors of its own.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_in(text: &str, catalog: &Catalog, names: &dyn Names) -> Result<Analysis, Refusal> {
    analyze_within(text, catalog, names, &Budget::new())
}

/// The same, with a budget of the caller's, which tells afterwards how many steps were taken.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_within(
    text: &str,
    catalog: &Catalog,
    names: &dyn Names,
    budget: &Budget,
) -> Result<Analysis, Refusal> {
    let catalog = catalog.folded();
    let analyzed = match catalog.dialect {
        Dialect::MySql(MySqlDialect { other_meaning: Some(mode), .. }) => {
            analyze_in_mode(text, mode, catalog, names, budget)
        }
        _ => analyze_statements(text, catalog, names, budget),
    };
    match analyzed {
        // What is too complex passes like any other text that isn't read, where nothing protected is in reach.
        Err(refusal) if refusal.class == RefusalClass::TooComplex && !mention::may_reach(text, catalog) => {
            Ok(unread_analysis(text))
        }
        other => other,
    }
}

/// Analyzes a text in a mode that gives texts another meaning: it passes where it names nothing protected.
fn analyze_in_mode(
    text: &str,
    mode: OtherMeaning,
    catalog: &Catalog,
    names: &dyn Names,
    budget: &Budget,
) -> Result<Analysis, Refusal> {
    match mode {
        OtherMeaning::Oracle if mention::may_reach(text, catalog) => return Err(mode.refusal()),
        OtherMeaning::Oracle => return Ok(unread_analysis(text)),
        // Only what NOT stands before is read otherwise. What was prepared may hold it too.
        OtherMeaning::HighNotPrecedence if !mention::has_word_of(text, &["not", "execute", "call"]) => {
            return analyze_statements(text, catalog, names, budget);
        }
        OtherMeaning::HighNotPrecedence | OtherMeaning::EmptyStringIsNull => {}
    }
    if mention::holds_name(text, catalog) {
        return Err(mode.refusal());
    }
    let analysis = analyze_statements(text, catalog, names, budget)?;
    // A string that is prepared may hold a name in escapes, and EXECUTE stands for what was prepared before. What this text
    // prepares is among its statements.
    let is_touched = |statement: &Statement| match &statement.session {
        Some(SessionUse::Execute { name }) => names.prepared(name).is_some_and(|own| own.statement.touched),
        _ => statement.touched,
    };
    if analysis.statements.iter().any(is_touched) {
        return Err(mode.refusal());
    }
    Ok(analysis)
}

fn analyze_statements(
    text: &str,
    catalog: &Catalog,
    names: &dyn Names,
    budget: &Budget,
) -> Result<Analysis, Refusal> {
    let segments = match segment::split(text, catalog.dialect, budget) {
        Ok(segments) => segments,
        Err(why) => return unread(text, &why, catalog),
    };
    let mut analysis = Analysis::default();
    let mut statements = Vec::with_capacity(segments.len());
    let mut before =
        Before { names, prepared: HashMap::new(), renamed: false, reshaped: false, identified: false };
    let mut changed = false;
    for (index, segment) in segments.iter().enumerate() {
        budget.spend(segment.tokens.len())?;
        let analyzed = statement::analyze(segment, catalog, &before)?;
        before.check(segment, &analyzed, catalog)?;
        before.take_in(segment, &analyzed, catalog);
        // One check is enough: the rest of the text also holds what stands behind later such changes.
        if let Some(next) = segments.get(index.saturating_add(1))
            && !changed
            && catalog.dialect.is_mysql()
            && kind::mysql::may_change_reading(segment)
        {
            changed = true;
            refuse_read_otherwise(text.get(next.offset..).unwrap_or_default(), catalog)?;
        }
        let Analyzed { kind, changes_catalog, mut effects, is_dml: _ } = analyzed;
        if segments.len() > 1 {
            if !effects.parameters.is_empty() {
                return Err(Refusal::unsupported(
                    "a text of several statements has parameters",
                    "send the statements one by one",
                ));
            }
            if effects.copy.is_some() {
                return Err(Refusal::unsupported(
                    "a text of several statements has a COPY of a table with sealed columns",
                    "send the COPY as a text of its own",
                ));
            }
            if effects.load.is_some() {
                return Err(Refusal::unsupported(
                    "a text of several statements has a LOAD DATA into a table with sealed columns",
                    "send the LOAD DATA as a text of its own",
                ));
            }
        }
        let changes_identity = changes_catalog || identity::changes(segment);
        budget.spend(effects.weight().saturating_mul(STEPS_A_PART))?;
        analysis.splices.append(&mut effects.splices);
        analysis.parameters.append(&mut effects.parameters);
        let statement = effects.into_statement(kind, changes_catalog, changes_identity);
        statements.push(Statement {
            client_file: mysql::client_file(segment),
            results: mysql::results(segment, kind),
            ..statement
        });
    }
    analysis.statements = statements.into();
    Ok(analysis)
}

/// Steps of the budget for each part of what is kept of a statement. A few words can stand for many: `*` for all columns of a
/// table, EXECUTE for what was prepared.
const STEPS_A_PART: usize = 1;

/// What the statements before may have done: to the catalog, which was read before all of them, and to the
/// session's prepared statements.
struct Before<'n> {
    names: &'n dyn Names,
    /// Prepared by this text; None for what it deallocated.
    prepared: HashMap<String, Option<Rc<Prepared>>>,
    /// A name may mean another relation.
    renamed: bool,
    /// A relation of the catalog was changed too: rows of it may be reached by names that aren't in the catalog,
    /// such as a partition's.
    reshaped: bool,
    /// The session may be another principal's.
    identified: bool,
}

impl Before<'_> {
    /// Refuses what the statements before may have given another meaning.
    fn check(&self, segment: &Segment<'_>, analyzed: &Analyzed, catalog: &Catalog) -> Result<(), Refusal> {
        let may_name = mention::may_name(segment, catalog);
        if analyzed.is_dml && (self.reshaped || (self.renamed && may_name)) {
            return Err(Refusal::unsupported(
                "one text changes what names mean, and then reads or writes rows",
                "send the statements one by one",
            ));
        }
        if analyzed.executes() && self.renamed {
            return Err(Refusal::unsupported(
                "one text changes what names mean, and then executes a prepared statement",
                "send the statements one by one",
            ));
        }
        let uses_rows = analyzed.is_dml || analyzed.effects.session.is_some();
        if self.identified && analyzed.effects.touched && uses_rows {
            return Err(Refusal::unsupported(
                "one text changes who the session is for, and then goes on with a table with sealed columns",
                "send the statements one by one",
            ));
        }
        let planned = mention::names_planned(segment, catalog);
        if statement::makes_one_of(segment, catalog)
            || (self.renamed && (planned || may_name) && !statement::only_defines(segment))
        {
            return Err(Refusal::unsupported(
                "one text changes what names mean, or makes a protected table, and goes on with such a table",
                "send the statement on the protected table separately",
            ));
        }
        Ok(())
    }

    fn take_in(&mut self, segment: &Segment<'_>, analyzed: &Analyzed, catalog: &Catalog) {
        // The end of a transaction takes back, or makes last, what was changed in it.
        let changes = analyzed.changes_catalog || kind::ends_transaction(segment);
        self.renamed |= changes;
        self.identified |= identity::changes(segment);
        let names = || mention::may_name(segment, catalog) || mysql::names_unseen(segment, catalog);
        self.reshaped |= analyzed.changes_catalog && names();
        match &analyzed.effects.session {
            Some(SessionUse::Prepare { name, .. }) => {
                self.prepared.insert(name.clone(), analyzed.prepared().map(Rc::new));
            }
            Some(SessionUse::Deallocate { name: Some(name) }) => {
                self.prepared.insert(name.clone(), None);
            }
            _ => {}
        }
    }
}

impl Names for Before<'_> {
    fn prepared(&self, name: &str) -> Option<Rc<Prepared>> {
        match self.prepared.get(name) {
            Some(known) => known.clone().filter(|prepared| prepared.text.is_none()),
            None => self.names.prepared(name),
        }
    }

    fn own_name(&self, name: &str) -> OwnName {
        let Some(known) = self.prepared.get(name) else { return self.names.own_name(name) };
        let text = known.as_ref().and_then(|prepared| prepared.text.clone());
        text.map_or(OwnName::Unknown, |text| OwnName::Texts(vec![text]))
    }

    fn renamed(&self, name: &str) -> Option<String> {
        match self.prepared.get(name) {
            Some(_) => self.prepared(name).map(|prepared| prepared.server_name.clone()),
            None => self.names.renamed(name),
        }
    }

    fn cursor(&self, name: &str) -> Option<Statement> {
        self.names.cursor(name)
    }

    fn server_name(&self, name: &str) -> String {
        self.names.server_name(name)
    }
}

/// Refuses a text whose rest a MySQL may read otherwise than its beginning, as after `SET sql_mode`, if anything protected
/// may be in the rest.
fn refuse_read_otherwise(rest: &str, catalog: &Catalog) -> Result<(), Refusal> {
    if mention::may_reach(rest, catalog) {
        return Err(Refusal::unsupported(
            "one text changes how texts are read, and then goes on with a table with sealed columns",
            "send the statements one by one",
        ));
    }
    Ok(())
}

/// Analyzes a text whose strings can't be told apart with certainty (see [`crate::with_escape_strings`]).
///
/// # Errors
/// A [`Refusal`] when it may reach anything protected.
pub fn analyze_unread(text: &str, catalog: &Catalog) -> Result<Analysis, Refusal> {
    unread(text, &Unread::Doubt, catalog.folded())
}

/// A text whose tokens can't be told apart, which the server will most likely not accept either; or one of too
/// many, which it may.
fn unread(text: &str, why: &Unread, catalog: &Catalog) -> Result<Analysis, Refusal> {
    if mention::may_reach(text, catalog) {
        return Err(match why {
            Unread::Doubt => {
                Refusal::unparsable("the text's words and literals can't be told apart with certainty")
            }
            Unread::Executed => Refusal {
                remedy: "write what is in /*! … */ as a part of the statement, or leave it out".to_owned(),
                ..Refusal::unparsable("the text has a comment that the server executes")
            },
            Unread::TooLong => Refusal {
                class: RefusalClass::TooComplex,
                remedy: "send shorter statements, or use parameters".to_owned(),
                ..Refusal::unparsable("the text is too long to be analyzed")
            },
        });
    }
    Ok(unread_analysis(text))
}

/// One statement that may do anything but reach what is protected.
fn unread_analysis(text: &str) -> Analysis {
    Analysis { statements: vec![Statement::unread_of(text.as_bytes())].into(), ..Analysis::default() }
}
