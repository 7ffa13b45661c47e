//! The encoding of the client's texts and values. The filter reads and seals UTF-8 alone: what comes in another encoding is
//! decoded before that, and what goes to the client is encoded again.

mod mapping;
mod session;
mod stand_ins;

use std::borrow::Cow;

use fieldveil_values::oid;
use zeroize::Zeroizing;

use self::mapping::Mapping;
pub(super) use self::session::{CertainNames, SessionEncoding};
use self::stand_ins::StandIns;
pub(super) use self::stand_ins::has_stand_ins;
use crate::client_error::{ClientError, sqlstate};

/// An encoding that the client may have asked for.
#[derive(Clone, Copy)]
pub(super) enum ClientEncoding {
    /// UTF8; or SQL_ASCII, in which the server takes and gives bytes of its own encoding.
    Utf8,
    /// One whose characters are converted as the server converts them.
    Mapped(&'static Mapping),
    /// One of this name, in which every byte of ASCII is always that character, and the others are not known here.
    Unconverted(&'static str),
    /// One of which ASCII alone is read, for this reason.
    AsciiAlone(&'static str),
}

/// In these the second byte of a character may be one of ASCII's, so that strings end elsewhere than they seem to.
const UNSAFE: [&str; 7] = ["SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB", "SHIFT_JIS_2004"];
/// In these each byte of ASCII is that character.
const UNCONVERTED: [&str; 3] = ["EUC_TW", "EUC_JIS_2004", "MULE_INTERNAL"];
const IS_UNSAFE: &str = "a character of this client_encoding may have a byte of ASCII in it, and is not read";
const IS_UNKNOWN: &str = "the characters of this client_encoding are not known here";
const REMEDY: &str = "Set client_encoding to UTF8.";
/// Other names of encodings in SQL, without the signs in them.
const ALIASES: [(&str, &str); 22] = [
    ("utf8", "UTF8"),
    ("unicode", "UTF8"),
    ("sqlascii", "SQL_ASCII"),
    ("iso88591", "LATIN1"),
    ("iso88592", "LATIN2"),
    ("iso88593", "LATIN3"),
    ("iso88594", "LATIN4"),
    ("iso88599", "LATIN5"),
    ("iso885910", "LATIN6"),
    ("iso885913", "LATIN7"),
    ("iso885914", "LATIN8"),
    ("iso885915", "LATIN9"),
    ("iso885916", "LATIN10"),
    ("windows1250", "WIN1250"),
    ("windows1251", "WIN1251"),
    ("windows1252", "WIN1252"),
    ("windows1253", "WIN1253"),
    ("windows1254", "WIN1254"),
    ("windows1255", "WIN1255"),
    ("windows1256", "WIN1256"),
    ("windows1257", "WIN1257"),
    ("windows1258", "WIN1258"),
];
/// No text in UTF-8 has this byte.
pub(super) const NOT_UTF8: u8 = 0xff;

/// Why bytes cannot be had in another encoding. No part of a value is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EncodingError {
    /// The bytes are no text in the encoding of this name.
    Invalid(&'static str),
    /// A character is not in the encoding of this name.
    NoEquivalent(&'static str),
    /// A character of the encoding of this name is converted otherwise by the library than by the server.
    Differs(&'static str),
    /// ASCII alone is read, for this reason.
    AsciiAlone(&'static str),
}

impl EncodingError {
    /// Returns the error that the client gets, in the server's terms. `what` says where the text or value stands.
    pub fn about(self, what: &str) -> ClientError {
        match self {
            Self::Invalid(name) => ClientError::encoding(
                sqlstate::CHARACTER_NOT_IN_REPERTOIRE,
                &format!("{what} has an invalid byte sequence for encoding \"{name}\""),
                "Send text in the session's client_encoding.",
            ),
            Self::NoEquivalent(name) => ClientError::encoding(
                sqlstate::UNTRANSLATABLE_CHARACTER,
                &format!("{what} has a character that has no equivalent in encoding \"{name}\""),
                REMEDY,
            ),
            Self::Differs(name) => ClientError::unsupported(
                format!("{what} has a character of encoding \"{name}\" that has not one meaning everywhere"),
                REMEDY,
            ),
            Self::AsciiAlone(reason) => {
                ClientError::unsupported(format!("{what} has characters besides ASCII, and {reason}"), REMEDY)
            }
        }
    }
}

impl ClientEncoding {
    /// Returns the encoding of this name, as the server reports it.
    pub fn of(name: &[u8]) -> Self {
        let is_named = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is_named("UTF8") || is_named("SQL_ASCII") {
            return Self::Utf8;
        }
        let unconverted = match mapping::MAPPINGS.iter().find(|mapping| is_named(mapping.name)) {
            Some(mapping) => return Self::Mapped(mapping),
            None => UNCONVERTED.into_iter().find(|known| is_named(known)),
        };
        match unconverted {
            Some(name) => Self::Unconverted(name),
            None if UNSAFE.into_iter().any(is_named) => Self::AsciiAlone(IS_UNSAFE),
            None => Self::AsciiAlone(IS_UNKNOWN),
        }
    }

    /// Returns the name, as the server reports it, of the encoding that SQL gives this name: in any letter case, with any signs in
    /// it. None if it is not known.
    pub fn named_in_sql(name: &str) -> Option<&'static [u8]> {
        let plain = |name: &str| -> String {
            name.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|letter| letter.to_ascii_lowercase())
                .collect()
        };
        let name = plain(name);
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, known)| *known);
        let known = || ascii_compatible().find(|known| plain(known) == name);
        alias.or_else(known).map(str::as_bytes)
    }

    /// Returns the characters that stand for the bytes of texts that are not converted. None where a byte of ASCII may be a part of
    /// another character.
    fn stand_ins(self) -> Option<StandIns> {
        let name = match self {
            Self::Mapped(mapping) => mapping.name,
            Self::Unconverted(name) => name,
            Self::Utf8 | Self::AsciiAlone(_) => return None,
        };
        StandIns::of(ascii_compatible().position(|known| known == name)?)
    }

    /// Whether bytes of ASCII in it may be parts of other characters.
    pub fn may_hide_delimiters(self) -> bool {
        matches!(self, Self::AsciiAlone(_))
    }

    /// The error for what is not read for the bytes besides ASCII in it.
    pub fn unread(self, what: &str) -> ClientError {
        match self {
            Self::AsciiAlone(reason) => EncodingError::AsciiAlone(reason).about(what),
            Self::Utf8 | Self::Mapped(_) | Self::Unconverted(_) => {
                EncodingError::AsciiAlone(IS_UNKNOWN).about(what)
            }
        }
    }

    /// Whether texts and values are what the filter reads.
    #[inline]
    pub fn is_utf8(self) -> bool {
        matches!(self, Self::Utf8)
    }

    /// Whether each character is one byte.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Mapped(mapping) if mapping.is_single())
    }

    /// Returns in UTF-8 what the client or the server sent. ASCII is the same in all encodings; whether bytes that come as
    /// UTF-8 are UTF-8 is not looked at.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, EncodingError> {
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(bytes)),
            _ if bytes.is_ascii() => Ok(Cow::Borrowed(bytes)),
            Self::Mapped(mapping) => Ok(Cow::Owned(mapping.decode(bytes)?.into_bytes())),
            Self::Unconverted(_) => Err(EncodingError::AsciiAlone(IS_UNKNOWN)),
            Self::AsciiAlone(reason) => Err(EncodingError::AsciiAlone(reason)),
        }
    }

    /// Returns a text in UTF-8 as the client or the server gets it.
    pub fn encode(self, text: &[u8]) -> Result<Cow<'_, [u8]>, EncodingError> {
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(text)),
            _ if text.is_ascii() => Ok(Cow::Borrowed(text)),
            Self::Mapped(mapping) => {
                let text = std::str::from_utf8(text).map_err(|_| EncodingError::Invalid("UTF8"))?;
                Ok(Cow::Owned(mapping.encode(text)?))
            }
            Self::Unconverted(_) => Err(EncodingError::AsciiAlone(IS_UNKNOWN)),
            Self::AsciiAlone(reason) => Err(EncodingError::AsciiAlone(reason)),
        }
    }

    /// Returns a statement's text in UTF-8. Where characters cannot be converted, others stand for the bytes of the text. Where not
    /// even those of ASCII are sure, it becomes bytes that are no UTF-8, so that it is refused where it would have to be read, and
    /// passes where nothing is protected.
    pub fn read_statement(self, text: &[u8]) -> Cow<'_, [u8]> {
        match (self.decode(text), self.stand_ins()) {
            (Ok(read), _) => read,
            (Err(_), Some(stand_ins)) => Cow::Owned(stand_ins.read(text).into_bytes()),
            (Err(_), None) => Cow::Owned([&[NOT_UTF8], text].concat()),
        }
    }

    /// Returns a statement's text as the server gets it, if it gets another than the client's.
    pub fn encode_statement(self, text: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, ClientError> {
        match text {
            Some(text) if !self.is_utf8() => {
                let read = std::str::from_utf8(&text).ok().filter(|read| has_stand_ins(read));
                if let Some(bytes) = read.zip(self.stand_ins()).and_then(|(read, own)| own.write(read)) {
                    return Ok(Some(bytes));
                }
                let encoded = self.encode(&text).map_err(|error| error.about("the statement"))?;
                Ok(Some(encoded.into_owned()))
            }
            text => Ok(text),
        }
    }

    /// Refuses a text that [`Self::read_statement`] could not read, with the reason.
    pub fn unreadable_statement(self, text: &[u8]) -> ClientError {
        let client = text.strip_prefix(&[NOT_UTF8]).unwrap_or(text);
        match self.decode(client) {
            Err(error) => error.about("the statement"),
            Ok(_) => EncodingError::Invalid("UTF8").about("the statement"),
        }
    }

    /// Why a value cannot be sealed in which characters stand for bytes.
    fn unconverted(self, value: &str) -> EncodingError {
        let bytes = self.stand_ins().and_then(|stand_ins| stand_ins.write(value));
        match bytes.map(|bytes| self.decode(&bytes).map(drop)) {
            Some(Err(error)) => error,
            // It was read in another encoding, or a part of a character is an escape.
            _ => EncodingError::AsciiAlone(IS_UNKNOWN),
        }
    }

    /// Encodes what was appended to `out` from `start` on.
    pub fn encode_tail(self, out: &mut Vec<u8>, start: usize) -> Result<(), EncodingError> {
        let tail = out.get(start..).unwrap_or_default();
        if self.is_utf8() || tail.is_ascii() {
            return Ok(());
        }
        let encoded = Zeroizing::new(self.encode(tail)?.into_owned());
        out.truncate(start);
        out.extend_from_slice(&encoded);
        Ok(())
    }

    /// Returns words of the filter's own as every client can be shown them: with question marks for what is not ASCII.
    pub fn shown(self, words: &str) -> Cow<'_, str> {
        if self.is_utf8() || words.is_ascii() {
            return Cow::Borrowed(words);
        }
        Cow::Owned(words.chars().map(|letter| if letter.is_ascii() { letter } else { '?' }).collect())
    }
}

/// Lists the encodings in which each byte of ASCII is that character, but for UTF8.
fn ascii_compatible() -> impl Iterator<Item = &'static str> {
    mapping::MAPPINGS.iter().map(|mapping| mapping.name).chain(UNCONVERTED)
}

/// Whether values of the type are texts, with the same bytes in binary format as in text format, but for what stands before.
pub(super) fn is_text(type_oid: u32) -> bool {
    matches!(
        type_oid,
        oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::UNKNOWN | oid::JSON | oid::JSONB
    )
}

/// Whether a value of the type is an array in binary format that has a text with other characters than ASCII's.
pub(super) fn has_text_elements(value: &[u8], type_oid: u32) -> bool {
    if !oid::element_of(type_oid).is_some_and(is_text) {
        return false;
    }
    let is_other = |element: &Option<Vec<u8>>| element.as_ref().is_some_and(|bytes| !bytes.is_ascii());
    fieldveil_values::array_elements(true, value).map_or(true, |(_, elements)| elements.iter().any(is_other))
}

/// Whether a statement may be about a setting by which texts are read, `client_encoding` or `standard_conforming_strings`: it says
/// so, or it may say so in a way that is not read.
pub(super) fn may_name_it(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    // `SET NAMES`, an UPDATE of the view, a name in escapes.
    ["client_encoding", "names", "standard_conforming_strings", "pg_settings", "u&"]
        .iter()
        .any(|word| text.contains(word))
        || text.split("set_config").skip(1).any(|behind| !names_setting(behind))
}

/// Whether a call's first argument is a plain literal.
fn names_setting(arguments: &str) -> bool {
    let literal = arguments.trim_start().trim_start_matches('"').trim_start().strip_prefix('(');
    let literal = literal.and_then(|first| first.trim_start().strip_prefix('\''));
    literal
        .and_then(|name| name.split_once('\''))
        .is_some_and(|(_, behind)| behind.trim_start().starts_with(','))
}

#[cfg(test)]
mod tests {
    use super::{ClientEncoding, EncodingError, may_name_it};

    const ENCODED: [(&str, &str, &[u8]); 7] = [
        ("LATIN1", "café \u{85}", b"caf\xe9 \x85"),
        ("LATIN9", "10 €", b"10 \xa4"),
        ("WIN1252", "„é”", b"\x84\xe9\x94"),
        ("KOI8R", "да", b"\xc4\xc1"),
        ("EUC_JP", "日本", b"\xc6\xfc\xcb\xdc"),
        ("EUC_KR", "한글", b"\xc7\xd1\xb1\xdb"),
        ("EUC_CN", "中文", b"\xd6\xd0\xce\xc4"),
    ];

    #[test]
    fn texts_are_decoded_and_encoded_again() {
        for (name, text, bytes) in ENCODED {
            let encoding = ClientEncoding::of(name.as_bytes());
            assert_eq!(encoding.decode(bytes).unwrap(), text.as_bytes(), "{name}");
            assert_eq!(encoding.encode(text.as_bytes()).unwrap(), bytes, "{name}");
        }
    }

    #[test]
    fn what_an_encoding_lacks_is_an_error() {
        let latin1 = ClientEncoding::of(b"LATIN1");
        assert_eq!(latin1.encode("10 €".as_bytes()), Err(EncodingError::NoEquivalent("LATIN1")));
        assert_eq!(latin1.shown("a é"), "a ?");
        let euc = ClientEncoding::of(b"EUC_JP");
        assert_eq!(euc.decode(b"\xa1"), Err(EncodingError::Invalid("EUC_JP")));
    }

    #[test]
    fn ascii_alone_is_read_of_other_encodings() {
        for name in ["SJIS", "GB18030", "something"] {
            let encoding = ClientEncoding::of(name.as_bytes());
            assert_eq!(encoding.decode(b"SELECT 1").unwrap(), &b"SELECT 1"[..]);
            assert!(encoding.decode(b"\x83\x5c").is_err() && encoding.encode("é".as_bytes()).is_err());
            assert!(std::str::from_utf8(&encoding.read_statement("é".as_bytes())).is_err());
        }
    }

    #[test]
    fn statements_are_read_though_their_characters_are_not_known() {
        for (name, text) in
            [("EUC_TW", &b"a \xc4\xe3'"[..]), ("MULE_INTERNAL", b"\x81\xe9"), ("EUC_JP", b"\xa1")]
        {
            let encoding = ClientEncoding::of(name.as_bytes());
            let read = encoding.read_statement(text).into_owned();
            assert!(std::str::from_utf8(&read).is_ok_and(super::has_stand_ins), "{name}");
            assert_eq!(encoding.encode_statement(Some(read.clone())).unwrap().unwrap(), text, "{name}");
            // No value is converted, and no text to another encoding.
            assert!(encoding.decode(text).is_err() && encoding.encode(&read).is_err(), "{name}");
            assert!(ClientEncoding::of(b"EUC_KR").encode_statement(Some(read)).is_err(), "{name}");
        }
        assert_eq!(ClientEncoding::named_in_sql("euc-tw"), Some(&b"EUC_TW"[..]));
    }

    #[test]
    fn statements_that_may_change_the_encoding_are_told_apart() {
        for text in [
            "SET client_encoding TO 'LATIN1'",
            "set  NAMES 'latin1'",
            "SELECT set_config($1, 'x', false)",
            "SELECT set_config('client' || '_encoding', 'x', false)",
            "SELECT set_config(E'client\\x5fencoding', 'x', false)",
            "SET U&\"client\\005fencoding\" = 'latin1'",
            "UPDATE pg_settings SET setting = 'LATIN1' WHERE name LIKE 'client%'",
        ] {
            assert!(may_name_it(text.as_bytes()), "{text}");
        }
        for text in ["SET search_path = a", "SELECT set_config('search_path', $1, true)", "ROLLBACK"] {
            assert!(!may_name_it(text.as_bytes()), "{text}");
        }
    }
}
