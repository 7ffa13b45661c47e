//! `schema.table` as policies write it: a part that is not plain lower case stands in double quotes.

/// Splits a relation's name. None if it does not have exactly two parts.
pub fn split(relation: &str) -> Option<(String, String)> {
    let (schema, rest) = part(relation)?;
    let (table, rest) = part(rest.strip_prefix('.')?)?;
    rest.is_empty().then_some((schema, table))
}

/// The first part, and what follows it.
fn part(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let (name, rest) = text.split_at_checked(text.find('.').unwrap_or(text.len()))?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '$');
        return (!name.is_empty() && name.chars().all(plain)).then(|| (name.to_owned(), rest));
    };
    let mut name = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        name.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return (!name.is_empty()).then_some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    fn parts(relation: &str) -> Option<(String, String)> {
        split(relation)
    }

    #[test]
    fn plain_and_quoted_parts_are_split() {
        let both = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(parts("public.customer"), both("public", "customer"));
        assert_eq!(parts("public.\"Order.Line\""), both("public", "Order.Line"));
        assert_eq!(parts("\"a\"\"b\".c"), both("a\"b", "c"));
    }

    #[test]
    fn anything_but_two_parts_is_none() {
        for relation in
            ["", "customer", "a.b.c", ".b", "a.", "Public.customer", "\"a.b", "\"a\"b.c", "\"\".b"]
        {
            assert_eq!(parts(relation), None, "{relation}");
        }
    }
}
