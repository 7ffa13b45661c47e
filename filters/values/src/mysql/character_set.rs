//! The servers' character sets, as far as texts in them can be read and written here.

use std::borrow::Cow;

use super::multi_byte::{self, Held, MultiByte};
use super::single_byte::{HighHalf, SETS};

/// A character set of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharacterSet {
    /// As column definitions name it: its default collation.
    pub id: u16,
    /// Most bytes of a character.
    pub max_bytes: u32,
    encoding: Encoding,
}

/// How characters stand in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, of which the set has the characters of so many bytes.
    Utf8,
    /// A byte a character, of which the upper half of the bytes stands for these.
    SingleByte(&'static HighHalf),
    /// Several bytes a character, where a byte of ASCII at the begin of one is that character.
    MultiByte(&'static MultiByte),
    /// A byte of ASCII is that character; nothing is known of the others.
    OverAscii,
    /// Nothing is known of it, or a byte of ASCII stands for another character.
    Other,
}

/// A byte that UTF-8 never has. It stands for what cannot be read.
pub const UNREADABLE: u8 = 0xFF;
/// What the server shows in the place of a character that a set has not.
const REPLACEMENT: u8 = b'?';

const MARIADB_UTF8MB4: u16 = 45;
const MYSQL_UTF8MB4: u16 = 255;

impl CharacterSet {
    /// `utf8mb4`, which MySQL has with another default collation than MariaDB.
    pub const fn utf8mb4(mariadb: bool) -> Self {
        let id = if mariadb { MARIADB_UTF8MB4 } else { MYSQL_UTF8MB4 };
        Self { id, max_bytes: 4, encoding: Encoding::Utf8 }
    }

    /// One of which only ASCII is known.
    pub const UNKNOWN: Self = Self { id: MYSQL_UTF8MB4, max_bytes: 4, encoding: Encoding::OverAscii };

    /// The set of this name. `binary` is read as UTF-8: nothing is converted, and texts are stored so.
    pub fn of_name(name: &str, mariadb: bool) -> Self {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        if is("utf8mb4") {
            return Self::utf8mb4(mariadb);
        }
        if is("utf8") || is("utf8mb3") {
            return Self { id: 33, max_bytes: 3, encoding: Encoding::Utf8 };
        }
        if is("binary") {
            return Self { id: 63, max_bytes: 1, encoding: Encoding::Utf8 };
        }
        if let Some((_, id, high)) = SETS.iter().find(|(known, ..)| is(known)) {
            return Self { id: *id, max_bytes: 1, encoding: Encoding::SingleByte(high) };
        }
        match multi_byte::SETS.iter().find(|known| is(known.name)) {
            Some(set) => Self { id: set.id, max_bytes: set.max_bytes, encoding: Encoding::MultiByte(set) },
            None => Self { id: 63, max_bytes: 1, encoding: Encoding::Other },
        }
    }

    /// Whether its texts are UTF-8.
    pub fn is_utf8(&self) -> bool {
        self.encoding == Encoding::Utf8
    }

    /// Whether each text is in it what it is in UTF-8.
    pub fn has_all_characters(&self) -> bool {
        self.encoding == Encoding::Utf8 && self.max_bytes != 3
    }

    /// Whether texts with other characters than ASCII's are read, and are not UTF-8.
    pub fn is_decoded(&self) -> bool {
        match self.encoding {
            Encoding::SingleByte(_) => true,
            Encoding::MultiByte(set) => set.is_safe,
            Encoding::Utf8 | Encoding::OverAscii | Encoding::Other => false,
        }
    }

    /// Whether texts of ASCII are the same bytes in it.
    pub fn is_over_ascii(&self) -> bool {
        self.encoding != Encoding::Other
    }

    /// A text of the set in UTF-8. What cannot be read in it becomes [`UNREADABLE`], so that the whole is no UTF-8.
    pub fn decode<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        match self.encoding {
            Encoding::Utf8 => Cow::Borrowed(text),
            Encoding::Other => Cow::Owned(text.iter().map(|_| UNREADABLE).collect()),
            _ if text.is_ascii() => Cow::Borrowed(text),
            Encoding::OverAscii => Cow::Owned(ascii_of(text)),
            // What comes back as it was is read right: each character has these bytes at the server.
            Encoding::MultiByte(set) => {
                let read = set.read(text);
                let read = read.filter(|read| self.encode(read).is_some_and(|back| *back == *text));
                Cow::Owned(read.map_or_else(|| ascii_of(text), String::into_bytes))
            }
            Encoding::SingleByte(high) => {
                let mut decoded = Vec::with_capacity(text.len().saturating_mul(2));
                for byte in text {
                    match character(*byte, high) {
                        Some(letter) => {
                            decoded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                        None => decoded.push(UNREADABLE),
                    }
                }
                Cow::Owned(decoded)
            }
        }
    }

    /// A text in the set; None where the set has not all of its characters, or they are not known here.
    pub fn encode<'t>(&self, text: &'t str) -> Option<Cow<'t, [u8]>> {
        match self.encoding {
            _ if self.has_all_characters() => Some(Cow::Borrowed(text.as_bytes())),
            Encoding::Other => None,
            Encoding::MultiByte(set) if !set.is_ascii_alike(text) => {
                several_bytes(set, text, None).map(Cow::Owned)
            }
            _ if text.is_ascii() => Some(Cow::Borrowed(text.as_bytes())),
            Encoding::Utf8 => {
                text.chars().all(|letter| letter.len_utf8() <= 3).then_some(Cow::Borrowed(text.as_bytes()))
            }
            Encoding::OverAscii | Encoding::MultiByte(_) => None,
            Encoding::SingleByte(high) => {
                text.chars().map(|letter| byte(letter, high)).collect::<Option<_>>().map(Cow::Owned)
            }
        }
    }

    /// A text as the server shows it in the set: with question marks for the characters that the set has not. None where they are
    /// not known here.
    pub fn show<'t>(&self, text: &'t str) -> Option<Cow<'t, [u8]>> {
        if let Some(encoded) = self.encode(text) {
            return Some(encoded);
        }
        match self.encoding {
            Encoding::Utf8 => {
                let three =
                    |letter: char| if letter.len_utf8() <= 3 { letter } else { char::from(REPLACEMENT) };
                Some(Cow::Owned(text.chars().map(three).collect::<String>().into_bytes()))
            }
            Encoding::SingleByte(high) => {
                let shown = text.chars().map(|letter| byte(letter, high).unwrap_or(REPLACEMENT));
                Some(Cow::Owned(shown.collect()))
            }
            Encoding::MultiByte(set) => several_bytes(set, text, Some(REPLACEMENT)).map(Cow::Owned),
            Encoding::OverAscii | Encoding::Other => None,
        }
    }
}

/// A text in a set of several bytes, with what stands in the place of characters that it has not.
fn several_bytes(set: &MultiByte, text: &str, replacement: Option<u8>) -> Option<Vec<u8>> {
    let mut written = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match set.held(letter) {
            Held::As(bytes) => written.extend_from_slice(&bytes),
            Held::Not => written.push(replacement?),
            Held::Unknown => return None,
        }
    }
    Some(written)
}

/// A text of which only ASCII can be read.
fn ascii_of(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if byte.is_ascii() { *byte } else { UNREADABLE }).collect()
}

/// What a byte stands for.
fn character(byte: u8, high: &HighHalf) -> Option<char> {
    match byte.checked_sub(128) {
        None => Some(char::from(byte)),
        Some(index) => match high.get(usize::from(index)).copied().unwrap_or_default() {
            0 => None,
            code => char::from_u32(code.into()),
        },
    }
}

/// The byte that stands for a character.
fn byte(letter: char, high: &HighHalf) -> Option<u8> {
    if letter.is_ascii() {
        return u8::try_from(letter).ok();
    }
    let code = u16::try_from(u32::from(letter)).ok()?;
    let index = high.iter().position(|known| *known == code)?;
    u8::try_from(index).ok()?.checked_add(128)
}

#[cfg(test)]
mod tests {
    use super::{CharacterSet, SETS, UNREADABLE};

    fn set(name: &str) -> CharacterSet {
        CharacterSet::of_name(name, false)
    }

    #[test]
    fn each_byte_of_a_set_is_its_own_again_or_cannot_be_read() {
        for (name, ..) in SETS {
            for byte in 0..=u8::MAX {
                let decoded = set(name).decode(&[byte]).into_owned();
                match std::str::from_utf8(&decoded) {
                    Ok(text) => assert_eq!(set(name).encode(text).unwrap().as_ref(), [byte], "{name}"),
                    Err(_) => assert_eq!((decoded.as_slice(), byte.is_ascii()), (&[UNREADABLE][..], false)),
                }
            }
        }
    }

    #[test]
    fn no_byte_beyond_ascii_stands_for_ascii() {
        for (name, _, high) in SETS {
            assert!(high.iter().all(|code| *code == 0 || *code >= 128), "{name}");
        }
    }

    #[test]
    fn latin1_is_windows_1252_with_five_control_characters() {
        let latin1 = set("latin1");
        assert_eq!(latin1.decode(b"\x80\x81\xe9").as_ref(), "€\u{81}é".as_bytes());
        assert_eq!(latin1.encode("Ж"), None);
        assert_eq!(latin1.show("éЖ😀").unwrap().as_ref(), b"\xe9??");
    }

    #[test]
    fn what_is_not_known_of_a_set_is_neither_read_nor_written() {
        assert_eq!(set("gbk").decode(b"a\xd5\x5c").as_ref(), [b'a', UNREADABLE, 0x5c]);
        let big5 = set("big5");
        assert_eq!(big5.decode(b"a\xa4\x40").as_ref(), [b'a', UNREADABLE, 0x40]);
        assert_eq!((big5.encode("一"), big5.show("一")), (None, None));
        assert_eq!(big5.show("a").unwrap().as_ref(), b"a");
        for name in ["ucs2", "utf16le", "swe7", "of tomorrow"] {
            assert_eq!((set(name).show("a"), set(name).is_over_ascii()), (None, false), "{name}");
            assert!(std::str::from_utf8(&set(name).decode(b"a")).is_err(), "{name}");
        }
    }

    #[test]
    fn sets_of_several_bytes_are_read_where_no_byte_hides_another_and_shown_where_they_are_known() {
        for (name, bytes, text) in [
            ("euckr", b"a\xb0\xa1\x81A".as_slice(), "a가갂"),
            ("gb2312", b"\xb0\xa1", "啊"),
            ("ujis", b"\xb0\xa1\x8e\xb1", "亜ｱ"),
            ("eucjpms", b"\xb0\xa1", "亜"),
        ] {
            assert_eq!(std::str::from_utf8(&set(name).decode(bytes)), Ok(text), "{name}");
            assert_eq!(set(name).encode(text).unwrap().as_ref(), bytes, "{name}");
            assert!(set(name).is_decoded());
        }
        // Not the whole of a character, what the servers read otherwise, and what is not known.
        for (name, bytes) in [
            ("euckr", b"\xb0".as_slice()),
            ("gb2312", b"\x81\xa1"),
            ("ujis", b"\xa1\xc1"),
            ("ujis", b"\x8f\xb0\xa9"),
        ] {
            assert!(std::str::from_utf8(&set(name).decode(bytes)).is_err(), "{name}");
        }
        for (name, text, shown) in [
            ("gbk", "a啊丂", Some(b"a\xb0\xa1\x81\x40".as_slice())),
            ("sjis", "亜\\", Some(b"\x88\x9f\x81\x5f")),
            ("sjis", "a\\", Some(b"a\x81\x5f")),
            ("cp932", "亜é\\", Some(b"\x88\x9f?\\")),
            ("gb18030", "啊é", Some(b"\xb0\xa1\xa8\xa6")),
            ("euckr", "가é😀", Some(b"\xb0\xa1??")),
            ("ujis", "é", None),
            ("sjis", "¢", None),
            ("gb18030", "😀", None),
        ] {
            assert_eq!(set(name).show(text).as_deref(), shown, "{name}");
        }
    }

    #[test]
    fn utf8mb3_shows_a_question_mark_for_what_it_has_not() {
        assert_eq!(set("utf8").show("é😀").unwrap().as_ref(), "é?".as_bytes());
        assert_eq!(set("utf8mb3").encode("😀"), None);
        assert_eq!(set("utf8mb4").encode("😀").unwrap().as_ref(), "😀".as_bytes());
    }
}
