//! What is said of views that can't be named, or not written.

use crate::{catalog::Relation, dialect::Dialect, names, refusal::Refusal};

/// One that shows sealed columns and isn't the table.
pub(crate) fn written(view: &Relation, dialect: Dialect) -> Refusal {
    let name = names::quote(&view.name, dialect);
    Refusal::unsupported(
        format!("{name} is a view over a table with sealed columns"),
        "write to the table itself",
    )
}

/// One whose query isn't understood.
pub(crate) fn opaque(view: &Relation, dialect: Dialect) -> Refusal {
    let name = names::quote(&view.name, dialect);
    let what = format!("{name} is a view over a table with sealed columns that computes with them");
    match dialect {
        Dialect::Postgres => Refusal::unsupported(what, "query the table itself"),
        Dialect::MySql(_) => Refusal::unsupported(
            format!("{what}, or whose query this user may not see"),
            "query the table itself, or GRANT the user SHOW VIEW on the view and SELECT on what it stands upon",
        ),
    }
}

/// One that stands upon what this session may not see.
pub(crate) fn unseen(view: &Relation, dialect: Dialect) -> Refusal {
    let name = names::quote(&view.name, dialect);
    Refusal::unsupported(
        format!(
            "{name} is a view upon tables or views that this user may not see, and a table with sealed columns may be one of them"
        ),
        "write to the tables themselves, or GRANT the user SELECT, and on views SHOW VIEW, on all that the view stands upon",
    )
}
