//! The analysis of statements.

use std::sync::LazyLock;

use fieldveil_analyze::{catalog, catalog_under_several_keys};
use fieldveil_sql::{Analysis, Catalog, Replacement, analyze};

static CATALOGS: LazyLock<[Catalog; 2]> = LazyLock::new(|| [catalog(), catalog_under_several_keys()]);

/// Any text is refused, or its splices can be made and its parameters are what they say.
pub(crate) fn analysis(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    CATALOGS.iter().for_each(|catalog| analysis_in(text, catalog));
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
        for fields in [&statement.reads, &statement.searches, &statement.compares, &statement.writes] {
            assert!(fields.is_sorted_by(|a, b| a < b), "fields are sorted, each once");
        }
    }
    assert_eq!(analyze(text, catalog).as_ref(), Ok(&analysis), "the same text is analysed the same");
}

fn check_splices(text: &str, analysis: &Analysis) {
    let mut at = 0;
    for splice in &analysis.splices {
        assert!(splice.range.start >= at && splice.range.end >= splice.range.start, "sorted and disjoint");
        assert!(text.get(splice.range.clone()).is_some(), "within the text, between characters");
        at = splice.range.end;
    }
}
