//! One declaration per set of flags, from which the constants and the list of names are made.

macro_rules! flags {
    (
        $(#[$type_doc:meta])* $set:ident: $number:ty;
        $($(#[$doc:meta])* $constant:ident = $bit:literal: $name:literal;)+
    ) => {
        $(#[$type_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
        pub struct $set($number);

        impl $set {
            $($(#[$doc])* pub const $constant: Self = Self(1 << $bit);)+

            /// Every flag that has a name.
            pub const ALL: &[(Self, &str)] = &[$((Self::$constant, $name)),+];

            /// No flag.
            pub const NONE: Self = Self(0);

            /// The flags of these bits, named or not.
            pub const fn from_bits(bits: $number) -> Self {
                Self(bits)
            }

            /// The flags as bits.
            pub const fn bits(self) -> $number {
                self.0
            }

            /// Whether all of `other` are set.
            pub const fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any of `other` is set.
            pub const fn has_any(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Whether no flag is set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// These and `other`.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// These but `other`.
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// Those of these that `other` has too.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }

            /// The names of the flags that are set and have one.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                Self::ALL.iter().filter(move |(flag, _)| self.has(*flag)).map(|(_, name)| *name)
            }
        }

        impl std::fmt::Debug for $set {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{:#x}", self.0)?;
                f.debug_list().entries(self.names()).finish()
            }
        }
    };
}

pub(crate) use flags;
