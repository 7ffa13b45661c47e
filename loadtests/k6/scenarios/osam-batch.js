// A stretch of the batch, from one COMMIT to the next: rows in the order of their keys, nine of a hundred calls replace one.
// `fetch` is how many rows the cursor reads ahead; 0 selects each row by its key.

import fieldveil from "k6/x/fieldveil";
import { COLUMNS, expectContact, replace, select, transaction } from "../lib/osam.js";

const READS = 91;
const REPLACES = 9;

export function connect(work) {
  const { data } = work;
  return { db: fieldveil.open(work), data, table: data.table, seen: new Map(), last: 0 };
}

export function run(user) {
  const { calls, fetch } = user.data;
  const reads = (calls / (READS + REPLACES)) * READS;
  transaction(user.db, () => {
    const next = fetch ? cursor(user) : () => select(user, following(user));
    for (let read = 1; read <= reads; read++) {
      const row = next();
      user.last = row.id;
      if (Math.floor((read * REPLACES) / READS) > Math.floor(((read - 1) * REPLACES) / READS)) {
        replace(user, row);
      }
    }
  });
  return calls;
}

// The key behind the last; after the table's end its beginning.
function following(user) {
  return (user.last % user.data.rows) + 1;
}

// Gives the rows from there, `fetch` of them at a time. The transaction's end closes it.
function cursor(user) {
  const { db, data } = user;
  let ahead = [];
  const declare = (after) =>
    db.exec(`DECLARE ahead NO SCROLL CURSOR FOR SELECT ${COLUMNS} FROM ${data.table} WHERE id > ${after} ORDER BY id`);
  declare(user.last % data.rows);
  return () => {
    if (ahead.length === 0 && user.last === data.rows) {
      db.exec("CLOSE ahead");
      declare(0);
    }
    const id = following(user);
    if (ahead.length === 0) {
      ahead = db.query(`FETCH ${data.fetch} FROM ahead`).reverse();
    }
    const row = ahead.pop();
    expectContact(user, row, id);
    return row;
  };
}
