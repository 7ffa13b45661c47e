//! COM_STMT_EXECUTE: executes a prepared statement with values for its parameters.

use std::fmt;

use super::parameter::{self, Expected};
use super::{CommandCode, Parameter, ParameterType};
use crate::lenenc::push_integer;
use crate::limits::MAX_PARAMETERS;
use crate::message::try_write_message;
use crate::packet::Sequence;
use crate::read::Reader;
use crate::{Capabilities, WireError};

const MESSAGE: &str = "COM_STMT_EXECUTE";

/// What a message can't be read without.
#[derive(Clone, Copy)]
pub struct ExecuteContext<'c> {
    /// The connection's capabilities.
    pub capabilities: Capabilities,
    /// Parameters of the statement, as the answer to its preparation said.
    pub parameters: u16,
    /// Types of the execution before; empty when there was none.
    pub types: &'c [ParameterType],
    /// Whether a part of the parameter's value (counted from 0) was sent ahead since the statement was prepared,
    /// executed or reset: its value is not in the message.
    pub has_long_data: &'c dyn Fn(usize) -> bool,
}

/// COM_STMT_EXECUTE: executes a prepared statement.
#[derive(Clone, PartialEq, Eq)]
pub struct StmtExecute<'a> {
    /// The statement's number; see [`super::LAST_STATEMENT`].
    pub statement: u32,
    /// Which cursor is wanted, and [`StmtExecute::PARAMETER_COUNT_AVAILABLE`].
    pub flags: u8,
    /// Always 1.
    pub iterations: u32,
    /// Whether types come with the values; else they are those of the execution before.
    pub sends_types: bool,
    /// The statement's parameters and behind them the query attributes.
    pub parameters: Vec<Parameter<'a>>,
}

impl<'a> StmtExecute<'a> {
    /// The flag for a cursor: rows come by COM_STMT_FETCH.
    pub const CURSOR_TYPE_READ_ONLY: u8 = 1;

    /// The flag for a count of parameters, with CLIENT_QUERY_ATTRIBUTES, even where the statement has none.
    pub const PARAMETER_COUNT_AVAILABLE: u8 = 8;

    /// The statement's number, which tells the context to read the rest with.
    pub fn peek_statement(payload: &[u8]) -> Result<u32, WireError> {
        Reader::of_kind(MESSAGE, payload, CommandCode::StmtExecute.byte())?.u32("statement")
    }

    /// Reads a payload.
    pub fn parse(payload: &'a [u8], context: &ExecuteContext<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::of_kind(MESSAGE, payload, CommandCode::StmtExecute.byte())?;
        let statement = reader.u32("statement")?;
        let flags = reader.u8("flags")?;
        let iterations = reader.u32("iterations")?;
        let mut command = Self { statement, flags, iterations, sends_types: false, parameters: Vec::new() };
        let counted = context.capabilities.has(Capabilities::QUERY_ATTRIBUTES);
        let wanted = usize::from(context.parameters);
        if wanted > 0 || (counted && flags & Self::PARAMETER_COUNT_AVAILABLE != 0) {
            let count = if counted { reader.count("parameters", MAX_PARAMETERS, 0)? } else { wanted };
            if count < wanted {
                return Err(WireError::CountMismatch { message: MESSAGE, what: "parameters" });
            }
            if count > 0 {
                let has_long_data = |index: usize| index < wanted && (context.has_long_data)(index);
                let types = context.types.get(..wanted).unwrap_or(context.types);
                let expected = Expected {
                    message: MESSAGE,
                    count,
                    named: counted,
                    types,
                    has_long_data: &has_long_data,
                };
                (command.parameters, command.sends_types) = expected.read(&mut reader)?;
            }
        }
        reader.end()?;
        Ok(command)
    }

    /// The types of the statement's parameters, to remember for the next execution.
    pub fn types(&self, parameters: u16) -> impl Iterator<Item = ParameterType> {
        self.parameters.iter().take(parameters.into()).map(|parameter| parameter.parameter_type)
    }

    /// Appends the whole message. On an error `out` is as before.
    pub fn encode(
        &self,
        capabilities: Capabilities,
        sequence: &mut Sequence,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let counted = capabilities.has(Capabilities::QUERY_ATTRIBUTES);
        let count = self.parameters.len();
        if count > MAX_PARAMETERS {
            return Err(WireError::TooMany { message: MESSAGE, what: "parameters", limit: MAX_PARAMETERS });
        }
        if !counted && self.parameters.iter().any(|parameter| !parameter.name.is_empty()) {
            return Err(WireError::WrongForm { message: MESSAGE, what: "query attributes" });
        }
        try_write_message(out, sequence, |out| {
            out.push(CommandCode::StmtExecute.byte());
            out.extend_from_slice(&self.statement.to_le_bytes());
            out.push(self.flags);
            out.extend_from_slice(&self.iterations.to_le_bytes());
            if counted && (count > 0 || self.flags & Self::PARAMETER_COUNT_AVAILABLE != 0) {
                push_integer(out, count as u64);
            }
            match count {
                0 => Ok(()),
                _ => parameter::write(out, MESSAGE, &self.parameters, self.sends_types, counted),
            }
        })
    }
}

impl fmt::Debug for StmtExecute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(MESSAGE)
            .field("statement", &self.statement)
            .field("flags", &self.flags)
            .field("sends_types", &self.sends_types)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ExecuteContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecuteContext")
            .field("parameters", &self.parameters)
            .field("types", &self.types)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ColumnType;
    use crate::command::ParameterValue;
    use crate::testing::{check_truncations, payload_of};

    const ATTRIBUTES: Capabilities = Capabilities::QUERY_ATTRIBUTES;

    fn context(capabilities: Capabilities, types: &[ParameterType]) -> ExecuteContext<'_> {
        ExecuteContext { capabilities, parameters: 3, types, has_long_data: &|_| false }
    }

    fn value(column_type: ColumnType, bytes: &'static [u8]) -> Parameter<'static> {
        Parameter {
            parameter_type: ParameterType { column_type, unsigned: false },
            name: b"",
            value: ParameterValue::Value(bytes.into()),
        }
    }

    fn sample() -> StmtExecute<'static> {
        let null = Parameter { parameter_type: ParameterType::NULL, name: b"", value: ParameterValue::Null };
        StmtExecute {
            statement: 7,
            flags: 0,
            iterations: 1,
            sends_types: true,
            parameters: vec![
                value(ColumnType::Short, b"\x01\0"),
                null,
                value(ColumnType::VarString, b"canary"),
            ],
        }
    }

    #[test]
    fn execution_comes_back_as_written() {
        let payload = payload_of(|sequence, out| sample().encode(Capabilities::NONE, sequence, out));
        let expected = b"\x17\x07\0\0\0\0\x01\0\0\0\x02\x01\x02\0\x06\0\xfd\0\x01\0\x06canary";
        assert_eq!(payload, expected);
        assert_eq!(StmtExecute::peek_statement(&payload), Ok(7));
        let context = context(Capabilities::NONE, &[]);
        assert_eq!(StmtExecute::parse(&payload, &context), Ok(sample()));
        check_truncations(&payload, |payload| StmtExecute::parse(payload, &context).map(drop));
        assert!(!format!("{:?}", sample()).contains("canary"));
    }

    #[test]
    fn types_are_remembered_from_the_execution_before() {
        let types: Vec<_> = sample().types(3).collect();
        let command = StmtExecute { sends_types: false, ..sample() };
        let payload = payload_of(|sequence, out| command.encode(Capabilities::NONE, sequence, out));
        assert_eq!(StmtExecute::parse(&payload, &context(Capabilities::NONE, &types)), Ok(command));
        let error = StmtExecute::parse(&payload, &context(Capabilities::NONE, &[])).unwrap_err();
        assert_eq!(error, WireError::CountMismatch { message: MESSAGE, what: "types" });
    }

    #[test]
    fn value_sent_ahead_is_not_in_the_message() {
        let mut command = sample();
        command.parameters[2].value = ParameterValue::LongData;
        let payload = payload_of(|sequence, out| command.encode(Capabilities::NONE, sequence, out));
        let context =
            ExecuteContext { has_long_data: &|index| index == 2, ..context(Capabilities::NONE, &[]) };
        assert_eq!(StmtExecute::parse(&payload, &context), Ok(command));
        let mut says_null = payload.clone();
        says_null[10] |= 4;
        assert_eq!(
            StmtExecute::parse(&says_null, &context).unwrap().parameters[2].value,
            ParameterValue::LongData
        );
    }

    #[test]
    fn query_attributes_follow_the_parameters() {
        let mut command = sample();
        command.parameters.push(Parameter { name: b"trace", ..value(ColumnType::VarString, b"ab") });
        let payload = payload_of(|sequence, out| command.encode(ATTRIBUTES, sequence, out));
        assert_eq!(StmtExecute::parse(&payload, &context(ATTRIBUTES, &[])), Ok(command.clone()));
        assert!(command.encode(Capabilities::NONE, &mut Sequence::default(), &mut Vec::new()).is_err());
    }

    #[test]
    fn statement_without_parameters_has_a_count_only_when_the_flag_says() {
        for flags in [0, StmtExecute::PARAMETER_COUNT_AVAILABLE] {
            let command = StmtExecute { flags, sends_types: false, parameters: Vec::new(), ..sample() };
            let payload = payload_of(|sequence, out| command.encode(ATTRIBUTES, sequence, out));
            assert_eq!(payload.len(), 10 + usize::from(flags != 0));
            let context = ExecuteContext { parameters: 0, ..context(ATTRIBUTES, &[]) };
            assert_eq!(StmtExecute::parse(&payload, &context), Ok(command));
        }
    }

    #[test]
    fn execution_with_too_few_values_is_malformed() {
        let mut command = sample();
        command.parameters.pop();
        let payload = payload_of(|sequence, out| command.encode(ATTRIBUTES, sequence, out));
        let error = StmtExecute::parse(&payload, &context(ATTRIBUTES, &[])).unwrap_err();
        assert_eq!(error, WireError::CountMismatch { message: MESSAGE, what: "parameters" });
    }

    #[test]
    fn type_that_the_servers_read_differently_is_refused() {
        for column_type in [ColumnType::Year, ColumnType::Int24, ColumnType::Null] {
            let code = column_type.code();
            let payload = [
                &b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01"[..],
                &[code, 0, code, 0, code, 0],
                b"\x01\0\x01\0\x01\0",
            ]
            .concat();
            assert!(StmtExecute::parse(&payload, &context(Capabilities::NONE, &[])).is_err());
        }
    }
}
