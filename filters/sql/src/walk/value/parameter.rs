//! Keeps the parameters in protected places, and what each is used for.

use std::collections::{BTreeMap, HashSet};

use crate::{
    analysis::{Form, Operand, Parameter, ParameterUse, Replacement},
    lex::Kind,
    refusal::Refusal,
    resolve::protected::Protected,
    segment::Segment,
    walk::splice::Splices,
};

/// The parameters in protected places, by number.
#[derive(Default)]
pub(crate) struct Parameters<'c> {
    placed: BTreeMap<u16, Placed<'c>>,
    /// The places of the parameters that are stored.
    stored: Vec<StoredAt>,
    /// The tokens of all these parameters.
    tokens: HashSet<usize>,
    /// For EXECUTE, this is how the parameter is read that values are assigned to.
    pub assigned_to: Option<Operand>,
}

impl<'c> Parameters<'c> {
    /// Notes a parameter in a protected place. `several` says that its values may have several ciphertexts.
    pub fn place(
        &mut self,
        at: Protected<'c>,
        use_: ParameterUse,
        form: Form,
        several: bool,
        (token, number, operand): (usize, u16, Operand),
    ) -> Result<(), Refusal> {
        self.tokens.insert(token);
        let placed = Placed { at, use_, searched: use_ == ParameterUse::Search, form, operand };
        let Some(before) = self.placed.get_mut(&number) else {
            self.placed.insert(number, placed);
            return Ok(());
        };
        if !before.at.is_interchangeable_with(at) {
            return Err(shared_parameter(at, "is used for two labels"));
        }
        if (before.form == Form::Array) != (form == Form::Array) {
            return Err(shared_parameter(at, "is used as a value and as an array"));
        }
        if several && form == Form::Array && before.use_ != use_ {
            return Err(shared_parameter(
                at,
                "is an array that is stored, and searched for under several keys",
            ));
        }
        if at.field.indexed && before.use_ != use_ {
            return Err(shared_parameter(at, "is stored and searched for, which need different forms"));
        }
        let searched = before.searched || placed.searched;
        let form = if before.form == Form::Envelopes { before.form } else { form };
        if use_ == ParameterUse::Store && before.use_ == ParameterUse::Search {
            *before = placed;
        }
        let operand = before.operand.max(operand);
        (before.searched, before.form, before.operand) = (searched, form, operand);
        Ok(())
    }

    /// Notes that a parameter that is stored stands at these tokens.
    pub fn store_at(&mut self, tokens: (usize, usize), number: u16, alone: Option<String>) {
        self.stored.push(StoredAt { tokens, number, alone });
    }

    /// Writes the replacement of each parameter that is stored. A parameter that is also searched for is bound to an array,
    /// so its replacement takes the first element.
    pub fn write_stored(&mut self, splices: &mut Splices<'_>) {
        for StoredAt { tokens, number, alone } in std::mem::take(&mut self.stored) {
            let placed = self.placed.get(&number).filter(|placed| placed.form == Form::Envelopes);
            let first = placed.map(|placed| format!("(${number}{})[1]", placed.at.array_type()));
            if let Some(text) = first.or(alone) {
                splices.replace(tokens, Replacement::Text(text));
            }
        }
    }

    /// Returns the parameters in protected places. It refuses those that stand elsewhere too.
    pub fn all(&self, segment: &Segment<'_>) -> Result<Vec<Parameter>, Refusal> {
        for (index, token) in segment.tokens.iter().enumerate() {
            let Kind::Parameter(Some(number)) = token.kind else { continue };
            if let Some(placed) = self.placed.get(&number)
                && !self.tokens.contains(&index)
            {
                return Err(shared_parameter(placed.at, "is also used where nothing is sealed"));
            }
        }
        let parameter =
            |(number, Placed { at, use_, searched, form, operand }): (&u16, &Placed<'c>)| Parameter {
                number: *number,
                field: at.field.id,
                use_: *use_,
                searched: *searched,
                form: *form,
                operand: *operand,
            };
        Ok(self.placed.iter().map(parameter).collect())
    }
}

/// What a parameter is used for.
struct Placed<'c> {
    at: Protected<'c>,
    use_: ParameterUse,
    searched: bool,
    form: Form,
    operand: Operand,
}

/// The place of a parameter that is stored.
struct StoredAt {
    tokens: (usize, usize),
    number: u16,
    /// The replacement if the parameter isn't searched for too. None leaves it unchanged.
    alone: Option<String>,
}

fn shared_parameter(at: Protected<'_>, what: &str) -> Refusal {
    Refusal::on(at.field, format!("one parameter {what}"), "use a parameter of its own for each place")
}
