//! Fuzz bodies: any bytes go in, and what they promise is asserted. Here they run over a corpus and over what
//! proptest makes up.

mod bodies;
mod corpus;
mod properties;
