// What the Node.js clients share: the values, the order of the steps, and one line of JSON for each.
import { isDeepStrictEqual, inspect } from "node:util";

export const USER = "app";
export const REFUSED = "0A000";
export const NEW_EMAIL = "new@example.com";
export const NEW_BALANCE = "-0.05";
export const EMAILS = ["one@example.com", "two@example.com"];
export const BATCH = range(100, 119);
export const PREPARED = range(200, 209);

// In this order.
const STEPS = [
  "connect", "write", "read", "search", "update", "upsert", "batch", "prepared", "binary", "transaction", "null",
  "refusal", "copy_in", "copy_out",
];
// How long one step may take, in ms: a hang is a failure with a name.
const LIMIT = 30_000;

// The row that is there from the beginning. JavaScript's Date is an instant: `made` is one by the machine's own zone.
export const ROW = {
  id: 1,
  name: "Zoë",
  ssn: "078-05-1120",
  ref: "c56a4180-65aa-42ec-a945-5fd21dec0538",
  email: "zoë@example.com",
  born: "1980-05-17",
  balance: "1234.50",
  visits: 42,
  score: 0.1,
  active: true,
  seen: new Date("2024-02-29T10:00:00.5Z"),
  made: new Date(1999, 11, 31, 23, 59, 59, 123),
  extra: { a: [1, 2.5], b: "x" },
  photo: Buffer.from([0x00, 0xff, 0x10]),
};

const ODD = "tab\tand \\ and\nline";
// id, name, email, ssn, born: what is copied in.
export const COPIED = [
  [600, "first", "first@example.com", "ssn-600", "2000-02-29"],
  [601, ODD, ODD, "ssn-601", "0001-01-01"],
  [602, "last", "", "ssn-602", null],
];

// A value came back, and not the one that was to.
class Wrong extends Error {}
// The driver has no such thing.
export class Absent extends Error {}

export const ssn = (id) => `ssn-${id}`;

// All columns of the row with this id.
export function row(id) {
  const ref = `00000000-0000-0000-0000-${id.toString(16).padStart(12, "0")}`;
  return { ...ROW, id, ssn: ssn(id), ref };
}

export function expect(what, got, wanted) {
  if (!isDeepStrictEqual(got, wanted)) {
    throw new Wrong(`${what}: ${inspect(got, { breakLength: Infinity })} instead of ${inspect(wanted, { breakLength: Infinity })}`);
  }
}

// Runs the steps in order, each with a connection that the ones before left usable.
export async function run(client, steps, connect, close) {
  let connection;
  for (const step of STEPS) {
    let [ok, code, detail] = [true, "", ""];
    try {
      connection ??= await connect();
      await limited(steps[step](connection));
    } catch (error) {
      ok = error instanceof Absent ? null : false;
      [code, detail] = [sqlState(error), String(error.cause?.message ?? error.message).split("\n")[0]];
      if (ok === false && connection) {
        await close(connection).catch(() => {});
        connection = undefined;
      }
    }
    console.log(JSON.stringify({ client, step, ok, code, detail }));
  }
  if (connection) await close(connection);
}

// The server's code, wherever in the chain it is.
export function sqlState(error) {
  for (let cause = error; cause; cause = cause.cause) {
    if (/^[0-9A-Z]{5}$/.test(cause.code ?? "")) return cause.code;
    // Drivers of MySQL have another code beside it.
    if (cause.sqlState) return cause.sqlState;
  }
  return "";
}

async function limited(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("no end within the limit")), LIMIT);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, number) => first + number);
}
