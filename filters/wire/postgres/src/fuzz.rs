//! Fuzz bodies: any bytes go in, and what they promise is asserted. Here they run over a corpus and over what
//! proptest makes up; the feature `fuzz` gives them to the fuzz targets.

pub mod bodies;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;
