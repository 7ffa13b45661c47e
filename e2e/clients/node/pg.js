// node-postgres, with its connection from the environment.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import {
  BATCH, COPIED, EMAILS, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, expect, row, run, sqlState, ssn,
} from "./steps.js";

const COLUMNS = Object.keys(ROW).join(", ");
const INSERT = `INSERT INTO person (${COLUMNS}) VALUES (${Object.keys(ROW).map((_, number) => `$${number + 1}`)})`;
const SELECT = `SELECT ${COLUMNS} FROM person WHERE id = $1`;
const SHORT = "INSERT INTO person (id, ssn) VALUES ($1, $2)";
const SSN_OF = "SELECT ssn FROM person WHERE id = $1";
// Those for which node-postgres reads the binary format right; its float8 and timestamptz are not what the server has.
const IN_BINARY = ["ssn", "email", "visits", "active"];

// node-postgres gives int8 as text, for it may be larger than a number, and a date as local midnight.
const given = (wanted) => ({ ...wanted, id: String(wanted.id), born: midnight(wanted.born) });

function midnight(date) {
  const [year, month, day] = date.split("-").map(Number);
  return new Date(year, month - 1, day);
}

async function first(client, text, values) {
  return (await client.query(text, values)).rows[0];
}

async function expectSsn(client, id, wanted) {
  expect("ssn", (await first(client, SSN_OF, [id]))?.ssn, wanted);
}

const steps = {
  async connect(client) {
    expect("current_user", await first(client, "SELECT current_user"), { current_user: USER });
  },
  async write(client) {
    await client.query(INSERT, Object.values({ ...row(10), born: midnight(ROW.born) }));
  },
  async read(client) {
    expect("row", { ...(await first(client, SELECT, [1])) }, given(ROW));
  },
  async search(client) {
    for (const column of ["ssn", "ref"]) {
      const found = await client.query(`SELECT id FROM person WHERE ${column} = $1`, [ROW[column]]);
      expect(`found by ${column}`, found.rows.map(({ id }) => id), ["1"]);
    }
    expect("found by another", await first(client, "SELECT id FROM person WHERE ssn = $1", ["no"]), undefined);
  },
  async update(client) {
    await client.query(SHORT, [2, ssn(2)]);
    const text = "UPDATE person SET email = $1, balance = $2 WHERE ssn = $3 RETURNING id, email, balance";
    const got = await first(client, text, [NEW_EMAIL, NEW_BALANCE, ssn(2)]);
    expect("returned", got, { id: "2", email: NEW_EMAIL, balance: NEW_BALANCE });
  },
  async upsert(client) {
    const text =
      "INSERT INTO person (id, ssn, email) VALUES ($1, $2, $3) " +
      "ON CONFLICT (id) DO UPDATE SET email = EXCLUDED.email RETURNING email";
    for (const email of EMAILS) expect("returned", await first(client, text, [3, ssn(3), email]), { email });
    expect("email", await first(client, "SELECT email FROM person WHERE id = 3"), { email: EMAILS[1] });
  },
  // Queued all at once; node-postgres sends each when the one before is answered.
  async batch(client) {
    await Promise.all(BATCH.map((id) => client.query(SHORT, [id, ssn(id)])));
    await Promise.all(BATCH.map((id) => expectSsn(client, id, ssn(id))));
  },
  async prepared(client) {
    for (const id of PREPARED) await client.query({ name: "put", text: SHORT, values: [id, ssn(id)] });
    for (const id of PREPARED) {
      const { rows } = await client.query({ name: "get", text: SSN_OF, values: [id] });
      expect("ssn", rows, [{ ssn: ssn(id) }]);
    }
  },
  async binary(client) {
    const wanted = row(300);
    const columns = Object.keys(ROW);
    const values = columns.map((name) => (name === "made" ? "1999-12-31 23:59:59.123" : wanted[name]));
    const numbers = columns.map((_, number) => `$${number + 1}`);
    await client.query(`INSERT INTO person (${columns}) VALUES (${numbers})`, values);
    const text = `SELECT ${IN_BINARY} FROM person WHERE id = $1`;
    const { rows } = await client.query({ text, values: [300], binary: true });
    expect("row", rows, [Object.fromEntries(IN_BINARY.map((name) => [name, wanted[name]]))]);
  },
  async transaction(client) {
    await client.query("BEGIN");
    await client.query(SHORT, [400, ssn(400)]);
    await expectSsn(client, 400, ssn(400));
    await client.query("ROLLBACK");
    await expectSsn(client, 400, undefined);
    await client.query("BEGIN");
    await client.query(SHORT, [401, ssn(401)]);
    await client.query("COMMIT");
    await expectSsn(client, 401, ssn(401));
  },
  async null(client) {
    await client.query("INSERT INTO person (id, ssn, email, born) VALUES (500, $1, $2, $3)", [null, "", null]);
    const got = await first(client, "SELECT ssn, email, born FROM person WHERE id = 500");
    expect("NULL, empty, NULL", got, { ssn: null, email: "", born: null });
  },
  async refusal(client) {
    const error = await client.query("SELECT id FROM person ORDER BY ssn").then(() => undefined, (error) => error);
    expect("SQLSTATE", sqlState(error), REFUSED);
    await expectSsn(client, 1, ROW.ssn);
  },
  async copy_in(client) {
    const escape = (text) => text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n");
    const lines = COPIED.map((values) => values.map((value) => (value === null ? "\\N" : escape(String(value)))).join("\t"));
    const into = client.query(copyFrom("COPY person (id, name, email, ssn, born) FROM STDIN"));
    await pipeline(Readable.from(lines.map((line) => `${line}\n`)), into);
    const text = "SELECT id, name, email, ssn, born FROM person WHERE id BETWEEN 600 AND 602 ORDER BY id";
    const { rows } = await client.query({ text, rowMode: "array", types: { getTypeParser: () => (value) => value } });
    expect("copied", rows, COPIED.map(([id, ...others]) => [String(id), ...others]));
  },
  async copy_out(client) {
    const chunks = [];
    for await (const chunk of client.query(copyTo("COPY person (id, ssn, born) TO STDOUT"))) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString().split("\n");
    expect("copied", lines.filter((line) => line.startsWith("1\t")), [`1\t${ROW.ssn}\t${ROW.born}`]);
  },
};

async function connect() {
  const client = new pg.Client();
  // Without it, the server's end of a session ends this process.
  client.on("error", () => {});
  await client.connect();
  return client;
}

await run("pg", steps, connect, (client) => client.end());
