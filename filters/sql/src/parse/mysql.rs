//! What the parser doesn't know of MySQL's statements, taken out of the tokens it is given where the statement is the
//! same to us without it.

use std::collections::HashSet;

use sqlparser::{
    keywords::Keyword,
    tokenizer::{Token as ParserToken, TokenWithSpan, Word},
};

use crate::{
    lex::{Kind, Token},
    segment::Segment,
};

/// What becomes of a statement's tokens before they are parsed.
#[derive(Default)]
pub(crate) struct Reading {
    passed_over: HashSet<usize>,
    /// Commas between the tables of an UPDATE, which the parser doesn't take there: given to it as `CROSS APPLY`, which
    /// MySQL doesn't have, and taken apart again by the walk.
    commas: HashSet<usize>,
    /// Whether what is selected goes into variables.
    pub into_variables: bool,
}

impl Reading {
    pub fn of(segment: &Segment<'_>) -> Self {
        let mut reading = Self::default();
        if !segment.dialect.is_mysql() {
            let passed = (0..segment.tokens.len()).filter(|index| segment.is_passed_over(*index));
            reading.passed_over.extend(passed);
            return reading;
        }
        for index in 0..segment.tokens.len() {
            reading.select(segment, index);
            reading.lock(segment, index);
            reading.binary(segment, index);
        }
        let Some(verb) = verb(segment) else { return reading };
        match segment.word(verb) {
            "select" => reading.variables(segment, verb),
            "insert" | "replace" => reading.insert(segment, verb),
            "update" => reading.update(segment, verb),
            "delete" => reading.delete(segment, verb),
            _ => {}
        }
        reading
    }

    /// Whether the parser doesn't get the token.
    pub fn passes_over(&self, index: usize) -> bool {
        self.passed_over.contains(&index)
    }

    /// Whether the token is a comma that the parser gets as `CROSS APPLY`.
    pub fn is_comma_of_tables(&self, index: usize) -> bool {
        self.commas.contains(&index)
    }

    /// The parser's tokens, as it is given them. `DIV` is given as `/`, which binds alike: for a `DIV` the parser copies
    /// all that stands before it, each time.
    pub fn apply(&self, tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
        let mut given = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.into_iter().enumerate() {
            if self.passes_over(index) {
                continue;
            }
            if self.is_comma_of_tables(index) {
                let word = |value: &str, keyword| {
                    ParserToken::Word(Word { value: value.to_owned(), quote_style: None, keyword })
                };
                let span = token.span;
                given.push(TokenWithSpan { token: word("CROSS", Keyword::CROSS), span });
                given.push(TokenWithSpan { token: word("APPLY", Keyword::APPLY), span });
                continue;
            }
            let names_column = given.last().is_some_and(|before| before.token == ParserToken::Period);
            let token = match token.token {
                ParserToken::Word(Word { keyword: Keyword::DIV, quote_style: None, .. }) if !names_column => {
                    TokenWithSpan { token: ParserToken::Div, ..token }
                }
                _ => token,
            };
            given.push(token);
        }
        given
    }

    fn pass(&mut self, tokens: std::ops::Range<usize>) {
        self.passed_over.extend(tokens);
    }

    /// Hints to the optimizer behind SELECT.
    fn select(&mut self, segment: &Segment<'_>, index: usize) {
        if segment.word(index) != "select" {
            return;
        }
        let mut at = index.saturating_add(1);
        loop {
            match segment.word(at) {
                "straight_join"
                | "sql_small_result"
                | "sql_big_result"
                | "sql_buffer_result"
                | "sql_cache"
                | "sql_no_cache"
                | "sql_calc_found_rows"
                | "high_priority" => {
                    self.passed_over.insert(at);
                }
                "all" | "distinct" | "distinctrow" => {}
                _ => return,
            }
            at = at.saturating_add(1);
        }
    }

    /// `LOCK IN SHARE MODE`, and how long MariaDB waits for a lock.
    fn lock(&mut self, segment: &Segment<'_>, index: usize) {
        let follows = |words: &[&str]| {
            words.iter().enumerate().all(|(ahead, word)| segment.is_word(index.saturating_add(ahead), word))
        };
        let end = if follows(&["lock", "in", "share", "mode"]) {
            self.pass(index..index.saturating_add(4));
            index.saturating_add(4)
        } else if follows(&["for", "update"]) {
            index.saturating_add(2)
        } else {
            return;
        };
        let next = end.saturating_add(1);
        let is_number = segment.tokens.get(next).is_some_and(|token| matches!(token.kind, Kind::Number));
        let is_other = end == index.saturating_add(4);
        if segment.is_word(end, "wait") && is_number {
            self.pass(end..end.saturating_add(2));
        } else if is_other && segment.is_word(end, "nowait") {
            self.passed_over.insert(end);
        } else if is_other && segment.is_word(end, "skip") && segment.is_word(next, "locked") {
            self.pass(end..end.saturating_add(2));
        }
    }

    /// The operator BINARY, which the parser takes to bind all that follows. What is sealed is compared byte by byte
    /// anyway.
    fn binary(&mut self, segment: &Segment<'_>, index: usize) {
        let (Some(before), after) = (index.checked_sub(1), index.saturating_add(1)) else { return };
        let operator = ["(", "=", "<>", "!=", "<=>", "<", ">", "<=", ">="];
        let word = [
            "where", "and", "or", "not", "on", "having", "like", "select", "by", "when", "then", "else",
            "xor",
        ];
        let begins = operator.iter().any(|symbol| segment.is_symbol(before, symbol))
            || word.contains(&segment.word(before));
        let is_operand = |token: &Token| match token.kind {
            Kind::Word { .. } | Kind::Text { .. } | Kind::Parameter(_) => true,
            _ => begins && token.is_symbol(segment.text, "("),
        };
        let operand = segment.tokens.get(after).is_some_and(is_operand);
        // Not `CAST(… AS BINARY)`, nor `CONVERT(…, BINARY)` or `CONVERT(…, BINARY(5))`.
        if segment.is_word(index, "binary") && (begins || segment.is_symbol(before, ",")) && operand {
            self.passed_over.insert(index);
        }
    }

    /// `SELECT … INTO @a, @b`, before FROM or at the end.
    fn variables(&mut self, segment: &Segment<'_>, verb: usize) {
        let Some(into) = outside(segment, verb, |index| segment.is_word(index, "into")) else { return };
        let is_variable = |index: usize| {
            segment.tokens.get(index).is_some_and(|token| token.source(segment.text).starts_with('@'))
        };
        let mut end = into.saturating_add(1);
        if !is_variable(end) {
            return;
        }
        end = end.saturating_add(1);
        while segment.is_symbol(end, ",") && is_variable(end.saturating_add(1)) {
            end = end.saturating_add(2);
        }
        self.pass(into..end);
        self.into_variables = true;
    }

    /// Priorities, partitions, and a list of no columns.
    fn insert(&mut self, segment: &Segment<'_>, verb: usize) {
        let mut at = verb.saturating_add(1);
        while matches!(segment.word(at), "low_priority" | "high_priority" | "delayed") {
            self.passed_over.insert(at);
            at = at.saturating_add(1);
        }
        while matches!(segment.word(at), "ignore" | "into") {
            at = at.saturating_add(1);
        }
        // `table`, `schema.table`
        at = at.saturating_add(1);
        if segment.is_symbol(at, ".") {
            at = at.saturating_add(2);
        }
        if segment.is_word(at, "partition") && segment.is_symbol(at.saturating_add(1), "(") {
            let close = (at..segment.tokens.len()).find(|index| segment.is_symbol(*index, ")"));
            let end = close.unwrap_or(at).saturating_add(1);
            self.pass(at..end);
            at = end;
        }
        if segment.is_symbol(at, "(") && segment.is_symbol(at.saturating_add(1), ")") {
            self.pass(at..at.saturating_add(2));
        }
    }

    fn update(&mut self, segment: &Segment<'_>, verb: usize) {
        let mut at = verb.saturating_add(1);
        while matches!(segment.word(at), "low_priority" | "ignore") {
            self.passed_over.insert(at);
            at = at.saturating_add(1);
        }
        let Some(set) = outside(segment, at, |index| segment.is_word(index, "set")) else { return };
        let mut depth = 0_usize;
        for index in at..set {
            if segment.is_symbol(index, "(") {
                depth = depth.saturating_add(1);
            } else if segment.is_symbol(index, ")") {
                depth = depth.saturating_sub(1);
            } else if depth == 0 && segment.is_symbol(index, ",") {
                self.commas.insert(index);
            }
        }
    }

    /// Priorities, and the `.*` behind tables that rows are deleted from.
    fn delete(&mut self, segment: &Segment<'_>, verb: usize) {
        let mut at = verb.saturating_add(1);
        while matches!(segment.word(at), "low_priority" | "quick" | "ignore") {
            self.passed_over.insert(at);
            at = at.saturating_add(1);
        }
        let end = match segment.is_word(at, "from") {
            true => outside(segment, at, |index| segment.is_word(index, "using")),
            false => outside(segment, at, |index| segment.is_word(index, "from")),
        };
        for index in at..end.unwrap_or(at) {
            if segment.is_symbol(index, ".") && segment.is_symbol(index.saturating_add(1), "*") {
                self.pass(index..index.saturating_add(2));
            }
        }
    }
}

/// The word that says what the statement does, behind its common table expressions.
fn verb(segment: &Segment<'_>) -> Option<usize> {
    let is_verb = |index: usize| {
        matches!(
            segment.word(index),
            "select" | "insert" | "replace" | "update" | "delete" | "values" | "table"
        )
    };
    outside(segment, 0, is_verb)
}

/// The first token outside of brackets from an index on that is such.
fn outside(segment: &Segment<'_>, from: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    (from..segment.tokens.len()).find(|index| {
        if segment.is_symbol(*index, "(") {
            depth = depth.saturating_add(1);
        } else if segment.is_symbol(*index, ")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && is(*index)
    })
}

/// The last of the strings that stand one behind the other from a token on: to the server they are one.
pub(crate) fn end_of_strings(tokens: &[Token], first: usize) -> usize {
    let more = tokens.get(first.saturating_add(1)..).unwrap_or_default();
    first.saturating_add(more.iter().take_while(|token| matches!(token.kind, Kind::Text { .. })).count())
}
