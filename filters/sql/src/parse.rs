//! A statement's tokens as the parser's tree, of the kinds that the walk understands.
//!
//! The parser's own entry for any statement isn't called: it brings everything that it knows of data definition, grants,
//! procedures and other products' statements into the module, which is most of it, and for no kind that is walked.

pub(crate) mod dialect;
pub(crate) mod faithful;
pub(crate) mod mysql;
pub(crate) mod position;

use sqlparser::{
    ast::Statement,
    dialect::Dialect as Parsed,
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::{Token, TokenWithSpan},
};

use crate::{
    budget::{Budget, Exceeded},
    dialect::Dialect,
};

/// The parser's limit on recursion. A sub-select within a sub-select takes two of it and some 35 kB of native
/// stack, so that the deepest text stays within half a megabyte; a Wasm module has one.
const MAX_RECURSION: usize = 31;

/// Why there is no tree.
pub(crate) enum Unparsed {
    /// The tokens are no statement of these kinds, or more than one.
    Unparsable,
    /// The parser would take more steps or more stack than it may.
    Exceeded(Exceeded),
}

impl From<ParserError> for Unparsed {
    fn from(error: ParserError) -> Self {
        match error {
            ParserError::RecursionLimitExceeded => Self::Exceeded(Exceeded),
            // The parser's message quotes the text.
            ParserError::TokenizerError(_) | ParserError::ParserError(_) => Self::Unparsable,
        }
    }
}

/// Parses one statement: a query, INSERT, REPLACE, UPDATE, DELETE, MERGE or EXECUTE.
pub(crate) fn statement(
    tokens: Vec<TokenWithSpan>,
    dialect: Dialect,
    budget: &Budget,
) -> Result<Statement, Unparsed> {
    budget.spend(tokens.len()).map_err(Unparsed::Exceeded)?;
    let lent = budget.lend();
    dialect::with_parsed(dialect, lent, |parsed, lent| {
        let tree = parse(tokens, parsed);
        budget.take_back(lent);
        // What was read once the budget was spent is not the text.
        if lent.is_exhausted() { Err(Unparsed::Exceeded(Exceeded)) } else { tree }
    })
}

fn parse(tokens: Vec<TokenWithSpan>, dialect: &dyn Parsed) -> Result<Statement, Unparsed> {
    let mut parser =
        Parser::new(dialect).with_recursion_limit(MAX_RECURSION).with_tokens_with_locations(tokens);
    let first = parser.peek_token();
    let tree = match &first.token {
        Token::LParen => Statement::Query(parser.parse_query()?),
        Token::Word(word) => match word.keyword {
            Keyword::SELECT | Keyword::WITH | Keyword::VALUES => Statement::Query(parser.parse_query()?),
            keyword => {
                parser.advance_token();
                match keyword {
                    Keyword::INSERT => parser.parse_insert(first)?,
                    Keyword::REPLACE => parser.parse_replace(first)?,
                    Keyword::UPDATE => parser.parse_update(first)?,
                    Keyword::DELETE => parser.parse_delete(first)?,
                    Keyword::MERGE => Statement::Merge(parser.parse_merge(first)?),
                    Keyword::EXECUTE => parser.parse_execute()?,
                    _ => return Err(Unparsed::Unparsable),
                }
            }
        },
        _ => return Err(Unparsed::Unparsable),
    };
    match parser.peek_token().token {
        Token::EOF => Ok(tree),
        // The end of a block, at which the parser's own loop over statements stops too.
        Token::Word(word) if word.keyword == Keyword::END => Ok(tree),
        _ => Err(Unparsed::Unparsable),
    }
}
