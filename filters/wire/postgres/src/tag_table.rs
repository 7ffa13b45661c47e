//! One declaration per tag, from which an enum is made that every `match` must handle in full.

macro_rules! tag_table {
    ($($(#[$doc:meta])* $variant:ident = $tag:literal: $($name:literal),+;)+) => {
        /// The tag of a message of this direction.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Tag {
            $($(#[$doc])* $variant = $tag,)+
        }

        impl From<Tag> for u8 {
            fn from(tag: Tag) -> Self {
                tag.code()
            }
        }

        impl Tag {
            /// Every tag of this direction.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The tag with this byte. The protocol defines no other in this direction.
            #[inline]
            pub const fn of(byte: u8) -> Option<Self> {
                match byte {
                    $($tag => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The byte on the wire.
            #[inline]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The names of the messages that carry the tag.
            pub const fn names(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &[$($name),+],)+
                }
            }
        }
    };
}

pub(crate) use tag_table;
