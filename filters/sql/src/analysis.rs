//! What the analysis of one text says.

pub(crate) mod effects;
mod field_uses;
mod load;
mod operand;
mod prepared_text;
mod statements;

pub use self::{
    field_uses::FieldUses,
    load::{Load, LoadCharset, LoadFormat},
    operand::Operand,
    prepared_text::PreparedText,
    statements::TextStatements,
};

use std::{fmt, ops::Range};

use zeroize::Zeroizing;

use self::effects::Effects;

/// What an accepted text does with protected fields, and what must be put in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// One for each statement of the text, in order. Empty statements are not counted.
    pub statements: TextStatements,
    /// What to replace, by byte range of the text; sorted, disjoint.
    pub splices: Vec<Splice>,
    /// The parameters that stand in protected places, sorted by number, each number once: where several fields
    /// share it they share a label too, and the first that is stored (else the first) is named. Only a text of one
    /// statement has any.
    pub parameters: Vec<Parameter>,
}

/// One statement of the text.
///
/// Large: each member answers another question of the sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Whether it names a protected relation.
    pub touched: bool,
    /// What it does with which fields.
    pub fields: FieldUses,
    /// What each result column is, in order: the field it holds, or None for one that is not protected. None where
    /// not every column is known; then every protected column comes with its table and number.
    pub columns: Option<Vec<Option<ResultField>>>,
    /// What is known of the data, if the statement is a COPY between the client and a protected relation.
    pub copy: Option<Copy>,
    /// The file that the server will ask the client for: LOAD DATA LOCAL.
    pub client_file: Option<ClientFile>,
    /// What the server answers it with.
    pub results: Results,
    /// What is known of the file, if the statement is a `LOAD DATA LOCAL INFILE` that gives values to protected columns.
    pub load: Option<Load>,
    /// What the statement does with the names of prepared statements and cursors.
    pub session: Option<SessionUse>,
    /// Whether the catalog must be read again afterwards: DDL, `SET search_path`, `SET ROLE`,
    /// `SET SESSION AUTHORIZATION`, `RESET`, `DISCARD`, `set_config`, `ROLLBACK`, or anything not understood.
    pub changes_catalog: bool,
    /// Whether the session may be another principal's afterwards, so that the server must be asked who it is: what changes
    /// the catalog, and SET of `fieldveil.*` or `application_name`.
    pub changes_identity: bool,
}

impl Statement {
    /// One that was not read: it may change any name, and touches nothing.
    pub fn unread() -> Self {
        Effects::default().into_statement(StatementKind::Other, true, true)
    }

    /// The same of a text that may ask the client for a file.
    pub fn unread_of(text: &[u8]) -> Self {
        let client_file = may_ask_for_file(text).then_some(ClientFile::Any);
        Self { client_file, ..Self::unread() }
    }

    /// Whether protected values may come back in rows. What an EXECUTE or a FETCH brings may not be known.
    pub fn returns_protected(&self) -> bool {
        let fetches = matches!(self.session, Some(SessionUse::Execute { .. } | SessionUse::Fetch { .. }));
        self.touched && (fetches || !self.fields.reads.is_empty())
    }
}

/// A file of the client's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFile {
    /// Of this name.
    Named(String),
    /// The text was not read, and may name one.
    Any,
}

/// Whether a text that is not read may ask the client for a file.
fn may_ask_for_file(text: &[u8]) -> bool {
    const WORD: &[u8] = b"infile";
    text.windows(WORD.len()).any(|window| window.eq_ignore_ascii_case(WORD))
}

/// The results of a statement, where a text's statements have theirs one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// One.
    One,
    /// A routine's: as many sets of rows as it likes, and an OK behind them.
    UntilOk,
    /// One, or a routine's.
    Unknown,
}

/// What a result column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultField {
    /// The field whose values it holds.
    pub field: usize,
    /// Whether it is cast, so that it is of the type of the cast.
    pub cast: bool,
}

/// What a statement does with the names of prepared statements and cursors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionUse {
    /// `PREPARE name AS …`: the statement's own parts are those of what it prepares.
    Prepare {
        /// The name, folded.
        name: String,
        /// The name that the server is told.
        server_name: String,
        /// The parameters in protected places.
        parameters: Vec<Parameter>,
        /// Fields whose values stand sealed in its text; sorted, each once.
        sealed: Vec<usize>,
        /// The text that is prepared, where the server is told the client's own name, because nothing protected is
        /// concerned.
        text: Option<PreparedText>,
    },
    /// `EXECUTE name`
    Execute {
        /// The name, folded.
        name: String,
    },
    /// `DEALLOCATE name`, or `DEALLOCATE ALL` or `DISCARD ALL`.
    Deallocate {
        /// The name, folded; None for all.
        name: Option<String>,
    },
    /// `DECLARE name CURSOR FOR …`: the statement's own parts are those of the cursor's query.
    Declare {
        /// The name, folded.
        name: String,
        /// Whether the cursor outlasts its transaction (`WITH HOLD`).
        holds: bool,
    },
    /// `FETCH … name`
    Fetch {
        /// The name, folded.
        name: String,
    },
    /// `CLOSE name`, or `CLOSE ALL`.
    Close {
        /// The name, folded; None for all.
        name: Option<String>,
    },
    /// `SAVEPOINT name`
    Savepoint {
        /// The name, folded.
        name: String,
    },
    /// `RELEASE name`
    Release {
        /// The name, folded.
        name: String,
    },
    /// `ROLLBACK TO name`
    RollBackTo {
        /// The name, folded.
        name: String,
    },
    /// `COMMIT`, `ROLLBACK`, `PREPARE TRANSACTION`.
    End {
        /// Whether what was done is undone.
        rolls_back: bool,
    },
}

impl SessionUse {
    /// Returns the name of the prepared statement, cursor or savepoint, folded.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Prepare { name, .. }
            | Self::Execute { name }
            | Self::Declare { name, .. }
            | Self::Fetch { name }
            | Self::Savepoint { name }
            | Self::Release { name }
            | Self::RollBackTo { name }
            | Self::Deallocate { name: Some(name) }
            | Self::Close { name: Some(name) } => Some(name),
            Self::Deallocate { name: None } | Self::Close { name: None } | Self::End { .. } => None,
        }
    }
}

/// The data of a COPY between the client and the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Whether the client sends it (`FROM STDIN`).
    pub from_client: bool,
    /// The protected field of each column, in the data's order.
    pub columns: Vec<Option<usize>>,
    /// How it is written.
    pub format: CopyFormat,
}

/// How the data of a COPY is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// `FORMAT text`, `FORMAT csv`
    Text(CopyText),
    /// `FORMAT binary`
    Binary,
}

/// How rows of text are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyText {
    /// `DELIMITER`
    pub delimiter: u8,
    /// `NULL`
    pub null: Vec<u8>,
    /// Whether the first line is a header.
    pub header: CopyHeader,
    /// What CSV has besides; None for the text format.
    pub csv: Option<CopyCsv>,
    /// `ENCODING`, as it is written; None for the client's.
    pub encoding: Option<String>,
}

/// The first line of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyHeader {
    /// A row like the others.
    None,
    /// A header that nobody looks at.
    Any,
    /// `HEADER match`: these names.
    Match(Vec<String>),
}

/// What CSV has besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyCsv {
    /// `QUOTE`
    pub quote: u8,
    /// `ESCAPE`
    pub escape: u8,
    /// `FORCE_NULL`: by column, whether what is quoted may be NULL.
    pub force_null: Vec<bool>,
    /// `FORCE_NOT_NULL`: by column, whether nothing is NULL.
    pub force_not_null: Vec<bool>,
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// `SELECT`, `VALUES`, `TABLE`, also with `WITH` before it, `FETCH`, and `COPY … TO STDOUT`.
    Select,
    /// `INSERT`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
    /// `BEGIN`, `COMMIT`, `ROLLBACK`, savepoints.
    Transaction,
    /// `SET`, `RESET`.
    Set,
    /// Everything else, also what can't be parsed and names nothing protected.
    Other,
}

/// One replacement in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The bytes of the text that go; empty for an insertion.
    pub range: Range<usize>,
    /// What comes in their place.
    pub with: Replacement,
}

impl Splice {
    /// Sorts replacements in the order of the text.
    pub(crate) fn sort(splices: &mut [Self]) {
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    }
}

/// What comes in the place of a range of the text.
#[derive(Clone, PartialEq, Eq)]
pub enum Replacement {
    /// A literal that holds what the value is sealed to.
    Seal {
        /// The field it is sealed for.
        field: usize,
        /// Whether it is stored or searched for.
        use_: ParameterUse,
        /// What the value is, and what is written.
        form: Form,
        /// The literal's value as text: `42`, `true`, `2020-01-01`. Not yet in canonical form.
        value: Zeroizing<String>,
    },
    /// An array, with its type, of as many NULLs as a value of the field has envelopes.
    Nulls {
        /// The field.
        field: usize,
    },
    /// MySQL: as many `?`, with commas between, as a value of the field has envelopes. What is bound for the one that
    /// stood here is bound as each of them.
    Placeholders {
        /// The field.
        field: usize,
    },
    /// This text.
    Text(String),
}

impl Replacement {
    /// The field that it holds values of.
    pub fn field(&self) -> Option<usize> {
        match self {
            Self::Seal { field, .. } | Self::Nulls { field } | Self::Placeholders { field } => Some(*field),
            Self::Text(_) => None,
        }
    }
}

/// What a value in a protected place is, and what is sent in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One value, for what it is sealed to, in the stored type.
    Value,
    /// One value, for what it is sealed to under each enabled key, under the primary one first: an array of the stored
    /// type, told as such; in MySQL that many literals, with commas between.
    Envelopes,
    /// An array of values, `{…}`, for an array of what each is sealed to; where they are searched for, under each
    /// enabled key.
    Array,
    /// MySQL: one value, for the pattern that every envelope of the value matches: [`crate::like_pattern`] of what all of
    /// them begin with.
    Pattern,
}

impl fmt::Debug for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seal { field, use_, form, value: _ } => f
                .debug_struct("Seal")
                .field("field", field)
                .field("use_", use_)
                .field("form", form)
                .finish_non_exhaustive(),
            Self::Nulls { field } => f.debug_struct("Nulls").field("field", field).finish(),
            Self::Placeholders { field } => f.debug_struct("Placeholders").field("field", field).finish(),
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
        }
    }
}

/// A parameter (`$n`) in a protected place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The `n` of `$n`, from 1.
    pub number: u16,
    /// The field its value is sealed for.
    pub field: usize,
    /// Whether it is stored or searched for. When it is both, `Store`.
    pub use_: ParameterUse,
    /// Whether it is searched for, be it stored too.
    pub searched: bool,
    /// What its value is, and what is bound in its place.
    pub form: Form,
    /// As what its value is read where it is searched for.
    pub operand: Operand,
}

/// What a value in a protected place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParameterUse {
    /// It is written to the column.
    Store,
    /// It is compared with the column.
    Search,
}
