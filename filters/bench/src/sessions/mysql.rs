//! MySQL's packets as go-sql-driver sends them, and the transactions of the load tests.

use std::rc::Rc;

use fieldveil_engine::Random;
use fieldveil_engine::config::Protocol;
use fieldveil_engine::mysql::MySqlConnection;

use super::database::{Database, Step};
use super::values::{self, CONCEALED, REVEALED, ROWS, Sealer, fields, holds};
use super::world::{World, plan};
use super::{Randomness, Transaction, new_sessions};

/// PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_STATEMENTS, MULTI_RESULTS and DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x200 | 0x8000 | 8 | 0x8_0000 | 0x1_0000 | 0x2_0000 | 0x100_0000;
/// The same with PROTOCOL_41's TRANSACTIONS and SSL, which servers have.
const SERVER_CAPABILITIES: u32 = CAPABILITIES | 0x800 | 0x20;
/// `utf8mb4_bin`, of columns as they are stored, and `utf8mb4_0900_ai_ci`, as which the filter shows what it opens.
const CHARSETS: [u16; 2] = [46, 255];
/// Bytes of a column as it is stored, and of a `varchar(64)`.
const LENGTHS: [u32; 2] = [1020, 256];
const READ: &str = "SELECT name, email, ssn, phone FROM customer WHERE id = ?";
const RANGE: &str = "SELECT id, name, email, ssn, phone FROM customer WHERE id BETWEEN ? AND ? ORDER BY id";
const INSERT: &str = "INSERT INTO customer (id, name, email, ssn, phone) VALUES (?, ?, ?, ?, ?)";
const ROW: &str = "(?, ?, ?, ?, ?)";
const LOAD: &str =
    "LOAD DATA LOCAL INFILE 'f' INTO TABLE customer CHARACTER SET utf8mb4 (id, name, email, ssn, phone)";
const UNPROTECTED: &str = "SELECT name, status, total, note FROM orders WHERE id = ?";
const CUSTOMER: [&str; 5] = ["id", "name", "email", "ssn", "phone"];
const ORDERS: [&str; 4] = ["name", "status", "total", "note"];
/// `VAR_STRING`, of parameters and columns.
const STRING: u8 = 0xfd;

/// A read of a table of which no column is protected.
pub(super) fn nothing_protected(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (mut database, _, _) = connected(randomness, REVEALED)?;
    prepare(&mut database, UNPROTECTED, 1, "orders", &ORDERS)?;
    let row = vec![binary_row(&[b"order 7", b"shipped", b"102.50", b"leave it at the door"])];
    let answer = result("orders", &ORDERS, &row);
    Ok(database.over(vec![Step::client(execute(&[b"7"]), Vec::new()), Step::server(answer.clone(), answer)]))
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
    let columns = CUSTOMER.get(1..).unwrap_or_default();
    let (mut database, sealer, mut random) = connected(randomness, treatment)?;
    prepare(&mut database, READ, 1, "customer", columns)?;
    let answer = |values: &[Vec<u8>]| {
        let row: Vec<&[u8]> =
            std::iter::once(&b"name 7"[..]).chain(values.iter().map(Vec::as_slice)).collect();
        [binary_row(&row)]
    };
    let stored = result("customer", columns, &answer(&sealer.stored(7, &mut *random)?));
    let shown = match treatment {
        CONCEALED => stored.clone(),
        _ => shown("customer", columns, &answer(&values::clear(7))),
    };
    Ok(database.over(vec![Step::client(execute(&[b"7"]), Vec::new()), Step::server(stored, shown)]))
}

/// A row, all its protected columns as parameters.
pub(super) fn insert(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (mut database, _, _) = connected(randomness, REVEALED)?;
    prepare(&mut database, INSERT, 5, "", &[])?;
    let values = values::clear(7);
    let parameters: Vec<&[u8]> =
        [&b"7"[..], b"name 7"].into_iter().chain(values.iter().map(Vec::as_slice)).collect();
    let sealed = values.iter().cloned().enumerate().collect();
    Ok(database.over(vec![Step::client(execute(&parameters), sealed), Step::server(ok(1), ok(1))]))
}

/// Many rows in one statement, all their protected columns as parameters.
pub(super) fn insert_rows(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (mut database, _, _) = connected(randomness, REVEALED)?;
    let rows: Vec<&str> = (0..ROWS).map(|_| ROW).collect();
    let text = INSERT.replace(ROW, &rows.join(", "));
    prepare(&mut database, &text, values::PARAMETERS, "", &[])?;
    let parameters = values::parameters(ROWS);
    let parameters: Vec<&[u8]> = parameters.iter().map(Vec::as_slice).collect();
    let sent = Step::client(execute(&parameters), values::of_rows(ROWS));
    Ok(database.over(vec![sent, Step::server(ok(1), ok(1))]))
}

/// The same rows as literals of the text.
pub(super) fn insert_rows_by_text(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, _, _) = connected(randomness, REVEALED)?;
    let text = command(3, values::insert_text(ROWS).as_bytes());
    let sent = Step::client(text, values::of_rows(ROWS));
    Ok(database.over(vec![sent, Step::server(ok(1), ok(1))]))
}

/// The same rows as a file of the client's, which the server asks for.
pub(super) fn loaded(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    let (database, _, _) = connected(randomness, REVEALED)?;
    let rows = values::parameters(ROWS);
    let file: Vec<u8> = rows.chunks(5).flat_map(|row| [row.join(&b'\t'), b"\n".to_vec()].concat()).collect();
    let statement = command(3, LOAD.as_bytes());
    let asks = packet(1, b"\xfbf");
    Ok(database.over(vec![
        Step::rewritten(statement),
        Step::server(asks.clone(), asks),
        Step::file([packet(2, &file), packet(3, b"")].concat(), values::of_rows(ROWS)),
        Step::server(ok(4), ok(4)),
    ]))
}

/// A hundred rows by a range of the primary key.
pub(super) fn hundred_rows(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    range_read(randomness, "customer", REVEALED)
}

/// The same by who gets what is stored.
pub(super) fn hundred_rows_concealed(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    range_read(randomness, "customer", CONCEALED)
}

/// The same bytes from a table of which no column is protected.
pub(super) fn hundred_rows_unprotected(randomness: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    range_read(randomness, "orders", CONCEALED)
}

fn range_read(
    randomness: Randomness<'_>,
    table: &str,
    treatment: &str,
) -> Result<Box<dyn Transaction>, String> {
    let (mut database, sealer, mut random) = connected(randomness, treatment)?;
    prepare(&mut database, &RANGE.replace("customer", table), 2, table, &CUSTOMER)?;
    let row = |number: u32, values: &[Vec<u8>]| {
        let (id, name) = (number.to_string(), format!("name {number}"));
        let own = [id.as_bytes(), name.as_bytes()];
        binary_row(&own.into_iter().chain(values.iter().map(Vec::as_slice)).collect::<Vec<_>>())
    };
    let (mut stored, mut clear) = (Vec::new(), Vec::new());
    for number in 1..=100 {
        stored.push(row(number, &sealer.stored(number, &mut *random)?));
        clear.push(row(number, &values::clear(number)));
    }
    let stored = result(table, &CUSTOMER, &stored);
    let shown = if treatment == CONCEALED { stored.clone() } else { shown(table, &CUSTOMER, &clear) };
    Ok(database.over(vec![Step::client(execute(&[b"1", b"100"]), Vec::new()), Step::server(stored, shown)]))
}

type Connected = (Database<MySqlConnection>, Rc<Sealer>, Box<dyn Random>);

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
    let plan = plan(&fields("shop", "varchar(64)", treatment), None);
    World::new(Protocol::MySql, plan, randomness()?).map(Rc::new)
}

/// Logs in, and asks for something. Gives what the client gets of the answer.
fn begin(database: &mut Database<MySqlConnection>) -> Result<Vec<u8>, String> {
    database.server(&greeting());
    database.client(&handshake_response(), answer)?;
    database.server(&ok(2));
    database.client(&command(3, b"SELECT 1 FROM orders"), answer)?;
    Ok(database.server(&ok(1)))
}

/// Prepares the statement, which the server numbers 1.
fn prepare(
    database: &mut Database<MySqlConnection>,
    text: &str,
    parameters: u16,
    table: &str,
    columns: &[&str],
) -> Result<(), String> {
    database.client(&command(0x16, text.as_bytes()), answer)?;
    let counts = [length16(columns.len()).to_le_bytes(), parameters.to_le_bytes()].concat();
    let mut packets = vec![[&[0, 1, 0, 0, 0][..], &counts, &[0, 0, 0]].concat()];
    packets.extend((0..parameters).map(|_| definition("", "?")));
    packets.extend(columns.iter().map(|column| definition(table, column)));
    if database.server(&numbered(&packets)).is_empty() {
        return Err("the statement could not be prepared".to_owned());
    }
    Ok(())
}

/// What a server answers to the filter's questions.
fn answer(sent: &[u8]) -> Option<Vec<u8>> {
    let rows: Vec<Vec<Option<&str>>> = if holds(sent, b"SELECT CAST(CURRENT_USER()") {
        let says = [
            Some("app@localhost"),
            None,
            Some("shop"),
            None,
            None,
            Some("STRICT_TRANS_TABLES"),
            Some("utf8mb4"),
            Some("utf8mb4"),
            Some("utf8mb4"),
            Some("0"),
            Some("8.0.36"),
        ];
        vec![says.to_vec()]
    } else if holds(sent, b"information_schema.COLUMNS") {
        let column = |(number, name): (&'static str, &'static str)| {
            let texts =
                ["shop", "customer", number, name, "varchar", "4000", "utf8mb4_bin", "0", "0", "0", "0", ""];
            texts.map(Some).to_vec()
        };
        ["1", "2", "3", "4", "5"].into_iter().zip(CUSTOMER).map(column).collect()
    } else {
        return None;
    };
    let names = vec!["x"; rows.first().map_or(0, Vec::len)];
    let text_row = |row: &Vec<Option<&str>>| {
        let value = |value: &Option<&str>| value.map_or(vec![0xfb], |text| string(text.as_bytes()));
        row.iter().flat_map(value).collect()
    };
    Some(result("", &names, &rows.iter().map(text_row).collect::<Vec<_>>()))
}

/// COM_STMT_EXECUTE of the statement 1 with strings.
fn execute(values: &[&[u8]]) -> Vec<u8> {
    let mut payload = [1_u32.to_le_bytes(), [0, 1, 0, 0]].concat();
    payload.extend([0]);
    payload.extend(vec![0; values.len().div_ceil(8)]);
    payload.push(1);
    values.iter().for_each(|_| payload.extend([STRING, 0]));
    values.iter().for_each(|value| payload.extend(string(value)));
    command(0x17, &payload)
}

/// A result set: how many columns, their definitions, the rows, and that it ends.
fn result(table: &str, columns: &[&str], rows: &[Vec<u8>]) -> Vec<u8> {
    result_of(columns.iter().map(|column| definition(table, column)), rows)
}

/// The same as the client gets it.
fn shown(table: &str, columns: &[&str], rows: &[Vec<u8>]) -> Vec<u8> {
    let is_protected = |column: &str| values::PROTECTED.iter().any(|(name, _)| *name == column);
    result_of(columns.iter().map(|column| definition_of(table, column, is_protected(column))), rows)
}

fn result_of(columns: impl ExactSizeIterator<Item = Vec<u8>>, rows: &[Vec<u8>]) -> Vec<u8> {
    let mut packets = vec![vec![u8::try_from(columns.len()).unwrap_or(u8::MAX)]];
    packets.extend(columns);
    packets.extend(rows.iter().cloned());
    packets.push(vec![0xfe, 0, 0, 2, 0, 0, 0]);
    numbered(&packets)
}

fn binary_row(values: &[&[u8]]) -> Vec<u8> {
    let mut row = vec![0; values.len().saturating_add(2).div_ceil(8).saturating_add(1)];
    values.iter().for_each(|value| row.extend(string(value)));
    row
}

/// A column of a table, or of none.
fn definition(table: &str, name: &str) -> Vec<u8> {
    definition_of(table, name, false)
}

fn definition_of(table: &str, name: &str, is_opened: bool) -> Vec<u8> {
    let (charset, length) = if is_opened { (CHARSETS[1], LENGTHS[1]) } else { (CHARSETS[0], LENGTHS[0]) };
    let (schema, origin) = if table.is_empty() { ("", "") } else { ("shop", name) };
    let names = ["def", schema, table, table, name, origin];
    let mut payload: Vec<u8> = names.iter().flat_map(|name| string(name.as_bytes())).collect();
    payload.push(0x0c);
    payload.extend(charset.to_le_bytes());
    payload.extend(length.to_le_bytes());
    payload.extend([STRING, 0, 0, 0, 0, 0]);
    payload
}

fn greeting() -> Vec<u8> {
    let [a, b, c, d] = SERVER_CAPABILITIES.to_le_bytes();
    let parts: [&[u8]; 7] = [
        b"\x0a8.0.36\0\x07\0\0\0abcdefgh\0",
        &[a, b],
        b"\x2d\x02\0",
        &[c, d, 0x15],
        &[0; 10],
        b"ijklmnopqrst\0",
        b"caching_sha2_password\0",
    ];
    packet(0, &parts.concat())
}

fn handshake_response() -> Vec<u8> {
    let parts: [&[u8]; 5] = [
        &CAPABILITIES.to_le_bytes(),
        &[0, 0, 0, 1, 45],
        &[0; 23],
        b"app\0\0shop\0",
        b"caching_sha2_password\0",
    ];
    packet(1, &parts.concat())
}

fn ok(sequence: u8) -> Vec<u8> {
    packet(sequence, &[0, 0, 0, 2, 0, 0, 0])
}

fn command(code: u8, payload: &[u8]) -> Vec<u8> {
    packet(0, &[&[code], payload].concat())
}

/// Packets of one answer.
fn numbered(payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut sequence = 0_u8;
    let packets = payloads.iter().flat_map(|payload| {
        sequence = sequence.wrapping_add(1);
        packet(sequence, payload)
    });
    packets.collect()
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

/// A string with its length before it; none here is longer than 250 bytes.
fn string(text: &[u8]) -> Vec<u8> {
    [&[u8::try_from(text.len()).unwrap_or(250)], text].concat()
}

fn length16(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}
