// A transaction of the online mix, its kinds in turn: rows read, those to be replaced with a lock; rows that are not there;
// rows replaced and inserted; and a row found by what was just written into it.

import exec from "k6/execution";
import fieldveil from "k6/x/fieldveil";
import { expectContact, replace, select, transaction, COLUMNS } from "../lib/osam.js";
import { contact } from "../lib/values.js";

const { expect } = fieldveil;

// Calls that are no access to a row: BEGIN, SAVEPOINT, RELEASE, COMMIT.
const AROUND = 4;

export function connect(work) {
  const client = exec.vu.idInTest;
  return { db: fieldveil.open(work), data: work.data, table: "", seen: new Map(), random: client * 48271 };
}

export function run(user, iteration) {
  const { db, data } = user;
  const kind = data.kinds[iteration % data.kinds.length];
  user.table = kind.table;
  transaction(db, () => {
    db.exec("SAVEPOINT work");
    const held = [];
    draw(user, kind.reads - 1).forEach((id, place) => {
      const lock = place < kind.replaces;
      const row = select(user, id, lock ? " FOR UPDATE" : "");
      if (lock) held.push(row);
    });
    const accesses = kind.reads + kind.replaces + kind.inserts;
    for (let look = data.calls - AROUND - accesses; look > 0; look--) {
      select(user, -look);
    }
    held.forEach((row) => replace(user, row));
    for (let made = 0; made < kind.inserts; made++) {
      insert(user, data.rows + 1 + iteration * kind.inserts + made);
    }
    find(user, held[held.length - 1]);
    db.exec("RELEASE work");
  });
}

// So many different rows in ascending order, so that no two transactions wait for each other: one of each equal part.
function draw(user, count) {
  const size = Math.floor(user.data.rows / count);
  return Array.from({ length: count }, (_, part) => {
    user.random = (user.random * 48271) % 2147483647;
    return 1 + part * size + (user.random % size);
  });
}

function insert(user, id) {
  const statement = `INSERT INTO ${user.table} (${COLUMNS}, amount) VALUES ($1, 0, $2, $3, $4, $5)`;
  expect(user.db.exec(statement, id, ...contact(id, 0), id) === 1, `${user.table}: a row inserted`);
}

function find(user, { id, version }) {
  const [, ssn] = contact(id, version + 1);
  const rows = user.db.query(`SELECT ${COLUMNS} FROM ${user.table} WHERE ssn = $1`, ssn);
  expect(rows.length === 1, `${user.table}: a row looked for by a protected column`);
  expectContact(user, rows[0], id);
}
