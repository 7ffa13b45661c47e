"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);
  const make = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const narrow = () => window.innerWidth < 700;
  const shown = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const number = (value) => (Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : shown.format(value));
  // Plotly reads texts as a little HTML; names are texts.
  const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const between = ([median, least, most]) => (least === most ? number(median) : `${number(median)} (${number(least)} to ${number(most)})`);

  // Looks: a target has the same colour and mark everywhere.
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const known = ["direct", "envoy-tcp", "envoy-noop", "fieldveil", "pgbouncer"];
  // What is for the same thing over HTTP has the same looks.
  const alike = { "direct-http": "direct", "envoy-http": "envoy-tcp", "fieldveil-json": "fieldveil" };
  const names = [...known, ...data.targets.filter((target) => !known.includes(target) && !alike[target])];
  const place = (target) => Math.max(names.indexOf(alike[target] || target), 0);
  const colour = (target) => css(`--c${place(target) % 8}`);
  const faint = (hex) => hex + "22";
  const symbol = (target) => ["circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon"][place(target) % 8];
  const dash = (target) => ["solid", "dash", "dot", "solid", "dashdot", "longdash", "dash", "dot"][place(target) % 8];
  const inOrder = (targets) => [...targets].sort((a, b) => place(a) - place(b));

  const axis = (more = {}) => ({ gridcolor: css("--grid"), linecolor: css("--line"), zeroline: false, automargin: true, fixedrange: narrow(), ...more });
  const layout = (more = {}) => ({
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--text") },
    margin: { l: 8, r: 12, t: 8, b: 8 },
    height: 320,
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
    hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--text"), size: 12 } },
    dragmode: narrow() ? false : "zoom",
    ...more,
  });
  const config = { displayModeBar: false, responsive: true };

  // Marks on a logarithmic axis: as many as can be read, the 1 among them.
  const ticks = (least, most, room) => {
    const steps = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];
    for (const step of steps) {
      const found = [];
      for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power++)
        for (const digit of step) found.push(Number((digit * 10 ** power).toPrecision(3)));
      const within = found.filter((value) => value >= least * 0.999 && value <= most * 1.001);
      if (within.length <= room) return within;
    }
    return [];
  };
  const logAxis = (values, room, more = {}) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const pad = Math.max((most / least) ** 0.06, 1.04);
    const [from, to] = [least / pad, most * pad];
    let tickvals = ticks(from, to, room);
    if (tickvals.length < 2) tickvals = [least, most];
    return axis({ type: "log", range: [Math.log10(from), Math.log10(to)], tickvals, ticktext: tickvals.map(number), ...more });
  };

  // Latency: the percentiles by how rare they are, so that the slow ones have room.
  const rarity = (percentile) => -Math.log10(1 - percentile / 100);
  const PERCENTILES = [0, 50, 90, 99, 99.9];
  const latency = (scenario) => {
    const traces = [];
    const values = [];
    for (const target of inOrder(Object.keys(scenario.latency))) {
      const curve = scenario.latency[target];
      const x = curve.map(([percentile]) => rarity(percentile));
      values.push(...curve.flatMap(([, , least, most]) => [least, most]));
      traces.push({
        x: [...x, ...[...x].reverse()], y: [...curve.map((point) => point[2]), ...curve.map((point) => point[3]).reverse()],
        fill: "toself", fillcolor: faint(colour(target)), line: { width: 0 }, mode: "lines", hoverinfo: "skip", showlegend: false, legendgroup: target,
      });
      traces.push({
        x, y: curve.map((point) => point[1]), name: plain(target), legendgroup: target, mode: "lines+markers",
        line: { color: colour(target), width: (alike[target] || target) === "fieldveil" ? 3 : 2, dash: dash(target) }, marker: { symbol: symbol(target), size: 6, color: colour(target) },
        text: curve.map(([percentile, ...figure]) => `${percentile ? "p" + percentile : "fastest"}: ${between(figure)} µs`), hovertemplate: "%{text}",
      });
    }
    const marks = { tickvals: PERCENTILES.map(rarity), ticktext: PERCENTILES.map((value) => (value ? `p${value}` : "min")), range: [-0.05, 3.05] };
    return { traces, layout: layout({ xaxis: axis(marks), yaxis: logAxis(values, 9, { title: { text: "µs" } }) }) };
  };

  // Bars: their sum stands above each, the spread is in the error bars or under the pointer.
  const above = (targets, heights, texts) =>
    targets.map((target, at) => ({ x: plain(target), y: heights[at], text: texts[at], showarrow: false, yanchor: "bottom", yshift: 2, font: { size: 12 } }));
  // Places by name, in lines short enough to stand beside each other.
  const across = (places) => ({ type: "category", tickangle: 0, tickvals: places.map(plain), ticktext: places.map((name) => wrapped(name, narrow() ? 8 : 14)) });
  const barLayout = (targets, heights, texts, title) => layout({
    barmode: "stack", bargap: 0.35, annotations: above(targets, heights, texts),
    xaxis: axis({ ...across(targets), fixedrange: true }),
    yaxis: axis({ rangemode: "tozero", range: [0, Math.max(...heights, 1e-9) * 1.14], title: { text: title }, separatethousands: true }),
  });
  const PARTS = { proxy: "proxy", opa: "OPA", agent: "key agent", server: "server" };
  const stack = (found, parts, title) => {
    const used = parts.filter((part) => Object.keys(found[part] || {}).length);
    const targets = inOrder(new Set(used.flatMap((part) => Object.keys(found[part]))));
    const traces = used.map((part) => ({
      type: "bar", name: PARTS[part], x: targets.map(plain), y: targets.map((target) => found[part][target]?.[0] ?? 0),
      marker: { color: css({ proxy: "--p0", server: "--p1", opa: "--p2", agent: "--p3" }[part]) },
      text: targets.map((target) => (found[part][target] ? between(found[part][target]) : "not measured")), textposition: "none",
      hovertemplate: `%{x}, ${PARTS[part]}: %{text}<extra></extra>`,
    }));
    const heights = targets.map((target) => used.reduce((sum, part) => sum + (found[part][target]?.[0] ?? 0), 0));
    return { traces, layout: barLayout(targets, heights, heights.map(number), title) };
  };
  const rate = (scenario) => {
    const targets = inOrder(Object.keys(scenario.rate));
    const figures = targets.map((target) => scenario.rate[target]);
    const traces = [{
      type: "bar", x: targets.map(plain), y: figures.map(([median]) => median), marker: { color: targets.map(colour) }, showlegend: false,
      error_y: spread(figures), text: figures.map(between), textposition: "none", hovertemplate: "%{x}: %{text}<extra></extra>",
    }];
    return { traces, layout: barLayout(targets, figures.map(([, , most]) => most), figures.map(([median]) => number(median)), `${plain(scenario.units)} a second`) };
  };
  const spread = (figures) => ({
    type: "data", symmetric: false, thickness: 1.5, width: 4, color: css("--text"),
    array: figures.map(([median, , most]) => most - median), arrayminus: figures.map(([median, least]) => median - least),
  });

  // Ratios: a line for each scenario, each target's mark with its spread, and the 1 to hold them against.
  const wrapped = (name, room) => {
    const lines = [""];
    for (const word of name.split(/(?<=[-, ])/)) {
      if (lines.at(-1).length + word.length > room && lines.at(-1)) lines.push("");
      lines[lines.length - 1] += word;
    }
    return lines.map(plain).join("<br>");
  };
  const ratio = (suite, base, measure) => {
    const found = suite.ratios[base][measure] || {};
    const targets = inOrder(Object.keys(found));
    const scenarios = Object.keys(suite.scenarios).filter((name) => targets.some((target) => found[target][name]));
    const values = [1];
    const traces = targets.map((target, at) => {
      const here = scenarios.filter((name) => found[target][name]);
      const figures = here.map((name) => found[target][name]);
      values.push(...figures.flatMap(([, least, most]) => [least, most]));
      return {
        x: figures.map(([median]) => median), y: here.map((name) => scenarios.indexOf(name) + (at - (targets.length - 1) / 2) * 0.18),
        name: plain(target), mode: "markers", marker: { color: colour(target), symbol: symbol(target), size: 9 }, error_x: { ...spread(figures), color: colour(target) },
        text: here.map((name, n) => `${plain(name)}: ${between(figures[n])}`), hovertemplate: "%{text}",
      };
    });
    const rows = {
      tickvals: scenarios.map((_, at) => at), ticktext: scenarios.map((name) => wrapped(name, narrow() ? 13 : 24)),
      range: [scenarios.length - 0.45, -0.55], showgrid: false, fixedrange: true,
    };
    const shapes = [{ type: "line", x0: 1, x1: 1, y0: 0, y1: 1, yref: "paper", line: { color: css("--soft"), width: 1.5, dash: "dot" } }];
    scenarios.forEach((_, at) => at % 2 || shapes.push({
      type: "rect", x0: 0, x1: 1, xref: "paper", y0: at - 0.5, y1: at + 0.5, fillcolor: css("--head"), line: { width: 0 }, layer: "below",
    }));
    const height = 110 + scenarios.length * Math.max(34, targets.length * 12);
    return { traces, layout: layout({ height, shapes, yaxis: axis(rows), xaxis: logAxis(values, narrow() ? 6 : 9, { ticksuffix: "" }) }) };
  };

  // A table of numbers: curves where what is across is a number, bars else.
  const table = ({ values, unit }) => {
    const places = [...new Set(Object.values(values).flatMap((series) => Object.keys(series)))];
    const numeric = places.length > 2 && places.every((x) => Number(x) > 0);
    const heights = Object.values(values).flatMap((series) => Object.values(series));
    const wide = heights.every((y) => y > 0) && Math.max(...heights) > 20 * Math.min(...heights);
    const traces = Object.entries(values).map(([name, series], at) => ({
      type: numeric ? "scatter" : "bar", mode: "lines+markers", name: plain(name), x: Object.keys(series).map((x) => (numeric ? Number(x) : plain(x))), y: Object.values(series),
      marker: { color: css(`--c${(at + 1) % 8}`), symbol: symbol(names[at % names.length]), size: numeric ? 7 : undefined },
      line: { dash: at < 8 ? "solid" : "dot" },
      text: Object.values(series).map(number), textposition: "none", hovertemplate: `%{x}: %{text} ${plain(unit)}`,
    }));
    const xaxis = numeric
      ? axis({ type: "log", tickvals: places.map(Number), ticktext: places.map((x) => Number(x).toLocaleString("en")) })
      : axis(across(places));
    const yaxis = wide ? logAxis(heights, 9, { title: { text: plain(unit) } }) : axis({ rangemode: "tozero", title: { text: plain(unit) } });
    // Bars on a logarithmic axis would say nothing by their length.
    if (wide && !numeric) traces.forEach((trace) => Object.assign(trace, { type: "scatter", mode: "markers", marker: { ...trace.marker, size: 10 } }));
    return { traces, layout: layout({ xaxis, yaxis, showlegend: traces.length > 1, height: 340 + traces.length * 14 }) };
  };

  // A chart is drawn when it comes near the window, and drawn anew when the looks change.
  const charts = new Map();
  const draw = (element) => {
    const { traces, layout: looks } = charts.get(element)();
    element.style.minHeight = `${looks.height}px`;
    if (traces.some((trace) => trace.y.length)) {
      Plotly.react(element, traces, looks, config);
    } else {
      if (element.data) Plotly.purge(element);
      element.replaceChildren(make("p", { className: "none", textContent: "Not measured." }));
    }
    element.dataset.drawn = "yes";
  };
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !entry.target.dataset.drawn) draw(entry.target);
  }, { rootMargin: "600px" });
  const register = (element, build) => {
    charts.set(element, build);
    // Its room is there before it is drawn, so that nothing moves under a reader's pointer.
    element.style.minHeight = `${build().layout.height}px`;
    near.observe(element);
  };
  const redraw = () => charts.forEach((_, element) => element.dataset.drawn && element.checkVisibility() && draw(element));
  window.addEventListener("beforeprint", () => all("details").forEach((folded) => { folded.open = true; }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let wasNarrow = narrow();
  window.addEventListener("resize", () => {
    if (wasNarrow !== narrow()) redraw();
    wasNarrow = narrow();
  });

  const selector = (select, suite, base, usual, element) => {
    const offered = Object.keys(data.measures).filter((measure) => suite.ratios[base][measure]);
    for (const measure of offered) select.append(make("option", { value: measure, textContent: data.measures[measure].title }));
    if (offered.includes(usual)) select.value = usual;
    select.addEventListener("change", () => draw(element));
    register(element, () => ratio(suite, base, select.value));
  };

  const chapter = (section) => {
    const suite = data.suites[section.dataset.suite];
    for (const element of all("[data-chart=ratio]", section)) {
      const base = element.dataset.base;
      selector(one(`select[data-base="${base}"]`, section), suite, base, (alike[base] || base) === "direct" ? "latency_us.50" : "cpu_us.sidecar", element);
    }
    const panels = all("[data-scenario]", section);
    if (!panels.length) return;
    const select = one("[data-scenarios]", section);
    const drawn = {
      "Latency of a call by percentile": latency,
      "CPU an operation": (scenario) => stack(scenario.cpu, ["proxy", "opa", "agent", "server"], "µs an operation"),
      "Operations a second": rate,
      "Memory of the sidecar": (scenario) => stack(scenario.memory, ["proxy", "opa", "agent"], "MiB"),
    };
    const show = (name) => {
      select.value = name;
      for (const panel of panels) {
        panel.hidden = panel.dataset.scenario !== name;
        const charts = one("[data-charts]", panel);
        if (panel.hidden || charts.children.length) continue;
        const scenario = suite.scenarios[name];
        for (const [title, build] of Object.entries(drawn)) {
          const said = title === "Operations a second" && scenario.kind === "arrival" ? `${title}, as many as were asked for` : title;
          const element = make("div", { className: "chart" });
          charts.append(make("figure", {}, make("figcaption", { textContent: said }), element));
          register(element, () => build(scenario));
        }
      }
    };
    const step = (by) => {
      select.selectedIndex = (select.selectedIndex + by + panels.length) % panels.length;
      show(select.value);
    };
    select.addEventListener("change", () => show(select.value));
    for (const button of all("[data-step]", section)) button.addEventListener("click", () => step(Number(button.dataset.step)));
    one(".picker", section).hidden = panels.length < 2;
    show(panels[0].dataset.scenario);
    // A link to a scenario shows it.
    const follow = () => {
      const wanted = panels.find((panel) => "#" + panel.id === location.hash);
      if (!wanted) return;
      show(wanted.dataset.scenario);
      wanted.scrollIntoView();
    };
    window.addEventListener("hashchange", follow);
    follow();
  };

  all("section[data-suite]").forEach(chapter);
  for (const element of all("[data-table]")) register(element, () => table(data.tables[element.dataset.table]));
  for (const swatch of all("[data-target]")) swatch.style.background = colour(swatch.dataset.target);
  document.body.dataset.ready = "yes";
})();
