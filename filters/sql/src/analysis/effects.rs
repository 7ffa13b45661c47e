//! What a statement does, while its parts are collected.

use super::{
    Copy, Load, Parameter, Replacement, ResultField, Results, SessionUse, Splice, Statement, StatementKind,
};

/// Bytes of text that weigh as much as a field.
const BYTES_A_PART: usize = 16;

/// What a statement does with protected columns. All empty when it touches none.
#[derive(Clone, Default)]
pub(crate) struct Effects {
    pub touched: bool,
    pub reads: Vec<usize>,
    pub searches: Vec<usize>,
    /// Those of them whose ciphertexts are compared with each other.
    pub compares: Vec<usize>,
    pub writes: Vec<usize>,
    /// Those of them that may hold a value already.
    pub overwrites: Vec<usize>,
    /// Those of these that a written NULL may go to.
    pub empties: Vec<usize>,
    /// What each result column is, where all are known.
    pub columns: Option<Vec<Option<ResultField>>>,
    /// Fields whose envelopes go where nothing is protected.
    pub copies: Vec<usize>,
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
        let fields = [
            &self.reads,
            &self.searches,
            &self.compares,
            &self.writes,
            &self.overwrites,
            &self.empties,
            &self.copies,
        ];
        let columns = self.columns.as_ref().map_or(0, Vec::len);
        let text = self.splices.iter().map(|splice| match &splice.with {
            Replacement::Text(text) => text.len() / BYTES_A_PART,
            _ => 0,
        });
        fields.into_iter().map(Vec::len).chain(text).fold(columns, usize::saturating_add)
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
            reads: self.reads,
            searches: self.searches,
            compares: self.compares,
            writes: self.writes,
            overwrites: self.overwrites,
            empties: self.empties,
            columns: self.columns,
            copies: self.copies,
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
            reads: statement.reads,
            searches: statement.searches,
            compares: statement.compares,
            writes: statement.writes,
            overwrites: statement.overwrites,
            empties: statement.empties,
            columns: statement.columns,
            copies: statement.copies,
            copy: statement.copy,
            load: statement.load,
            session: statement.session,
            splices: Vec::new(),
            parameters: Vec::new(),
        }
    }
}
