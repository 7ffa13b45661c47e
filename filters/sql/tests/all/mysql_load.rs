//! LOAD DATA into protected tables: what of it is sealed, how it is rewritten, and what is refused.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use crate::common::shapes::analyze;
use crate::common::{catalog, render};
use fieldveil_sql::{
    Analysis, Catalog, Column, Dialect, Load, LoadCharset, LoadFormat, MySqlDialect, Refusal, Relation,
    StorageType,
};

fn mysql() -> Catalog {
    mysql_in(MySqlDialect { folds_tables: true, ..MySqlDialect::default() })
}

fn mysql_in(dialect: MySqlDialect) -> Catalog {
    catalog().in_dialect(Dialect::MySql(dialect))
}

/// The text as it goes on.
fn written(text: &str, analysis: &Analysis) -> String {
    render(text, analysis).replace(['«', '»'], "")
}

fn accepted(text: &str) -> Analysis {
    analyze(text, &mysql()).unwrap_or_else(|refusal| panic!("refused: {text}\n  {refusal}"))
}

fn refused(text: &str) -> Refusal {
    match analyze(text, &mysql()) {
        Err(refusal) => refusal,
        Ok(analysis) => panic!("accepted: {text}\n  became {}", written(text, &analysis)),
    }
}

fn load(text: &str) -> Load {
    accepted(text).statements[0].load.clone().unwrap_or_else(|| panic!("no file is sealed: {text}"))
}

#[test]
fn rows_without_a_list_get_one_whose_sealed_columns_come_from_variables() {
    let text = "LOAD DATA LOCAL INFILE 'x' INTO TABLE vault CHARACTER SET utf8mb4";
    let analysis = accepted(text);
    assert_eq!(
        written(text, &analysis),
        "LOAD DATA LOCAL INFILE 'x' INTO TABLE vault CHARACTER SET utf8mb4 \
(`id`, @fieldveil_load_1, @fieldveil_load_2) \
SET `token` = CONVERT(UNHEX(IF(@fieldveil_load_1 = 'x', EXP(1000 + IFNULL(LENGTH(@fieldveil_load_1), 0)), \
@fieldveil_load_1)) USING utf8mb4), `other` = CONVERT(UNHEX(@fieldveil_load_2) USING utf8mb4)"
    );
    let statement = &analysis.statements[0];
    assert!(
        statement.touched && statement.fields.overwrites.is_empty() && statement.fields.compares.is_empty()
    );
    assert_eq!(statement.fields.writes, [13, 14]);
    assert_eq!(
        statement.load,
        Some(Load {
            columns: vec![None, Some(13), Some(14)],
            format: LoadFormat {
                field_end: "\t".to_owned(),
                enclosed: None,
                escaped: Some(b'\\'),
                line_start: String::new(),
                line_end: "\n".to_owned(),
            },
            charset: LoadCharset::Utf8,
            skipped: 0,
        })
    );
}

#[test]
fn every_clause_is_read_and_stays() {
    let text = "LOAD DATA LOW_PRIORITY LOCAL INFILE 'x' REPLACE INTO TABLE public.customer PARTITION (p0, p1) \
CHARACTER SET latin1 COLUMNS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' \
LINES STARTING BY '>>' TERMINATED BY '\\r\\n' IGNORE 2 ROWS (@skip, `ssn`, name) SET id = @skip + 1, notes = 'n'";
    let analysis = accepted(text);
    let rewritten = written(text, &analysis);
    assert!(
        rewritten.contains("(@skip, @fieldveil_load_1, name) SET id = @skip + 1, notes = "),
        "{rewritten}"
    );
    assert!(
        rewritten.ends_with("@fieldveil_load_1)) USING utf8mb4)") && !rewritten.contains("'n'"),
        "{rewritten}"
    );
    let load = analysis.statements[0].load.clone().unwrap();
    assert_eq!(load.columns, [None, Some(1), None]);
    assert_eq!((load.charset, load.skipped), (LoadCharset::SingleByte, 2));
    let LoadFormat { field_end, enclosed, escaped, line_start, line_end } = load.format;
    assert_eq!((field_end.as_str(), enclosed, escaped), (",", Some(b'"'), None));
    assert_eq!((line_start.as_str(), line_end.as_str()), (">>", "\r\n"));
    // REPLACE empties the columns that get no value.
    let statement = &analysis.statements[0];
    assert_eq!(
        (&statement.fields.writes, &statement.fields.overwrites),
        (&vec![0, 1, 2, 3, 4], &vec![0, 1, 2, 3, 4])
    );
    assert_eq!((&statement.fields.empties, &statement.fields.compares), (&vec![0, 1, 2, 3, 4], &vec![1]));
}

#[test]
fn strings_are_read_as_the_session_does() {
    assert_eq!(
        load("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS TERMINATED BY x'7c7C'").format.field_end,
        "||"
    );
    let catalog = mysql_in(MySqlDialect { no_backslash_escapes: true, ..MySqlDialect::default() });
    let analysis =
        analyze("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS ENCLOSED BY '\\'", &catalog).unwrap();
    let format = &analysis.statements[0].load.as_ref().unwrap().format;
    assert_eq!((format.enclosed, format.escaped), (Some(b'\\'), None));
}

#[test]
fn file_of_a_character_set_that_is_not_told_fails_where_the_server_takes_another() {
    let text = "LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (id, token)";
    assert!(written(text, &accepted(text)).contains(
        "@fieldveil_load_1 = 'x' OR @@character_set_database NOT IN ('utf8mb4', 'utf8mb3', 'utf8'), EXP("
    ));
    assert_eq!(load(text).charset, LoadCharset::Unnamed);
}

#[test]
fn bytes_are_stored_as_bytes() {
    let mut catalog = mysql();
    let columns = |relation: &mut Relation| std::mem::take(&mut relation.columns);
    let vault = catalog.relations_mut().iter_mut().find(|relation| relation.name == "vault").unwrap();
    let raw = |column: &Column| Column { stored: StorageType::Bytes, ..column.clone() };
    vault.columns = columns(vault).into_iter().map(raw).collect();
    let text = "LOAD DATA LOCAL INFILE 'x' INTO TABLE vault CHARACTER SET binary (other)";
    let rewritten = written(text, &analyze(text, &catalog).unwrap());
    assert!(rewritten.contains("SET `other` = UNHEX(IF("), "{rewritten}");
}

#[test]
fn lists_without_sealed_columns_leave_the_file_as_it_is() {
    let text =
        "LOAD DATA LOCAL INFILE 'x' INTO TABLE customer FIELDS TERMINATED BY '' (id, name) SET ssn = NULL";
    let analysis = accepted(text);
    assert_eq!(analysis.statements[0].load, None);
    assert_eq!(written(text, &analysis), text);
    assert!(analysis.statements[0].touched);
}

#[test]
fn what_cannot_be_sealed_is_refused_with_what_to_do() {
    for (text, remedy) in [
        ("LOAD DATA INFILE 'x' INTO TABLE vault", "LOAD DATA LOCAL INFILE"),
        ("LOAD XML LOCAL INFILE 'x' INTO TABLE vault", "LOAD DATA LOCAL INFILE"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (id, @t) SET token = @t", "in the list"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (id, @t) SET token = CONCAT('a', @t)", "in the list"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (id, token) SET token = 'a'", "one of the two"),
        (
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (token) SET id = LENGTH(token)",
            "out of the expression",
        ),
        (
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (token) SET id = (SELECT max(id) FROM customer)",
            "out of the expression",
        ),
        (
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE orders (a) SET b = (SELECT ssn FROM customer)",
            "that the policy",
        ),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault CHARACTER SET sjis", "CHARACTER SET utf8mb4"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS TERMINATED BY ''", "TERMINATED BY a character"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault LINES TERMINATED BY ''", "LINES TERMINATED BY"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault LINES TERMINATED BY '\\t'", "LINES TERMINATED BY"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS TERMINATED BY 'a'", "commas, tabs"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS TERMINATED BY '§'", "commas, tabs"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS ENCLOSED BY '0'", "commas, tabs"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (token, token)", "list each column once"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (token, nothing)", "check its name"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE contact", "into the table itself"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE customer_view", "that the policy protects"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE customer_2024", "that the policy protects"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE computed", "ordinary column"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE hr.staff (age)", "drop its default"),
        ("SELECT 1; LOAD DATA LOCAL INFILE 'x' INTO TABLE vault", "a text of its own"),
        ("PREPARE s FROM 'LOAD DATA LOCAL INFILE ''x'' INTO TABLE vault'", "a statement of its own"),
        ("EXECUTE IMMEDIATE 'LOAD DATA LOCAL INFILE ''x'' INTO TABLE vault'", "a statement of its own"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (@fieldveil_load_1, token)", "plainer"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (token) SET id = @fieldveil_load_0", "plainer"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault FIELDS ENCLOSED BY '\"\"'", "plainer"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault (vault.token)", "plainer"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault COUNT 5", "plainer"),
        ("LOAD DATA FROM INFILE 'x' COUNT 2 INTO TABLE vault ALGORITHM=BULK", "plainer"),
    ] {
        let refusal = refused(text);
        assert!(refusal.remedy.contains(remedy), "{text}\n  {refusal}");
    }
    // Each is looked for at every place of the file.
    for part in ["FIELDS TERMINATED", "LINES TERMINATED", "LINES STARTING"] {
        let marked = |length| {
            format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE vault {part} BY '{}'", "|".repeat(length))
        };
        accepted(&marked(64));
        assert!(refused(&marked(65)).remedy.contains("commas, tabs"));
    }
}

#[test]
fn names_are_told_apart_as_the_server_does() {
    let exact = mysql_in(MySqlDialect::default());
    assert!(analyze("LOAD DATA LOCAL INFILE 'x' INTO TABLE `Vault`", &exact).is_err());
    assert!(analyze("LOAD DATA LOCAL INFILE 'x' INTO TABLE `public`.`vault`", &exact).is_ok());
    assert!(analyze("LOAD DATA LOCAL INFILE 'x' INTO TABLE Public.vault", &exact).is_err());
    accepted("LOAD DATA LOCAL INFILE 'x' INTO TABLE PUBLIC.VAULT (ID, Token)");
    // Another database's table of that name.
    let other = accepted("LOAD DATA LOCAL INFILE 'x' INTO TABLE orders");
    assert_eq!(other.statements[0].load, None);
}
