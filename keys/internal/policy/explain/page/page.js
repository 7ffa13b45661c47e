"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);
  const form = one(".filters");
  const fields = { label: one("#label"), principal: one("#principal") };
  const toggles = all("[data-kind]", form);
  const writes = one("button[data-write]", form);
  const clear = one("button[type=reset]", form);
  const status = one("#status");
  const matrix = document.body.dataset.page === "report";

  // Every word must be found; one with an asterisk must be a whole word, of which the asterisk is any part.
  const like = (word) => new RegExp("^" + word.split(/\*+/).map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*") + "$");
  const fits = (text, wanted) =>
    wanted.toLowerCase().split(/\s+/).every((word) =>
      word.includes("*") ? text.split(/\s+/).some((found) => like(word).test(found)) : text.includes(word));
  const lower = (text) => (text || "").toLowerCase();
  const textOf = (cell) => lower(all("span", cell).map((part) => part.textContent).join(" "));
  const plural = (n, of, word) => `${n} of ${of} ${word}${of === 1 ? "" : "s"}`;

  // The state is the fragment, so that a view can be shared.
  const state = () => ({
    label: fields.label.value.trim(),
    principal: fields.principal.value.trim(),
    kinds: toggles.filter((t) => t.getAttribute("aria-pressed") === "true").map((t) => t.dataset.kind),
    write: writes !== null && writes.getAttribute("aria-pressed") === "true",
  });
  const kindsName = matrix ? "treatment" : "verdict";
  let cell = null; // of which the details are shown: [label, principal]
  const remember = () => {
    const now = state();
    const words = new URLSearchParams();
    if (now.label) words.set("label", now.label);
    if (now.principal) words.set("principal", now.principal);
    if (now.kinds.length) words.set(kindsName, now.kinds.join(","));
    if (now.write) words.set("write", "1");
    if (cell) { words.set("show", cell[0]); words.set("for", cell[1]); }
    const text = words.toString();
    history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  };
  const recall = () => {
    const words = new URLSearchParams(location.hash.slice(1));
    fields.label.value = words.get("label") || "";
    fields.principal.value = words.get("principal") || "";
    const kinds = (words.get(kindsName) || "").split(",");
    for (const t of toggles) t.setAttribute("aria-pressed", String(kinds.includes(t.dataset.kind)));
    if (writes) writes.setAttribute("aria-pressed", String(words.get("write") === "1"));
    apply();
    if (matrix && words.has("show")) openFor(words.get("show"), words.get("for"));
  };

  const rows = all(matrix ? ".matrix tbody tr" : ".group tbody tr");
  const heads = matrix ? all(".matrix thead th[data-principal]") : [];
  const applyMatrix = (now) => {
    const columns = heads.map((head) => ({ head, named: fits(textOf(head), now.principal), used: false }));
    const some = now.kinds.length > 0 || now.write;
    let shownRows = 0;
    for (const row of rows) {
      const named = fits(textOf(row.cells[0]), now.label);
      let used = false;
      columns.forEach((column, at) => {
        const td = row.cells[at + 1];
        const right = (!now.kinds.length || now.kinds.includes(td.dataset.kind)) && (!now.write || "write" in td.dataset);
        td.classList.toggle("dim", some && !right);
        if (named && column.named && right) { used = true; column.used = true; }
      });
      row.hidden = !named || !used;
      if (!row.hidden) shownRows += 1;
    }
    let shownColumns = 0;
    columns.forEach((column, at) => {
      const hidden = !column.named || (some && !column.used);
      column.head.hidden = hidden;
      for (const row of rows) row.cells[at + 1].hidden = hidden;
      if (!hidden) shownColumns += 1;
    });
    one(".matrix table").hidden = shownRows === 0 || shownColumns === 0;
    one(".empty").hidden = shownRows > 0 && shownColumns > 0;
    status.textContent = `Showing ${plural(shownRows, rows.length, "label")}, ${plural(shownColumns, heads.length, "principal")}.`;
    rove();
  };
  const applyList = (now) => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(lower(row.dataset.label), now.label) || !fits(lower(row.dataset.principal), now.principal) ||
        (now.kinds.length > 0 && !now.kinds.includes(row.dataset.kind));
      if (!row.hidden) shown += 1;
    }
    for (const part of all(".group table, section.group")) part.hidden = all("tbody tr", part).every((row) => row.hidden);
    one(".empty").hidden = shown > 0 || rows.length === 0;
    status.textContent = `Showing ${plural(shown, rows.length, "change")}.`;
  };
  const apply = () => {
    const now = state();
    clear.hidden = !now.label && !now.principal && !now.kinds.length && !now.write;
    (matrix ? applyMatrix : applyList)(now);
  };
  const changed = () => { apply(); remember(); };

  for (const field of Object.values(fields)) field.addEventListener("input", changed);
  for (const t of [...toggles, writes].filter(Boolean)) {
    t.addEventListener("click", () => {
      t.setAttribute("aria-pressed", String(t.getAttribute("aria-pressed") !== "true"));
      changed();
    });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    for (const t of [...toggles, writes].filter(Boolean)) t.setAttribute("aria-pressed", "false");
    for (const field of Object.values(fields)) field.value = "";
    changed();
    fields.label.focus();
  });
  addEventListener("hashchange", recall);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName) && !one("dialog[open]")) {
      event.preventDefault();
      fields.label.focus();
    }
  });

  // One cell of the grid is in the order of Tab; arrow keys move it.
  const buttons = () => rows.filter((row) => !row.hidden).map((row) => all("td", row).filter((td) => !td.hidden).map((td) => one(".cell", td)));
  const rove = (to) => {
    const held = to || one('.cell[tabindex="0"]');
    const grid = buttons().flat().filter(Boolean);
    for (const button of all('.cell[tabindex="0"]')) button.tabIndex = -1;
    const next = grid.includes(held) ? held : grid[0];
    if (next) next.tabIndex = 0;
    return next;
  };
  const move = (event) => {
    const from = event.target.closest(".cell");
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!from || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    const grid = buttons();
    let y = grid.findIndex((row) => row.includes(from));
    let x = grid[y].indexOf(from);
    do { y += step[0]; x += step[1]; } while (grid[y] && x in grid[y] && !grid[y][x]);
    event.preventDefault();
    if (grid[y] && grid[y][x]) rove(grid[y][x]).focus();
  };

  // Text alone is put in: nothing of a policy is ever read as markup.
  const make = (name, text, ...classes) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    element.classList.add(...classes);
    return element;
  };
  const list = (items) => {
    const ul = make("ul");
    for (const item of items) ul.append(make("li", item));
    return ul;
  };
  const pairs = (entries) => {
    const dl = make("dl");
    for (const [name, value] of entries) if (value) dl.append(make("dt", name), make("dd", value));
    return dl;
  };
  const dialog = one("#details");
  const data = matrix ? JSON.parse(one("#data").textContent) : null;
  const example = (read) => {
    const found = read && data.examples[read.format];
    if (!found) return [];
    const box = make("p", undefined, "example");
    box.append(make("span", "For example", "soft"), make("code", found[0]), make("span", "→"), make("code", found[1]));
    return [box];
  };
  const span = (seconds) => seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
  const decided = (rules, denied) => denied ? make("p", "Everything is refused: " + denied, "soft") : rules.length ? list(rules) : make("p", "No rule speaks of it: this is what everybody gets.", "soft");
  const describe = (label, principal, found, td) => {
    const read = found.read;
    const body = [make("h3", "Reads"), one(".chip", td).cloneNode(true)];
    if (found.write === "seal") body.push(document.createTextNode(" "), one(".write", td).cloneNode(true));
    body.push(make("p", data.means[td.dataset.kind] + ".", "hint"), ...example(read));
    if (read.budget) {
      const then = read.budget.then;
      body.push(make("h3", "Budget"), pairs([
        ["within", `${read.budget.rows} rows in ${span(read.budget.per_seconds)}`],
        ["past it", then.treatment + (then.format ? " " + then.format : "")],
      ]), ...example(then));
    }
    body.push(make("h3", "Decided by"), decided(found.read_by, principal.denied));
    body.push(make("h3", "Writes"), make("p", found.write === "seal" ? "Values may be stored." : "No value may be stored."), decided(found.write_by, principal.denied));
    body.push(make("h3", "Where the label lives"), list(label.places));
    body.push(make("h3", "How it is stored"), pairs([
      ["protection", label.protection], ["keyset", label.keyset], ["type", label.type], ["alphabet", label.alphabet], ["tenant", label.tenant],
      ["mask", label.mask], ["on plaintext", label.on_plaintext], ["accepted leakage", label.accept_leakage],
    ]));
    body.push(make("h3", "Who asks"), pairs([
      ...principal.attributes.map((a) => [a.name, a.value]), ["at", principal.at], ["subject", principal.subject], ["denied", principal.denied],
      ["break-glass", principal.break_glass.join("; ")],
    ]));
    return body;
  };
  const open = (td) => {
    const label = data.labels.find((l) => l.name === td.parentElement.dataset.label);
    const principal = data.principals.find((p) => p.name === td.dataset.principal);
    const found = data.cells.find((c) => c.label === label.name && c.principal === principal.name);
    cell = [label.name, principal.name];
    const title = one("#details-title");
    title.replaceChildren(document.createTextNode(label.name), make("span", "for " + principal.name, "soft"));
    one("#details-body").replaceChildren(...describe(label, principal, found, td));
    dialog.showModal();
    dialog.scrollTop = 0;
    title.focus();
    remember();
  };
  const openFor = (label, principal) => {
    const row = rows.find((r) => r.dataset.label === label);
    const td = row && all("td", row).find((t) => t.dataset.principal === principal);
    if (td && one(".cell", td) && !dialog.open) open(td);
  };
  if (matrix) {
    const table = one(".matrix table");
    table.addEventListener("click", (event) => {
      const button = event.target.closest(".cell");
      if (button) { rove(button); open(button.closest("td")); }
    });
    table.addEventListener("keydown", move);
    table.addEventListener("focusin", (event) => { if (event.target.matches(".cell")) rove(event.target); });
    dialog.addEventListener("close", () => { cell = null; remember(); });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
  recall();
})();
