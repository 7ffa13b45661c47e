// Drizzle over node-postgres, with its connection from the environment.
import { asc, eq, inArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import {
  bigint, boolean, customType, date, doublePrecision, integer, json, numeric, pgTable, text, timestamp, uuid,
} from "drizzle-orm/pg-core";
import pg from "pg";
import {
  Absent, BATCH, EMAILS, NEW_BALANCE, NEW_EMAIL, PREPARED, REFUSED, ROW, USER, expect, row, run, sqlState, ssn,
} from "./steps.js";

const bytea = customType({ dataType: () => "bytea" });

const person = pgTable("person", {
  id: bigint({ mode: "number" }).primaryKey(),
  name: text(),
  ssn: text(),
  ref: uuid(),
  email: text(),
  born: date(),
  balance: numeric({ precision: 12, scale: 2 }),
  visits: integer(),
  score: doublePrecision(),
  active: boolean(),
  seen: timestamp({ withTimezone: true }),
  made: timestamp(),
  extra: json(),
  photo: bytea(),
});

async function ssnOf(db, id) {
  return (await db.select({ ssn: person.ssn }).from(person).where(eq(person.id, id)))[0]?.ssn;
}

const noCopy = async () => {
  throw new Absent("Drizzle has no COPY of its own");
};

const steps = {
  async connect({ db }) {
    expect("current_user", (await db.execute(sql`SELECT current_user`)).rows, [{ current_user: USER }]);
  },
  async write({ db }) {
    // Drizzle takes a timestamp without a zone for UTC, both ways.
    await db.insert(person).values({ ...row(10), made: utc(ROW.made) });
  },
  async read({ db }) {
    expect("row", await db.select().from(person).where(eq(person.id, 1)), [{ ...ROW, made: utc(ROW.made) }]);
  },
  async search({ db }) {
    for (const column of ["ssn", "ref"]) {
      const found = await db.select({ id: person.id }).from(person).where(eq(person[column], ROW[column]));
      expect(`found by ${column}`, found, [{ id: 1 }]);
    }
    expect("found by another", await db.select().from(person).where(eq(person.ssn, "no")), []);
  },
  async update({ db }) {
    await db.insert(person).values({ id: 2, ssn: ssn(2) });
    const changed = db.update(person).set({ email: NEW_EMAIL, balance: NEW_BALANCE }).where(eq(person.ssn, ssn(2)));
    const got = await changed.returning({ id: person.id, email: person.email, balance: person.balance });
    expect("returned", got, [{ id: 2, email: NEW_EMAIL, balance: NEW_BALANCE }]);
  },
  async upsert({ db }) {
    for (const email of EMAILS) {
      const insert = db.insert(person).values({ id: 3, ssn: ssn(3), email });
      const got = await insert.onConflictDoUpdate({ target: person.id, set: { email } }).returning({ email: person.email });
      expect("returned", got, [{ email }]);
    }
    expect("email", await db.select({ email: person.email }).from(person).where(eq(person.id, 3)), [{ email: EMAILS[1] }]);
  },
  // One INSERT of all rows.
  async batch({ db }) {
    const rows = BATCH.map((id) => ({ id, ssn: ssn(id) }));
    await db.insert(person).values(rows);
    const found = db.select({ id: person.id, ssn: person.ssn }).from(person).where(inArray(person.id, BATCH));
    expect("rows", await found.orderBy(asc(person.id)), rows);
  },
  async prepared({ db }) {
    const values = { id: sql.placeholder("id"), ssn: sql.placeholder("ssn") };
    const put = db.insert(person).values(values).prepare("put");
    const get = db.select({ ssn: person.ssn }).from(person).where(eq(person.id, sql.placeholder("id"))).prepare("get");
    for (const id of PREPARED) await put.execute({ id, ssn: ssn(id) });
    for (const id of PREPARED) expect("ssn", await get.execute({ id }), [{ ssn: ssn(id) }]);
  },
  async binary() {
    throw new Absent("Drizzle has no switch for the binary format");
  },
  async transaction({ db }) {
    const undo = new Error("undo");
    const undone = db.transaction(async (tx) => {
      await tx.insert(person).values({ id: 400, ssn: ssn(400) });
      expect("before the rollback", await ssnOf(tx, 400), ssn(400));
      throw undo;
    });
    await undone.catch((error) => {
      if (error !== undo) throw error;
    });
    expect("after the rollback", await ssnOf(db, 400), undefined);
    await db.transaction((tx) => tx.insert(person).values({ id: 401, ssn: ssn(401) }));
    expect("after the commit", await ssnOf(db, 401), ssn(401));
  },
  async null({ db }) {
    await db.insert(person).values({ id: 500, ssn: null, email: "", born: null });
    const columns = { ssn: person.ssn, email: person.email, born: person.born };
    const got = await db.select(columns).from(person).where(eq(person.id, 500));
    expect("NULL, empty, NULL", got, [{ ssn: null, email: "", born: null }]);
  },
  async refusal({ db }) {
    const ordered = db.select({ id: person.id }).from(person).orderBy(person.ssn);
    const error = await ordered.then(() => undefined, (error) => error);
    expect("SQLSTATE", sqlState(error), REFUSED);
    expect("after it", await ssnOf(db, 1), ROW.ssn);
  },
  copy_in: noCopy,
  copy_out: noCopy,
};

// The instant whose UTC fields are this one's local fields.
function utc(local) {
  return new Date(local.getTime() - local.getTimezoneOffset() * 60_000);
}

async function connect() {
  const client = new pg.Client();
  client.on("error", () => {});
  await client.connect();
  return { client, db: drizzle({ client }) };
}

await run("drizzle", steps, connect, ({ client }) => client.end());
