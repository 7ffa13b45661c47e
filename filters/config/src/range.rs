//! Numbers that have a largest value.

/// Checks that the number is at least 1 and at most `most`; the error begins with the place.
pub(crate) fn within<N: PartialOrd + From<u8> + std::fmt::Display>(
    place: &str,
    value: N,
    most: N,
) -> Result<(), String> {
    if value < N::from(1) || value > most {
        return Err(format!("{place}: {value} is not between 1 and {most}"));
    }
    Ok(())
}
