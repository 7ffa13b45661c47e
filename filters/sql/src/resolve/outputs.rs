//! What queries yield. A chain of sub-selects that each select `*` stands for many columns in few words: so all of them share
//! the columns of the first, and what a name means among many is looked up once they are many.

use std::{cell::OnceCell, collections::HashMap, rc::Rc};

use crate::{refusal::Refusal, resolve::protected::Protected};

/// A column that a query yields: its name, if it surely has one, and the protected column it is.
#[derive(Clone)]
pub(crate) struct OutputColumn<'c> {
    pub name: Option<Rc<str>>,
    pub protected: Option<Protected<'c>>,
    /// Whether it is NULL in every row.
    pub null: bool,
    /// Whether it is a number or a boolean that is written in the text, which decides the type of what stands beside.
    pub number: bool,
}

impl<'c> OutputColumn<'c> {
    /// A table's column, or something that holds nothing protected.
    pub fn new(name: Option<Rc<str>>, protected: Option<Protected<'c>>) -> Self {
        Self { name, protected, null: false, number: false }
    }
}

/// What a query yields. A copy shares the columns.
#[derive(Clone, Default)]
pub(crate) struct Outputs<'c> {
    columns: Rc<OutputColumns<'c>>,
    /// Whether there are columns besides that aren't known (and not protected), so that positions aren't either.
    pub open: bool,
}

#[derive(Default)]
struct OutputColumns<'c> {
    list: Vec<OutputColumn<'c>>,
    protected: OnceCell<Option<Protected<'c>>>,
    by_name: OnceCell<HashMap<Rc<str>, Named<'c>>>,
    unnamed: OnceCell<bool>,
}

/// What a name means among the columns.
#[derive(Clone, Copy)]
pub(crate) struct Named<'c> {
    /// The protected column, if one of them is one.
    pub protected: Option<Protected<'c>>,
    /// Whether several columns have the name.
    pub several: bool,
}

/// Columns that are looked through one by one for a name.
const FEW: usize = 16;

/// Steps of the budget for each column that is copied, and may be looked up by its name then.
pub(crate) const STEPS_A_COLUMN: usize = 1;

impl<'c> Outputs<'c> {
    pub fn of(list: Vec<OutputColumn<'c>>) -> Self {
        Self { columns: Rc::new(OutputColumns { list, ..OutputColumns::default() }), open: false }
    }

    /// Nothing is known of them but that none is protected.
    pub fn unknown() -> Self {
        Self { open: true, ..Self::default() }
    }

    /// The columns that are known, in order.
    pub fn columns(&self) -> &[OutputColumn<'c>] {
        &self.columns.list
    }

    /// How many columns are known.
    pub fn len(&self) -> usize {
        self.columns.list.len()
    }

    pub fn protected(&self) -> impl Iterator<Item = Protected<'c>> {
        self.columns.list.iter().filter_map(|column| column.protected)
    }

    /// The first protected column.
    pub fn first_protected(&self) -> Option<Protected<'c>> {
        *self.columns.protected.get_or_init(|| self.protected().next())
    }

    /// What a name means; None where no column surely has it.
    pub fn named(&self, name: &str) -> Option<Named<'c>> {
        let list = &self.columns.list;
        if list.len() > FEW {
            return self.columns.by_name.get_or_init(|| by_name(list)).get(name).copied();
        }
        let same = list.iter().filter(|column| column.name.as_deref() == Some(name));
        same.fold(None, |known, column| Some(Named::and(known, column)))
    }

    /// Whether a column may have any name.
    pub fn has_unnamed(&self) -> bool {
        let is_unnamed = || self.columns.list.iter().any(|column| column.name.is_none());
        self.open || *self.columns.unnamed.get_or_init(is_unnamed)
    }

    /// One more column behind the others.
    pub fn push(&mut self, output: OutputColumn<'c>) {
        self.list_mut().push(output);
    }

    /// These columns behind the others: shared, where there are no others.
    pub fn append(&mut self, more: &Self) {
        self.open |= more.open;
        if self.columns.list.is_empty() {
            self.columns = Rc::clone(&more.columns);
        } else {
            self.list_mut().extend_from_slice(&more.columns.list);
        }
    }

    /// With other names for the first columns, as an alias with a list gives them.
    pub fn renamed(mut self, names: Vec<String>) -> Result<Self, Refusal> {
        if names.is_empty() {
            return Ok(self);
        }
        if let Some(protected) = self.first_protected().filter(|_| self.open) {
            return Err(Refusal::on(
                protected.field,
                "columns are renamed by position, and not all positions are known",
                "name the columns in the select list",
            ));
        }
        // Where positions aren't known, the names given may be those of others.
        if self.open {
            return Ok(Self::unknown());
        }
        for (column, name) in self.list_mut().iter_mut().zip(names) {
            column.name = Some(name.into());
        }
        Ok(self)
    }

    /// The columns, to be changed: they are this query's own from here on.
    fn list_mut(&mut self) -> &mut Vec<OutputColumn<'c>> {
        let columns = Rc::make_mut(&mut self.columns);
        (columns.protected, columns.by_name, columns.unnamed) = Default::default();
        &mut columns.list
    }
}

/// Of the columns alone: what is known of their names is found anew.
impl Clone for OutputColumns<'_> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), ..Self::default() }
    }
}

impl<'c> Named<'c> {
    fn and(known: Option<Self>, column: &OutputColumn<'c>) -> Self {
        match known {
            None => Self { protected: column.protected, several: false },
            Some(known) => Self { protected: known.protected.or(column.protected), several: true },
        }
    }
}

fn by_name<'c>(list: &[OutputColumn<'c>]) -> HashMap<Rc<str>, Named<'c>> {
    let mut named: HashMap<Rc<str>, Named<'c>> = HashMap::with_capacity(list.len());
    for column in list {
        let Some(name) = &column.name else { continue };
        let and = Named::and(named.get(name).copied(), column);
        named.insert(Rc::clone(name), and);
    }
    named
}
