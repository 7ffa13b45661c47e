//! The encodings that the library and the server convert alike, with what they do not convert alike.

use encoding_rs as library;

use super::EncodingError;

/// One of them. Every byte of ASCII is always that character in it.
pub(in crate::postgres) struct Mapping {
    /// Its name, as the server reports it.
    pub name: &'static str,
    table: Table,
}

enum Table {
    /// Each byte is the character of its number. What the library has under that name is another encoding.
    Latin1,
    /// The library's, of which some is left out.
    Library(Agreed),
}

/// What the library and PostgreSQL convert to the same, both ways. Found by converting every character in both; the tests with a
/// server do it again.
struct Agreed {
    encoding: &'static library::Encoding,
    /// How a character besides ASCII begins.
    first: &'static [(u8, u8)],
    /// Whether such a character has two bytes.
    is_double: bool,
    /// The characters, from and to, that only one of them has there.
    apart: &'static [(char, char)],
}

const ALL: &[(u8, u8)] = &[(0x80, 0xff)];
/// Bytes that stand for nothing are control characters to the library.
const CONTROLS: &[(char, char)] = &[('\u{80}', '\u{9f}')];
/// The library has Windows' extension of it: other characters below.
const LATIN5: Agreed =
    Agreed { encoding: library::WINDOWS_1254, first: &[(0xa0, 0xff)], is_double: false, apart: &[] };
/// The server has other letters at two places.
const KOI8U: Agreed = Agreed {
    encoding: library::KOI8_U,
    first: ALL,
    is_double: false,
    apart: &[('\u{40e}', '\u{40e}'), ('\u{45e}', '\u{45e}')],
};
/// The library has one more point.
const WIN1255: Agreed = Agreed {
    encoding: library::WINDOWS_1255,
    first: ALL,
    is_double: false,
    apart: &[('\u{80}', '\u{9f}'), ('\u{5ba}', '\u{5ba}')],
};
/// Without the characters of three bytes, and those that vendors have added. The server has another minus sign.
const EUC_JP: Agreed = Agreed {
    encoding: library::EUC_JP,
    first: &[(0x8e, 0x8e), (0xa1, 0xf4)],
    is_double: true,
    apart: &[('\u{2212}', '\u{2212}')],
};
/// The library has the larger UHC.
const EUC_KR: Agreed =
    Agreed { encoding: library::EUC_KR, first: &[(0xa1, 0xfe)], is_double: true, apart: &[] };
/// The library has the larger GBK, with another middle dot and another dash.
const EUC_CN: Agreed = Agreed {
    encoding: library::GBK,
    first: &[(0xa1, 0xa9), (0xb0, 0xf7)],
    is_double: true,
    apart: &[
        ('\u{b7}', '\u{b7}'),
        ('\u{144}', '\u{144}'),
        ('\u{148}', '\u{148}'),
        ('\u{1f9}', '\u{1f9}'),
        ('\u{251}', '\u{261}'),
        ('\u{1e3f}', '\u{1e3f}'),
        ('\u{2014}', '\u{2015}'),
        ('\u{2170}', '\u{2179}'),
        ('\u{e000}', '\u{fe44}'),
    ],
};

const fn agreed(name: &'static str, agreed: Agreed) -> Mapping {
    Mapping { name, table: Table::Library(agreed) }
}

/// One of a byte for each character, all of it.
const fn whole(name: &'static str, encoding: &'static library::Encoding) -> Mapping {
    agreed(name, Agreed { encoding, first: ALL, is_double: false, apart: &[] })
}

/// One of Microsoft's, of a byte for each character.
const fn windows(name: &'static str, encoding: &'static library::Encoding) -> Mapping {
    agreed(name, Agreed { encoding, first: ALL, is_double: false, apart: CONTROLS })
}

/// All of them.
pub(super) static MAPPINGS: [Mapping; 30] = [
    Mapping { name: "LATIN1", table: Table::Latin1 },
    whole("LATIN2", library::ISO_8859_2),
    whole("LATIN3", library::ISO_8859_3),
    whole("LATIN4", library::ISO_8859_4),
    agreed("LATIN5", LATIN5),
    whole("LATIN6", library::ISO_8859_10),
    whole("LATIN7", library::ISO_8859_13),
    whole("LATIN8", library::ISO_8859_14),
    whole("LATIN9", library::ISO_8859_15),
    whole("LATIN10", library::ISO_8859_16),
    whole("ISO_8859_5", library::ISO_8859_5),
    whole("ISO_8859_6", library::ISO_8859_6),
    whole("ISO_8859_7", library::ISO_8859_7),
    whole("ISO_8859_8", library::ISO_8859_8),
    whole("KOI8R", library::KOI8_R),
    agreed("KOI8U", KOI8U),
    whole("WIN866", library::IBM866),
    windows("WIN874", library::WINDOWS_874),
    windows("WIN1250", library::WINDOWS_1250),
    windows("WIN1251", library::WINDOWS_1251),
    windows("WIN1252", library::WINDOWS_1252),
    windows("WIN1253", library::WINDOWS_1253),
    windows("WIN1254", library::WINDOWS_1254),
    agreed("WIN1255", WIN1255),
    windows("WIN1256", library::WINDOWS_1256),
    windows("WIN1257", library::WINDOWS_1257),
    windows("WIN1258", library::WINDOWS_1258),
    agreed("EUC_JP", EUC_JP),
    agreed("EUC_KR", EUC_KR),
    agreed("EUC_CN", EUC_CN),
];

impl Mapping {
    /// Whether each character is one byte.
    pub fn is_single(&self) -> bool {
        match &self.table {
            Table::Latin1 => true,
            Table::Library(agreed) => !agreed.is_double,
        }
    }

    /// Returns the text that these bytes are.
    pub fn decode(&self, bytes: &[u8]) -> Result<String, EncodingError> {
        let agreed = match &self.table {
            Table::Latin1 => return Ok(bytes.iter().copied().map(char::from).collect()),
            Table::Library(agreed) => agreed,
        };
        let Some(text) = agreed.encoding.decode_without_bom_handling_and_without_replacement(bytes) else {
            // As the server tells them apart: bytes that no character has, and a character that Unicode lacks.
            return Err(match agreed.is_double {
                true => EncodingError::Invalid(self.name),
                false => EncodingError::NoEquivalent("UTF8"),
            });
        };
        let text = text.into_owned();
        match self.encode(&text) {
            Ok(again) if again == bytes => Ok(text),
            Err(EncodingError::NoEquivalent(_)) if !agreed.is_double => {
                Err(EncodingError::NoEquivalent("UTF8"))
            }
            _ => Err(EncodingError::Differs(self.name)),
        }
    }

    /// Returns the bytes of this text.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, EncodingError> {
        let absent = EncodingError::NoEquivalent(self.name);
        let agreed = match &self.table {
            Table::Latin1 => return text.chars().map(|c| u8::try_from(c).map_err(|_| absent)).collect(),
            Table::Library(agreed) => agreed,
        };
        let is_apart = |c: &char| agreed.apart.iter().any(|(from, to)| (*from..=*to).contains(c));
        if let Some(apart) = text.chars().find(is_apart) {
            // To the server these are not in the encoding.
            return Err(if apart.is_control() { absent } else { EncodingError::Differs(self.name) });
        }
        let (bytes, _, has_absent) = agreed.encoding.encode(text);
        if has_absent || !agreed.has(&bytes) {
            return Err(absent);
        }
        Ok(bytes.into_owned())
    }
}

impl Agreed {
    /// Whether all characters begin as they may, and have as many bytes.
    fn has(&self, bytes: &[u8]) -> bool {
        let mut rest = bytes.iter();
        while let Some(first) = rest.next() {
            if first.is_ascii() {
                continue;
            }
            let begins = self.first.iter().any(|(from, to)| (*from..=*to).contains(first));
            if !begins || self.is_double && rest.next().is_none_or(|second| *second < 0xa1) {
                return false;
            }
        }
        true
    }
}
