//! Where in a statement plain values stand.

use super::value::PlainValue;

/// Plain values of a text with a shape. They are compared with each other; and one with more is a load, whose number of rows
/// differs most times.
const MAX_VALUES: usize = 64;

/// So many values most texts have at most.
const USUAL_VALUES: usize = 8;
/// Bytes of the longest keyword: RETURNING.
const LONGEST_KEYWORD: usize = 9;

/// What a token is to the places of values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenClass {
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenSquare,
    /// `]`
    CloseSquare,
    Comma,
    Semicolon,
    /// An operator that compares both of its sides.
    Comparison,
    /// `::`
    Cast,
    /// A name, also in quotes, or a keyword that is none of the others.
    Name,
    In,
    Values,
    /// NULL, DEFAULT, TRUE, FALSE
    Constant,
    /// AND, OR
    Connective,
    /// A keyword that begins a clause behind a condition.
    Clause,
    /// A keyword that begins a query.
    Query,
    Other,
}

impl TokenClass {
    /// Returns the class of a word without quotes.
    pub fn of_word(word: &[u8]) -> Self {
        let mut lower = [0; LONGEST_KEYWORD];
        let Some(folded) = lower.get_mut(..word.len()) else { return Self::Name };
        for (folded, byte) in folded.iter_mut().zip(word) {
            *folded = byte.to_ascii_lowercase();
        }
        match &*folded {
            b"in" => Self::In,
            b"or" | b"and" => Self::Connective,
            b"on" | b"where" | b"order" | b"group" | b"limit" | b"returning" => Self::Clause,
            b"null" | b"true" | b"false" | b"default" => Self::Constant,
            b"with" | b"table" | b"select" => Self::Query,
            b"values" => Self::Values,
            _ => Self::Name,
        }
    }

    /// Returns the class of an operator or of punctuation.
    pub fn of_symbol(symbol: &[u8]) -> Self {
        match symbol {
            b"(" => Self::Open,
            b")" => Self::Close,
            b"[" => Self::OpenSquare,
            b"]" => Self::CloseSquare,
            b"," => Self::Comma,
            b";" => Self::Semicolon,
            b"::" => Self::Cast,
            b"=" | b"<" | b">" | b"<=" | b">=" | b"<>" | b"!=" => Self::Comparison,
            _ => Self::Other,
        }
    }

    /// Whether nothing that follows a value belongs to it, if this follows.
    fn ends_value(self) -> bool {
        matches!(self, Self::Close | Self::Comma | Self::Semicolon | Self::Connective | Self::Clause)
    }
}

/// What a bracket holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// The list of an IN.
    List,
    /// A row of VALUES.
    Row,
    Other,
}

/// How far a value that may be plain is read.
#[derive(Clone, Copy)]
enum Progress {
    Written,
    /// `::` stands behind it.
    CastBegun,
    /// `::type` stands behind it.
    Cast,
}

/// A plain value, and whether it is cast.
pub(super) struct PlacedValue {
    pub value: PlainValue,
    pub is_cast: bool,
}

/// What was read of a statement, token by token.
pub(super) struct Context {
    open: Vec<Bracket>,
    /// The bracket that closed last, with nothing but a comma behind it.
    closed: Bracket,
    before: TokenClass,
    /// A value that is plain if nothing that follows belongs to it.
    pending: Option<(PlainValue, Progress)>,
    found: Vec<PlacedValue>,
}

impl Context {
    pub fn new() -> Self {
        Self {
            open: Vec::new(),
            closed: Bracket::Other,
            before: TokenClass::Other,
            pending: None,
            found: Vec::with_capacity(USUAL_VALUES),
        }
    }

    /// Whether a value that stands next is in a place of plain values.
    pub fn takes_value(&self) -> bool {
        let in_list = || self.is_list() && matches!(self.before, TokenClass::Open | TokenClass::Comma);
        self.before == TokenClass::Comparison || in_list()
    }

    /// Takes in a plain value.
    pub fn value(&mut self, value: PlainValue) -> Option<()> {
        let is_placed = self.takes_value();
        self.token(TokenClass::Other)?;
        self.pending = is_placed.then_some((value, Progress::Written));
        Some(())
    }

    /// Takes in a token that is no plain value. Returns None if values can't be told apart in the statement.
    pub fn token(&mut self, class: TokenClass) -> Option<()> {
        // More than one statement: what one does may matter to the next.
        (self.before != TokenClass::Semicolon).then_some(())?;
        let is_type = self.settle(class);
        match class {
            TokenClass::Open => self.open.push(match (self.before, self.closed) {
                (TokenClass::In, _) => Bracket::List,
                (TokenClass::Values, _) | (TokenClass::Comma, Bracket::Row) => Bracket::Row,
                _ => Bracket::Other,
            }),
            TokenClass::OpenSquare => self.open.push(Bracket::Other),
            TokenClass::Close => self.closed = self.open.pop()?,
            TokenClass::CloseSquare => {
                self.open.pop()?;
                self.closed = Bracket::Other;
            }
            TokenClass::Comma => {}
            _ => self.closed = Bracket::Other,
        }
        self.before = class;
        (self.found.len() <= MAX_VALUES && (is_type || self.may_stand_here(class))).then_some(())
    }

    /// Returns the plain values, unless there is none.
    pub fn finish(mut self) -> Option<Vec<PlacedValue>> {
        self.settle(TokenClass::Semicolon);
        (1..=MAX_VALUES).contains(&self.found.len()).then_some(self.found)
    }

    fn is_list(&self) -> bool {
        !matches!(self.open.last(), None | Some(Bracket::Other))
    }

    /// Whether a word leaves the commas of a list between its values. Those of a query may divide what it is ordered by.
    fn may_stand_here(&self, class: TokenClass) -> bool {
        let is_row = || matches!(self.open.as_slice(), [Bracket::Row]);
        match class {
            TokenClass::Name | TokenClass::In | TokenClass::Connective => !self.is_list() || is_row(),
            TokenClass::Values | TokenClass::Clause | TokenClass::Query => !self.is_list(),
            _ => true,
        }
    }

    /// Decides on the pending value by what follows it. Returns true if that is the type that it is cast to.
    fn settle(&mut self, next: TokenClass) -> bool {
        let Some((value, progress)) = self.pending.take() else { return false };
        match (progress, next) {
            (Progress::Written, TokenClass::Cast) if value.is_string() => {
                self.pending = Some((value, Progress::CastBegun));
            }
            (Progress::CastBegun, TokenClass::Name) => {
                self.pending = Some((value, Progress::Cast));
                return true;
            }
            (Progress::Written | Progress::Cast, next) if next.ends_value() => {
                let is_cast = matches!(progress, Progress::Cast);
                self.found.push(PlacedValue { value, is_cast });
            }
            _ => {}
        }
        false
    }
}
