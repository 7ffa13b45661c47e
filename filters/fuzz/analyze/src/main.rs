//! What the analysis says of each text: a JSON string a line in, a JSON object a line out; with `--several-keys`, while
//! the keysets of deterministic labels have several enabled keys; with `--mysql`, in MySQL's dialect, with `--mariadb`,
//! `--ansi-quotes`, `--no-backslash-escapes` and `--pipes-as-concat` as they are said. With `--bytes` each letter of a text
//! is a byte, and what comes out is the text that is analyzed in the place of it, or null. The differential tests
//! against the servers read it. Its texts are made up; it prints their literals.

use std::env;
use std::io::{self, BufRead, BufWriter, Write};

use fieldveil_analyze::{catalog, catalog_under_several_keys};
use fieldveil_sql::{
    Analysis, Dialect, Form, MySqlDialect, Parameter, Refusal, Replacement, SessionUse, Splice, Statement,
    analyze, binary_as_hexadecimal,
};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|said| said == word);
    let mut catalog = if has("--several-keys") { catalog_under_several_keys() } else { catalog() };
    let mysql = MySqlDialect {
        ansi_quotes: has("--ansi-quotes"),
        no_backslash_escapes: has("--no-backslash-escapes"),
        pipes_as_concat: has("--pipes-as-concat"),
        mariadb: has("--mariadb"),
        folds_tables: false,
        decoded: false,
        other_meaning: None,
    };
    if has("--mysql") {
        catalog = catalog.in_dialect(Dialect::MySql(mysql));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        if has("--bytes") {
            let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
            let rewritten = binary_as_hexadecimal(&bytes.map_err(io::Error::other)?, mysql);
            writeln!(out, "{}", json!(rewritten.as_deref()))?;
            continue;
        }
        let said = match analyze(&text, &catalog) {
            Ok(analysis) => accepted(&analysis),
            Err(refusal) => refused(&refusal),
        };
        writeln!(out, "{said}")?;
    }
    out.flush()
}

fn refused(refusal: &Refusal) -> Value {
    json!({"refused": refusal.reason, "class": format!("{:?}", refusal.class), "label": refusal.label})
}

fn accepted(analysis: &Analysis) -> Value {
    json!({
        "statements": analysis.statements.iter().map(statement).collect::<Vec<_>>(),
        "splices": analysis.splices.iter().map(splice).collect::<Vec<_>>(),
        "parameters": parameters(&analysis.parameters),
    })
}

fn parameters(parameters: &[Parameter]) -> Value {
    let parameters = parameters.iter().map(|parameter| {
        json!({"number": parameter.number, "field": parameter.field, "use": format!("{:?}", parameter.use_),
            "array": parameter.form == Form::Array, "envelopes": parameter.form == Form::Envelopes})
    });
    parameters.collect()
}

fn statement(statement: &Statement) -> Value {
    json!({
        "kind": format!("{:?}", statement.kind),
        "touched": statement.touched,
        "reads": statement.fields.reads,
        "searches": statement.fields.searches,
        "compares": statement.fields.compares,
        "writes": statement.fields.writes,
        "columns": statement.columns.as_ref().map(|columns| {
            columns.iter().map(|column| column.map(|column| column.field)).collect::<Vec<_>>()
        }),
        "copies": statement.fields.copies,
        "copied": statement.copy.as_ref().map(|copy| &copy.columns),
        "prepared": match &statement.session {
            Some(SessionUse::Prepare { parameters: prepared, .. }) => parameters(prepared),
            _ => Value::Null,
        },
    })
}

fn splice(splice: &Splice) -> Value {
    let range = [splice.range.start, splice.range.end];
    match &splice.with {
        Replacement::Seal { field, use_, form, value } => {
            json!({"range": range, "field": field, "use": format!("{use_:?}"), "value": value.as_str(),
                "array": *form == Form::Array, "envelopes": *form == Form::Envelopes})
        }
        Replacement::Nulls { field } => json!({"range": range, "field": field, "nulls": true}),
        Replacement::Placeholders { field } => {
            json!({"range": range, "field": field, "placeholders": true})
        }
        Replacement::Text(text) => json!({"range": range, "text": text}),
    }
}
