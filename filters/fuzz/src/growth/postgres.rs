//! Connections to PostgreSQL: messages in pipelines, large ones in pieces, and a server that answers all of them.

use super::postgres_server::{
    Server, bind, close, describe, execute, extended, message, parse, query_message, sync,
};
use super::text::Chance;
use super::{Case, Input};
use crate::connection::{Connection, Protocol};
use crate::session::Postgres;

/// Bytes of what the client sends at the largest size.
const BYTES: usize = 12 << 10;
/// What one message of many pieces has.
const LONG_BYTES: usize = 256 << 10;
/// Bytes that Envoy brings at once: at the least, and from a server.
const PIECE: usize = 1 << 10;
const READ: usize = 8 << 10;

const UNPROTECTED: &str = "SELECT id FROM orders";
const PROTECTED: &str = "SELECT ssn FROM customer WHERE id = $1";
const WRITE: &str = "INSERT INTO customer (ssn) VALUES ($1)";

/// A session that the catalog has been read for, and what both sides do.
struct Dialogue {
    connection: Connection<Postgres>,
    server: Server,
    /// Bytes that come at once from the client.
    piece: usize,
    /// Bytes that come at once from the server.
    read: usize,
}

impl Dialogue {
    fn new() -> Self {
        let mut connection = Connection::new(usize::MAX);
        Postgres::start(&mut connection);
        let server = Server { read: connection.to_server.len(), ..Server::default() };
        Self { connection, server, piece: usize::MAX, read: READ }
    }

    fn in_pieces(piece: usize) -> Self {
        Self { piece, ..Self::new() }
    }

    /// What the client sends, and what the server answers until nothing is left to answer.
    fn say(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece) {
            self.connection.client(piece);
        }
        self.listen();
    }

    fn listen(&mut self) {
        loop {
            let answers = self.server.answer(&self.connection.to_server);
            if answers.is_empty() || self.connection.closed {
                return;
            }
            for piece in answers.chunks(self.read) {
                self.connection.server(piece);
            }
        }
    }
}

/// A text as one Query message.
pub(super) fn query(text: String) -> Input {
    let mut dialogue = Dialogue::new();
    Input::new(text.clone().as_bytes(), move || dialogue.say(&query_message(&text)))
}

/// What a client sends in a session, in one piece; then everything is answered.
fn pipeline(unit: fn(usize) -> Vec<u8>) -> Case {
    said(Dialogue::new, move |times| (1..=times).flat_map(unit).collect())
}

fn said(dialogue: fn() -> Dialogue, bytes: impl Fn(usize) -> Vec<u8> + 'static) -> Case {
    Case::new("postgres-wire", BYTES, move |times| {
        let (mut dialogue, bytes) = (dialogue(), bytes(times));
        Input::new(&bytes.clone(), move || dialogue.say(&bytes))
    })
}

/// Answers of a server to one statement of a client, which come in pieces.
fn answered(text: &'static str, read: usize, server: fn(usize) -> Server) -> Case {
    Case::new("postgres-answers", BYTES, move |times| {
        let mut dialogue = Dialogue { read, ..Dialogue::new() };
        dialogue.server = Server { read: dialogue.server.read, ..server(times) };
        let bytes = times * 8;
        let input = Input::new(text.as_bytes(), move || dialogue.say(&query_message(text)));
        Input { bytes, ..input }
    })
}

/// One message as large as the case, in pieces.
fn long(piece: usize, bytes: fn(usize) -> Vec<u8>) -> Case {
    Case::new("postgres-long", LONG_BYTES.min(piece * 512), move |times| {
        let (mut dialogue, bytes) = (Dialogue::in_pieces(piece), bytes(times));
        Input::new(&bytes.clone(), move || dialogue.say(&bytes))
    })
}

/// Messages that others are put together of.
const UNITS: &[fn(usize) -> Vec<u8>] = &[
    |number| extended(number, UNPROTECTED),
    |number| extended(number, PROTECTED),
    |number| extended(number, WRITE),
    |_| extended(0, "SET a = 1"),
    |number| parse(&format!("s{number}"), UNPROTECTED),
    |number| parse(&format!("s{number}"), PROTECTED),
    |_| parse("", PROTECTED),
    |number| [parse(&format!("s{number}"), PROTECTED), describe('S', &format!("s{number}"))].concat(),
    |_| [parse("", "SET a = 1"), describe('S', ""), sync()].concat(),
    |number| [parse("", UNPROTECTED), bind(&format!("p{number}"), "", &[])].concat(),
    |number| {
        [parse("", PROTECTED), bind(&format!("p{number}"), "", &[b"7"]), execute(&format!("p{number}"))]
            .concat()
    },
    |number| close('S', &format!("s{number}")),
    |number| close('P', &format!("p{number}")),
    |_| close('S', "s1"),
    |_| sync(),
    |_| message(b'H', b""),
    |_| execute("p"),
    |_| describe('P', "p"),
    |_| query_message(""),
    |_| query_message(";"),
    |_| query_message("SELECT 1"),
    |_| query_message("BEGIN"),
    |number| query_message(&format!("SAVEPOINT a{number}")),
    |number| query_message(&format!("SELECT {number}")),
    |number| query_message(&format!("SELECT ssn FROM customer WHERE id = {number}")),
    |number| query_message(&format!("DECLARE c{number} CURSOR FOR SELECT ssn FROM customer")),
    |number| query_message(&format!("PREPARE p{number} AS SELECT ssn FROM customer")),
    |number| query_message(&format!("DEALLOCATE p{number}")),
    |_| query_message("FETCH ALL FROM c1"),
    |_| query_message("ROLLBACK TO a1"),
    |number| query_message(&format!("SELECT ssn + {number} FROM customer")),
    |_| query_message("COMMIT"),
    |_| message(b'd', b"x\n"),
    |_| message(b'c', b""),
    |_| message(b'F', b"\0\0\0\x01\0\0\0\0\0\0"),
    |_| message(b'p', b"x"),
];

const COPIES: [(&str, &[u8]); 10] = [
    ("COPY customer (id, ssn) FROM STDIN", b"1\tx\n"),
    ("COPY customer (id, ssn) FROM STDIN", b"1\t"),
    ("COPY customer (id, ssn) FROM STDIN", b"1\t\\\\"),
    ("COPY customer (id, ssn) FROM STDIN", b"\n"),
    ("COPY customer (id, ssn) FROM STDIN (FORMAT csv)", b"1,x\n"),
    ("COPY customer (id, ssn) FROM STDIN (FORMAT csv)", b"\"\"\n,"),
    ("COPY customer (id, ssn) FROM STDIN (FORMAT csv)", b"\""),
    ("COPY customer (id, ssn) FROM STDIN (FORMAT csv)", b","),
    ("COPY customer (ssn) FROM STDIN (FORMAT binary)", b"\0\x01\0\0\0\x01x"),
    ("COPY customer (ssn) FROM STDIN (FORMAT binary)", b"\0\x01\xff\xff\xff\xff"),
];
const BINARY_HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The rows of a COPY, so many bytes of them in a message.
fn copied(number: usize, in_message: usize, piece: usize) -> Case {
    let (text, row) = COPIES[number];
    let dialogue = move || {
        let mut dialogue = Dialogue::new();
        dialogue.say(&query_message(text));
        dialogue.piece = piece;
        dialogue
    };
    Case::new("postgres-copy", BYTES, move |times| {
        let head: &[u8] = if text.contains("binary") { BINARY_HEAD } else { b"" };
        let data = [head, &row.repeat(times)].concat();
        let mut bytes: Vec<u8> = data.chunks(in_message).flat_map(|part| message(b'd', part)).collect();
        bytes.extend(message(b'c', b""));
        let mut dialogue = dialogue();
        Input::new(&data, move || dialogue.say(&bytes))
    })
}

pub(super) fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = UNITS.iter().map(|unit| pipeline(*unit)).collect();
    // The same by a byte at a time.
    for unit in [UNITS[1], UNITS[20], UNITS[14], UNITS[4]] {
        let case = said(|| Dialogue::in_pieces(1), move |times| (1..=times).flat_map(unit).collect());
        all.push(Case { bytes: BYTES / 4, ..case });
    }
    // A long pipeline, whose statements are unanswered when the next ones come.
    all.push(Case { bytes: BYTES * 8, ..pipeline(UNITS[8]) });
    // Nothing of these is carried out, until the Sync.
    all.push(said(
        || {
            let mut dialogue = Dialogue::new();
            dialogue.server.fails = true;
            dialogue
        },
        |times| {
            let group = [parse("", PROTECTED), bind("", "", &[b"7"]), execute("")].concat();
            [group.repeat(times), sync()].concat()
        },
    ));
    all.push(said(Dialogue::new, |times| {
        [parse("", "SELECT ssn + 1 FROM customer"), execute("").repeat(times), sync()].concat()
    }));
    all.push(said(Dialogue::new, |times| {
        let skipped: Vec<u8> =
            (0..times).flat_map(|number| parse(&format!("s{number}"), PROTECTED)).collect();
        [parse("", "SELECT ssn + 1 FROM customer"), skipped, sync()].concat()
    }));
    // Many of one thing in a message.
    for text in [WRITE, PROTECTED] {
        all.push(said(Dialogue::new, move |times| {
            let list: Vec<String> = (2..times + 2).map(|number| format!("${number}")).collect();
            let more = format!("{} IN ({})", text.replace("id = ", "$1 = id AND id"), list.join(","));
            let text = if text == WRITE {
                let rows: Vec<String> = (1..=times).map(|number| format!("(${number})")).collect();
                format!("INSERT INTO customer (ssn) VALUES {}", rows.join(","))
            } else {
                more
            };
            let values = vec![&b"x"[..]; times];
            [parse("", &text), bind("", "", &values), describe('P', ""), execute(""), sync()].concat()
        }));
    }
    for read in [64, READ] {
        for text in ["SELECT ssn FROM customer", "SELECT id FROM orders"] {
            all.push(answered(text, read, |times| Server {
                columns: times.min(1600),
                rows: 1,
                ..Server::default()
            }));
            all.push(answered(text, read, |times| Server { rows: times, ..Server::default() }));
            all.push(answered(text, read, |times| Server { rows: times, columns: 8, ..Server::default() }));
        }
        all.push(answered("COPY customer (ssn) TO STDOUT", read, |times| Server {
            rows: times,
            ..Server::default()
        }));
    }
    for number in 0..COPIES.len() {
        for (in_message, piece) in [(usize::MAX, usize::MAX), (usize::MAX, 16), (1, usize::MAX), (64, PIECE)]
        {
            all.push(copied(number, in_message.min(1 << 20), piece));
        }
    }
    for piece in [16, PIECE] {
        all.push(long(piece, |times| query_message(&format!("SELECT '{}'", "a".repeat(times)))));
        all.push(long(piece, |times| query_message(&format!("SELECT 1 {}", " ".repeat(times)))));
        all.push(long(piece, |times| parse("", &format!("SELECT '{}'", "a".repeat(times)))));
        all.push(long(piece, |times| {
            let value = vec![b'a'; times];
            [parse("", WRITE), bind("", "", &[&value]), sync()].concat()
        }));
        all.push(long(piece, |times| {
            let value = vec![b'a'; times];
            [parse("", PROTECTED), bind("", "", &[&value]), sync()].concat()
        }));
        // A long message, and many short ones behind it.
        all.push(long(piece, |times| {
            let value = vec![b'a'; times];
            [parse("", PROTECTED), bind("", "", &[&value]), sync().repeat(times / 16)].concat()
        }));
    }
    all
}

/// Two kinds of message, again and again.
pub(super) fn composed(chance: &mut Chance) -> Case {
    let units = [(); 3].map(|()| chance.pick(UNITS));
    let count = 1 + chance.below(3);
    let syncs = chance.below(2) == 0;
    let piece = chance.pick(&[usize::MAX, usize::MAX, PIECE, 7]);
    let first = chance.below(2);
    Case::new("postgres-wire", BYTES, move |times| {
        let mut bytes: Vec<u8> = units[..first].iter().flat_map(|unit| unit(1)).collect();
        for number in 1..=times {
            units[..count].iter().for_each(|unit| bytes.extend(unit(number)));
            if syncs {
                bytes.extend(sync());
            }
        }
        let mut dialogue = Dialogue::in_pieces(piece);
        Input::new(&bytes.clone(), move || dialogue.say(&bytes))
    })
}
