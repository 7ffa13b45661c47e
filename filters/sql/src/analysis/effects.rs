//! What a statement does, while its parts are collected.

use super::{
    Copy, FieldUses, Load, Parameter, Replacement, ResultField, Results, SessionUse, Splice, Statement,
    StatementKind,
};

/// Bytes of text that weigh as much as a field.
const BYTES_A_PART: usize = 16;

/// What a statement does with protected columns. All empty when it touches none.
#[derive(Clone, Default)]
pub(crate) struct Effects {
    pub touched: bool,
    pub fields: FieldUses,
    /// What each result column is, where all are known.
    pub columns: Option<Vec<Option<ResultField>>>,
    /// What is known of a COPY's data.
    pub copy: Option<Copy>,
    /// What is known of the file of a LOAD DATA.
    pub load: Option<Load>,
    /// What is done with the names of prepared statements and cursors.
    pub session: Option<SessionUse>,
    pub splices: Vec<Splice>,
    pub parameters: Vec<Parameter>,
}

impl Effects {
    /// How many parts it has: fields, columns, and of the text that is put into the statement each few bytes.
    pub fn weight(&self) -> usize {
        let columns = self.columns.as_ref().map_or(0, Vec::len);
        let text = self.splices.iter().map(|splice| match &splice.with {
            Replacement::Text(text) => text.len() / BYTES_A_PART,
            _ => 0,
        });
        text.fold(columns.saturating_add(self.fields.count()), usize::saturating_add)
    }

    /// The statement that does this.
    pub fn into_statement(
        self,
        kind: StatementKind,
        changes_catalog: bool,
        changes_identity: bool,
    ) -> Statement {
        Statement {
            kind,
            touched: self.touched,
            fields: self.fields,
            columns: self.columns,
            copy: self.copy,
            client_file: None,
            results: Results::Unknown,
            load: self.load,
            session: self.session,
            changes_catalog,
            changes_identity,
        }
    }
}

impl From<Statement> for Effects {
    /// What a statement that was analyzed before does when it is executed.
    fn from(statement: Statement) -> Self {
        Self {
            touched: statement.touched,
            fields: statement.fields,
            columns: statement.columns,
            copy: statement.copy,
            load: statement.load,
            session: statement.session,
            splices: Vec::new(),
            parameters: Vec::new(),
        }
    }
}
