//! One declaration per tag, from which the constants, the closed check and the list of names are made.

macro_rules! tag_table {
    ($($(#[$doc:meta])* $constant:ident = $tag:literal: $($name:literal),+;)+) => {
        $($(#[$doc])* pub const $constant: u8 = $tag;)+

        /// Every tag of this direction, with the names of the messages that carry it.
        pub const ALL: &[(u8, &[&str])] = &[$(($tag, &[$($name),+])),+];

        /// Whether the protocol defines this tag in this direction. Any other byte is no message.
        pub const fn is_known(tag: u8) -> bool {
            matches!(tag, $($tag)|+)
        }

        /// The name of the (first) message with this tag.
        pub fn name(tag: u8) -> Option<&'static str> {
            ALL.iter().find(|(known, _)| *known == tag).and_then(|(_, names)| names.first().copied())
        }
    };
}

pub(crate) use tag_table;
