// mysql2, with its connection from the environment: `mysql2.js text|prepared`, by its two ways of asking.
import { readFileSync } from "node:fs";
import mysql from "mysql2/promise";
import { Absent, BATCH, EMAILS, NEW_BALANCE, NEW_EMAIL, PREPARED, ROW, USER, expect, row, run, sqlState, ssn } from "./steps.js";

const WAY = process.argv[2];
const REFUSED = "42000";
// MySQL has no type for an instant.
const NAMES = Object.keys(ROW).filter((name) => name !== "seen");
const INSERT = `INSERT INTO person (${NAMES}) VALUES (${NAMES.map(() => "?")})`;
const SELECT = `SELECT ${NAMES} FROM person WHERE id = ?`;
const SHORT = "INSERT INTO person (id, ssn) VALUES (?, ?)";
const SSN_OF = "SELECT ssn FROM person WHERE id = ?";

// A truth value is a number.
const given = (wanted) => ({ ...wanted, active: Number(wanted.active) });
const json = (value) => (typeof value === "string" ? JSON.parse(value) : value);

function values(of) {
  return NAMES.map((name) => (name === "extra" ? JSON.stringify(of[name]) : name === "active" ? Number(of[name]) : of[name]));
}

async function ask(client, text, values = []) {
  const [rows] = await (WAY === "prepared" ? client.execute(text, values) : client.query(text, values));
  return rows;
}

async function first(client, text, values) {
  return (await ask(client, text, values))[0];
}

async function expectRow(client, wanted) {
  const got = await first(client, SELECT, [wanted.id]);
  // MariaDB has JSON as a text.
  expect("row", { ...got, extra: json(got.extra) }, given(Object.fromEntries(NAMES.map((name) => [name, wanted[name]]))));
}

async function expectSsn(client, id, wanted) {
  expect("ssn", (await first(client, SSN_OF, [id]))?.ssn, wanted);
}

async function many(client, ids, how) {
  for (const id of ids) await how.call(client, SHORT, [id, ssn(id)]);
  for (const id of ids) {
    const [rows] = await how.call(client, SSN_OF, [id]);
    expect("ssn", rows.map(({ ssn }) => ssn), [ssn(id)]);
  }
}

async function none() {
  throw new Absent("MySQL has no COPY");
}

const steps = {
  async connect(client) {
    const { user } = await first(client, "SELECT CURRENT_USER() AS user");
    expect("current_user", user.split("@")[0], USER);
  },
  async write(client) {
    await ask(client, INSERT, values(row(10)));
  },
  async read(client) {
    await expectRow(client, ROW);
  },
  async search(client) {
    for (const column of ["ssn", "ref"]) {
      const found = await ask(client, `SELECT id FROM person WHERE ${column} = ?`, [ROW[column]]);
      expect(`found by ${column}`, found.map(({ id }) => id), [1]);
    }
    expect("found by another", await ask(client, "SELECT id FROM person WHERE ssn = ?", ["no"]), []);
  },
  async update(client) {
    await ask(client, SHORT, [2, ssn(2)]);
    await ask(client, "UPDATE person SET email = ?, balance = ? WHERE ssn = ?", [NEW_EMAIL, NEW_BALANCE, ssn(2)]);
    const got = await first(client, "SELECT email, balance FROM person WHERE id = 2");
    expect("read again", { ...got }, { email: NEW_EMAIL, balance: NEW_BALANCE });
  },
  async upsert(client) {
    const text = "INSERT INTO person (id, ssn, email) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE email = VALUES(email)";
    for (const email of EMAILS) await ask(client, text, [3, ssn(3), email]);
    expect("email", (await first(client, "SELECT email FROM person WHERE id = 3")).email, EMAILS[1]);
  },
  async batch(client) {
    await client.query("INSERT INTO person (id, ssn) VALUES ?", [BATCH.map((id) => [id, ssn(id)])]);
    for (const id of BATCH) await expectSsn(client, id, ssn(id));
  },
  async prepared(client) {
    if (WAY === "text") throw new Absent("the values are in the text, so there is nothing to prepare");
    await many(client, PREPARED, client.execute);
  },
  async binary(client) {
    if (WAY === "text") throw new Absent("the binary protocol is that of prepared statements");
    await ask(client, INSERT, values(row(300)));
    await expectRow(client, row(300));
  },
  async transaction(client) {
    await client.beginTransaction();
    await ask(client, SHORT, [400, ssn(400)]);
    await expectSsn(client, 400, ssn(400));
    await client.rollback();
    await expectSsn(client, 400, undefined);
    await client.beginTransaction();
    await ask(client, SHORT, [401, ssn(401)]);
    await client.commit();
    await expectSsn(client, 401, ssn(401));
  },
  async null(client) {
    await ask(client, "INSERT INTO person (id, ssn, email, born) VALUES (500, ?, ?, ?)", [null, "", null]);
    const got = await first(client, "SELECT ssn, email, born FROM person WHERE id = 500");
    expect("NULL, empty, NULL", { ...got }, { ssn: null, email: "", born: null });
  },
  async refusal(client) {
    const error = await ask(client, "SELECT id FROM person ORDER BY ssn").then(() => undefined, (error) => error);
    expect("SQLSTATE", sqlState(error), REFUSED);
    await expectSsn(client, 1, ROW.ssn);
  },
  copy_in: none,
  copy_out: none,
};

function connect() {
  const { MYSQL_HOST: host, MYSQL_PORT: port, MYSQL_USER: user, MYSQL_PASSWORD: password, MYSQL_DATABASE: database } = process.env;
  const ca = process.env.MYSQL_CA;
  const ssl = ca ? { ca: readFileSync(ca), verifyIdentity: true } : undefined;
  // A date is no instant.
  return mysql.createConnection({ host, port, user, password, database, ssl, dateStrings: ["DATE"] });
}

await run(`mysql2-${WAY}`, steps, connect, (client) => client.end());
