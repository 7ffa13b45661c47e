//! `DOUBLE` as the server prints it (`my_gcvt`): the shortest digits that read back exactly, with an exponent only
//! where the number has more than fifteen digits on one side of the point.

/// Exponents of ten from which and up to which a number is printed without one.
const PLAIN: std::ops::RangeInclusive<i32> = -15..=14;

pub(super) fn print(value: f64) -> String {
    let scientific = format!("{value:e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    // Rust prints the same digits either way.
    if exponent.is_some_and(|exponent| PLAIN.contains(&exponent)) { format!("{value}") } else { scientific }
}
