// A session: connect, ask for 1, close.

import fieldveil from "k6/x/fieldveil";

import { expect } from "../lib/connect.js";

export function connect(work) {
  return { work };
}

// It throws where 1 is not what comes back.
export function run({ work }) {
  expect(fieldveil.session(work) > 0, "a session that answered");
}
