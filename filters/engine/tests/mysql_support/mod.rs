//! A MySQL session between a scripted client and a scripted server.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

use std::ops::{Deref, DerefMut};

use fieldveil_engine::config::Protocol;
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::mysql::MySqlConnection;
use serde_json::{Value, json};

use crate::support::{Both, contains, keys, plan};

/// PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_STATEMENTS, MULTI_RESULTS and DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x200 | 0x8000 | 8 | 0x8_0000 | 0x1_0000 | 0x2_0000 | 0x100_0000;
/// `utf8mb4_bin`
const CHARSET: u16 = 46;

/// One packet.
pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

pub fn query(text: &str) -> Vec<u8> {
    packet(0, &[b"\x03", text.as_bytes()].concat())
}

pub fn ok(sequence: u8) -> Vec<u8> {
    packet(sequence, &[0, 0, 0, 2, 0, 0, 0])
}

pub fn error(sequence: u8, number: u16, text: &str) -> Vec<u8> {
    packet(sequence, &[b"\xff".as_slice(), &number.to_le_bytes(), b"#42000", text.as_bytes()].concat())
}

pub fn greeting() -> Vec<u8> {
    let capabilities = (CAPABILITIES | 0x800 | 0x20).to_le_bytes();
    let parts: [&[u8]; 9] = [
        b"\x0a8.0.36\0\x07\0\0\0abcdefgh\0",
        &capabilities[..2],
        b"\x2d\x02\0",
        &capabilities[2..],
        b"\x15",
        &[0; 10],
        b"ijklmnopqrst\0",
        b"caching_sha2_password\0",
        b"",
    ];
    packet(0, &parts.concat())
}

pub fn handshake_response() -> Vec<u8> {
    handshake_response_with(b"caching_sha2_password", b"")
}

/// Of a client of this plugin, with what it says first.
pub fn handshake_response_with(plugin: &[u8], answer: &[u8]) -> Vec<u8> {
    let parts: [&[u8]; 9] = [
        &CAPABILITIES.to_le_bytes(),
        &[0, 0, 0, 1, 45],
        &[0; 23],
        b"app\0",
        &[u8::try_from(answer.len()).unwrap()],
        answer,
        b"shop\0",
        plugin,
        b"\0",
    ];
    packet(1, &parts.concat())
}

pub fn string(text: &[u8]) -> Vec<u8> {
    assert!(text.len() < 0xffff, "longer strings are written with more bytes of length");
    match u8::try_from(text.len()).ok().filter(|length| *length < 251) {
        Some(length) => [&[length], text].concat(),
        None => [b"\xfc".as_slice(), &u16::try_from(text.len()).unwrap().to_le_bytes(), text].concat(),
    }
}

/// A column of `shop.customer`, or of nothing.
pub fn definition(sequence: u8, table: &str, name: &str) -> Vec<u8> {
    let schema: &[u8] = if table.is_empty() { b"" } else { b"shop" };
    let org_name = if table.is_empty() { "" } else { name };
    let names = [b"def".as_slice(), schema, table.as_bytes(), table.as_bytes(), name.as_bytes()];
    let mut payload = names.iter().flat_map(|name| string(name)).collect::<Vec<u8>>();
    payload.extend(string(org_name.as_bytes()));
    payload.push(0x0c);
    payload.extend(CHARSET.to_le_bytes());
    payload.extend(1020_u32.to_le_bytes());
    payload.extend([0xfd, 0, 0, 0, 0, 0]);
    packet(sequence, &payload)
}

/// A text result set of a table's columns.
pub fn rows(table: &str, columns: &[&str], rows: &[Vec<Option<&[u8]>>]) -> Vec<u8> {
    let mut sequence = 0_u8;
    let mut next = || {
        sequence = sequence.wrapping_add(1);
        sequence
    };
    let mut answer = packet(next(), &[u8::try_from(columns.len()).unwrap()]);
    for column in columns {
        answer.extend(definition(next(), table, column));
    }
    for row in rows {
        let value = |value: &Option<&[u8]>| value.map_or(vec![0xfb], string);
        answer.extend(packet(next(), &row.iter().flat_map(value).collect::<Vec<u8>>()));
    }
    answer.extend(packet(next(), &[0xfe, 0, 0, 2, 0, 0, 0]));
    answer
}

/// `ssn` deterministic and `notes` randomized, both revealed and written.
pub fn revealing() -> Vec<Value> {
    let field = |column: &str, protection: &str| {
        json!({"relation": "shop.customer", "column": column, "label": format!("customer.{column}"), "keyset": "pii",
            "tenant": "", "protection": protection, "type": "varchar(64)", "read": {"treatment": "reveal"}, "write": "seal"})
    };
    vec![field("ssn", "deterministic"), field("notes", "randomized")]
}

/// The columns of the table of [`revealing`].
pub fn customer() -> Vec<Vec<Option<&'static [u8]>>> {
    customer_of("varchar", "4000")
}

/// The same, with columns of this type that holds so much.
fn customer_of(kind: &'static str, most: &'static str) -> Vec<Vec<Option<&'static [u8]>>> {
    let columns = [("1", "id"), ("2", "name"), ("3", "ssn"), ("4", "notes")];
    let row = |(number, name)| {
        ["shop", "customer", number, name, kind, most, "utf8mb4_bin", "0", "0", "0", "0", ""]
    };
    columns.map(|column| row(column).map(|text| Some(text.as_bytes())).to_vec()).to_vec()
}

/// A view among the answer to the first question about the catalog.
pub fn view<'a>(name: &'a str, query: &'a str) -> Vec<Option<&'a [u8]>> {
    ["shop", name, "0", "", "", "", "", "0", "0", "0", "1", query].map(|text| Some(text.as_bytes())).to_vec()
}

/// A column of a view among the answer to another.
pub fn view_column<'a>(view: &'a str, number: &'a str, name: &'a str) -> Vec<Option<&'a [u8]>> {
    let texts = ["shop", view, number, name, "varchar", "4000", "utf8mb4_bin", "0", "0", "0", "1", ""];
    texts.map(|text| Some(text.as_bytes())).to_vec()
}

/// A session of MySQL and all that came out of it.
pub struct Dialogue {
    both: Both<MySqlConnection>,
    /// The session's character_set_client, as the server says it.
    pub charset: &'static str,
    /// Its character_set_connection, if that is another.
    pub connection: Option<&'static str>,
    /// Its character_set_results.
    pub results: &'static str,
    /// Its sql_mode.
    pub sql_mode: &'static str,
    /// The account that the server let the session in by.
    pub account: &'static str,
    /// How many bytes a column of TEXT holds; the columns are VARCHARs if that is not told.
    pub text_holds: &'static str,
    fields: Vec<Value>,
    asked_for_plan: Option<Fetch>,
}

impl Deref for Dialogue {
    type Target = Both<MySqlConnection>;

    fn deref(&self) -> &Both<MySqlConnection> {
        &self.both
    }
}

impl DerefMut for Dialogue {
    fn deref_mut(&mut self) -> &mut Both<MySqlConnection> {
        &mut self.both
    }
}

impl Dialogue {
    /// A connection of which nothing was heard yet.
    pub fn new(fields: &[Value], chunk: usize) -> Self {
        let both = Both::new(Protocol::MySql, "{}", chunk);
        Self {
            both,
            charset: "utf8mb4",
            connection: None,
            results: "utf8mb4",
            sql_mode: "STRICT_TRANS_TABLES",
            account: "app@localhost",
            asked_for_plan: None,
            text_holds: "",
            fields: fields.to_vec(),
        }
    }

    /// A session that is up.
    pub fn ready(fields: &[Value], chunk: usize) -> Self {
        let mut dialogue = Self::new(fields, chunk);
        dialogue.server(&greeting());
        dialogue.client(&handshake_response());
        dialogue.answer_fetches();
        assert!(contains(&dialogue.to_server, b"app\0"), "the login was not passed on");
        dialogue.server(&ok(2));
        dialogue.to_server.clear();
        dialogue.to_client.clear();
        dialogue
    }

    /// As [`Self::ready`], with the questions of the first statement answered.
    pub fn with_catalog(fields: &[Value], chunk: usize) -> Self {
        Self::with_charset(fields, chunk, "utf8mb4")
    }

    /// As [`Self::with_catalog`], of a client that writes another character set.
    pub fn with_charset(fields: &[Value], chunk: usize, charset: &'static str) -> Self {
        let mut dialogue = Self { charset, ..Self::ready(fields, chunk) };
        dialogue.client(&query("SELECT 1 FROM orders"));
        dialogue.answer_questions();
        assert!(contains(&dialogue.to_server, b"SELECT 1 FROM orders"), "the statement was not passed on");
        dialogue.server(&ok(1));
        dialogue.to_server.clear();
        dialogue.to_client.clear();
        dialogue
    }

    /// The server's answers to who the session is for, and to the catalog.
    pub fn answer_questions(&mut self) {
        self.answer_who();
        let most = self.text_holds;
        self.answer_catalog(&if most.is_empty() { customer() } else { customer_of("text", most) });
    }

    /// The server's answer to who the session is for.
    pub fn answer_who(&mut self) {
        assert!(
            contains(&self.to_server, b"SELECT CAST(CURRENT_USER()"),
            "who the session is for was not asked"
        );
        let who: [Option<&[u8]>; 11] = [
            Some(self.account.as_bytes()),
            None,
            Some(b"shop"),
            None,
            None,
            Some(self.sql_mode.as_bytes()),
            Some(self.charset.as_bytes()),
            Some(self.connection.unwrap_or(self.charset).as_bytes()),
            Some(self.results.as_bytes()),
            Some(b"0"),
            Some(b"8.0.36"),
        ];
        self.server(&rows("", &["x"; 11], &[who.to_vec()]));
    }

    /// The server's answer to a question about the catalog.
    pub fn answer_catalog(&mut self, answer: &[Vec<Option<&[u8]>>]) {
        assert!(contains(&self.to_server, b"information_schema.COLUMNS"), "the catalog was not asked for");
        self.to_server.clear();
        self.server(&rows("", &["x"; 12], answer));
    }

    pub fn answer_fetches(&mut self) {
        let of_plan = |fetch: &&Fetch| matches!(fetch, Fetch::Plan(_));
        self.asked_for_plan = self.fetches.iter().find(of_plan).cloned().or(self.asked_for_plan.take());
        self.both.answer_fetches(Ok(&plan(&self.fields)), Ok(&keys()));
    }

    /// The worker's own renewal brought another plan of the same principal.
    pub fn change_plan(&mut self, fields: &[Value]) {
        self.fields = fields.to_vec();
        let now_ms = self.ports.borrow().now_ms;
        let fetch = self.asked_for_plan.as_ref().expect("a plan was asked for");
        let answer = FetchResponse::Body { body: &plan(fields), etag: None };
        self.worker.borrow_mut().answered(fetch, answer, now_ms).unwrap();
    }
}
