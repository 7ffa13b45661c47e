//! Calls of Envoy's that the filter makes in its callbacks, each by itself.

use fieldveil_host::{clock, read_vm_configuration};

use super::{Make, Randomness, Transaction};

/// What an answer with one row has, and at most one of the reads that bring many rows.
const SHORT: usize = 256;
const LONG: usize = 8192;

/// Each under its name.
pub(super) const CALLS: [(&str, Make); 3] = [
    ("envoy: the clock", the_clock),
    ("envoy: 256 bytes read", short_read),
    ("envoy: 8,192 bytes read", long_read),
];

struct Call(fn() -> usize);

impl Transaction for Call {
    fn run(&mut self) -> Result<usize, String> {
        Ok((self.0)())
    }

    fn check(&mut self) -> Result<(), String> {
        match self.run()? {
            0 => Err("Envoy gives nothing; the VM has to have a configuration of 8,192 bytes".to_owned()),
            _ => Ok(()),
        }
    }
}

fn the_clock(_: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    Ok(Box::new(Call(|| usize::from(clock() > 0))))
}

fn short_read(_: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    Ok(Box::new(Call(|| read(SHORT))))
}

fn long_read(_: Randomness<'_>) -> Result<Box<dyn Transaction>, String> {
    Ok(Box::new(Call(|| read(LONG))))
}

/// As many bytes, or none.
fn read(bytes: usize) -> usize {
    read_vm_configuration(bytes).filter(|read| read.len() == bytes).map_or(0, |read| read.len())
}
