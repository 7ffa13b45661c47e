//! Where in the answer to COM_STMT_PREPARE the server is.

use fieldveil_mysql_wire::Capabilities;

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrepareStage {
    /// COM_STMT_PREPARE_OK, or ERR.
    #[default]
    First,
    /// The definition of the parameter with this number, from 0 on.
    Parameter(usize),
    /// The EOF behind them.
    EndOfParameters,
    /// The definition of the column with this number, from 0 on.
    Column(usize),
    /// The EOF behind them.
    EndOfColumns,
    /// Nothing.
    Done,
}

/// The answer as it comes.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrepareProgress {
    /// What comes next.
    pub stage: PrepareStage,
    /// How many parameters the server's statement has.
    pub parameters: usize,
    /// How many columns its rows have.
    pub columns: usize,
}

impl PrepareProgress {
    /// The first packet said how much follows.
    pub fn begin(&mut self, parameters: usize, columns: usize) {
        self.parameters = parameters;
        self.columns = columns;
        self.stage = match (parameters, columns) {
            (0, 0) => PrepareStage::Done,
            (0, _) => PrepareStage::Column(0),
            _ => PrepareStage::Parameter(0),
        };
    }

    /// The packet that was due has come.
    pub fn advance(&mut self, capabilities: Capabilities) {
        let no_end = capabilities.has(Capabilities::DEPRECATE_EOF);
        let columns = if self.columns == 0 { PrepareStage::Done } else { PrepareStage::Column(0) };
        self.stage = match self.stage {
            PrepareStage::Parameter(number) => {
                let next = number.saturating_add(1);
                match (next < self.parameters, no_end) {
                    (true, _) => PrepareStage::Parameter(next),
                    (false, true) => columns,
                    (false, false) => PrepareStage::EndOfParameters,
                }
            }
            PrepareStage::EndOfParameters => columns,
            PrepareStage::Column(number) => {
                let next = number.saturating_add(1);
                match (next < self.columns, no_end) {
                    (true, _) => PrepareStage::Column(next),
                    (false, true) => PrepareStage::Done,
                    (false, false) => PrepareStage::EndOfColumns,
                }
            }
            PrepareStage::First | PrepareStage::EndOfColumns | PrepareStage::Done => PrepareStage::Done,
        };
    }
}
