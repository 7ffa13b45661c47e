//! PREPARE and EXECUTE IMMEDIATE: statements whose text is a string.

use crate::{
    analysis::{Replacement, Splice},
    catalog::Catalog,
    dialect::Dialect,
    lex::{Kind, Style},
    mention,
    refusal::Refusal,
    segment::{self, Segment},
    statement::{
        self, Analyzed,
        session::{Names, name_at},
    },
};

/// `PREPARE name FROM 'text'`
pub(super) fn prepare(
    segment: &Segment<'_>,
    catalog: &Catalog,
    names: &dyn Names,
) -> Result<Analyzed, Refusal> {
    if !catalog.protects() {
        return Ok(Analyzed::unread());
    }
    let name = name_at(segment, 1)?;
    if !segment.is_word(2, "from") || segment.tokens.len() != 4 {
        return Err(computed());
    }
    Ok(text_at(segment, 3, catalog)?.prepare(segment, name, names, Vec::new()))
}

/// MariaDB's `EXECUTE IMMEDIATE 'text' [USING …]`
pub(super) fn execute_immediate(segment: &Segment<'_>, catalog: &Catalog) -> Result<Analyzed, Refusal> {
    if !catalog.protects() {
        return Ok(Analyzed::unread());
    }
    if segment.tokens.len() > 3 && !segment.is_word(3, "using") {
        return Err(computed());
    }
    let values = segment.starting_at(3);
    if mention::may_name(&values, catalog) {
        return Err(computed());
    }
    let mut analyzed = text_at(segment, 2, catalog)?;
    // What it has changed the next statement's analysis must not take for granted.
    analyzed.changes_catalog = true;
    Ok(analyzed)
}

/// The statement that a string holds. What is replaced in it is replaced in the string. It has no parameters that are
/// sealed, so that under other keys it is only to be prepared anew.
fn text_at(segment: &Segment<'_>, index: usize, catalog: &Catalog) -> Result<Analyzed, Refusal> {
    let token = segment.tokens.get(index).ok_or_else(computed)?;
    let Kind::Text { value, style: Style::Plain } = &token.kind else { return Err(computed()) };
    if matches!(segment.dialect, Dialect::MySql(dialect) if dialect.decoded) && !value.is_ascii() {
        return Err(Refusal::unsupported(
            "a prepared text has other characters than ASCII's, and the client's character set is not UTF-8",
            "use the driver's prepared statements, or SET NAMES utf8mb4",
        ));
    }
    let mut inner = match segment::split(value, segment.dialect, segment.budget) {
        Ok(inner) => inner,
        // The server will most likely not accept it, and says so itself.
        Err(_) if !mention::may_reach(value, catalog) => return Ok(Analyzed::unread()),
        Err(_) => {
            return Err(Refusal::unparsable(
                "the words and literals of a prepared text can't be told apart with certainty",
            ));
        }
    };
    let (Some(statement), None) = (inner.pop(), inner.pop()) else { return Err(computed()) };
    if matches!(statement.word(0), "prepare" | "execute" | "deallocate") {
        return Err(computed());
    }
    if statement::makes_one_of(&statement, catalog) {
        return Err(Refusal::unsupported(
            "a prepared statement makes a protected table",
            "send it as a statement of its own",
        ));
    }
    let mut analyzed = statement::analyze(&statement, catalog, &())?;
    if analyzed.effects.load.is_some() {
        return Err(Refusal::unsupported(
            "a prepared statement would load a file into a table with sealed columns",
            "send the LOAD DATA as a statement of its own",
        ));
    }
    if !analyzed.effects.parameters.is_empty() {
        return Err(Refusal::unsupported(
            "a parameter for a sealed column would get its value from a variable in the server",
            "use the driver's prepared statements, or write the value as a literal",
        ));
    }
    let range =
        token.range.start.saturating_add(segment.offset)..token.range.end.saturating_add(segment.offset);
    let splices = std::mem::take(&mut analyzed.effects.splices);
    if splices.is_empty() {
        return Ok(analyzed);
    }
    let Dialect::MySql(dialect) = segment.dialect else { return Err(computed()) };
    if dialect.ansi_quotes {
        return Err(Refusal::unsupported(
            "a prepared text holds a value for a sealed column, and ANSI_QUOTES is on",
            "use the driver's prepared statements, or set sql_mode without ANSI_QUOTES",
        ));
    }
    // Sealed literals hold no double quote and no backslash: they can stand in double quotes as they are.
    let quoted = |part: &str| {
        let part = part.replace('"', "\"\"");
        if dialect.no_backslash_escapes { part } else { part.replace('\\', "\\\\") }
    };
    let mut pieces = Vec::new();
    let mut at = 0_usize;
    for Splice { range, with } in splices {
        pieces.push(Replacement::Text(quoted(value.get(at..range.start).unwrap_or_default())));
        pieces.push(match with {
            Replacement::Text(text) => Replacement::Text(quoted(&text)),
            sealed => sealed,
        });
        at = range.end;
    }
    pieces.push(Replacement::Text(format!("{}\"", quoted(value.get(at..).unwrap_or_default()))));
    let end = range.end..range.end;
    let mut all = vec![Splice { range, with: Replacement::Text("\"".to_owned()) }];
    all.extend(pieces.into_iter().map(|with| Splice { range: end.clone(), with }));
    analyzed.effects.splices = all;
    Ok(analyzed)
}

fn computed() -> Refusal {
    Refusal::unsupported(
        "a statement is executed whose text isn't one literal, so that what it does can't be seen",
        "write the text as a literal, or send the statement itself",
    )
}
