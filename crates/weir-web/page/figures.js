"use strict";
// Figures of a result: which there are, a chart of one with its intervals and closed forms, and a table of the same.

const NO_SUBJECT = new Set(["discipline", "reference", "metric", "statistic", "unit", "method", "reason", "formula", "value", "side"]);

/** Of what a figure is, in words: `class page`, `all cores`, or `all`. */
weir.subjectOf = (row) => {
  const parts = Object.entries(row).filter(([key, value]) => typeof value === "string" && !NO_SUBJECT.has(key));
  if (parts.every(([, value]) => value === "all")) return "all";
  const { kind, scope, name, subject, ...others } = Object.fromEntries(parts);
  const whose = kind ?? scope;
  const named = name === "all" ? `all ${weir.plural(whose)}` : `${whose} ${name}`;
  const rest = Object.entries(others).filter(([, value]) => value !== "all").map(([key, value]) => `${key} ${value}`);
  return [...(subject ? [subject] : []), ...(whose ? [named] : []), ...rest].join(", ");
};

weir.plural = (noun) => (noun.endsWith("s") ? `${noun}es` : `${noun}s`);

weir.figureOf = (row) => `${row.metric} ${row.statistic}`;

/** The figures that a result has, and of what: two lists, in its order. */
weir.choices = (result, figure) => {
  const figures = [...new Set(result.estimates.map(weir.figureOf))];
  const own = result.estimates.filter((row) => weir.figureOf(row) === figure);
  return { figures, subjects: [...new Set(own.map(weir.subjectOf))] };
};

/** The first need of a scenario, as a choice of a figure; nothing where nothing is needed. */
weir.needed = (result) => {
  const need = result.needs?.[0];
  return need && { figure: weir.figureOf(need), subject: weir.subjectOf(need) };
};

/** The bound that a need sets to a figure, in words and as a value; nothing where none does. */
weir.bound = (result, figure, subject) => {
  const need = (result.needs ?? []).find((each) => weir.figureOf(each) === figure && weir.subjectOf(each) === subject);
  return need && { value: need.bound, words: `${need.side.replace("_", " ")} ${weir.withUnit(need.bound, need.unit)}` };
};

/** A row for each discipline: the estimate, the closed form and the difference of one figure. */
weir.chosen = (result, figure, subject) => {
  const is = (row) => weir.figureOf(row) === figure && weir.subjectOf(row) === subject;
  return result.disciplines.map((discipline) => {
    const own = (rows) => (rows ?? []).find((row) => row.discipline === discipline && is(row)) ?? null;
    const exact = (result.theory ?? []).find((row) => row.discipline === discipline && is({ statistic: "mean", ...row }));
    return { discipline, estimate: own(result.estimates), difference: own(result.differences), exact: exact ?? null };
  });
};

/** A number to five digits, as results have it. */
weir.number = (value) => {
  if (value === null || value === undefined) return "";
  const large = value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7);
  return (large ? value.toExponential(3) : String(Number(value.toPrecision(5)))).replaceAll("-", "−");
};

/** Seconds in the unit that suits them. */
weir.withUnit = (value, unit) => {
  if (value === null || value === undefined) return "";
  if (unit === "1" || !unit) return weir.number(value);
  if (unit !== "s" || value === 0) return `${weir.number(value)}\u00a0${unit}`;
  const [factor, name] = [[1, "s"], [1e3, "ms"], [1e6, "us"], [1e9, "ns"]].find(([by]) => Math.abs(value) * by >= 1) ?? [1e9, "ns"];
  return `${weir.number(value * factor)}\u00a0${name}`;
};

const SVG = "http://www.w3.org/2000/svg";

weir.svg = (name, attributes = {}, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

weir.element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

/** Round places of an axis from `low` to `high`. */
weir.ticks = (low, high) => {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
};

/** The chart of one figure: a dot and its interval a discipline, a diamond at the closed form, and a line at what is needed. */
weir.chart = (rows, { width, title, bound }) => {
  const shown = rows.filter((row) => row.estimate?.value != null);
  const values = shown.flatMap(({ estimate, exact }) => [estimate.value, estimate.low, estimate.high, exact?.value, bound?.value].filter((each) => each != null));
  const [line, left, right, top] = [34, 130, 16, bound ? 24 : 8];
  const height = top + line * rows.length + 40;
  const high = Math.max(...values, 0) * 1.05 || 1;
  const low = Math.min(...values, 0);
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
  const unit = shown[0]?.estimate.unit ?? "";
  const made = weir.svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
  for (const tick of weir.ticks(low, high)) {
    made.append(
      weir.svg("line", { x1: x(tick), x2: x(tick), y1: top, y2: height - 36, class: "grid" }),
      weir.svg("text", { x: x(tick), y: height - 20, class: "tick" }, weir.withUnit(tick, unit)),
    );
  }
  if (bound) {
    const [at, side] = [x(bound.value), x(bound.value) > width / 2 ? "before" : "behind"];
    made.append(
      weir.svg("line", { x1: at, x2: at, y1: 4, y2: height - 36, class: "bound" }),
      weir.svg("text", { x: side === "before" ? at - 6 : at + 6, y: 14, class: `bound ${side}` }, bound.words),
    );
  }
  rows.forEach((row, place) => made.append(...mark(row, top + line * (place + 0.5), x, left, place)));
  return made;
};

function mark({ discipline, estimate, exact }, y, x, left, place) {
  const tone = `tone${place % 8}`;
  const parts = [weir.svg("text", { x: left - 10, y: y + 4, class: "name" }, discipline)];
  if (estimate?.value == null) {
    parts.push(weir.svg("text", { x: left, y: y + 4, class: "none" }, estimate?.reason ?? "no figure yet"));
    return parts;
  }
  if (estimate.low != null && estimate.high != null) {
    parts.push(weir.svg("line", { x1: x(estimate.low), x2: x(estimate.high), y1: y, y2: y, class: `whisker ${tone}` }));
    for (const end of [estimate.low, estimate.high]) {
      parts.push(weir.svg("line", { x1: x(end), x2: x(end), y1: y - 5, y2: y + 5, class: `whisker ${tone}` }));
    }
  }
  const settled = estimate.settled === false ? "unsettled" : "";
  parts.push(weir.svg("circle", { cx: x(estimate.value), cy: y, r: 5, class: `dot ${tone} ${settled}` }));
  if (exact?.value != null) {
    const at = x(exact.value);
    parts.push(weir.svg("path", { d: `M${at} ${y - 9}l5 5l-5 5l-5 -5z`, class: "exact" }));
  }
  return parts;
}

/** What a figure and its interval are, in one cell. */
function withInterval(row) {
  if (row?.value == null) return row?.reason ?? "";
  const value = weir.withUnit(row.value, row.unit);
  if (row.low == null) return `${value}, no interval`;
  const ends = `${weir.withUnit(row.low, row.unit)} to ${weir.withUnit(row.high, row.unit)}`;
  return row.settled === false ? `${value} (${ends}, not settled: run longer)` : `${value} (${ends})`;
}

/** The table of one figure; a closed form has a column where there is one. */
weir.table = (rows, reference) => {
  const isKnown = rows.some((row) => row.exact?.value != null);
  const head = ["discipline", "simulated, with 95 % interval", ...(isKnown ? ["closed form"] : []), `difference from ${reference}`];
  const exact = (row) => (row.exact?.value == null ? "" : weir.withUnit(row.exact.value, row.exact.unit));
  const difference = (row) => (row.discipline === reference ? "" : withInterval(row.difference));
  const cells = (row) => [row.discipline, withInterval(row.estimate), ...(isKnown ? [exact(row)] : []), difference(row)];
  const line = (kind, values) => weir.element("tr", {}, ...values.map((each) => weir.element(kind, {}, each)));
  const body = rows.map((row) => line("td", cells(row)));
  return weir.element("table", {}, weir.element("thead", {}, line("th", head)), weir.element("tbody", {}, ...body));
};

/** A curve a discipline over what was moved, with intervals: `points` are `{ at, rows }`. */
weir.curves = (points, { width, title, label }) => {
  const names = points[0].rows.map((row) => row.discipline);
  const known = points.flatMap(({ rows }) => rows.filter((row) => row.estimate?.value != null).map((row) => row.estimate));
  const [left, right, top, bottom, height] = [78, 16, 10, 44, 300];
  const [from, to] = [Math.min(...points.map((each) => each.at)), Math.max(...points.map((each) => each.at))];
  const high = Math.max(...known.map((each) => each.high ?? each.value)) * 1.05 || 1;
  const x = (value) => left + ((value - from) / (to - from || 1)) * (width - left - right);
  const y = (value) => height - bottom - (value / high) * (height - bottom - top);
  const made = weir.svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
  for (const tick of weir.ticks(0, high)) {
    made.append(weir.svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "grid" }), weir.svg("text", { x: left - 8, y: y(tick) + 4, class: "name" }, weir.withUnit(tick, known[0]?.unit)));
  }
  for (const tick of weir.ticks(from, to)) made.append(weir.svg("text", { x: x(tick), y: height - bottom + 18, class: "tick" }, weir.number(tick)));
  made.append(weir.svg("text", { x: (left + width - right) / 2, y: height - 6, class: "tick" }, label));
  names.forEach((name, place) => {
    const own = points.map(({ at, rows }) => ({ at, estimate: rows[place].estimate })).filter((each) => each.estimate?.value != null);
    made.append(weir.svg("polyline", { points: own.map((each) => `${x(each.at)},${y(each.estimate.value)}`).join(" "), class: `curve tone${place % 8}` }));
    for (const { at, estimate } of own) {
      if (estimate.low != null) made.append(weir.svg("line", { x1: x(at), x2: x(at), y1: y(Math.max(0, estimate.low)), y2: y(estimate.high), class: `whisker tone${place % 8}` }));
      made.append(weir.svg("circle", { cx: x(at), cy: y(estimate.value), r: 3.5, class: `dot tone${place % 8}` }));
    }
  });
  return made;
};
