//! The same for MySQL and MariaDB.

use fieldveil_sql::{
    Catalog, Column, Declared, Dialect, Envelopes, Field, MySqlDialect, Relation, RelationKind, StorageType,
};

use proptest::prelude::*;

/// How a server reads a text under its default settings.
pub const DEFAULT: MySqlDialect = MySqlDialect {
    ansi_quotes: false,
    no_backslash_escapes: false,
    pipes_as_concat: false,
    mariadb: false,
    folds_tables: false,
    decoded: false,
    other_meaning: None,
};
pub const MYSQL: Dialect = Dialect::MySql(DEFAULT);

/// The common catalog in MySQL's dialect, and besides:
/// - `typed(id, amount=20 numeric(10,2), born=21 date, photo=22 bytea as bytes, flag=23 boolean, n=24 integer,
///   at=25 timestamp, ratio=28 float8)`
/// - `hidden(id, ssn=26 labelled customer.ssn and invisible, name)`
/// - `raw(id, token#27 as bytes)`, `#` indexed
pub fn mysql() -> Catalog {
    in_dialect(DEFAULT)
}

pub fn mariadb() -> Catalog {
    in_dialect(MySqlDialect { mariadb: true, ..DEFAULT })
}

pub fn in_dialect(dialect: MySqlDialect) -> Catalog {
    let planned = ["customer", "person", "typed", "vault"].map(str::to_owned).to_vec();
    let mut catalog = super::catalog().in_dialect(Dialect::MySql(dialect)).with_planned(planned);
    let field = |id: usize, label: &str, declared: Declared, type_name: &str| Field {
        id,
        label: label.to_owned(),
        equality: true,
        indexed: false,
        envelopes: Envelopes::OneNow,
        declared,
        type_name: type_name.to_owned(),
    };
    let column = |name: &str, stored: StorageType, field: Option<Field>| Column {
        number: 0,
        name: name.to_owned(),
        stored,
        has_default: false,
        generated: false,
        field,
    };
    let typed = vec![
        column("id", StorageType::Other, None),
        column(
            "amount",
            StorageType::Text,
            Some(field(20, "typed.amount", Declared::Numeric, "numeric(10,2)")),
        ),
        column("born", StorageType::Text, Some(field(21, "typed.born", Declared::Date, "date"))),
        column("photo", StorageType::Bytes, Some(field(22, "typed.photo", Declared::Bytea, "bytea"))),
        column("flag", StorageType::Text, Some(field(23, "typed.flag", Declared::Boolean, "bool"))),
        column("n", StorageType::Text, Some(field(24, "typed.n", Declared::Integer, "int8"))),
        column("at", StorageType::Text, Some(field(25, "typed.at", Declared::Timestamp, "timestamp"))),
        column("ratio", StorageType::Text, Some(field(28, "typed.ratio", Declared::Float, "float8"))),
    ];
    let hidden = vec![
        column("id", StorageType::Other, None),
        Column {
            number: -2,
            ..column("ssn", StorageType::Text, Some(field(26, "customer.ssn", Declared::Characters, "text")))
        },
        column("name", StorageType::Other, None),
    ];
    let token = field(27, "raw.token", Declared::Characters, "text");
    let token = Field { equality: false, indexed: true, envelopes: Envelopes::One, ..token };
    let raw = vec![column("id", StorageType::Other, None), column("token", StorageType::Bytes, Some(token))];
    for (oid, name, columns) in [(20, "typed", typed), (21, "hidden", hidden), (22, "raw", raw)] {
        let numbered = |(index, column): (usize, Column)| {
            let number = i16::try_from(index).unwrap() + 1;
            Column { number: if column.number < 0 { -number } else { number }, ..column }
        };
        catalog.relations_mut().push(Relation {
            oid,
            schema: "public".to_owned(),
            name: name.to_owned(),
            visible: true,
            kind: RelationKind::Table,
            columns: columns.into_iter().enumerate().map(numbered).collect(),
            searches: Vec::new(),
            compares: Vec::new(),
        });
    }
    catalog
}

/// Every setting of a client whose character set is UTF-8.
pub fn modes() -> impl Strategy<Value = MySqlDialect> {
    any::<[bool; 5]>().prop_map(
        |[ansi_quotes, no_backslash_escapes, pipes_as_concat, mariadb, folds_tables]| MySqlDialect {
            ansi_quotes,
            no_backslash_escapes,
            pipes_as_concat,
            mariadb,
            folds_tables,
            decoded: false,
            other_meaning: None,
        },
    )
}

/// Each text is accepted, touches a protected relation, and becomes what stands beside it.
pub fn check_rewritten(cases: &[(&str, &str)]) {
    super::check_rewritten_in(&mysql(), cases);
}

/// Each text is accepted, touches a protected relation, and stays as it is.
pub fn check_kept(cases: &[&str]) {
    let pairs: Vec<_> = cases.iter().map(|text| (*text, *text)).collect();
    check_rewritten(&pairs);
}

/// Each text is refused with the label beside it (`""` for none).
pub fn check_refused(cases: &[(&str, &str)]) {
    super::check_refused_in(&mysql(), cases);
}
