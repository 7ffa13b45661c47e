//! PostgreSQL's messages as pgx sends them, and the transactions of the load tests.

use std::rc::Rc;

use fieldveil_engine::config::Protocol;
use fieldveil_engine::postgres::PostgresConnection;

use super::database::{Database, Step};
use super::values::{self, CONCEALED, REVEALED, ROWS, Sealer, fields, holds};
use super::world::{World, plan};
use super::{Randomness, Transaction, new_sessions};

const READ: &str = "SELECT name, email, ssn, phone FROM customer WHERE id = $1";
const RANGE: &str = "SELECT id, name, email, ssn, phone FROM customer WHERE id BETWEEN $1 AND $2 ORDER BY id";
const INSERT: &str = "INSERT INTO customer (id, name, email, ssn, phone) VALUES ($1, $2, $3, $4, $5)";
const ROW: &str = "($1, $2, $3, $4, $5)";
const UNPROTECTED: &str = "SELECT name, status, total, note FROM orders WHERE id = $1";
/// Number, name and type of the columns of `customer`.
const CUSTOMER: [(u16, &str, u32); 5] =
    [(1, "id", 20), (2, "name", 25), (3, "email", 25), (4, "ssn", 25), (5, "phone", 25)];
const CUSTOMER_OID: u32 = 16400;
const ORDERS_OID: u32 = 16500;
/// What the server says of the rows that its catalog's answer is made of.
const DIGEST: &[u8] = &[b'd'; 64];
const ORDERS: [(u16, &str, u32); 4] = [(2, "name", 25), (3, "status", 25), (4, "total", 25), (5, "note", 25)];

/// A read of a table of which no column is protected.
pub(super) fn nothing_protected(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (mut database, _, _) = connected(randomness, REVEALED)?;
    prepare(&mut database, UNPROTECTED, 1, &description(ORDERS_OID, &ORDERS))?;
    let row = data_row(&[b"order 7", b"shipped", b"102.50", b"leave it at the door"]);
    let answer = answered(&[&description(ORDERS_OID, &ORDERS), &row], "SELECT 1");
    Ok(database
        .over(vec![Step::client(execution(&[b"7"], 1), Vec::new()), Step::server(answer.clone(), answer)]))
}

/// A row by its primary key.
pub(super) fn point_read(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    row_read(randomness, REVEALED)
}

/// The same by who gets what is stored.
pub(super) fn point_read_concealed(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    row_read(randomness, CONCEALED)
}

fn row_read(randomness: Randomness<'_>, treatment: &str) -> Result<Box<dyn Transaction>, String> {
    let (mut database, sealer, mut random) = connected(randomness, treatment)?;
    let description = description(CUSTOMER_OID, CUSTOMER.get(1..).unwrap_or_default());
    prepare(&mut database, READ, 1, &description)?;
    let answer = |values: &[Vec<u8>]| {
        let row: Vec<&[u8]> =
            std::iter::once(&b"name 7"[..]).chain(values.iter().map(Vec::as_slice)).collect();
        answered(&[&description, &data_row(&row)], "SELECT 1")
    };
    let stored = answer(&sealer.stored(7, &mut *random)?);
    let shown = if treatment == CONCEALED { stored.clone() } else { answer(&values::clear(7)) };
    Ok(database.over(vec![
        Step::client(execution(&[&7_u64.to_be_bytes()], 1), Vec::new()),
        Step::server(stored, shown),
    ]))
}

/// A row, all its protected columns as parameters.
pub(super) fn insert(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (mut database, _, _) = connected(randomness, REVEALED)?;
    prepare(&mut database, INSERT, 5, &message(b'n', &[]))?;
    let values = values::clear(7);
    let id = 7_u64.to_be_bytes();
    let parameters: Vec<&[u8]> =
        [&id[..], b"name 7"].into_iter().chain(values.iter().map(Vec::as_slice)).collect();
    let sealed = values.iter().cloned().enumerate().collect();
    let answer = answered(&[&message(b'n', &[])], "INSERT 0 1");
    Ok(database
        .over(vec![Step::client(execution(&parameters, 1), sealed), Step::server(answer.clone(), answer)]))
}

/// Many rows in one statement, all their protected columns as parameters.
pub(super) fn insert_rows(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (mut database, _, _) = connected(randomness, REVEALED)?;
    let numbers: Vec<String> = (1..=values::PARAMETERS).map(|number| format!("${number}")).collect();
    let rows: Vec<String> = numbers.chunks(5).map(|row| format!("({})", row.join(", "))).collect();
    let text = INSERT.replace(ROW, &rows.join(", "));
    prepare(&mut database, &text, values::PARAMETERS, &message(b'n', &[]))?;
    let parameters = values::parameters(ROWS);
    let parameters: Vec<&[u8]> = parameters.iter().map(Vec::as_slice).collect();
    let answer = answered(&[&message(b'n', &[])], "INSERT 0 20");
    let sent = Step::client(execution(&parameters, 0), values::of_rows(ROWS));
    Ok(database.over(vec![sent, Step::server(answer.clone(), answer)]))
}

/// The same rows as literals of the text.
pub(super) fn insert_rows_by_text(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, _, _) = connected(randomness, REVEALED)?;
    let answer = [complete("INSERT 0 20"), ready()].concat();
    let sent = Step::client(query(&values::insert_text(ROWS)), values::of_rows(ROWS));
    Ok(database.over(vec![sent, Step::server(answer.clone(), answer)]))
}

/// A hundred rows by a range of the primary key.
pub(super) fn hundred_rows(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    range_read(randomness, RANGE, CUSTOMER_OID, REVEALED)
}

/// The same by who gets what is stored.
pub(super) fn hundred_rows_concealed(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    range_read(randomness, RANGE, CUSTOMER_OID, CONCEALED)
}

/// The same bytes from a table of which no column is protected.
pub(super) fn hundred_rows_unprotected(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    range_read(randomness, &RANGE.replace("customer", "orders"), ORDERS_OID, CONCEALED)
}

fn range_read(
    randomness: Randomness<'_>,
    text: &str,
    table: u32,
    treatment: &str,
) -> Result<Box<dyn Transaction>, String> {
    let (mut database, sealer, mut random) = connected(randomness, treatment)?;
    let description = description(table, &CUSTOMER);
    prepare(&mut database, text, 2, &description)?;
    let row = |number: u32, values: &[Vec<u8>]| {
        let (id, name) = (number.to_string(), format!("name {number}"));
        let own = [id.as_bytes(), name.as_bytes()];
        data_row(&own.into_iter().chain(values.iter().map(Vec::as_slice)).collect::<Vec<_>>())
    };
    let (mut stored, mut clear) = (Vec::new(), Vec::new());
    for number in 1..=100 {
        stored.extend(row(number, &sealer.stored(number, &mut *random)?));
        clear.extend(row(number, &values::clear(number)));
    }
    let shown = if treatment == CONCEALED { stored.clone() } else { clear };
    let [stored, shown] = [stored, shown].map(|rows| answered(&[&description, &rows], "SELECT 100"));
    let range = [1_u64.to_be_bytes(), 100_u64.to_be_bytes()];
    let parameters = execution(&[&range[0], &range[1]], 2);
    Ok(database.over(vec![Step::client(parameters, Vec::new()), Step::server(stored, shown)]))
}

/// A hundred rows copied out.
pub(super) fn copied_out(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, sealer, mut random) = connected(randomness, REVEALED)?;
    let row = |number: u32, values: &[Vec<u8>]| message(b'd', &copied_row(number, values));
    let (mut stored, mut clear) = (Vec::new(), Vec::new());
    for number in 1..=100 {
        stored.extend(row(number, &sealer.stored(number, &mut *random)?));
        clear.extend(row(number, &values::clear(number)));
    }
    let answer = |rows: Vec<u8>| {
        [message(b'H', &[0; 3]), rows, message(b'c', &[]), complete("COPY 100"), ready()].concat()
    };
    let [stored, shown] = [stored, clear].map(answer);
    let statement = query("COPY customer (id, name, email, ssn, phone) TO STDOUT");
    Ok(database.over(vec![Step::client(statement, Vec::new()), Step::server(stored, shown)]))
}

/// A hundred rows copied in, in one message.
pub(super) fn copied_in(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, _, _) = connected(randomness, REVEALED)?;
    let rows: Vec<u8> = (1..=100).flat_map(|number| copied_row(number, &values::clear(number))).collect();
    let sealed = (1..=100).flat_map(|number| values::clear(number).into_iter().enumerate()).collect();
    let statement = query("COPY customer (id, name, email, ssn, phone) FROM STDIN");
    let (asks, ends) = (message(b'G', &[0; 3]), [complete("COPY 100"), ready()].concat());
    Ok(database.over(vec![
        Step::client(statement, Vec::new()),
        Step::server(asks.clone(), asks),
        Step::client([message(b'd', &rows), message(b'c', &[])].concat(), sealed),
        Step::server(ends.clone(), ends),
    ]))
}

/// A row in the text format of COPY.
fn copied_row(number: u32, values: &[Vec<u8>]) -> Vec<u8> {
    let (id, name) = (number.to_string(), format!("name {number}"));
    let own = [id.as_bytes(), name.as_bytes()];
    let columns: Vec<&[u8]> = own.into_iter().chain(values.iter().map(Vec::as_slice)).collect();
    [columns.join(&b'\t'), b"\n".to_vec()].concat()
}

/// A row by a protected column whose value stands in the text, the same text each time.
pub(super) fn searched_by_text(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, sealer, mut random) = connected(randomness, REVEALED)?;
    let mut steps = searching(&sealer, &mut *random, |row| {
        let [_, ssn, _] = values::clear(row);
        let text = format!(
            "SELECT name, email, ssn, phone FROM customer WHERE ssn = '{}'",
            String::from_utf8_lossy(&ssn)
        );
        (text, vec![(1, ssn)])
    })?;
    Ok(database.over(steps(7)?))
}

/// A row by its primary key, whose number stands in the text: a thousand texts by turns.
pub(super) fn new_texts(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, sealer, mut random) = connected(randomness, REVEALED)?;
    let mut steps = searching(&sealer, &mut *random, |row| {
        (format!("SELECT name, email, ssn, phone FROM customer WHERE id = {row}"), Vec::new())
    })?;
    Ok(database.by_turns((1000..2000).map(&mut steps).collect::<Result<_, _>>()?))
}

/// The steps of a simple query for a row.
fn searching<'a>(
    sealer: &'a Sealer,
    random: &'a mut dyn fieldveil_engine::Random,
    text: impl Fn(u32) -> (String, Vec<(usize, Vec<u8>)>) + 'a,
) -> Result<impl FnMut(u32) -> Result<Vec<Step>, String> + 'a, String> {
    let description = description(CUSTOMER_OID, CUSTOMER.get(1..).unwrap_or_default());
    Ok(move |number: u32| {
        let answer = |values: &[Vec<u8>]| {
            let row: Vec<&[u8]> =
                std::iter::once(&b"name"[..]).chain(values.iter().map(Vec::as_slice)).collect();
            [description.clone(), data_row(&row), complete("SELECT 1"), ready()].concat()
        };
        let (stored, clear) = (answer(&sealer.stored(number, random)?), answer(&values::clear(number)));
        let (text, sealed) = text(number);
        Ok(vec![Step::client(query(&text), sealed), Step::server(stored, clear)])
    })
}

type Connected = (Database<PostgresConnection>, Rc<Sealer>, Box<dyn fieldveil_engine::Random>);

/// Sessions that begin, know the catalog, and end.
pub(super) fn new_sessions(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    new_sessions::new_sessions(world(randomness, REVEALED)?, begin)
}

/// A session that is up and knows the catalog.
fn connected(randomness: Randomness<'_>, treatment: &str) -> Result<Connected, String> {
    let sealer = Rc::new(Sealer::new()?);
    let mut database = Database::new(world(randomness, treatment)?, Rc::clone(&sealer));
    begin(&mut database)?;
    Ok((database, sealer, randomness()?))
}

fn world(randomness: Randomness<'_>, treatment: &str) -> Result<Rc<World>, String> {
    let plan = plan(&fields("public", "text", treatment), None);
    World::new(Protocol::Postgres, plan, randomness()?).map(Rc::new)
}

/// Logs in, and asks for something. Gives what the client gets of the answer.
fn begin(database: &mut Database<PostgresConnection>) -> Result<Vec<u8>, String> {
    database.client(&startup(), answer)?;
    database.server(&[message(b'R', &[0; 4]), message(b'S', b"client_encoding\0UTF8\0"), ready()].concat());
    database.client(&query("SELECT 1"), answer)?;
    Ok(database.server(&[complete("SELECT 0"), ready()].concat()))
}

/// The statement `s`, prepared as pgx does.
fn prepare(
    database: &mut Database<PostgresConnection>,
    text: &str,
    parameters: u16,
    description: &[u8],
) -> Result<(), String> {
    let parse = message(b'P', &[b"s\0", text.as_bytes(), &[0, 0, 0]].concat());
    let describe = message(b'D', b"Ss\0");
    let sent = database.client(&[parse, describe.clone(), message(b'S', &[])].concat(), answer)?;
    // The filter's own stands before the client's.
    let described = sent.windows(describe.len()).filter(|window| *window == describe).count();
    let types: Vec<u8> = (0..parameters).flat_map(|_| 25_u32.to_be_bytes()).collect();
    let parameters = message(b't', &[&parameters.to_be_bytes()[..], &types].concat());
    let told = [&parameters[..], description].concat().repeat(described);
    if !database.server(&[message(b'1', &[]), told, ready()].concat()).ends_with(&ready()) {
        return Err("the statement could not be prepared".to_owned());
    }
    Ok(())
}

/// What a server answers to the filter's question: who the session is for, or that and the catalog or its digest.
fn answer(sent: &[u8]) -> Option<Vec<u8>> {
    let rows = if holds(sent, b"WITH RECURSIVE named") {
        [digest_row(), CUSTOMER.map(catalog_row).concat()].concat()
    } else if holds(sent, b"WITH relation(oids)") {
        data_row(&[b"app", b"", b"", b"", DIGEST])
    } else if holds(sent, b"SELECT current_user::") {
        data_row(&[b"app", b"", b"", b""])
    } else {
        return None;
    };
    let [parsed, bound, closed] = [b'1', b'2', b'3'].map(|tag| message(tag, &[]));
    // Between two Syncs of the client a question ends with a Flush.
    let end = if sent.ends_with(&message(b'H', &[])) { Vec::new() } else { ready() };
    Some([parsed, bound, rows, complete("SELECT 1"), closed.clone(), closed, end].concat())
}

/// The row of the catalog's answer that is no column's.
fn digest_row() -> Vec<u8> {
    let (identity, relations) = ([Some(&b"app"[..]), None, None, None], format!("{{{CUSTOMER_OID}}}"));
    let digest = [None, Some(relations.as_bytes()), Some(DIGEST)];
    optional_row(&[&identity[..], &digest, &[None; 13]].concat())
}

fn catalog_row((number, name, oid): (u16, &str, u32)) -> Vec<u8> {
    let (number, oid, table) = (number.to_string(), oid.to_string(), CUSTOMER_OID.to_string());
    let column = ["app", "", "", "", &*table, "public", "customer", "r", "t", &*number, name, &*oid, "f", ""];
    let origin = ["public", "customer", "t", "-1", "", "f"];
    data_row(&column.iter().chain(&origin).map(|value| value.as_bytes()).collect::<Vec<_>>())
}

/// Bind, Describe, Execute and Sync. So many of the parameters are binary.
fn execution(parameters: &[&[u8]], binary: u16) -> Vec<u8> {
    let count = length16(parameters.len());
    let formats: Vec<u8> =
        (0..length16(parameters.len())).flat_map(|n| u16::from(n < binary).to_be_bytes()).collect();
    let values: Vec<u8> = parameters.iter().flat_map(|value| sized(value)).collect();
    let bind =
        [b"\0s\0", &count.to_be_bytes()[..], &formats, &count.to_be_bytes(), &values, &[0, 0]].concat();
    let rest = [message(b'D', b"P\0"), message(b'E', &[0; 5]), message(b'S', &[])];
    [message(b'B', &bind), rest.concat()].concat()
}

/// BindComplete, what there is, CommandComplete and ReadyForQuery.
fn answered(parts: &[&[u8]], tag: &str) -> Vec<u8> {
    [message(b'2', &[]), parts.concat(), complete(tag), ready()].concat()
}

fn startup() -> Vec<u8> {
    let body = [&0x3_0000_u32.to_be_bytes()[..], b"user\0app\0database\0shop\0\0"].concat();
    [&length32(body.len().saturating_add(4)).to_be_bytes()[..], &body].concat()
}

fn query(text: &str) -> Vec<u8> {
    message(b'Q', &[text.as_bytes(), b"\0"].concat())
}

fn description(table: u32, columns: &[(u16, &str, u32)]) -> Vec<u8> {
    let column = |(number, name, oid): &(u16, &str, u32)| {
        let lengths = [&(-1_i16).to_be_bytes()[..], &(-1_i32).to_be_bytes(), &[0, 0]].concat();
        [name.as_bytes(), b"\0", &table.to_be_bytes(), &number.to_be_bytes(), &oid.to_be_bytes(), &lengths]
            .concat()
    };
    let columns_bytes: Vec<u8> = columns.iter().flat_map(column).collect();
    message(b'T', &[&length16(columns.len()).to_be_bytes()[..], &columns_bytes].concat())
}

fn data_row(values: &[&[u8]]) -> Vec<u8> {
    optional_row(&values.iter().map(|value| Some(*value)).collect::<Vec<_>>())
}

fn optional_row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let null = || (-1_i32).to_be_bytes().to_vec();
    let sized: Vec<u8> = values.iter().flat_map(|value| value.map_or_else(null, sized)).collect();
    message(b'D', &[&length16(values.len()).to_be_bytes()[..], &sized].concat())
}

fn complete(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn sized(value: &[u8]) -> Vec<u8> {
    [&length32(value.len()).to_be_bytes()[..], value].concat()
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &length32(body.len().saturating_add(4)).to_be_bytes(), body].concat()
}

fn length16(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

fn length32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
