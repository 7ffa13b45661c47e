//! The body of a request of GraphQL over HTTP, and values as far as their shape goes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value, of JSON or of a document. Objects keep members of one name, for services differ in which of them they take.
pub(super) enum Node {
    Null,
    /// A string, a number, a boolean, or a name of the schema's.
    Scalar,
    /// A variable of a document.
    Variable(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// A request's body.
#[derive(Default)]
pub(super) struct GraphQlRequest {
    /// The document's text; None if the service is to know it.
    pub(super) query: Option<String>,
    pub(super) variables: Vec<(String, Node)>,
}

/// The member of a body that some service would read for one of this name: Go's, for one, looks at no case.
pub(super) fn member(name: &str) -> Option<&'static str> {
    // The two characters beyond ASCII that simple case folding takes to an ASCII letter.
    let folded: String = name
        .chars()
        .map(|c| match c {
            'ſ' => 's',
            '\u{212a}' => 'k',
            c => c.to_ascii_lowercase(),
        })
        .collect();
    ["query", "variables"].into_iter().find(|member| *member == folded)
}

impl GraphQlRequest {
    /// None if it is no object, or has one of the two members twice, in another case, or of another kind.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let Members(members) = serde_json::from_slice(body).ok()?;
        let mut read = Self::default();
        let mut seen = Vec::new();
        for (name, value) in members {
            let Some(member) = member(&name) else { continue };
            if member != name || seen.contains(&member) {
                return None;
            }
            seen.push(member);
            match member {
                "query" => read.query = serde_json::from_str(value.get()).ok()?,
                _ => match serde_json::from_str(value.get()).ok()? {
                    Node::Null => {}
                    Node::Object(members) => read.variables = members,
                    // Some services read a string as JSON.
                    Node::Scalar | Node::Variable(_) | Node::List(_) => return None,
                },
            }
        }
        Some(read)
    }
}

/// The members of an object, in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;
        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
                Ok(Node::Scalar)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
                Ok(Node::Scalar)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
                Ok(Node::Scalar)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
                Ok(Node::Scalar)
            }

            fn visit_str<E>(self, _: &str) -> Result<Node, E> {
                Ok(Node::Scalar)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Node::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Node::Object(members))
            }
        }
        deserializer.deserialize_any(NodeVisitor)
    }
}
