//! A document of GraphQL, as far as values stand in it: those of all its operations and fragments.

use apollo_parser::cst::{self, CstChildren, CstNode, Value};
use apollo_parser::{Parser, SyntaxNode};

use super::tree::Node;

/// Selections, lists and objects in one another: each takes stack.
const MAX_DEPTH: usize = 100;
/// Words and signs of a document: each takes some hundred bytes of memory.
const MAX_TOKENS: usize = 20_000;

/// What stands in a document.
#[derive(Default)]
pub(super) struct Document {
    /// Arguments of fields and directives, by name.
    pub(super) arguments: Vec<(String, Node)>,
    /// Defaults of variables, by name.
    pub(super) defaults: Vec<(String, Node)>,
    /// Aliases, each with its field's name.
    pub(super) aliases: Vec<(String, String)>,
}

impl Document {
    /// Reads a document whole, or says why not.
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        let tree = Parser::new(text).recursion_limit(MAX_DEPTH).token_limit(MAX_TOKENS).parse();
        if tree.errors().len() > 0 {
            return Err(
                "its document is not understood, or deeper than 100 levels, or longer than 20,000 tokens",
            );
        }
        let mut document = Self::default();
        for node in tree.document().syntax().descendants() {
            document.take(node).ok_or("its document is not understood")?;
        }
        Ok(document)
    }

    fn take(&mut self, node: SyntaxNode) -> Option<()> {
        if let Some(argument) = cst::Argument::cast(node.clone()) {
            self.arguments.push((text(argument.name())?, value(argument.value()?)?));
        } else if let Some(definition) = cst::VariableDefinition::cast(node.clone()) {
            let name = text(definition.variable()?.name())?;
            if let Some(default) = definition.default_value() {
                self.defaults.push((name, value(default.value()?)?));
            }
        } else if let Some(field) = cst::Field::cast(node)
            && let Some(alias) = field.alias()
        {
            self.aliases.push((text(alias.name())?, text(field.name())?));
        }
        Some(())
    }
}

fn text(name: Option<cst::Name>) -> Option<String> {
    Some(name?.text().to_string())
}

fn value(given: Value) -> Option<Node> {
    Some(match given {
        Value::NullValue(_) => Node::Null,
        Value::Variable(variable) => Node::Variable(text(variable.name())?),
        Value::ListValue(list) => Node::List(all(list.values(), value)?),
        Value::ObjectValue(object) => Node::Object(all(object.object_fields(), |field| {
            Some((text(field.name())?, value(field.value()?)?))
        })?),
        Value::StringValue(_)
        | Value::FloatValue(_)
        | Value::IntValue(_)
        | Value::BooleanValue(_)
        | Value::EnumValue(_) => Node::Scalar,
    })
}

fn all<N: CstNode, T>(nodes: CstChildren<N>, read: impl Fn(N) -> Option<T>) -> Option<Vec<T>> {
    nodes.map(read).collect()
}
