//! Parameters of clients, as values of the declared type.

use std::borrow::Cow;

use super::{DeclaredType, Shape, array};
use crate::array::{Element, map_elements, parse_binary, text};
use crate::value_use::ValueUse;
use crate::{ValueError, oid};

impl DeclaredType {
    /// The text of a parameter as the server would assign it to a column of this type, or compare it with one: for
    /// [`DeclaredType::canonicalize_for`] the same use.
    ///
    /// `client_oid` is the type that the client named in Parse; 0, unknown or this type's own mean this type.
    pub fn read_parameter(
        &self,
        use_: ValueUse,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Vec<u8>, ValueError> {
        self.parameter_text(use_, client_oid, binary, bytes).map(Cow::into_owned)
    }

    /// [`Self::read_parameter`], without a copy where the parameter is its text.
    pub fn parameter_text<'b>(
        &self,
        use_: ValueUse,
        client_oid: u32,
        binary: bool,
        bytes: &'b [u8],
    ) -> Result<Cow<'b, [u8]>, ValueError> {
        match self.shape {
            Shape::Scalar(kind) => kind.read_parameter(use_, client_oid, binary, bytes),
            Shape::Array(kind) => {
                array::read_parameter(kind, use_, client_oid, binary, bytes).map(Cow::Owned)
            }
        }
    }

    /// The elements of a client's array parameter, each the text that [`DeclaredType::read_parameter`] gives for a
    /// value of this type, which is no array itself.
    ///
    /// `client_oid` is the array type that the client named in Parse; 0 and unknown mean that it named none.
    pub fn read_array_parameter(
        &self,
        use_: ValueUse,
        client_oid: u32,
        binary: bool,
        bytes: &[u8],
    ) -> Result<Vec<Element>, ValueError> {
        if self.is_array() {
            return Err(ValueError::Unsupported("lists of arrays"));
        }
        let not_assignable = ValueError::NotAssignable { from: client_oid, to: "an array" };
        let named = match client_oid {
            0 | oid::UNKNOWN => None,
            array => Some(oid::element_of(array).ok_or(not_assignable)?),
        };
        let (element_oid, array) = if binary {
            parse_binary(named, bytes)?
        } else {
            (named.unwrap_or_default(), text::parse(bytes)?)
        };
        let read = |element: Vec<u8>| self.read_parameter(use_, element_oid, binary, &element);
        map_elements(array.into_list()?, read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::tests::binary;

    #[test]
    fn elements_are_read_as_parameters_of_the_element_type() {
        let declared = |name: &str| name.parse::<DeclaredType>();
        let int4: Result<DeclaredType, _> = declared("int4");
        let read = |client_oid, binary, bytes: &[u8]| {
            int4.clone().and_then(|t| t.read_array_parameter(ValueUse::Search, client_oid, binary, bytes))
        };
        let expected = Ok(vec![Some(b"7".to_vec()), None]);
        let small: &[Option<&[u8]>] = &[Some(&[0, 7]), None];
        assert_eq!(read(0, false, b"{7,NULL}"), expected);
        assert_eq!(read(1005, false, b"{7,NULL}"), expected);
        assert_eq!(read(1005, true, &binary(oid::INT2, 1, small)), expected);
        assert_eq!(read(0, true, &binary(oid::INT2, 1, small)), expected);
        assert_eq!(read(oid::UNKNOWN, false, b"{7,NULL}"), expected);
        // Named as int4[], told as int2[]; no array; an array of a type that is not assigned to int4.
        assert!(read(1007, true, &binary(oid::INT2, 1, small)).is_err());
        assert!(read(oid::INT4, false, b"{7}").is_err());
        assert!(read(1000, false, b"{t}").is_err());
    }
}
