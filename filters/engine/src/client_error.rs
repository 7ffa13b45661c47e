//! What a client is told. Every refusal of the engine becomes a [`ClientError`] here and nowhere else,
//! so that the texts read alike and none of them can carry a value.

pub mod sqlstate;

use fieldveil_sql::{Dialect, Refusal, RefusalClass};

use crate::budgets::Allowance;
use crate::field::FieldError;

/// A refusal in the terms of a database client: an SQLSTATE, a message that names the label and the
/// reason, and a hint that names the remedy.
///
/// Large: each refusal has a constructor, so that its words stand once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError {
    /// SQLSTATE, five characters.
    pub code: &'static str,
    /// What was refused and why.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The label that it is about, where it is about one: for the audit.
    pub label: Option<String>,
    /// Whether the statement was not understood. To PostgreSQL's clients that is one of the things that are not
    /// supported; MySQL has an error of its own for it.
    pub not_understood: bool,
}

impl ClientError {
    fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: format!("fieldveil: {}", message.into()),
            hint: hint.into(),
            label: None,
            not_understood: false,
        }
    }

    /// It is about this label.
    pub fn about(self, label: &str) -> Self {
        Self { label: Some(label.to_owned()), ..self }
    }

    /// Policy says no.
    pub fn denied(label: &str, action: &str) -> Self {
        Self::new(
            sqlstate::INSUFFICIENT_PRIVILEGE,
            format!("policy does not let this principal {action} {label}"),
            format!(
                "Ask the owner of the field policy for a rule on label {label}, or leave the column out."
            ),
        )
        .about(label)
    }

    /// Stored values of `label` would be compared with each other for a principal that may write one, and not search.
    pub fn search_by_writing(label: &str) -> Self {
        Self::new(
            sqlstate::INSUFFICIENT_PRIVILEGE,
            format!(
                "policy does not let this principal search by {label}, which it may write: comparing stored values of {label}, or telling that a row has one already, would find a value that it writes"
            ),
            format!(
                "Compare other columns; in an upsert name another one, such as the primary key. Or ask the owner of the field policy for a rule that reveals or masks label {label}, or that takes its writing away."
            ),
        )
        .about(label)
    }

    /// What the principal is shown of `label` would take the place of the value.
    pub fn shown_instead(label: &str) -> Self {
        Self::new(
            sqlstate::INSUFFICIENT_PRIVILEGE,
            format!(
                "a value for {label} is what this principal is shown in a value's place, and would replace the value"
            ),
            "Leave the column out of what is updated (object mappers: update only what changed), or update as a principal that is shown the value.",
        )
        .about(label)
    }

    /// So many rows of `label` were revealed that policy refuses more of them for a while.
    pub fn budget_spent(label: &str, allowance: Allowance, again_seconds: u64) -> Self {
        let Allowance { rows, per_seconds } = allowance;
        Self::new(
            sqlstate::CONFIGURATION_LIMIT_EXCEEDED,
            format!("the budget of {label} is spent: {rows} rows within {per_seconds} seconds"),
            format!(
                "Try again in {again_seconds} seconds, leave the column out, or ask the owner of the field policy for a larger budget on label {label}."
            ),
        )
        .about(label)
    }

    /// Policy refuses everything, for a token that is not valid.
    pub fn invalid_token(reason: &str, dialect: Dialect) -> Self {
        Self::new(
            sqlstate::INVALID_AUTHORIZATION,
            format!("policy refuses protected fields: {reason}"),
            match dialect {
                Dialect::Postgres => {
                    "SET fieldveil.token to a valid one, or RESET fieldveil.token to go on as the database user."
                }
                Dialect::MySql(_) => {
                    "SET @fieldveil_token to a valid one, or SET @fieldveil_token = NULL to go on as the database user."
                }
            },
        )
    }

    /// A password that is sent as it is would cross a network in clear.
    pub fn in_clear_on_the_network() -> Self {
        Self::new(
            sqlstate::INVALID_AUTHORIZATION,
            "this client sends its password as it is, and from the sidecar to the server it would cross a network in clear",
            "Let Envoy reach the server over TLS or by a Unix socket; or connect to the sidecar over TCP on loopback, where clients encrypt the password with the server's public key.",
        )
    }

    /// The rows of a prepared statement would be of other types than the client was told. Drivers know the server's own
    /// words for it, and prepare the statement again.
    pub fn other_result_types() -> Self {
        Self {
            code: sqlstate::FEATURE_NOT_SUPPORTED,
            label: None,
            not_understood: false,
            message: "cached plan must not change result type".into(),
            hint: "Policy shows other columns sealed now than when this statement was prepared: prepare it again.".into(),
        }
    }

    /// It cannot be done on a sealed column, or the statement could not be understood. `labels` are those of the
    /// tables it names, for a refusal that concerns no one of them.
    pub fn refused(refusal: &Refusal, labels: &[&str]) -> Self {
        if refusal.class == RefusalClass::DuplicateName {
            // The server's own words.
            let error = Self::new(sqlstate::DUPLICATE_PREPARED_STATEMENT, "", refusal.remedy.clone());
            return Self { message: refusal.reason.clone(), ..error };
        }
        let labels = match (&refusal.label, labels) {
            (Some(label), _) => label.clone(),
            (None, [first @ .., last]) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            (None, labels) => labels.concat(),
        };
        let what = match (refusal.class, labels.as_str()) {
            (RefusalClass::Unparsable, "") => "the statement is not understood".to_owned(),
            (RefusalClass::TooComplex, "") => "the statement is not analyzed".to_owned(),
            (_, "") => "the statement is not supported".to_owned(),
            (RefusalClass::Unparsable, labels) => {
                format!("the statement may concern {labels} and is not understood")
            }
            (RefusalClass::TooComplex, labels) => {
                format!("the statement may concern {labels} and is not analyzed")
            }
            (_, labels) if refusal.label.is_some() => format!("{labels} is sealed"),
            (_, labels) => format!("the statement is not supported on {labels}"),
        };
        let code = match refusal.class {
            RefusalClass::TooComplex => sqlstate::STATEMENT_TOO_COMPLEX,
            _ => sqlstate::FEATURE_NOT_SUPPORTED,
        };
        let error = Self::new(code, format!("{what}: {}", refusal.reason), refusal.remedy.clone());
        let not_understood = refusal.class == RefusalClass::Unparsable;
        Self { label: refusal.label.clone(), not_understood, ..error }
    }

    /// A feature that is not there yet.
    pub fn unsupported(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(sqlstate::FEATURE_NOT_SUPPORTED, what, remedy)
    }

    /// A text or a value cannot be had in the encoding that it is wanted in.
    pub fn encoding(code: &'static str, what: &str, remedy: &str) -> Self {
        Self::new(code, what, remedy)
    }

    /// A Bind of what no Parse prepared.
    pub fn unknown_statement() -> Self {
        Self::new(
            sqlstate::INVALID_SQL_STATEMENT_NAME,
            "this prepared statement does not exist, or was not prepared in the protocol",
            "Prepare it with a Parse message on this connection, or send EXECUTE for what PREPARE made.",
        )
    }

    /// An Execute of what neither a Bind nor a DECLARE opened.
    pub fn unknown_portal() -> Self {
        Self::new(
            sqlstate::INVALID_CURSOR_NAME,
            "this portal does not exist, or was not opened where the sidecar sees it",
            "Open it with a Bind message or DECLARE on this connection, or FETCH from the cursor.",
        )
    }

    /// One portal more than a connection may have.
    pub fn too_many_portals() -> Self {
        Self::limit("the session holds too many portals", "Close portals that are no longer used.")
    }

    /// Equal values may be stored unequal, so that their comparison would give a wrong answer.
    pub fn several_keys(label: &str, keyset: &str) -> Self {
        Self::unsupported(
            format!(
                "stored values of {label} cannot be compared with each other: keyset {keyset} has several enabled deterministic keys, under which equal values are stored unequal, until all rows are resealed"
            ),
            format!(
                "Reseal the table with `fieldveil table reseal`, then disable the old keys of keyset {keyset}."
            ),
        )
        .about(label)
    }

    /// A value for `label` is not of its declared type.
    pub fn bad_value(label: &str, reason: &str, declared: &str) -> Self {
        Self::new(
            sqlstate::INVALID_TEXT_REPRESENTATION,
            format!("a value for {label} cannot be sealed: {reason}"),
            format!("The field policy declares {label} as {declared}; send a value of that type."),
        )
        .about(label)
    }

    /// A stored value cannot be opened.
    pub fn unreadable(label: &str, reason: &str) -> Self {
        Self::new(
            sqlstate::DATA_CORRUPTED,
            format!("a stored value of {label} cannot be opened: {reason}"),
            format!("Look for rows of {label} that are another tenant's, or were written around the sidecar or with a key that is gone."),
        )
        .about(label)
    }

    /// A part that the engine needs is not there.
    pub fn unavailable(part: &str, reason: &str, remedy: &str) -> Self {
        Self::new(sqlstate::CANNOT_CONNECT_NOW, format!("{part} is unavailable: {reason}"), remedy)
    }

    /// A keyset that the policy names can not be used.
    pub fn no_keyset(reason: &str) -> Self {
        Self::unavailable(
            "a keyset that the policy names",
            reason,
            "See that the key agent serves it (its log and /readyz say why not), or mend the policy; the sidecar need not restart.",
        )
    }

    /// The peer broke the protocol.
    pub fn protocol(reason: &str) -> Self {
        Self::new(
            sqlstate::PROTOCOL_VIOLATION,
            format!("protocol violation: {reason}"),
            "Check that the client speaks PostgreSQL protocol 3.0 or 3.2, or MySQL protocol 4.1 or later.",
        )
    }

    /// The data of a COPY is not of its format, or has too few or too many columns.
    pub fn bad_copy(line: u64, reason: &str) -> Self {
        Self::new(
            sqlstate::BAD_COPY_FILE_FORMAT,
            format!("the data of the COPY cannot be read, row {line}: {reason}"),
            "Check the data against the COPY's options and list of columns.",
        )
    }

    /// A text that may be a row of a COPY that failed.
    pub fn may_be_rows() -> Self {
        Self::new(
            sqlstate::SYNTAX_ERROR,
            "what cannot be read as a statement is not sent to the server, for a COPY failed in this session before its data was asked for, and this may be a row of it",
            "Mend the COPY that failed. If this is a statement, send it in a new session.",
        )
    }

    /// The file of a LOAD DATA is not as it must be.
    pub fn bad_file(reason: &str, remedy: &str) -> Self {
        Self::new(
            sqlstate::BAD_COPY_FILE_FORMAT,
            format!("the file of the LOAD DATA cannot be read: {reason}"),
            remedy,
        )
    }

    /// It is about this line of a file that is loaded, and this field of it, both counted from 1.
    pub fn in_file(self, line: u64, field: Option<usize>) -> Self {
        let field = field.map(|field| format!(", field {field}")).unwrap_or_default();
        Self { message: format!("{} (line {line}{field} of the file)", self.message), ..self }
    }

    /// A value of a protected column is too long.
    pub fn long_value(label: &str, limit: usize) -> Self {
        Self::limit(
            &format!("a value for {label} is longer than the {limit} bytes that are sealed of one"),
            "Shorten the value, or raise limits.protected_value_bytes in the sidecar's configuration.",
        )
        .about(label)
    }

    /// The values of one statement, or of one piece of what is loaded, come to more than is written in one go.
    pub fn output_too_long(limit: usize) -> Self {
        Self::limit(
            &format!(
                "the protected values that came at once take more than the {limit} bytes that are written in one go"
            ),
            "Send them in smaller parts: numbers with large exponents take a digit for each power of ten.",
        )
    }

    /// A sealed value of a protected column is longer than the column holds.
    pub fn cut_value(label: &str, length: usize, most: usize) -> Self {
        Self::limit(
            &format!("a sealed value for {label} takes {length} bytes, and its column holds {most}"),
            "Shorten the value, or make the column wider: MEDIUMTEXT or LONGTEXT, MEDIUMBLOB or LONGBLOB.",
        )
        .about(label)
    }

    /// A limit was reached.
    pub fn limit(what: &str, remedy: &str) -> Self {
        Self::new(sqlstate::PROGRAM_LIMIT_EXCEEDED, what, remedy)
    }

    /// More is kept than there is memory for.
    pub fn out_of_memory(what: &str, remedy: &str) -> Self {
        Self::new(sqlstate::OUT_OF_MEMORY, what, remedy)
    }

    /// Whether more is kept than there is memory for.
    pub fn is_out_of_memory(&self) -> bool {
        self.code == sqlstate::OUT_OF_MEMORY
    }

    /// Whether a statement or portal with a name is not there.
    pub fn is_unknown_name(&self) -> bool {
        matches!(self.code, sqlstate::INVALID_SQL_STATEMENT_NAME | sqlstate::INVALID_CURSOR_NAME)
    }

    /// Whether the transaction has failed, so that the server would refuse the statement too.
    pub fn is_failed_transaction(&self) -> bool {
        self.code == sqlstate::IN_FAILED_TRANSACTION
    }

    /// What comes in one text behind the end of a failed transaction cannot be checked within it.
    pub fn behind_transaction() -> Self {
        Self::unsupported(
            "the text ends a failed transaction, in which the catalog cannot be read, and goes on",
            "Send its first statement by itself first.",
        )
    }

    /// As the server says it.
    pub fn failed_transaction() -> Self {
        Self {
            code: sqlstate::IN_FAILED_TRANSACTION,
            message: "current transaction is aborted, commands ignored until end of transaction block".into(),
            hint: "Send ROLLBACK.".into(),
            label: None,
            not_understood: false,
        }
    }
}

impl From<FieldError> for ClientError {
    fn from(error: FieldError) -> Self {
        match error {
            FieldError::BadValue { label, reason, declared } => Self::bad_value(&label, &reason, &declared),
            FieldError::LongValue { label, limit } => Self::long_value(&label, limit),
            FieldError::Unreadable { label, reason } => Self::unreadable(&label, &reason),
            FieldError::Denied { label, action } => Self::denied(&label, action),
            FieldError::NoKeyset(reason) => Self::no_keyset(&reason),
            FieldError::UnfitKey(reason) => Self::unavailable(
                "a key for format-preserving values",
                &reason,
                "Mend the keyset or the policy.",
            ),
            FieldError::Misused(reason) => Self::protocol(reason),
        }
    }
}
