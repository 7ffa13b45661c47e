//! What reads statements: the analysis alone, with few relations and with many, and the sessions.

use std::sync::LazyLock;

use fieldveil_analyze::catalog;
use fieldveil_sql::identity::{begins_transaction, identify, is_for_anybody, mentions};
use fieldveil_sql::{Catalog, Dialect, MySqlDialect, Shape, analyze};

use super::dialects::{MYSQL, POSTGRES};
use super::pieces::{ENDS, PIECES, STARTS};
use super::statements::{NESTED, STATEMENTS, WIDE};
use super::text::{Chance, Text};
use super::{Case, Input, mysql, postgres};

/// Bytes of the largest text. What takes most for its length has less.
const BYTES: usize = 3 << 10;
/// Repetitions at the smallest size of what is nested, below the limits of depth, and far above.
const NESTED_TIMES: [usize; 2] = [3, 100];
/// Relations of a catalog that is long.
const RELATIONS: usize = 400;

const MYSQL_MODES: [MySqlDialect; 2] = [mode(false), mode(true)];

const fn mode(other: bool) -> MySqlDialect {
    MySqlDialect {
        ansi_quotes: other,
        no_backslash_escapes: other,
        pipes_as_concat: other,
        mariadb: other,
        folds_tables: other,
        decoded: false,
        other_meaning: None,
    }
}

static CATALOGS: LazyLock<[Catalog; 4]> = LazyLock::new(|| {
    let few = catalog();
    let mut many = few.clone();
    let more = (0..RELATIONS).map(|number| {
        let mut relation = few.relations()[number % few.relations().len()].clone();
        relation.name = format!("{}{number}", relation.name);
        relation.oid += 1000 + u32::try_from(number).expect("few");
        relation
    });
    many.relations_mut().extend(more);
    let [mysql, mariadb] = MYSQL_MODES.map(|mode| few.clone().in_dialect(Dialect::MySql(mode)));
    [few, many, mysql, mariadb]
});

/// What reads a statement.
type Reader = (&'static str, fn(String) -> Input);

const IN_POSTGRES: Reader = ("postgres", |text| analyzed(text, 0));
const AMONG_MANY: Reader = ("postgres-400-relations", |text| analyzed(text, 1));
const IN_MYSQL: Reader = ("mysql", |text| analyzed(text, 2));
const IN_MARIADB: Reader = ("mariadb", |text| analyzed(text, 3));
const BY_POSTGRES: Reader = ("postgres-session", postgres::query);
const BY_MYSQL: Reader = ("mysql-session", mysql::query);
const READERS: [Reader; 6] = [IN_POSTGRES, AMONG_MANY, IN_MYSQL, IN_MARIADB, BY_POSTGRES, BY_MYSQL];

fn analyzed(text: String, catalog: usize) -> Input {
    let catalog = &CATALOGS[catalog];
    Input::new(text.clone().as_bytes(), move || {
        let _ = mentions(text.as_bytes());
        let _ = is_for_anybody(&text, catalog.dialect());
        let _ = begins_transaction(&text, catalog.dialect());
        let _ = identify(&text, catalog.dialect());
        let shape = Shape::of(&text, catalog);
        let analysis = analyze(&text, catalog);
        if let (Some(shape), Ok(analysis)) = (shape, analysis) {
            let template = shape.template(&text, &analysis);
            let _ = template.map(|t| (t.analysis(&text, &shape), t.analysis_of(&text, catalog)));
        }
    })
}

fn case((name, read): Reader, text: Text<'static>) -> Case {
    Case::new(name, BYTES, move |times| read(text.write(times)))
}

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for text in STATEMENTS {
        all.extend([IN_POSTGRES, IN_MYSQL].map(|reader| case(reader, *text)));
    }
    for text in POSTGRES {
        all.push(case(IN_POSTGRES, *text));
    }
    for text in MYSQL {
        all.extend([IN_MYSQL, IN_MARIADB].map(|reader| case(reader, *text)));
    }
    for text in NESTED {
        for times in NESTED_TIMES {
            all.extend([IN_POSTGRES, IN_MYSQL].map(|reader| case(reader, *text).times(times)));
        }
    }
    for text in WIDE {
        all.push(case(AMONG_MANY, *text));
    }
    for text in POSTGRES.iter().chain(WIDE) {
        all.push(case(BY_POSTGRES, *text));
    }
    for text in MYSQL.iter().chain(WIDE) {
        all.push(case(BY_MYSQL, *text));
    }
    // Each token alone and behind every seventh other, so that each is once before and once behind another.
    for (number, piece) in PIECES.iter().enumerate() {
        let other = PIECES[(number * 7 + 3) % PIECES.len()];
        all.extend([IN_POSTGRES, IN_MYSQL].map(|reader| repeated(reader, (*piece).to_owned())));
        all.extend([IN_POSTGRES, IN_MARIADB].map(|reader| repeated(reader, format!("{piece} {other} "))));
    }
    all
}

fn repeated((name, read): Reader, unit: String) -> Case {
    let times = move |times: usize| read(format!("SELECT 1 {}", unit.repeat(times)));
    Case::new(name, BYTES / 2, times)
}

/// Pieces of statements, some of them repeated.
pub(super) fn composed(chance: &mut Chance) -> Case {
    let (name, read) = chance.pick(&READERS);
    let between = chance.pick(&["", " ", " ", "/**/", "\n"]);
    let head = chance.pick(STARTS);
    let own = chance.below(3) == 0;
    let known = chance.pick(&[STATEMENTS, POSTGRES, MYSQL, NESTED, WIDE]);
    let mut parts = [(); 5].map(|()| chance.some(PIECES, 4, between));
    let known = [known[chance.below(known.len())], known[chance.below(known.len())]];
    parts[0] = format!("{head}{between}{}", if own { "" } else { &parts[0] });
    // Half of them are a known construct with another's insides.
    if chance.below(2) == 0 {
        parts =
            [known[0].head, known[0].open, known[1].core, known[0].close, known[0].tail].map(str::to_owned);
        match chance.below(3) {
            0 => parts[1].push_str(known[1].open),
            1 => parts[1] = format!("{}{between}{}", parts[1], chance.some(PIECES, 2, between)),
            _ => parts[4] = format!("{} {}", parts[4], known[1].write(3)),
        }
    } else {
        parts[3] = if chance.below(2) == 0 { String::new() } else { chance.pick(ENDS).to_owned() };
        parts[1].push_str(between);
    }
    if chance.below(8) == 0 {
        parts[3].clear();
        parts[4].clear();
    }
    Case::new(name, BYTES, move |times| {
        let [head, open, core, close, tail] = parts.each_ref().map(String::as_str);
        read(Text { head, open, core, close, tail }.write(times))
    })
}
