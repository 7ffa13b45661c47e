//! Reads the values in protected places as they are written, and notes that they are to be sealed. The engine, which has the keys,
//! seals them later.

pub(crate) mod cast;
pub(super) mod parameter;
pub(crate) mod reader;

use sqlparser::ast::Expr;

use self::reader::{Content, FORM, Fault, ValuePlace, ValueReader, Written};
use crate::{
    analysis::{Form, Operand, Parameter, ParameterUse, Replacement},
    catalog::StorageType,
    refusal::Refusal,
    resolve::protected::Protected,
    walk::{
        Walker,
        search::operand::{check, check_assigned},
    },
};

const SPACE: Fault = Fault("the value touches a word", "put a space between them");

impl<'c> Walker<'_, 'c> {
    /// Has a value sealed that is stored in a protected column, or searched for in it.
    pub fn value(&mut self, at: Protected<'c>, use_: ParameterUse, expr: &Expr) -> Result<(), Refusal> {
        self.seal_in_form(at, use_, expr, Form::Value)
    }

    /// Has an array of values sealed that a protected column is searched for. The array is a literal or a parameter.
    pub fn array_value(&mut self, at: Protected<'c>, expr: &Expr) -> Result<(), Refusal> {
        self.seal_in_form(at, ParameterUse::Search, expr, Form::Array)
    }

    /// Has an array sealed whose values are stored, one value in each row.
    pub fn stored_array(&mut self, at: Protected<'c>, expr: &Expr) -> Result<(), Refusal> {
        self.seal_in_form(at, ParameterUse::Store, expr, Form::Array)
    }

    /// Refuses a value that can't be replaced, because it touches a word.
    pub fn replaceable(&self, at: Protected<'c>, tokens: (usize, usize)) -> Result<(), Refusal> {
        let Fault(reason, remedy) = SPACE;
        if self.text.stands_alone(tokens) { Ok(()) } else { Err(Refusal::on(at.field, reason, remedy)) }
    }

    /// Has a value in a protected place sealed in this form: notes the literal among the splices, or the parameter among those to
    /// seal. Refuses a value that cannot be read.
    pub fn seal_in_form(
        &mut self,
        at: Protected<'c>,
        use_: ParameterUse,
        expr: &Expr,
        form: Form,
    ) -> Result<(), Refusal> {
        let array = form == Form::Array;
        let fault = |Fault(reason, remedy)| Refusal::on(at.field, reason, remedy);
        let Written { content, outer: _, inner, cast } = self.read_value(at, use_, expr, array)?;
        match use_ {
            ParameterUse::Store => self.fields.writes.insert(at.field.id),
            ParameterUse::Search => self.fields.searches.insert(at.field.id),
        };
        let replaces = cast || matches!(content, Content::Literal { .. });
        if replaces {
            self.replaceable(at, inner)?;
        }
        if use_ == ParameterUse::Store && matches!(content, Content::Null) {
            self.fields.empties.insert(at.field.id);
        }
        match content {
            Content::Null if cast => self.splices.replace(inner, Replacement::Text("NULL".to_owned())),
            Content::Null => {}
            Content::Literal { value: _, number: true } if array => return Err(fault(FORM)),
            Content::Literal { value, number: _ } => {
                self.splices.seal(at, use_, inner, form, value);
                if let Some(type_) = self.given_type(at, array).filter(|_| array) {
                    self.splices.insert_behind(inner.1, type_.to_owned());
                }
            }
            Content::Parameter { token, number, operand } => {
                self.place_parameter(at, use_, form, (token, number, operand))?;
                let type_ = self.given_type(at, array);
                let text = (cast || type_.is_some()).then(|| match self.is_mysql() {
                    true => "?".to_owned(),
                    false => format!("${number}{}", type_.unwrap_or_default()),
                });
                if use_ == ParameterUse::Store && !array {
                    self.parameters.store_at(inner, number, text);
                } else if let Some(text) = text {
                    self.splices.replace(inner, Replacement::Text(text));
                }
            }
        }
        Ok(())
    }

    /// Returns the type that a sealed value must be cast to where the column doesn't give it one.
    fn given_type(&self, at: Protected<'c>, array: bool) -> Option<&'static str> {
        match (self.untyped && !self.is_mysql(), array, at.column.stored) {
            (true, true, StorageType::Bytes) => Some("::bytea[]"),
            (true, true, _) => Some("::text[]"),
            (true, false, StorageType::Bytes) => Some("::bytea"),
            _ => None,
        }
    }

    /// Reads a value in a protected place as it is written.
    pub fn read_value(
        &self,
        at: Protected<'c>,
        use_: ParameterUse,
        expr: &Expr,
        array: bool,
    ) -> Result<Written, Refusal> {
        if at.column.stored == StorageType::Other {
            return Err(Refusal::on(
                at.field,
                "the column's type can't hold a sealed value",
                if self.is_mysql() { "make it text or varbinary" } else { "make it text or bytea" },
            ));
        }
        let place = ValuePlace { declared: at.field.declared, type_name: &at.field.type_name, array };
        let fault = |Fault(reason, remedy)| Refusal::on(at.field, reason, remedy);
        let mut written = ValueReader { text: self.text, place }.read(expr).map_err(fault)?;
        match self.parameters.assigned_to {
            _ if use_ == ParameterUse::Store || self.is_mysql() => {}
            None => check(at.field, expr, array, &mut written.content).map_err(fault)?,
            Some(operand) => check_assigned(operand, &written.content, array).map_err(fault)?,
        }
        Ok(written)
    }

    /// Has a value sealed that EXECUTE gives for a parameter in a protected place.
    pub fn argument(&mut self, at: Protected<'c>, placed: &Parameter, value: &Expr) -> Result<(), Refusal> {
        self.parameters.assigned_to = Some(placed.operand);
        let outcome = match placed.form {
            Form::Array => self.array_value(at, value),
            Form::Envelopes => self.envelopes(at, placed.use_, value).map(|_| ()),
            Form::Value | Form::Pattern => self.seal_in_form(at, placed.use_, value, placed.form),
        };
        self.parameters.assigned_to = None;
        outcome
    }

    /// Notes a parameter in a protected place.
    pub fn place_parameter(
        &mut self,
        at: Protected<'c>,
        use_: ParameterUse,
        form: Form,
        parameter: (usize, u16, Operand),
    ) -> Result<(), Refusal> {
        let several = self.has_several_ciphertexts(at);
        self.parameters.place(at, use_, form, several, parameter)
    }
}
