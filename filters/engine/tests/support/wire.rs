//! Messages, written and looked at.

use fieldveil_postgres_wire::frame::write_message;
use fieldveil_postgres_wire::frontend::{Bind, Execute, Parse, Query, Sync};
use fieldveil_postgres_wire::startup::{ProtocolVersion, StartupMessage};

pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_message(&mut out, tag, |out| out.extend_from_slice(body)).unwrap();
    out
}

pub fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

pub fn data_row(values: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        match value {
            None => body.extend((-1_i32).to_be_bytes()),
            Some(value) => {
                body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
                body.extend(value);
            }
        }
    }
    message(b'D', &body)
}

/// `(name, attnum)` of `public.customer`.
pub fn row_description(columns: &[(&str, i16)]) -> Vec<u8> {
    let mut body = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for (name, number) in columns {
        body.extend(name.as_bytes());
        body.push(0);
        body.extend(16400_u32.to_be_bytes());
        body.extend(number.to_be_bytes());
        body.extend(25_u32.to_be_bytes());
        body.extend((-1_i16).to_be_bytes());
        body.extend((-1_i32).to_be_bytes());
        body.extend(0_i16.to_be_bytes());
    }
    message(b'T', &body)
}

pub fn complete(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

pub fn server_error(code: &str) -> Vec<u8> {
    message(b'E', format!("SERROR\0VERROR\0C{code}\0Mthe server's own text\0\0").as_bytes())
}

pub fn query(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    Query { text: text.as_bytes() }.encode(&mut out).unwrap();
    out
}

pub fn parse(name: &str, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    Parse { name: name.as_bytes(), text: text.as_bytes(), parameter_types: vec![] }.encode(&mut out).unwrap();
    out
}

pub fn bind(statement: &str, values: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let values = values.iter().map(|v| Some((*v).into())).collect();
    Bind {
        portal: b"",
        statement: statement.as_bytes(),
        parameter_formats: vec![],
        values,
        result_formats: vec![],
    }
    .encode(&mut out)
    .unwrap();
    out
}

pub fn execute() -> Vec<u8> {
    let mut out = Vec::new();
    Execute { portal: b"", max_rows: 0 }.encode(&mut out).unwrap();
    out
}

pub fn sync() -> Vec<u8> {
    let mut out = Vec::new();
    Sync.encode(&mut out).unwrap();
    out
}

pub fn startup(user: &str) -> Vec<u8> {
    let parameters = vec![("user".to_owned(), user.to_owned()), ("database".to_owned(), "shop".to_owned())];
    let mut out = Vec::new();
    StartupMessage { version: ProtocolVersion::V3_0, parameters }.encode(&mut out).unwrap();
    out
}

/// Whether `needle` stands anywhere in `haystack`.
pub fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

/// The tags of the messages in `bytes`, and that they are whole.
pub fn tags(mut bytes: &[u8]) -> String {
    let mut tags = String::new();
    while let Some((header, _)) = fieldveil_postgres_wire::frame::peek_message(bytes).unwrap() {
        tags.push(char::from(header.tag));
        bytes = &bytes[header.total_len()..];
    }
    assert!(bytes.is_empty(), "an incomplete message");
    tags
}
