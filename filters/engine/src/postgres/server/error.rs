//! ErrorResponse: the server's own, and those that the filter brought about.

use fieldveil_postgres_wire::backend::ErrorResponse;

use super::{Fate, MALFORMED};
use crate::audit::Ended;
use crate::database::Core;
use crate::postgres::own_queries::OwnQueries;
use crate::postgres::pending::{Awaited, Origin, PendingResponse};
use crate::postgres::refuse::{is_provoked, write_error};
use crate::postgres::statements::Statements;
use crate::postgres::{CallbackOutput, ReadySession, Waiting};

impl Statements {
    /// Reverts what these messages changed, which the server skipped.
    fn take_back(&mut self, skipped: Vec<PendingResponse>) {
        self.by_sql.forget_quiet_cursors();
        for entry in skipped.into_iter().rev() {
            let names = entry.names.into_iter().rev().map(|(_, undo)| undo);
            names.chain(entry.undo.into_iter().rev()).for_each(|undo| self.undo(undo));
            if let Awaited::Bind(Some(portal)) = &entry.awaited {
                self.undo_portal(portal);
            }
        }
    }

    /// Reverts what a text that failed prepared, from its statement at fault on.
    fn take_back_names(&mut self, entry: &mut PendingResponse) {
        let Awaited::Query(_, failed, _) = &entry.awaited else { return };
        let failed = *failed;
        let names = std::mem::take(&mut entry.names).into_iter().rev();
        for (_, undo) in names.filter(|(number, _)| *number >= failed) {
            self.undo(undo);
        }
    }
}

impl ReadySession {
    pub(super) fn error_response(
        &mut self,
        body: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Result<Fate, &'static str> {
        let response = ErrorResponse::parse(body).map_err(|_| MALFORMED)?;
        let code = response.field(ErrorResponse::CODE).unwrap_or_default();
        let severity = response.field(ErrorResponse::SEVERITY_NONLOCALIZED).unwrap_or_default();
        let fatal = severity != b"ERROR";
        self.copies.end_with_error();
        let provoked = self.pending.head().is_some_and(|entry| {
            matches!(entry.awaited, Awaited::End) || entry.refused.is_some() && is_provoked(code)
        });
        if fatal && !provoked {
            // It says so before it goes, and the end itself is not always seen: a write to it may break first.
            core.audit.note_end(Ended::Server);
        }
        let Some(entry) = self.pending.head() else { return Ok(Fate::Pass) };
        let refused = entry.refused.clone().filter(|_| is_provoked(code));
        let ends = matches!(entry.awaited, Awaited::End);
        let copy = entry.copy;
        // The Parse of a statement that is parsed anew stands for the client's Bind, which comes behind it.
        let for_catalog = entry.origin == Origin::Injected
            && matches!(entry.awaited, Awaited::Parse(None) | Awaited::Bind(_) | Awaited::OwnQuery(_));
        // The question's Parse was done, and its Close is skipped.
        let leaves_statement = for_catalog && !matches!(entry.awaited, Awaited::Parse(_));
        if matches!(entry.awaited, Awaited::RefusedCopy(_)) {
            // The server did not even answer the empty query. The client gets that, and is not asked for data.
            entry.origin = Origin::Client;
            self.copies.give_up_refused();
        }
        let simple = matches!(
            entry.awaited,
            Awaited::Query(..) | Awaited::RefusedCopy(_) | Awaited::FunctionCall | Awaited::Sync
        );
        let mut fate = Fate::Pass;
        if let Some(error) = refused {
            let severity = if ends { "FATAL" } else { "ERROR" };
            let encoding = self.settings.encoding.now();
            write_error(core, encoding, (severity, &error, ""), &mut out.to_client);
            fate = Fate::Taken;
        }
        self.copies.give_up(copy);
        if fatal || ends || simple {
            if let Some(entry) = self.pending.head() {
                self.statements.take_back_names(entry);
            }
            return Ok(fate);
        }
        let (skipped, sync_sent) = self.pending.skip_to_sync();
        if skipped.iter().any(|entry| matches!(entry.awaited, Awaited::OwnQuery(_))) {
            // The server skips the filter's question with the rest: nobody waits for its answer any more.
            core.catalog.reading = None;
            core.waiting = Waiting::No;
        }
        for number in skipped.iter().filter_map(|entry| entry.copy) {
            self.copies.give_up(Some(number));
        }
        self.statements.take_back(skipped);
        if !sync_sent {
            self.pipeline.skip();
        }
        if leaves_statement {
            // Under another name the next question can be prepared, and a refused Bind finds no statement.
            self.own_queries.rename(core);
        }
        if for_catalog {
            OwnQueries::fail(code, core);
            core.waiting = Waiting::No;
            fate = Fate::Taken;
            if !sync_sent {
                // In the middle of a pipeline the server now skips: so the client hears of it here.
                if let Some(error) = core.catalog.failed.take() {
                    let encoding = self.settings.encoding.now();
                    write_error(core, encoding, ("ERROR", &error, ""), &mut out.to_client);
                }
            }
        }
        Ok(fate)
    }
}
