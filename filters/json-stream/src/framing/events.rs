//! Server-sent events (HTML Standard, "Server-sent events", parsing an event stream), with JSON as their data.

use super::{Part, before};
use crate::document::Ending;

/// What services end a stream with that is no JSON.
const DONE: &[u8] = b"[DONE]";
const FIELD: &[u8] = b"data";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Events without data, or with empty data, are no texts.
pub(super) const ENDING: Ending = Ending { blank: true, number: true };

/// How far a stream of events is read.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Line,
    data: Data,
    /// The last byte was a carriage return: a line feed belongs to it.
    carriage: bool,
}

/// How far a line is read.
#[derive(Debug, Clone, Copy)]
enum Line {
    /// So many bytes of the byte order mark, which may be at the stream's beginning.
    Mark(usize),
    /// So many bytes of `data`, and none else.
    Field(usize),
    /// After `data:`; one space may come.
    Colon,
    /// In the data.
    Data,
    /// In a comment or in another field.
    Other,
}

/// What came of an event's data.
#[derive(Debug, Default, Clone, Copy)]
enum Data {
    #[default]
    Nothing,
    /// So many bytes of `[DONE]`, and none else.
    Opening(usize),
    /// `[DONE]` and the line's end.
    Done,
    /// JSON.
    Json,
}

impl Default for Line {
    fn default() -> Self {
        Self::Mark(0)
    }
}

impl Events {
    pub(super) fn next(&mut self, bytes: &[u8]) -> Part {
        let Some(byte) = bytes.first() else { return Part::Pass(0) };
        if std::mem::take(&mut self.carriage) && *byte == b'\n' {
            return Part::Pass(1);
        }
        if is_line_end(*byte) {
            return self.line_end(*byte);
        }
        match self.line {
            Line::Mark(at) | Line::Field(at) => self.name(at, *byte),
            Line::Colon if *byte == b' ' => {
                self.line = Line::Data;
                Part::Pass(1)
            }
            Line::Colon | Line::Data => {
                self.line = Line::Data;
                self.data(*byte, bytes)
            }
            Line::Other => Part::Pass(before(bytes, is_line_end)),
        }
    }

    pub(super) fn finish(&mut self) -> Option<Part> {
        match self.data {
            Data::Opening(_) => Some(self.resolve(true)),
            _ => None,
        }
    }

    /// A line's first bytes.
    fn name(&mut self, at: usize, byte: u8) -> Part {
        let is_mark = matches!(self.line, Line::Mark(_)) && BYTE_ORDER_MARK.get(at) == Some(&byte);
        let is_name = matches!((self.line, at), (Line::Field(_), _) | (Line::Mark(_), 0))
            && FIELD.get(at) == Some(&byte);
        let next = at.saturating_add(1);
        self.line = match self.line {
            Line::Mark(_) if is_mark && next == BYTE_ORDER_MARK.len() => Line::Field(0),
            Line::Mark(_) if is_mark => Line::Mark(next),
            _ if is_name => Line::Field(next),
            Line::Field(at) if at == FIELD.len() && byte == b':' => Line::Colon,
            _ => Line::Other,
        };
        Part::Pass(1)
    }

    /// Data, up to the line's end.
    fn data(&mut self, byte: u8, bytes: &[u8]) -> Part {
        let at = match self.data {
            Data::Nothing => 0,
            Data::Opening(at) => at,
            Data::Json => return Part::Json(before(bytes, is_line_end)),
            Data::Done => return Part::Bad("nothing may follow [DONE] in the data of an event"),
        };
        if DONE.get(at) == Some(&byte) {
            self.data = Data::Opening(at.saturating_add(1));
            return Part::Wait(1);
        }
        self.resolve(false)
    }

    /// What waited is known now.
    fn resolve(&mut self, ended: bool) -> Part {
        let at = match self.data {
            Data::Opening(at) => at,
            _ => 0,
        };
        if ended && at == DONE.len() {
            self.data = Data::Done;
            return Part::WaitedPass(DONE);
        }
        self.data = Data::Json;
        Part::WaitedJson(DONE.get(..at).unwrap_or_default())
    }

    fn line_end(&mut self, byte: u8) -> Part {
        let line = self.line;
        let is_data = matches!(line, Line::Colon | Line::Data) || matches!(line, Line::Field(4));
        if is_data && matches!(self.data, Data::Opening(_)) {
            return self.resolve(true);
        }
        self.carriage = byte == b'\r';
        self.line = Line::Field(0);
        match (line, self.data) {
            (Line::Mark(0) | Line::Field(0), _) => {
                self.data = Data::Nothing;
                Part::End(1, ENDING)
            }
            (_, Data::Nothing | Data::Json) if is_data => {
                // A second line's `[DONE]` is not all of the data.
                self.data = Data::Json;
                Part::Break(1)
            }
            _ => Part::Pass(1),
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
