//! What instructions are counted of: the same from run to run, whatever the machine.

use fieldveil_engine::Random;

use crate::cases::{Buffers, Case, cases};
use crate::keys::keyring;
use crate::sessions::transactions;

/// Bytes of the value that is sealed and opened.
const BYTES: usize = 16;

/// What is called again and again.
pub type Call = Box<dyn FnMut() -> Result<(), String>>;

/// A counter in the place of randomness, for a generator's instructions hang on what the processor has.
struct Counter(u32);

impl Random for Counter {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0.wrapping_mul(0x9e37_79b1).to_be_bytes()[0];
        }
    }
}

/// Everything that is counted, under its name, looked at and called once.
pub fn all() -> Result<Vec<(String, Call)>, String> {
    let mut found: Vec<(String, Call)> = Vec::new();
    for (name, mut transaction) in transactions("", &|| Ok(Box::new(Counter(0))))? {
        transaction.check().map_err(|error| format!("{name}: {error}"))?;
        found.push((name.to_owned(), Box::new(move || transaction.run().map(drop))));
    }
    for case in cases(&[BYTES])? {
        found.extend(of_case(case)?);
    }
    found.push(("keys: made ready".to_owned(), Box::new(|| keyring().map(drop))));
    Ok(found)
}

fn of_case(case: Case) -> Result<[(String, Call); 2], String> {
    let (keyring, mut random) = (std::rc::Rc::new(keyring()?), Counter(0));
    case.check(&keyring, &mut random)?;
    let (mut sealing, mut opening) = (Buffers::default(), Buffers::default());
    let sealed = case.seal(&keyring, &mut random, &mut sealing)?;
    let name = case.name();
    let (seals, opens) = (std::rc::Rc::new(case), std::rc::Rc::clone(&keyring));
    let case = std::rc::Rc::clone(&seals);
    Ok([
        (
            format!("seal: {name}"),
            Box::new(move || seals.seal(&keyring, &mut random, &mut sealing).map(drop)),
        ),
        (format!("open: {name}"), Box::new(move || case.open(&opens, &sealed, &mut opening).map(|_| ()))),
    ])
}
