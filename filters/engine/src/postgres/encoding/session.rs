//! Which encoding the client's texts and values are in, as the server reports it.

use fieldveil_sql::{Replacement, SessionUse, Splice};

use super::{ClientEncoding, EncodingError, has_stand_ins, may_name_it};
use crate::client_error::ClientError;
use crate::database::CheckedText;
use crate::server_catalog::ServerCatalog;

/// Why nothing but ASCII is read behind a statement that may have changed the encoding, up to the server's report of it.
const IN_DOUBT: &str = "an earlier statement of the same pipeline may have changed client_encoding, which the server has not told yet";
const UTF8: &[u8] = b"UTF8";
const SQL_ASCII: &[u8] = b"SQL_ASCII";

/// The encodings of a session.
pub(in crate::postgres) struct SessionEncoding {
    /// The client's, as far as it is sure.
    now: ClientEncoding,
    /// Those of the client and of the server that were reported, by their names.
    client: Option<Vec<u8>>,
    server: Vec<u8>,
    /// The client's was reported to have changed since the session began, so that it may change back.
    has_changed: bool,
    /// Another setting by which texts are read was reported to have changed, likewise.
    other_has_changed: bool,
    /// It may have changed in this transaction, likewise.
    may_have_changed: bool,
    /// It may have changed since the server's last report.
    is_in_doubt: bool,
}

impl Default for SessionEncoding {
    /// Returns those of a server that has reported nothing yet.
    fn default() -> Self {
        Self {
            now: ClientEncoding::Utf8,
            client: None,
            server: UTF8.to_vec(),
            has_changed: false,
            other_has_changed: false,
            may_have_changed: false,
            is_in_doubt: false,
        }
    }
}

impl SessionEncoding {
    /// Returns the encoding of the client's texts and values. Of one that is in doubt ASCII alone is read.
    #[inline]
    pub fn now(&self) -> ClientEncoding {
        self.now
    }

    /// Takes over what the server reports of the client's encoding.
    pub fn report_client(&mut self, name: &[u8]) {
        let before = self.client.replace(name.to_vec());
        self.has_changed |= before.is_some_and(|before| before != name);
        self.find();
    }

    /// Takes over what the server reports of its own encoding.
    pub fn report_server(&mut self, name: &[u8]) {
        self.server = name.to_vec();
        self.find();
    }

    fn find(&mut self) {
        self.now = match self.client.as_deref().unwrap_or(UTF8) {
            _ if self.is_in_doubt => ClientEncoding::AsciiAlone(IN_DOUBT),
            // The server converts nothing then: what it takes and gives is in its own encoding.
            SQL_ASCII => ClientEncoding::of(&self.server),
            client => ClientEncoding::of(client),
        };
    }

    /// Returns the encoding that a statement names as SQL does.
    pub fn named(&self, name: &str) -> ClientEncoding {
        match ClientEncoding::named_in_sql(name) {
            Some(SQL_ASCII) => ClientEncoding::of(&self.server),
            Some(name) => ClientEncoding::of(name),
            None => ClientEncoding::of(name.as_bytes()),
        }
    }

    /// Notes that a text is executed. If it may change the client's encoding, the encoding is in doubt until the server has
    /// reported it, which newer servers do before a ReadyForQuery alone.
    pub fn execute(&mut self, text: &[u8], checked: &CheckedText) {
        let reverts = self.has_changed || self.other_has_changed || self.may_have_changed;
        let (mut ends, mut changes) = (false, false);
        for statement in &checked.analysis.statements {
            match &statement.session {
                Some(SessionUse::End { .. }) => ends = true,
                // What runs there was checked when it was prepared or declared.
                Some(SessionUse::Fetch { .. } | SessionUse::Execute { .. }) => {}
                _ => changes |= statement.changes_catalog,
            }
        }
        // The text is read once, however many statements it has.
        let may_change = reverts && (ends || changes) || changes && may_name_it(text);
        if may_change {
            self.doubt();
        }
    }

    /// Whether the server's own encoding is another than UTF8, so that it may read names and escapes otherwise.
    #[inline]
    pub fn is_other_server(&self) -> bool {
        self.server != UTF8
    }

    /// Whether texts must be looked at for what the server may read otherwise: characters that stand for bytes, and names.
    #[inline]
    pub fn may_read_otherwise(&self) -> bool {
        // What was prepared before a change of the encoding is checked again behind it.
        self.server != UTF8 || self.has_changed || !self.now.is_utf8()
    }

    /// Refuses a text in which the server may find another name than is found here.
    pub fn check_names(&self, text: &str, catalog: &ServerCatalog) -> Result<(), ClientError> {
        if !self.may_read_otherwise() {
            return Ok(());
        }
        let has_stand_ins = has_stand_ins(text);
        if self.server == UTF8 {
            return match has_stand_ins && catalog.has_other_names() {
                true => Err(refused("they may be parts of a protected name")),
                false => Ok(()),
            };
        }
        let is_unsure = match ClientEncoding::of(&self.server) {
            _ if text.is_ascii() && !may_escape_name(text) => false,
            // One byte is one character: the server makes small letters of other letters than ASCII's, too.
            server if self.server == SQL_ASCII || server.is_single() => {
                // The only one of which some servers make a letter of ASCII; or bytes that may be that one.
                let may_have_it = self.server == SQL_ASCII || server.encode("\u{130}".as_bytes()).is_ok();
                let becomes_ascii = text.contains('\u{130}') || has_stand_ins && may_have_it;
                becomes_ascii || !text.is_ascii() && catalog.has_other_names()
            }
            // It changes no other letters. Names are as here if each character is one there and none of them is cut.
            server => {
                let is_same = server.encode(text.as_bytes()).is_ok() && !may_escape_name(text);
                catalog.has_other_names() && !(is_same && catalog.has_short_names())
            }
        };
        match is_unsure {
            true => {
                Err(refused("the server's encoding is not UTF8, and they may be parts of a protected name"))
            }
            false => Ok(()),
        }
    }

    /// Returns of which texts the names are certain under this catalog, though they were checked under another.
    pub fn certain_names(&self, catalog: &ServerCatalog) -> CertainNames {
        match catalog.has_other_names() {
            false => CertainNames::All,
            true if self.server == UTF8 => CertainNames::Converted,
            true => CertainNames::Ascii,
        }
    }

    /// Refuses values for protected columns whose characters are not known, and names that the session would not know again in
    /// another encoding.
    pub fn check_stand_ins(&self, checked: &CheckedText) -> Result<(), ClientError> {
        for splice in &checked.analysis.splices {
            if let Replacement::Seal { value, .. } = &splice.with
                && has_stand_ins(value)
            {
                if self.now.is_utf8() {
                    return Err(ClientError::unsupported(
                        "characters from U+100000 on in a value may stand for bytes of an earlier client_encoding",
                        "Send the value as a parameter, or on another connection.",
                    ));
                }
                return Err(self.now.unconverted(value).about("a value for a protected column"));
            }
        }
        let names =
            checked.analysis.statements.iter().filter_map(|statement| statement.session.as_ref()?.name());
        match names.into_iter().any(has_stand_ins) {
            true => Err(refused("they are in the name of a prepared statement, a cursor or a savepoint")),
            false => Ok(()),
        }
    }

    /// Refuses to send a text again in which characters stand for the bytes of another encoding than that of now.
    pub fn writes_alike(&self, text: &[u8]) -> Result<(), ClientError> {
        match self.has_changed && self.now.is_utf8() && std::str::from_utf8(text).is_ok_and(has_stand_ins) {
            true => Err(ClientError::unsupported(
                "client_encoding has changed since the statement was prepared",
                "Prepare it again.",
            )),
            false => Ok(()),
        }
    }

    /// Refuses escapes in a value for a protected column. What bytes they are is said in the server's encoding.
    pub fn check_escapes(&self, text: &str, checked: &CheckedText) -> Result<(), ClientError> {
        let is_other =
            |splice: &Splice| matches!(&splice.with, Replacement::Seal { value, .. } if !value.is_ascii());
        if text.contains('\\') && checked.analysis.splices.iter().any(is_other) {
            return Err(refused("the server's encoding is not UTF8, and there are escapes beside them"));
        }
        Ok(())
    }

    /// Another setting by which texts are read has changed since the session began, so that it may change back.
    pub fn other_has_changed(&mut self) {
        self.other_has_changed = true;
    }

    /// Whether what the server reported last of the settings by which texts are read may be out of date.
    #[inline]
    pub fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Puts the client's encoding in doubt.
    pub fn doubt(&mut self) {
        self.is_in_doubt = true;
        self.may_have_changed = true;
        self.find();
    }

    /// The server has executed all that it was sent, and has reported what changed by it. `is_idle` says that no transaction is
    /// open, whose end could undo a change.
    pub fn settled(&mut self, is_idle: bool) {
        if is_idle {
            self.may_have_changed = false;
        }
        if self.is_in_doubt {
            self.is_in_doubt = false;
            self.find();
        }
    }
}

/// The texts in which the server finds the names that are found here.
#[derive(Clone, Copy, Default)]
pub(in crate::postgres) enum CertainNames {
    #[default]
    All,
    /// Those in which no characters stand for bytes.
    Converted,
    /// Those of ASCII.
    Ascii,
}

impl CertainNames {
    /// Whether the text is one of these.
    pub fn include(self, text: &str) -> bool {
        match self {
            Self::All => true,
            Self::Converted => !has_stand_ins(text),
            Self::Ascii => text.is_ascii() && !may_escape_name(text),
        }
    }
}

/// Whether a text may have a name in which characters are written by their numbers.
fn may_escape_name(text: &str) -> bool {
    text.as_bytes().windows(3).any(|start| matches!(start, [b'u' | b'U', b'&', b'"']))
}

fn refused(reason: &'static str) -> ClientError {
    EncodingError::AsciiAlone(reason).about("the statement")
}

#[cfg(test)]
mod tests {
    use super::{ClientEncoding, SessionEncoding};

    #[test]
    fn encoding_is_in_doubt_until_the_server_has_reported() {
        let mut encoding = SessionEncoding::default();
        encoding.report_client(b"LATIN1");
        assert!(encoding.now().decode(b"\xe9").is_ok());
        encoding.doubt();
        assert!(encoding.now().decode(b"\xe9").is_err() && encoding.now().decode(b"e").is_ok());
        encoding.settled(false);
        assert!(encoding.now().decode(b"\xe9").is_ok() && encoding.may_have_changed);
        encoding.settled(true);
        assert!(!encoding.may_have_changed);
    }

    #[test]
    fn characters_for_private_use_are_no_bytes_while_no_other_encoding_was_there() {
        let mut encoding = SessionEncoding::default();
        encoding.report_client(b"UTF8");
        encoding.other_has_changed();
        let text = "SELECT '\u{100080}'".as_bytes();
        assert!(encoding.writes_alike(text).is_ok() && !encoding.may_read_otherwise());
        encoding.report_client(b"EUC_TW");
        encoding.report_client(b"UTF8");
        assert!(encoding.writes_alike(text).is_err() && encoding.may_read_otherwise());
    }

    #[test]
    fn sql_ascii_is_the_encoding_of_the_server() {
        let mut encoding = SessionEncoding::default();
        encoding.report_client(b"SQL_ASCII");
        assert!(encoding.now().is_utf8());
        encoding.report_server(b"LATIN1");
        assert!(matches!(encoding.now(), ClientEncoding::Mapped(_)));
        assert!(matches!(encoding.named("iso-8859-15"), ClientEncoding::Mapped(_)));
        assert!(encoding.named("Unicode").is_utf8() && encoding.named("sql_ascii").decode(b"\xe9").is_ok());
    }
}
