//! Parameters in protected places: what each is for, wherever it stands.

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
    /// Those that are stored, each where it stands.
    stored: Vec<StoredAt>,
    /// Their tokens.
    tokens: HashSet<usize>,
    /// EXECUTE: as what the parameter is read that values are assigned to.
    pub assigned_to: Option<Operand>,
}

impl<'c> Parameters<'c> {
    /// A parameter in a protected place; `several` says that its values may have several ciphertexts.
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

    /// A parameter that is stored stands at these tokens.
    pub fn store_at(&mut self, tokens: (usize, usize), number: u16, alone: Option<String>) {
        self.stored.push(StoredAt { tokens, number, alone });
    }

    /// What is written in the place of each parameter that is stored: of one that is searched for too, and so bound
    /// to an array, the first.
    pub fn write_stored(&mut self, splices: &mut Splices<'_>) {
        for StoredAt { tokens, number, alone } in std::mem::take(&mut self.stored) {
            let placed = self.placed.get(&number).filter(|placed| placed.form == Form::Envelopes);
            let first = placed.map(|placed| format!("(${number}{})[1]", placed.at.array_type()));
            if let Some(text) = first.or(alone) {
                splices.replace(tokens, Replacement::Text(text));
            }
        }
    }

    /// The parameters in protected places, once it is sure that they stand nowhere else.
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

/// What a parameter is for.
struct Placed<'c> {
    at: Protected<'c>,
    use_: ParameterUse,
    searched: bool,
    form: Form,
    operand: Operand,
}

/// Where a parameter that is stored stands.
struct StoredAt {
    tokens: (usize, usize),
    number: u16,
    /// What is written there where it isn't searched for too; None where it stays as it is.
    alone: Option<String>,
}

fn shared_parameter(at: Protected<'_>, what: &str) -> Refusal {
    Refusal::on(at.field, format!("one parameter {what}"), "use a parameter of its own for each place")
}
