//! The analysis of SQL: what a text of PostgreSQL, MySQL or MariaDB does with protected columns, and what to put in place of
//! its literals.
//!
//! [`analyze`] takes a text (of a Query or a Parse message, of COM_QUERY or COM_STMT_PREPARE) and a [`Catalog`] of the relations that matter, and
//! gives an [`Analysis`]: which protected fields each statement reads, searches and writes, which byte ranges of
//! the text are literals to be sealed, and which parameters will carry values to be sealed. Or it gives a
//! [`Refusal`], which names the label where it is known, the reason, and the remedy.
//!
//! # Rooms
//! A text passes through them in about this order; `filters/layering.json` lists which may use which.
//! 1. `text` begins: `segment` cuts the text into statements, with the tokens that `lex` reads by the server's own rules.
//! 2. `text` takes the statements one after the other, and refuses what one may change for those behind it.
//! 3. `kind` says what kind of statement it is by its words, `mention` whether they may name anything protected, and
//!    [`identity`] whether they say who the end user is.
//! 4. `statement` chooses the rules by the kind. Most statements end here: they touch nothing, or are refused.
//! 5. `parse` makes the tree of a query or of a statement that writes rows, and checks that the tree is the text.
//! 6. `walk` goes through the tree; `resolve` tells it which column a name means. It finds what is read, searched and
//!    written, and what to replace.
//! 7. `analysis` is the result; `shape` makes of it what holds for all texts that differ in their values only.
//!
//! All of them speak in terms of `catalog`, `field`, `dialect`, `names`, `budget` and `refusal`. `view_sources` reads what a
//! view of MySQL's stands upon, for the catalog. `last_statement` knows what asks MySQL about the statement before.
//!
//! # Rules
//! - **Whitelist.** What isn't known to be right for sealed values is refused, and so is what isn't understood.
//! - **Two readings.** A lexer of our own follows the server's rules; where the parser's tokens differ from its
//!   tokens, nothing is believed. The tree, written out again, must be the text. Every word of the text that
//!   could be a protected column or table must have been met by the walk.
//! - **The text stays.** Literals are replaced by byte range; all else is forwarded as it came.
//! - **Nothing told.** No refusal holds a literal or any of the text but names of the catalog and of prepared statements. What is
//!   kept of a text shows nothing of it in a `Debug`.
//!
//! # When not to use it
//! For another dialect than [`Dialect`] has; as an access control (functions in the server can do anything); for a
//! text that isn't UTF-8. (Some of MySQL's can be made so: [`binary_as_hexadecimal`].)
//!
//! # What it assumes
//! - PostgreSQL: strings are those of a session with `standard_conforming_strings`; [`with_escape_strings`] makes them so.
//! - MySQL and MariaDB: the client's character set is UTF-8, or the text was decoded from it, and the session's `sql_mode`
//!   is what [`MySqlDialect`] says.
//! - The catalog is that of the session now. After a statement with `changes_catalog` it must be read again,
//!   and, when that was in a transaction, once more when the transaction ends.
//! - A label stands for one keyset, one tenant, one declared type and one treatment: columns of one label may be compared,
//!   values copied between them, and a union of two is told as the first.

mod analysis;
mod budget;
mod catalog;
mod dialect;
mod field;
pub mod identity;
mod kind;
mod last_statement;
mod lex;
mod long_text;
mod mention;
mod names;
mod occurrence;
mod parse;
mod refusal;
mod resolve;
mod segment;
mod shape;
pub mod sorted;
mod statement;
mod text;
mod view_sources;
mod walk;

pub use analysis::{
    Analysis, ClientFile, Copy, CopyCsv, CopyFormat, CopyHeader, CopyText, FieldUses, Form, Load,
    LoadCharset, LoadFormat, Operand, Parameter, ParameterUse, PreparedText, Replacement, ResultField,
    Results, SessionUse, Splice, Statement, StatementKind, TextStatements,
};
pub use budget::Budget;
pub use catalog::{Catalog, Column, Columns, Relation, RelationKind, StorageType};
pub use dialect::{Dialect, MySqlDialect, OtherMeaning};
pub use field::{Declared, Envelopes, Field};
pub use last_statement::asks_about_last_statement;
pub use lex::{
    mysql::binary::{binary_as_hexadecimal, single_bytes_as_hexadecimal},
    postgres::{StringDoubt, with_escape_strings},
};
pub use long_text::{LongHead, LongRest};
pub use names::MAX_NAME_BYTES;
pub use refusal::{Refusal, RefusalClass};
pub use shape::{Shape, Template};
pub use statement::{
    postgres::{
        prepared::is_unprotected,
        rows::{ClientData, client_data, may_be_rows},
    },
    session::{Names, OwnName, Prepared},
};
pub use text::{analyze, analyze_in, analyze_unread, analyze_within};
pub use view_sources::{ViewSource, view_sources};
pub use walk::{
    mysql::search::like_pattern,
    search::predicate::{ARMORED_INDEX_PREFIX, RAW_INDEX_PREFIX},
};
