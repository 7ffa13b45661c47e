//! Sessions that begin and end, one after another.

use std::rc::Rc;

use fieldveil_engine::database::Connection;

use super::Transaction;
use super::database::Database;
use super::values::Sealer;
use super::world::World;

/// Logs in and asks for something. Gives what the client gets of the last answer.
type Begin<S> = fn(&mut Database<S>) -> Result<Vec<u8>, String>;

/// Sessions of one worker, each of which begins, asks for something and ends.
struct NewSessions<S> {
    world: Rc<World>,
    sealer: Rc<Sealer>,
    begin: Begin<S>,
}

/// Those of this worker, which begin so.
pub(super) fn new_sessions<S: Connection>(
    world: Rc<World>,
    begin: Begin<S>,
) -> Result<Box<dyn Transaction>, String> {
    Ok(Box::new(NewSessions { world, sealer: Rc::new(Sealer::new()?), begin }))
}

impl<S: Connection> Transaction for NewSessions<S> {
    fn run(&mut self) -> Result<usize, String> {
        let mut database = Database::new(Rc::clone(&self.world), Rc::clone(&self.sealer));
        let answer = (self.begin)(&mut database)?;
        database.end();
        Ok(answer.len())
    }

    fn check(&mut self) -> Result<(), String> {
        match self.run()? {
            0 => Err("the client gets no answer".to_owned()),
            _ => Ok(()),
        }
    }
}
