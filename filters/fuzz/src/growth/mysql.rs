//! Connections to MySQL: commands in a row, large packets in pieces, and a server that answers all of them.

use super::{Case, Input};
use crate::connection::{Connection, Protocol};
use crate::mysql_session::{MySql, definition, packet};

/// Bytes of what the client sends at the largest size.
const BYTES: usize = 12 << 10;
const LONG_BYTES: usize = 256 << 10;
/// Bytes that Envoy brings at once: at the least, and from a server.
const PIECE: usize = 1 << 10;
const READ: usize = 8 << 10;

const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const LONG_DATA: u8 = 0x18;
const CLOSE: u8 = 0x19;
const RESET: u8 = 0x1a;
/// Commands that are answered with nothing.
const SILENT: [u8; 2] = [LONG_DATA, CLOSE];

struct Dialogue {
    connection: Connection<MySql>,
    server: Server,
    piece: usize,
}

impl Dialogue {
    fn new() -> Self {
        let mut connection = Connection::new(usize::MAX);
        MySql::start(&mut connection);
        let server = Server { read: connection.to_server.len(), ..Server::default() };
        Self { connection, server, piece: usize::MAX }
    }

    fn say(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece) {
            self.connection.client(piece);
        }
        loop {
            let answers = self.server.answer(&self.connection.to_server);
            if answers.is_empty() || self.connection.closed {
                return;
            }
            for piece in answers.chunks(READ) {
                self.connection.server(piece);
            }
        }
    }
}

/// Answers every command.
#[derive(Default)]
struct Server {
    read: usize,
    prepared: u32,
    columns: usize,
    rows: usize,
    is_in_file: bool,
    /// The packet before was as long as one can be.
    is_continued: bool,
}

impl Server {
    fn answer(&mut self, sent: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        while let Some(&[a, b, c, _]) = sent.get(self.read..self.read + 4) {
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            let Some(payload) = sent.get(self.read + 4..self.read + 4 + length) else { break };
            self.read += 4 + length;
            let is_continued = std::mem::replace(&mut self.is_continued, length == 0xff_ffff);
            if self.is_in_file {
                if payload.is_empty() {
                    self.is_in_file = false;
                    answers.extend(packet(sent[self.read - 1], OK));
                }
                continue;
            }
            if !is_continued {
                self.command(payload, &mut answers);
            }
        }
        answers
    }

    fn command(&mut self, payload: &[u8], answers: &mut Vec<u8>) {
        let Some((command, text)) = payload.split_first() else { return };
        match *command {
            QUERY if text.starts_with(b"LOAD") => {
                self.is_in_file = true;
                answers.extend(packet(1, b"\xfba"));
            }
            QUERY if text.starts_with(b"SELECT") => self.rows(answers, &[&[1], &b"x"[..]].concat(), text),
            PREPARE => {
                self.prepared += 1;
                let parameters = text.iter().filter(|byte| **byte == b'?').count();
                let count = u16::try_from(parameters).expect("few").to_le_bytes();
                let columns = u8::from(text.starts_with(b"SELECT"));
                let begins =
                    [&[0][..], &self.prepared.to_le_bytes(), &[columns, 0], &count, &[0, 0, 0]].concat();
                answers.extend(packet(1, &begins));
                let mut sequence = 2_u8;
                for _ in 0..parameters {
                    answers.extend(definition(sequence, "", "?"));
                    sequence = sequence.wrapping_add(1);
                }
                if columns == 1 {
                    answers.extend(definition(sequence, "customer", "ssn"));
                }
            }
            EXECUTE => answers.extend(packet(1, OK)),
            command if SILENT.contains(&command) => {}
            _ => answers.extend(packet(1, OK)),
        }
    }

    fn rows(&self, answers: &mut Vec<u8>, value: &[u8], text: &[u8]) {
        let columns = self.columns.max(1);
        let is_protected = text.windows(8).any(|part| part == b"customer");
        let count = u16::try_from(columns).expect("few").to_le_bytes();
        answers.extend(packet(1, &[&[0xfc], &count[..]].concat()));
        let mut sequence = 2_u8;
        let mut next = || {
            sequence = sequence.wrapping_add(1);
            sequence.wrapping_sub(1)
        };
        for _ in 0..columns {
            let (table, name) = if is_protected { ("customer", "ssn") } else { ("", "x") };
            answers.extend(definition(next(), table, name));
        }
        for _ in 0..self.rows {
            answers.extend(packet(next(), &value.repeat(columns)));
        }
        answers.extend(packet(next(), &[0xfe, 0, 0, 2, 0, 0, 0]));
    }
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

fn command(command: u8, rest: &[u8]) -> Vec<u8> {
    packet(0, &[&[command], rest].concat())
}

/// A text as one COM_QUERY.
pub(super) fn query(text: String) -> Input {
    let mut dialogue = Dialogue::new();
    Input::new(text.clone().as_bytes(), move || dialogue.say(&command(QUERY, text.as_bytes())))
}

fn said(bytes: usize, piece: usize, sent: impl Fn(usize) -> Vec<u8> + 'static) -> Case {
    Case::new("mysql-wire", bytes, move |times| {
        let (mut dialogue, bytes) = (Dialogue { piece, ..Dialogue::new() }, sent(times));
        Input::new(&bytes.clone(), move || dialogue.say(&bytes))
    })
}

/// Statement 1 with one parameter, that is a text.
fn execution(number: u32, value: &[u8]) -> Vec<u8> {
    let head = [&number.to_le_bytes()[..], &[0, 1, 0, 0, 0, 0, 1, 0xfd, 0]].concat();
    let length = u16::try_from(value.len()).expect("short").to_le_bytes();
    command(EXECUTE, &[&head[..], &[0xfc], &length[..], value].concat())
}

fn long_data(value: &[u8]) -> Vec<u8> {
    command(LONG_DATA, &[&[1, 0, 0, 0, 0, 0], value].concat())
}

const WRITE: &[u8] = b"INSERT INTO customer (ssn) VALUES (?)";
const UNITS: &[fn(usize) -> Vec<u8>] = &[
    |_| command(QUERY, b""),
    |_| command(QUERY, b"SELECT 1"),
    |_| command(QUERY, b"SELECT ssn FROM customer"),
    |number| command(QUERY, format!("SELECT {number}").as_bytes()),
    |number| command(QUERY, format!("SELECT ssn FROM customer WHERE id = {number}").as_bytes()),
    |number| command(QUERY, format!("PREPARE p{number} FROM 'SELECT ssn FROM customer'").as_bytes()),
    |number| command(QUERY, format!("SAVEPOINT a{number}").as_bytes()),
    |number| command(QUERY, format!("SET @a{number} = 1").as_bytes()),
    |number| command(QUERY, format!("SELECT ssn + {number} FROM customer").as_bytes()),
    |_| command(QUERY, b"SET autocommit = 1"),
    |_| command(PREPARE, WRITE),
    |_| command(PREPARE, b"SELECT ssn FROM customer WHERE id = ?"),
    |number| [command(PREPARE, WRITE), execution(u32::try_from(number).expect("few"), b"x")].concat(),
    |number| command(CLOSE, &u32::try_from(number).expect("few").to_le_bytes()),
    |number| command(RESET, &u32::try_from(number).expect("few").to_le_bytes()),
    |_| long_data(b"x"),
    |_| long_data(b""),
    |_| command(0x0e, b""),
    |_| command(0x1f, b""),
    |_| command(0x02, b"shop"),
    |_| command(0x1b, &[0, 0]),
    |_| command(0xff, b""),
];

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for unit in UNITS {
        all.push(said(BYTES, usize::MAX, move |times| (1..=times).flat_map(unit).collect()));
    }
    for unit in [UNITS[1], UNITS[4], UNITS[12], UNITS[15]] {
        all.push(said(BYTES / 4, 1, move |times| (1..=times).flat_map(unit).collect()));
    }
    all.push(said(BYTES, usize::MAX, |times| {
        let data: Vec<u8> = (0..times).flat_map(|_| long_data(b"x")).collect();
        [command(PREPARE, WRITE), data, execution(1, b"")].concat()
    }));
    all.push(said(BYTES, usize::MAX, |times| {
        let rows: Vec<&str> = (0..times).map(|_| "(?)").collect();
        command(PREPARE, format!("INSERT INTO customer (ssn) VALUES {}", rows.join(",")).as_bytes())
    }));
    // Rows of a file.
    for (format, row) in [
        ("", &b"1\tx\n"[..]),
        ("", b"\n"),
        ("", b"\t"),
        (" FIELDS TERMINATED BY ',' ENCLOSED BY '\"'", b"\"\","),
    ] {
        for piece in [usize::MAX, 16] {
            all.push(said(BYTES, piece, move |times| {
                let text = format!("LOAD DATA LOCAL INFILE 'a' INTO TABLE customer{format} (id, ssn)");
                let file = row.repeat(times);
                [command(QUERY, text.as_bytes()), packet(2, &file), packet(3, b"")].concat()
            }));
        }
    }
    for text in ["SELECT ssn FROM customer", "SELECT x FROM orders"] {
        for columns in [None, Some(1), Some(8)] {
            all.push(Case::new("mysql-answers", BYTES, move |times| {
                let mut dialogue = Dialogue::new();
                dialogue.server.columns = columns.unwrap_or(times.min(4000));
                dialogue.server.rows = if columns.is_none() { 1 } else { times };
                let input =
                    Input::new(text.as_bytes(), move || dialogue.say(&command(QUERY, text.as_bytes())));
                Input { bytes: times * 8, ..input }
            }));
        }
    }
    for piece in [16, PIECE] {
        let bytes = LONG_BYTES.min(piece * 512);
        all.push(said(bytes, piece, |times| {
            command(QUERY, format!("SELECT '{}'", "a".repeat(times)).as_bytes())
        }));
        all.push(said(bytes, piece, |times| {
            [command(PREPARE, WRITE), long_data(&vec![b'a'; times])].concat()
        }));
        all.push(said(bytes, piece, |times| {
            [command(PREPARE, WRITE), execution(1, &vec![b'a'; times.min(65_000)])].concat()
        }));
    }
    all
}
