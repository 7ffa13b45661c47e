//! Names of columns and relations as a plan writes them.

/// PostgreSQL cuts identifiers to this many bytes (`NAMEDATALEN` - 1): a longer name is no column's.
pub const MAX_IDENTIFIER_BYTES: usize = 63;
/// Longest label, keyset name, tenant, type and revision, in bytes. Labels stand in metrics and errors.
pub const MAX_NAME_BYTES: usize = 255;

/// Splits `schema.table`. A part is lower case as PostgreSQL folds it, or stands in double quotes, where `""` is one.
pub(crate) fn split_relation(text: &str) -> Result<(String, String), &'static str> {
    let (schema, rest) = part(text)?;
    let rest = rest.strip_prefix('.').ok_or("no table after the schema")?;
    let (table, rest) = part(rest)?;
    if !rest.is_empty() {
        return Err("something follows the table's name");
    }
    Ok((schema, table))
}

/// The full name of a column, quoted where [`split_relation`] would need it.
pub(crate) fn full_name(schema: &str, table: &str, column: &str) -> String {
    format!("{}.{}.{}", quoted(schema), quoted(table), quoted(column))
}

fn part(text: &str) -> Result<(String, &str), &'static str> {
    let (name, rest) = match text.strip_prefix('"') {
        Some(inner) => quoted_part(inner)?,
        None => plain_part(text)?,
    };
    if name.is_empty() {
        return Err("a name is empty");
    }
    if name.len() > MAX_IDENTIFIER_BYTES {
        return Err("a name is longer than PostgreSQL's 63 bytes");
    }
    if name.contains('\0') {
        return Err("a name holds a NUL");
    }
    Ok((name, rest))
}

fn quoted_part(inner: &str) -> Result<(String, &str), &'static str> {
    let mut name = String::new();
    let mut rest = inner;
    loop {
        let (before, after) = rest.split_once('"').ok_or("a double quote is not closed")?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Ok((name, after)),
        }
    }
}

fn plain_part(text: &str) -> Result<(String, &str), &'static str> {
    let (name, rest) = text.find('.').map_or((text, ""), |dot| text.split_at(dot));
    if is_plain(name) || name.is_empty() {
        Ok((name.to_owned(), rest))
    } else {
        Err("a name is not plain lower case and not in double quotes")
    }
}

/// Whether PostgreSQL reads `name` without quotes as itself.
fn is_plain(name: &str) -> bool {
    let start = |c: char| c.is_ascii_lowercase() || c == '_' || !c.is_ascii();
    name.starts_with(start) && name.chars().all(|c| start(c) || c.is_ascii_digit() || c == '$')
}

fn quoted(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(String, String)> {
        split_relation(text).ok()
    }

    fn pair(schema: &str, table: &str) -> Option<(String, String)> {
        Some((schema.to_owned(), table.to_owned()))
    }

    #[test]
    fn relation_splits_at_the_dot_outside_quotes() {
        assert_eq!(split("public.customer"), pair("public", "customer"));
        assert_eq!(split(r#""My Schema"."a.b""#), pair("My Schema", "a.b"));
        assert_eq!(split(r#"public."say ""hi""""#), pair("public", r#"say "hi""#));
        assert_eq!(split("größe.t$1"), pair("größe", "t$1"));
    }

    #[test]
    fn relation_that_postgresql_would_read_otherwise_is_refused() {
        for text in [
            "",
            ".",
            "customer",
            "public.",
            ".customer",
            "Public.customer",
            "a.b.c",
            "\"\".t",
            "public.\"t",
            "public.\"t\"x",
            "public.1st",
            "public.my table",
            "\"a\"b.t",
            "public.t ",
            "public.\"\0\"",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
        assert_eq!(split(&format!("public.{}", "x".repeat(64))), None);
    }

    #[test]
    fn full_name_quotes_what_needs_it() {
        assert_eq!(full_name("public", "customer", "ssn"), "public.customer.ssn");
        assert_eq!(full_name("public", "a.b", "S\"x"), "public.\"a.b\".\"S\"\"x\"");
    }
}
