//! A connection to MySQL.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use fieldveil_engine::config;
use fieldveil_engine::database::{Client, Connection as _};
use fieldveil_engine::mysql::MySqlConnection;
use fieldveil_engine::worker::Worker;

use crate::connection::{self, Connection, FixedPorts, Protocol, plan_of};

/// PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_STATEMENTS, MULTI_RESULTS and DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x200 | 0x8000 | 8 | 0x8_0000 | 0x1_0000 | 0x2_0000 | 0x100_0000;
const HEADER: usize = 4;
/// What goes to the server in the place of a refused command: an empty text, or COM_STMT_RESET.
const EMPTY_QUERY: &[u8] = b"\x01\0\0\0\x03";
const RESETS: (&[u8], usize) = (b"\x05\0\0\0\x1a", 9);
const COM_QUERY: u8 = 0x03;
const COM_CHANGE_USER: u8 = 0x11;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const LOCAL_INFILE: u8 = 0xfb;

/// Its messages, beside those that every database has.
const QUESTIONS_ASKED: u8 = 0;
const OK: u8 = 3;
const GREETING: u8 = 4;
const PREPARED: u8 = 5;

static PLAN: LazyLock<Vec<u8>> = LazyLock::new(|| plan_of("shop.customer"));

pub(crate) fn session(bytes: &[u8]) {
    connection::run::<MySql>(bytes);
}

pub(crate) struct MySql {
    session: MySqlConnection,
    client: Packets,
    server: Packets,
    /// The client's packets are commands.
    has_commands: bool,
}

impl Protocol for MySql {
    const PROTOCOL: config::Protocol = config::Protocol::MySql;

    type Session = MySqlConnection;

    fn session(&mut self) -> &mut MySqlConnection {
        &mut self.session
    }

    fn server_says(&mut self, bytes: &[u8]) {
        self.server.follow(bytes);
        self.has_commands &= !self.server.has_begun(LOCAL_INFILE);
    }

    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<FixedPorts>>) -> Self {
        let session = MySqlConnection::new(worker, ports, Client::at("127.0.0.1"));
        Self { session, client: Packets::default(), server: Packets::default(), has_commands: false }
    }

    fn plan() -> &'static [u8] {
        &PLAN
    }

    fn start(connection: &mut Connection<Self>) {
        connection.message(GREETING);
        connection.client(&handshake_response());
        connection.message(connection::FETCHES_ANSWERED);
        connection.server(&packet(2, &[0, 0, 0, 2, 0, 0, 0]));
        connection.client(&packet(0, b"\x03SELECT 1 FROM orders"));
        connection.message(QUESTIONS_ASKED);
        connection.message(OK);
        connection.session.has_commands = true;
    }

    fn message(which: u8) -> Vec<Vec<u8>> {
        match which {
            QUESTIONS_ASKED => vec![identity_answer(), catalog_answer()],
            OK => vec![packet(1, &[0, 0, 0, 2, 0, 0, 0])],
            GREETING => vec![greeting()],
            PREPARED => vec![prepared()],
            _ => vec![],
        }
    }

    fn stands_for_refused(to_server: &[u8]) -> bool {
        let (reset, length) = RESETS;
        to_server == EMPTY_QUERY || to_server.starts_with(reset) && to_server.len() == length
    }

    /// Nothing of a text or of an execution leaves until all of it is there. One whose header is wrong is refused by it.
    fn may_leave(&mut self, client: &[u8]) -> bool {
        let is_whole = self.client.follow(client);
        self.has_commands &= !self.client.has_begun(COM_CHANGE_USER);
        is_whole
            || !self.has_commands
            || !matches!(self.client.first, None | Some(COM_QUERY | COM_STMT_PREPARE | COM_STMT_EXECUTE))
    }
}

/// How far one side is in its packets.
#[derive(Default)]
struct Packets {
    header: Vec<u8>,
    left: usize,
    /// The first byte of the packet that is not whole yet.
    first: Option<u8>,
    /// What packets began with so far.
    begun: BTreeSet<u8>,
}

impl Packets {
    /// Whether a packet was whole within these bytes.
    fn follow(&mut self, bytes: &[u8]) -> bool {
        let mut any_whole = false;
        for byte in bytes {
            if self.header.len() < HEADER {
                self.header.push(*byte);
                let [a, b, c, _] = self.header[..] else { continue };
                self.left = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            } else {
                self.first.get_or_insert(*byte);
                self.begun.extend(self.first);
                self.left -= 1;
            }
            if self.left == 0 {
                self.header.clear();
                self.first = None;
                any_whole = true;
            }
        }
        any_whole
    }

    fn has_begun(&self, first: u8) -> bool {
        self.begun.contains(&first)
    }
}

pub(crate) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short").to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

fn greeting() -> Vec<u8> {
    // Also COMPRESS and SSL.
    let capabilities = (CAPABILITIES | 0x20 | 0x800).to_le_bytes();
    let parts: [&[u8]; 8] = [
        b"\x0a8.0.36\0\x07\0\0\0abcdefgh\0",
        &capabilities[..2],
        b"\x2d\x02\0",
        &capabilities[2..],
        b"\x15",
        &[0; 10],
        b"ijklmnopqrst\0",
        b"caching_sha2_password\0",
    ];
    packet(0, &parts.concat())
}

fn handshake_response() -> Vec<u8> {
    let named = b"app\0\0shop\0caching_sha2_password\0";
    packet(1, &[&CAPABILITIES.to_le_bytes()[..], &[0, 0, 0, 1, 45], &[0; 23], named].concat())
}

/// Who the session is for: eleven columns.
fn identity_answer() -> Vec<u8> {
    let said = [
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
    rows(&[said.to_vec()])
}

/// `shop.customer (id, name, ssn, notes)`: twelve columns.
fn catalog_answer() -> Vec<u8> {
    let columns = [("1", "id"), ("2", "name"), ("3", "ssn"), ("4", "notes")];
    let row = |(number, name)| {
        let values =
            ["shop", "customer", number, name, "varchar", "4000", "utf8mb4_bin", "0", "0", "0", "0", ""];
        values.map(Some).to_vec()
    };
    rows(&columns.map(row))
}

/// A statement of number 1, with one parameter and the column `ssn`.
fn prepared() -> Vec<u8> {
    let begins = packet(1, &[0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]);
    [begins, definition(2, "", "?"), definition(3, "customer", "ssn")].concat()
}

/// A text result set of columns without a table.
fn rows(rows: &[Vec<Option<&str>>]) -> Vec<u8> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut sequences = 1..=u8::MAX;
    let mut next = || sequences.next().expect("few packets");
    let mut answer = packet(next(), &[u8::try_from(columns).expect("few")]);
    for _ in 0..columns {
        answer.extend(definition(next(), "", "x"));
    }
    for row in rows {
        let values = row.iter().flat_map(|value| value.map_or_else(|| vec![0xfb], string));
        answer.extend(packet(next(), &values.collect::<Vec<u8>>()));
    }
    answer.extend(packet(next(), &[0xfe, 0, 0, 2, 0, 0, 0]));
    answer
}

pub(crate) fn definition(sequence: u8, table: &str, name: &str) -> Vec<u8> {
    let (schema, org_name) = if table.is_empty() { ("", "") } else { ("shop", name) };
    let names = ["def", schema, table, table, name, org_name];
    let mut payload = names.into_iter().flat_map(string).collect::<Vec<u8>>();
    // utf8mb4_bin, 1020 bytes, VAR_STRING.
    payload.extend([0x0c, 46, 0, 0xfc, 3, 0, 0, 0xfd, 0, 0, 0, 0, 0]);
    packet(sequence, &payload)
}

fn string(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 251);
    [&[length.expect("short")], text.as_bytes()].concat()
}
