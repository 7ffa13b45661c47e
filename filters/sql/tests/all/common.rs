//! A catalog, and a way to write what is expected of a text.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::panic
)]

pub mod mysql;
pub mod shapes;
pub mod tokens;

use std::rc::Rc;

use fieldveil_sql::{
    Analysis, Catalog, Column, Declared, Dialect, Envelopes, Field, Form, Names, Operand, Parameter,
    ParameterUse, Prepared, Refusal, Relation, RelationKind, Replacement, SessionUse, Statement, StorageType,
};
#[allow(unused_imports)]
pub use shapes::analyze;

fn plain(name: &str) -> Column {
    Column {
        number: 0,
        name: name.to_owned(),
        stored: StorageType::Other,
        has_default: false,
        generated: false,
        field: None,
    }
}

fn sealed(name: &str, id: usize, label: &str, equality: bool) -> Column {
    let field = Some(Field {
        id,
        label: label.to_owned(),
        equality,
        indexed: false,
        envelopes: if equality { Envelopes::OneNow } else { Envelopes::One },
        declared: Declared::Characters,
        type_name: "text".to_owned(),
    });
    Column { stored: StorageType::Text, field, ..plain(name) }
}

/// Both under one label.
fn indexed(name: &str, id: usize) -> Column {
    let column = sealed(name, id, "vault.token", false);
    Column { field: column.field.map(|field| Field { indexed: true, ..field }), ..column }
}

fn table(oid: u32, schema: &str, name: &str, visible: bool, columns: Vec<Column>) -> Relation {
    let numbered =
        |(index, column): (usize, Column)| Column { number: i16::try_from(index).unwrap() + 1, ..column };
    Relation {
        oid,
        schema: schema.to_owned(),
        name: name.to_owned(),
        visible,
        kind: RelationKind::Table,
        columns: columns.into_iter().enumerate().map(numbered).collect(),
        searches: Vec::new(),
        compares: Vec::new(),
    }
}

/// - `customer(id, name, email=0, ssn=1, phone~2, card~3, notes~4)`; `=` deterministic, `~` randomized
/// - `person(id, ssn=5 labelled customer.ssn, "Mixed"=6, city)`
/// - `hr.staff`, not visible: `(id default, ssn=7, badge~8 default, age)`
/// - `blob(id, data=9 as bytea labelled customer.ssn, wrong=10 as integer)`
/// - `computed(id, digest=11 generated)`; `shift(a, b generated, secret=12)`
/// - `contact(id, mail=0)`, a view whose own query searches for 1; `vault(id, token#13, other#14)`, `#` indexed
/// - `customer_view`, a view that isn't understood; `customer_2024`, a partition without fields
pub fn catalog() -> Catalog {
    let customer = vec![
        Column { has_default: true, ..plain("id") },
        plain("name"),
        sealed("email", 0, "customer.email", true),
        sealed("ssn", 1, "customer.ssn", true),
        sealed("phone", 2, "customer.phone", false),
        sealed("card", 3, "customer.card", false),
        sealed("notes", 4, "customer.notes", false),
    ];
    let person = vec![
        plain("id"),
        sealed("ssn", 5, "customer.ssn", true),
        sealed("Mixed", 6, "person.mixed", true),
        plain("city"),
    ];
    let staff = vec![
        Column { has_default: true, ..plain("id") },
        sealed("ssn", 7, "hr.ssn", true),
        Column { has_default: true, ..sealed("badge", 8, "hr.badge", false) },
        plain("age"),
    ];
    let blob = vec![
        plain("id"),
        Column { stored: StorageType::Bytes, ..sealed("data", 9, "customer.ssn", true) },
        Column { stored: StorageType::Other, ..sealed("wrong", 10, "blob.wrong", true) },
    ];
    let computed =
        vec![plain("id"), Column { generated: true, ..sealed("digest", 11, "computed.digest", true) }];
    let shift = vec![
        plain("a"),
        Column { generated: true, ..plain("b") },
        sealed("secret", 12, "shift.secret", true),
    ];
    Catalog::new(
        Dialect::Postgres,
        vec![
            table(1, "public", "customer", true, customer),
            table(2, "public", "person", true, person),
            table(3, "hr", "staff", false, staff),
            table(4, "public", "blob", true, blob),
            table(5, "public", "computed", true, computed),
            table(6, "public", "shift", true, shift),
            Relation {
                kind: RelationKind::OpaqueView,
                ..table(7, "public", "customer_view", true, vec![plain("id"), plain("ssn")])
            },
            table(8, "public", "customer_2024", true, vec![plain("id"), plain("ssn")]),
            Relation {
                kind: RelationKind::View,
                searches: vec![1],
                ..table(
                    9,
                    "public",
                    "contact",
                    true,
                    vec![plain("id"), sealed("mail", 0, "customer.email", true)],
                )
            },
            table(10, "public", "vault", true, vec![plain("id"), indexed("token", 13), indexed("other", 14)]),
        ],
        Vec::new(),
    )
}

/// `t(name=0 text, code=1 bpchar(4), day=2 date, at=3 timestamp, zoned=4 timestamptz, n=5 int4, amount=6 numeric(10,2),
/// flag=7 bool, key=8 uuid, words=9 text[])`, all deterministic.
pub fn typed() -> Catalog {
    let types = [
        ("name", Declared::Characters, "text"),
        ("code", Declared::Padded, "bpchar(4)"),
        ("day", Declared::Date, "date"),
        ("at", Declared::Timestamp, "timestamp"),
        ("zoned", Declared::TimestampTz, "timestamptz"),
        ("n", Declared::Integer, "int4"),
        ("amount", Declared::Numeric, "numeric(10,2)"),
        ("flag", Declared::Boolean, "bool"),
        ("key", Declared::Uuid, "uuid"),
        ("words", Declared::Other, "text[]"),
    ];
    let column = |id: usize, name: &str, declared: Declared, type_name: &str| {
        let column = sealed(name, id, &format!("typed.{name}"), true);
        let field = column.field.map(|field| Field { declared, type_name: type_name.to_owned(), ..field });
        Column { field, ..column }
    };
    let columns = types
        .into_iter()
        .enumerate()
        .map(|(id, (name, declared, type_name))| column(id, name, declared, type_name));
    let relations = vec![table(1, "public", "t", true, columns.collect())];
    Catalog::new(Dialect::Postgres, relations, Vec::new())
}

/// The text with what replaces its ranges: `«S1:x»` stored for field 1, `«?1:x»` searched for, `«x»` text; `*` for an
/// array of envelopes. Behind it the parameters: ` | $1=S1 $2=?1`, and `S?1` for one that is both.
pub fn render(text: &str, analysis: &Analysis) -> String {
    let mut rendered = String::new();
    let mut at = 0;
    for splice in &analysis.splices {
        rendered.push_str(&text[at..splice.range.start]);
        at = splice.range.end;
        match &splice.with {
            Replacement::Seal { field, use_, form, value } => {
                rendered.push_str(&format!("«{}{field}{}:{}»", mark(*use_), many(*form), value.as_str()));
            }
            Replacement::Nulls { field } => rendered.push_str(&format!("«{field}*:NULL»")),
            Replacement::Placeholders { field } => rendered.push_str(&format!("«{field}*:?»")),
            Replacement::Text(text) => rendered.push_str(&format!("«{text}»")),
        }
    }
    rendered.push_str(&text[at..]);
    if !analysis.parameters.is_empty() {
        rendered.push_str(" |");
    }
    for parameter in &analysis.parameters {
        let Parameter { number, field, use_, searched, form, operand } = *parameter;
        let too = if searched && use_ == ParameterUse::Store { "?" } else { "" };
        let as_ = match operand {
            Operand::Declared => String::new(),
            other => format!(":{other:?}"),
        };
        rendered.push_str(&format!(" ${number}={}{too}{field}{}{as_}", mark(use_), many(form)));
    }
    rendered
}

fn many(form: Form) -> &'static str {
    match form {
        Form::Value => "",
        Form::Envelopes => "*",
        Form::Array => "[]",
        Form::Pattern => "%",
    }
}

fn mark(use_: ParameterUse) -> char {
    match use_ {
        ParameterUse::Store => 'S',
        ParameterUse::Search => '?',
    }
}

pub fn accepted(text: &str) -> Analysis {
    match analyze(text, &catalog()) {
        Ok(analysis) => analysis,
        Err(refusal) => panic!("refused: {text}\n  {refusal}"),
    }
}

pub fn refused(text: &str) -> Refusal {
    match analyze(text, &catalog()) {
        Ok(analysis) => panic!("accepted: {text}\n  {}", render(text, &analysis)),
        Err(refusal) => refusal,
    }
}

/// The same where every deterministic label's keyset has several enabled keys.
pub fn catalog_under_several_keys() -> Catalog {
    under_several_keys(catalog())
}

/// A catalog where every deterministic label's keyset has several enabled keys.
pub fn under_several_keys(mut catalog: Catalog) -> Catalog {
    let columns = catalog.relations_mut().iter_mut().flat_map(|relation| &mut relation.columns);
    for field in columns.filter_map(|column| column.field.as_mut()).filter(|field| field.equality) {
        field.envelopes = Envelopes::Several;
    }
    catalog
}

/// What a session has prepared and declared.
pub struct Session(pub Vec<(&'static str, Analysis)>);

impl Names for Session {
    fn prepared(&self, name: &str) -> Option<Rc<Prepared>> {
        let statement = self.cursor(name)?;
        let Some(SessionUse::Prepare { server_name, parameters, sealed, .. }) = statement.session.clone()
        else {
            return None;
        };
        Some(Rc::new(Prepared { server_name, parameters, sealed, statement, text: None }))
    }

    fn cursor(&self, name: &str) -> Option<Statement> {
        let (_, analysis) = self.0.iter().find(|(known, _)| *known == name)?;
        analysis.statements.first().cloned()
    }

    fn server_name(&self, name: &str) -> String {
        format!("ours_{name}")
    }
}

/// Each text is accepted, touches a protected relation, and becomes what stands beside it.
pub fn check_rewritten(cases: &[(&str, &str)]) {
    check_rewritten_in(&catalog(), cases);
}

/// The same for another catalog.
pub fn check_rewritten_in(catalog: &Catalog, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        match analyze(text, catalog) {
            Ok(analysis) => {
                let rendered = render(text, &analysis);
                if rendered != *expected || !analysis.statements.iter().any(|s| s.touched) {
                    wrong.push_str(&format!("{text}\n  became   {rendered}\n  expected {expected}\n"));
                }
            }
            Err(refusal) => wrong.push_str(&format!("{text}\n  was refused: {refusal}\n")),
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Each text is accepted, touches a protected relation, and stays as it is.
pub fn check_kept(cases: &[&str]) {
    let pairs: Vec<_> = cases.iter().map(|text| (*text, *text)).collect();
    check_rewritten(&pairs);
}

/// Each text is accepted and touches nothing.
pub fn check_untouched(cases: &[&str]) {
    check_untouched_in(&catalog(), cases);
}

/// The same for another catalog.
pub fn check_untouched_in(catalog: &Catalog, cases: &[&str]) {
    let mut wrong = String::new();
    for text in cases {
        match analyze(text, catalog) {
            Ok(analysis) => {
                let touched = analysis.statements.iter().any(|s| {
                    s.touched
                        || !s.fields.reads.is_empty()
                        || !s.fields.searches.is_empty()
                        || !s.fields.writes.is_empty()
                });
                if touched || !analysis.splices.is_empty() || !analysis.parameters.is_empty() {
                    wrong.push_str(&format!("{text}\n  became {}\n", render(text, &analysis)));
                }
            }
            Err(refusal) => wrong.push_str(&format!("{text}\n  was refused: {refusal}\n")),
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Each text is refused with the label beside it (`""` for none).
pub fn check_refused(cases: &[(&str, &str)]) {
    check_refused_in(&catalog(), cases);
}

/// The same for another catalog.
pub fn check_refused_in(catalog: &Catalog, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (text, label) in cases {
        match analyze(text, catalog) {
            Ok(analysis) => wrong.push_str(&format!("{text}\n  was accepted: {}\n", render(text, &analysis))),
            Err(refusal) => {
                if refusal.label.as_deref().unwrap_or_default() != *label {
                    wrong.push_str(&format!("{text}\n  was refused with {:?}: {refusal}\n", refusal.label));
                }
                assert!(!refusal.reason.is_empty() && !refusal.remedy.is_empty());
                assert!(!refusal.to_string().contains("123-45"), "tells a literal: {refusal}");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
