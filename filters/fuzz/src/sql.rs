//! The analysis of statements.

use std::sync::LazyLock;

use fieldveil_analyze::{catalog, catalog_under_several_keys};
use fieldveil_sql::identity::{Comment, identify, mentions};
use fieldveil_sql::{
    Analysis, Catalog, Dialect, MySqlDialect, OtherMeaning, Replacement, analyze, asks_about_last_statement,
};

static CATALOGS: LazyLock<[Catalog; 2]> = LazyLock::new(|| [catalog(), catalog_under_several_keys()]);

const MODES: u8 = 128;

/// The same in every mode of MySQL and MariaDB.
static MYSQL_CATALOGS: LazyLock<Vec<Catalog>> = LazyLock::new(|| {
    let modes = (0..MODES).map(mode);
    modes.flat_map(|dialect| CATALOGS.each_ref().map(|catalog| catalog.clone().in_dialect(dialect))).collect()
});

fn mode(bits: u8) -> Dialect {
    let is_on = |bit: u8| bits & (1 << bit) != 0;
    Dialect::MySql(MySqlDialect {
        ansi_quotes: is_on(0),
        no_backslash_escapes: is_on(1),
        pipes_as_concat: is_on(2),
        mariadb: is_on(3),
        folds_tables: is_on(4),
        // In a third of them.
        decoded: bits % 3 == 1,
        // In three quarters of them.
        other_meaning: OtherMeaning::ALL.get(usize::from(bits >> 5)).copied(),
    })
}

/// Any text is refused, or its splices can be made and its parameters are what they say.
pub(crate) fn analysis(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    CATALOGS.iter().for_each(|catalog| analysis_in(text, catalog));
    identity(text, Dialect::Postgres);
}

/// The same in MySQL's dialect. The first byte says which mode.
pub(crate) fn mysql_analysis(bytes: &[u8]) {
    let Some((mode, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let catalogs = MYSQL_CATALOGS.chunks(2).nth(usize::from(*mode % MODES)).into_iter().flatten();
    catalogs.clone().for_each(|catalog| analysis_in(text, catalog));
    catalogs.clone().for_each(|catalog| last_statement(text, catalog));
    catalogs.take(1).for_each(|catalog| identity(text, catalog.dialect()));
}

/// Any text is refused, or what it says of the end user can be taken out of it, and the rest says nothing more.
fn identity(text: &str, dialect: Dialect) {
    let Ok(found) = identify(text, dialect) else { return };
    let mut ranges: Vec<_> =
        found.tokens.iter().map(|token| (token.range.clone(), "'x'".to_owned())).collect();
    ranges.extend(found.comment_tokens.iter().map(|range| (range.clone(), "x".repeat(range.len()))));
    ranges.sort_by_key(|(range, _)| range.start);
    let says = !ranges.is_empty() || !found.parameters.is_empty() || found.comment != Comment::Nothing;
    assert!(!says || mentions(text.as_bytes()), "what says something names it");
    let mut at = 0;
    let mut rest = String::new();
    for (range, with) in &ranges {
        assert!(range.start >= at && range.end >= range.start, "sorted and disjoint");
        rest.push_str(text.get(at..range.start).expect("between characters"));
        rest.push_str(with);
        at = range.end;
    }
    rest.push_str(text.get(at..).expect("between characters"));
    for token in &found.tokens {
        let literal = text.get(token.range.clone()).expect("between characters");
        assert!(literal.len() >= 2 && literal.ends_with(['\'', '$', '"']), "a whole literal");
        assert!(!token.value.is_empty(), "the empty one is none");
    }
    let Ok(again) = identify(&rest, dialect) else { panic!("what goes to the server is understood as well") };
    assert_eq!(again.tokens.len(), found.tokens.len(), "as many words as there were tokens");
    assert!(again.tokens.iter().all(|token| *token.value == "x"), "nothing but words");
    assert_eq!(again.parameters, found.parameters, "the same parameters");
    assert_eq!(again.comment_tokens, found.comment_tokens, "the same places in comments");
}

fn analysis_in(text: &str, catalog: &Catalog) {
    let Ok(analysis) = analyze(text, catalog) else { return };
    check_splices(text, &analysis);
    let numbers: Vec<u16> = analysis.parameters.iter().map(|parameter| parameter.number).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "parameters are sorted, each once");
    let sealed = analysis.splices.iter().filter(|splice| matches!(splice.with, Replacement::Seal { .. }));
    if sealed.count() + numbers.len() > 0 {
        assert!(
            analysis.statements.iter().any(|statement| statement.touched),
            "what is sealed is in a table"
        );
    }
    for statement in &analysis.statements {
        for fields in [
            &statement.fields.reads,
            &statement.fields.searches,
            &statement.fields.compares,
            &statement.fields.writes,
        ] {
            assert!(fields.is_sorted_by(|a, b| a < b), "fields are sorted, each once");
        }
    }
    assert_eq!(analyze(text, catalog).as_ref(), Ok(&analysis), "the same text is analyzed the same");
}

/// What does nothing but ask about the statement before has nothing to do with what is protected.
fn last_statement(text: &str, catalog: &Catalog) {
    let Dialect::MySql(dialect) = catalog.dialect() else { return };
    if !asks_about_last_statement(text, dialect) {
        return;
    }
    let Ok(analysis) = analyze(text, catalog) else { return };
    assert!(analysis.splices.is_empty() && analysis.parameters.is_empty(), "nothing in it is sealed");
    for statement in &analysis.statements {
        assert!(statement.fields.reads.is_empty(), "it reads nothing protected");
        assert!(!statement.changes_identity || statement.changes_catalog, "only USE changes the session");
    }
}

fn check_splices(text: &str, analysis: &Analysis) {
    let mut at = 0;
    for splice in &analysis.splices {
        assert!(splice.range.start >= at && splice.range.end >= splice.range.start, "sorted and disjoint");
        assert!(text.get(splice.range.clone()).is_some(), "within the text, between characters");
        at = splice.range.end;
    }
}
