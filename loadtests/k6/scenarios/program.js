// A program that works on a database by itself: its command line, what it finds in its environment, and how many units of work it does.

import fieldveil from "k6/x/fieldveil";

export function connect(work) {
  return work.data;
}

export function run({ argv, env, units }) {
  const { seconds } = fieldveil.command(argv, { env });
  fieldveil.expect(seconds > 0, "the program ended well");
  return units;
}
