// What the online mix and the batch share: rows whose protected columns are made of their id and version.

import fieldveil from "k6/x/fieldveil";
import { contact } from "./values.js";

const { expect } = fieldveil;

export const COLUMNS = "id, version, email, ssn, phone";

// A row as it must be: whole, and of no older version than this client has seen.
export function expectContact(user, row, id) {
  const key = `${user.table} ${id}`;
  const wanted = contact(id, row.version);
  const whole = row.id === id && row.email === wanted[0] && row.ssn === wanted[1] && row.phone === wanted[2];
  expect(whole && row.version >= (user.seen.get(key) || 0), `${user.table}: a row that was read`);
  user.seen.set(key, row.version);
}

export function select(user, id, more = "") {
  const rows = user.db.query(`SELECT ${COLUMNS} FROM ${user.table} WHERE id = $1${more}`, id);
  expect(rows.length === (id > 0 ? 1 : 0), `${user.table}: a row looked for by its key`);
  if (rows.length === 1) {
    expectContact(user, rows[0], id);
  }
  return rows[0];
}

// The next version of a row, with all of its protected columns.
export function replace(user, { id, version }) {
  const statement = `UPDATE ${user.table} SET version = $2, email = $3, ssn = $4, phone = $5 WHERE id = $1`;
  const changed = user.db.exec(statement, id, version + 1, ...contact(id, version + 1));
  expect(changed === 1, `${user.table}: a row that was replaced`);
  user.seen.set(`${user.table} ${id}`, version + 1);
}

// All or nothing.
export function transaction(db, work) {
  db.exec("BEGIN");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}
