//! The sets of several bytes a character, as far as `encoding_rs` has the servers' own characters for them.
//!
//! The servers' sets are not the encodings of the Web in all characters. What is the same was found by asking the servers for each
//! character of the Basic Multilingual Plane, of which MariaDB 11.4 and MySQL 9.7 say the same; `e2e/tests/mysql/test_character_sets.py`
//! asks again. Any other character is not known here, so that a text with it is neither read nor shown.

use std::borrow::Cow;

use encoding_rs::{EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS};

/// How a set's characters beyond ASCII stand in bytes.
#[derive(Debug, Clone, Copy)]
pub struct MultiByte {
    /// As the servers name it.
    pub name: &'static str,
    /// The number of its default collation.
    pub id: u16,
    /// Most bytes of a character.
    pub max_bytes: u32,
    library: Option<&'static Encoding>,
    /// Whether no byte of a character is a quote, a backslash or a blank, so that texts can be read.
    pub is_safe: bool,
    /// Whether the library's bytes for a character are the server's.
    is_known: fn(u32, &[u8]) -> bool,
    /// Whether a character of which they are not may still be one of the set.
    may_hold: fn(u32) -> bool,
}

impl PartialEq for MultiByte {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for MultiByte {}

/// What a character is in a set.
pub enum Held {
    /// These bytes.
    As(Vec<u8>),
    /// Nothing: the set has it not.
    Not,
    /// That is not known here.
    Unknown,
}

const fn set(name: &'static str, id: u16, max_bytes: u32) -> MultiByte {
    MultiByte {
        name,
        id,
        max_bytes,
        library: None,
        is_safe: false,
        is_known: |_, _| false,
        may_hold: |_| true,
    }
}

/// The sets.
pub static SETS: [MultiByte; 9] = [
    set("big5", 1, 2),
    MultiByte {
        library: Some(SHIFT_JIS),
        is_known: |code, _| !matches!(code, 0x80 | 0xa5 | 0x203e | 0x2212),
        may_hold: |code| matches!(code, 0x6661 | 0xe000..=0xe757),
        ..set("cp932", 95, 2)
    },
    MultiByte { library: Some(EUC_JP), is_safe: true, is_known: in_ms_jis_x_0208, ..set("eucjpms", 97, 3) },
    MultiByte {
        library: Some(EUC_KR),
        is_safe: true,
        is_known: |_, _| true,
        may_hold: |_| false,
        ..set("euckr", 19, 2)
    },
    MultiByte {
        library: Some(GB18030),
        is_known: |code, _| !matches!(code, 0x9fb4..=0x9fbb | 0xe5e5 | 0xfe10..=0xfe19 | 0x1_0000..),
        ..set("gb18030", 248, 4)
    },
    MultiByte {
        library: Some(GBK),
        is_safe: true,
        is_known: is_gb2312,
        may_hold: |code| matches!(code, 0x2015 | 0x30fb),
        ..set("gb2312", 24, 2)
    },
    MultiByte { library: Some(GBK), is_known: is_gbk, ..set("gbk", 28, 2) },
    MultiByte {
        library: Some(SHIFT_JIS),
        is_known: |code, bytes| {
            in_jis_x_0208(code)
                && matches!(bytes, [0xa1..=0xdf] | [0x81..=0x84 | 0x88..=0x9f | 0xe0..=0xea, _])
        },
        may_hold: |code| matches!(code, 0xa2 | 0xa3 | 0xac | 0x2016 | 0x301c),
        ..set("sjis", 13, 2)
    },
    MultiByte {
        library: Some(EUC_JP),
        is_safe: true,
        is_known: |code, bytes| in_jis_x_0208(code) && is_euc_jis(bytes),
        ..set("ujis", 12, 3)
    },
];

/// Not the characters that the encodings of the Web have of Microsoft's in the places of others.
fn in_jis_x_0208(code: u32) -> bool {
    !matches!(code, 0x80 | 0xa5 | 0x203e | 0x2225 | 0xff0d | 0xff3c | 0xff5e | 0xffe0..=0xffe2)
}

fn in_ms_jis_x_0208(code: u32, bytes: &[u8]) -> bool {
    !matches!(code, 0xa5 | 0x203e | 0x2212) && is_euc_jis(bytes)
}

/// Katakana of half the width, and JIS X 0208 but for the rows of makers.
fn is_euc_jis(bytes: &[u8]) -> bool {
    matches!(bytes, [0x8e | 0xa1..=0xa8 | 0xb0..=0xf4, _])
}

/// The rows of GB 2312, but for what GBK has added to them.
fn is_gb2312(code: u32, bytes: &[u8]) -> bool {
    let was_added = matches!(
        code,
        0xb7 | 0x144 | 0x148 | 0x1f9 | 0x251 | 0x261 | 0x1e3f | 0x2014 | 0x20ac | 0x2170..=0x2179 | 0xe000..=0xf8ff
            | 0xfe10..=0xfe44
    );
    matches!(bytes, [0xa1..=0xf7, 0xa1..=0xff]) && !was_added
}

/// The same, and the ideographs of GBK.
fn is_gbk(code: u32, bytes: &[u8]) -> bool {
    is_gb2312(code, bytes)
        || matches!(code, 0x4e00..=0x9fa5) && matches!(bytes, [0x81..=0xa0, _] | [0xaa..=0xfd, 0x40..=0xa0])
}

impl MultiByte {
    /// Whether a text is the same bytes in the set as in ASCII. `sjis` reads a backslash as one, and writes it as a wide one.
    pub fn is_ascii_alike(&self, text: &str) -> bool {
        text.is_ascii() && (self.name != "sjis" || !text.contains('\\'))
    }

    /// What a character is in the set.
    pub fn held(&self, letter: char) -> Held {
        let code = u32::from(letter);
        if letter == '\\' && self.name == "sjis" {
            return Held::As(vec![0x81, 0x5f]);
        }
        if let (Ok(byte), true) = (u8::try_from(letter), letter.is_ascii()) {
            return Held::As(vec![byte]);
        }
        let Some(library) = self.library else { return Held::Unknown };
        let mut buffer = [0; 4];
        let (bytes, _, is_lacking) = library.encode(letter.encode_utf8(&mut buffer));
        match !is_lacking && (self.is_known)(code, &bytes) {
            true => Held::As(bytes.into_owned()),
            false if (self.may_hold)(code) => Held::Unknown,
            false => Held::Not,
        }
    }

    /// The characters of a text, if the library can read it.
    pub fn read(&self, text: &[u8]) -> Option<String> {
        let library = self.library.filter(|_| self.is_safe)?;
        library.decode_without_bom_handling_and_without_replacement(text).map(Cow::into_owned)
    }
}
