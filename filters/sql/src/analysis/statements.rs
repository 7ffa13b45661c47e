//! The statements of a text.

use std::{
    ops::{Deref, DerefMut},
    rc::Rc,
    slice::Iter,
};

use super::Statement;

/// The statements of a text, which texts of one shape share. Who changes them has a copy from then on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextStatements(Rc<Vec<Statement>>);

impl From<Vec<Statement>> for TextStatements {
    fn from(statements: Vec<Statement>) -> Self {
        Self(Rc::new(statements))
    }
}

impl FromIterator<Statement> for TextStatements {
    fn from_iter<I: IntoIterator<Item = Statement>>(statements: I) -> Self {
        Vec::from_iter(statements).into()
    }
}

impl Deref for TextStatements {
    type Target = Vec<Statement>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for TextStatements {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Rc::make_mut(&mut self.0)
    }
}

impl<'s> IntoIterator for &'s TextStatements {
    type Item = &'s Statement;
    type IntoIter = Iter<'s, Statement>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
