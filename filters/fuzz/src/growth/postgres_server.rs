//! A PostgreSQL server that answers every message, and the messages of its client.

use std::collections::HashMap;

use crate::session::data_row;

/// Answers every message.
#[derive(Default)]
pub(super) struct Server {
    /// How far it has read what was sent.
    pub(super) read: usize,
    pub(super) statements: HashMap<Vec<u8>, Vec<u8>>,
    pub(super) portals: HashMap<Vec<u8>, Vec<u8>>,
    pub(super) is_in_copy: bool,
    /// Columns of a result, and rows.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// It says that a statement failed, and skips what follows.
    pub(super) fails: bool,
    pub(super) is_skipping: bool,
}

impl Server {
    pub(super) fn answer(&mut self, sent: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        while let Some(header) = sent.get(self.read..self.read + 5) {
            let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
            let Some(body) = sent.get(self.read + 5..self.read + 1 + length) else { break };
            self.read += 1 + length;
            if !self.is_skipping || header[0] == b'S' {
                self.message(header[0], body, &mut answers);
            }
        }
        answers
    }

    fn message(&mut self, tag: u8, body: &[u8], answers: &mut Vec<u8>) {
        let mut words = body.split(|byte| *byte == 0);
        let mut word = || words.next().unwrap_or_default();
        match tag {
            b'P' => {
                let (name, text) = (word(), word());
                self.statements.insert(name.to_vec(), text.to_vec());
                answers.extend(message(b'1', b""));
            }
            b'B' => {
                let (portal, name) = (word(), word());
                let text = self.statements.get(name).cloned().unwrap_or_default();
                self.portals.insert(portal.to_vec(), text);
                answers.extend(message(b'2', b""));
            }
            b'D' => {
                let is_portal = body.first() == Some(&b'P');
                let name = word().get(1..).unwrap_or_default();
                let known = if is_portal { &self.portals } else { &self.statements };
                let text = known.get(name).cloned().unwrap_or_default();
                if !is_portal {
                    let count = text.iter().filter(|byte| **byte == b'$').count();
                    let count = u16::try_from(count).expect("few parameters");
                    let types = (0..count).flat_map(|_| 25_u32.to_be_bytes());
                    answers.extend(message(
                        b't',
                        &count.to_be_bytes().into_iter().chain(types).collect::<Vec<_>>(),
                    ));
                }
                answers.extend(self.description(&text));
            }
            b'E' if self.fails => {
                answers.extend(message(b'E', b"SERROR\0VERROR\0C22012\0Mno\0\0"));
                self.is_skipping = true;
            }
            b'E' => {
                let text = self.portals.get(word()).cloned().unwrap_or_default();
                self.execution(&text, answers);
            }
            b'Q' => {
                let text = word();
                for statement in text.split(|byte| *byte == b';').filter(|part| !part.is_empty()) {
                    if statement.starts_with(b"SELECT") {
                        answers.extend(self.description(statement));
                    }
                    self.execution(statement, answers);
                }
                if text.is_empty() {
                    answers.extend(message(b'I', b""));
                }
                if !self.is_in_copy {
                    answers.extend(message(b'Z', b"I"));
                }
            }
            b'S' => {
                self.is_skipping = false;
                answers.extend(message(b'Z', b"I"));
            }
            b'C' => answers.extend(message(b'3', b"")),
            b'c' | b'f' if self.is_in_copy => {
                self.is_in_copy = false;
                answers.extend(message(b'C', b"COPY 1\0"));
                answers.extend(message(b'Z', b"I"));
            }
            _ => {}
        }
    }

    fn description(&self, text: &[u8]) -> Vec<u8> {
        if !text.starts_with(b"SELECT") {
            return message(b'n', b"");
        }
        let is_protected = text.windows(8).any(|part| part == b"customer");
        let columns = self.columns.max(1);
        let mut body = u16::try_from(columns).expect("few columns").to_be_bytes().to_vec();
        for _ in 0..columns {
            let column: &[u8] =
                if is_protected { b"ssn\0\0\0\x40\x10\0\x03" } else { b"id\0\0\0\x40\x20\0\x01" };
            body.extend_from_slice(column);
            body.extend_from_slice(b"\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
        }
        message(b'T', &body)
    }

    fn execution(&mut self, text: &[u8], answers: &mut Vec<u8>) {
        if text.starts_with(b"COPY") && text.windows(5).any(|part| part == b"STDIN") {
            self.is_in_copy = true;
            answers.extend(message(b'G', b"\0\0\x02\0\0\0\0"));
            return;
        }
        if text.starts_with(b"COPY") {
            answers.extend(message(b'H', b"\0\0\x01\0\0"));
            for _ in 0..self.rows {
                answers.extend(message(b'd', b"x\n"));
            }
            answers.extend(message(b'c', b""));
        }
        if text.starts_with(b"SELECT") {
            let row = data_row(&vec!["x"; self.columns.max(1)]);
            for _ in 0..self.rows {
                answers.extend_from_slice(&row);
            }
        }
        let first = text.split(|byte| *byte == b' ').next().unwrap_or_default();
        let count: &[u8] = if matches!(first, b"SELECT" | b"COPY") { b" 1\0" } else { b"\0" };
        let tag = if first == b"INSERT" { b"INSERT 0 1\0".to_vec() } else { [first, count].concat() };
        answers.extend(message(b'C', &tag));
    }
}

pub(super) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    [&[tag], &length[..], body].concat()
}

pub(super) fn query_message(text: &str) -> Vec<u8> {
    message(b'Q', &[text.as_bytes(), b"\0"].concat())
}

pub(super) fn parse(name: &str, text: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{text}\0\0\0").as_bytes())
}

pub(super) fn bind(portal: &str, name: &str, values: &[&[u8]]) -> Vec<u8> {
    let mut body = format!("{portal}\0{name}\0\0\0").into_bytes();
    body.extend(u16::try_from(values.len()).expect("few").to_be_bytes());
    for value in values {
        body.extend(u32::try_from(value.len()).expect("short").to_be_bytes());
        body.extend_from_slice(value);
    }
    body.extend_from_slice(b"\0\0");
    message(b'B', &body)
}

pub(super) fn describe(kind: char, name: &str) -> Vec<u8> {
    message(b'D', format!("{kind}{name}\0").as_bytes())
}

pub(super) fn execute(portal: &str) -> Vec<u8> {
    message(b'E', format!("{portal}\0\0\0\0\0").as_bytes())
}

pub(super) fn close(kind: char, name: &str) -> Vec<u8> {
    message(b'C', format!("{kind}{name}\0").as_bytes())
}

pub(super) fn sync() -> Vec<u8> {
    message(b'S', b"")
}

/// The whole of an extended query.
pub(super) fn extended(number: usize, text: &str) -> Vec<u8> {
    let values: &[&[u8]] = if text.contains('$') { &[b"7"] } else { &[] };
    let name = format!("s{number}");
    [parse(&name, text), bind("", &name, values), describe('P', ""), execute(""), sync()].concat()
}
