//! Why a text is refused.

use std::fmt;

use crate::field::Field;

/// A text that must not be forwarded, and why. It holds no literal and no part of the text but names of
/// protected columns and tables, and the name of a prepared statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Refusal {
    /// What kind of refusal it is.
    pub class: RefusalClass,
    /// The label of the field concerned, when it is known.
    pub label: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do instead.
    pub remedy: String,
}

/// The class of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalClass {
    /// Understood, but can't be done on sealed values, or not yet (SQLSTATE 0A000).
    NotSupported,
    /// Not understood, and it may name a protected relation (SQLSTATE 0A000 as well: PostgreSQL itself may
    /// accept it).
    Unparsable,
    /// It is too long, too deep or too repetitive to be analyzed, and it may name a protected relation (SQLSTATE 54001).
    TooComplex,
    /// The name of a prepared statement is taken (SQLSTATE 42P05): the reason is what the server would say.
    DuplicateName,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "{label}: ")?;
        }
        write!(f, "{}; {}", self.reason, self.remedy)
    }
}

impl Refusal {
    /// Can't be done on this field.
    pub(crate) fn on(field: &Field, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { label: Some(field.label.clone()), ..Self::unsupported(reason, remedy) }
    }

    /// Can't be done, and no one field is to blame.
    pub(crate) fn unsupported(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { class: RefusalClass::NotSupported, label: None, reason: reason.into(), remedy: remedy.into() }
    }

    /// A prepared statement of this name exists already.
    pub(crate) fn duplicate_prepared(name: &str) -> Self {
        let reason = format!("prepared statement \"{name}\" already exists");
        let class = RefusalClass::DuplicateName;
        Self { class, ..Self::unsupported(reason, "deallocate it first, or choose another name") }
    }

    /// Not understood.
    pub(crate) fn unparsable(reason: impl Into<String>) -> Self {
        Self {
            class: RefusalClass::Unparsable,
            label: None,
            reason: reason.into(),
            remedy: "write the statement in a plainer form".to_owned(),
        }
    }
}
