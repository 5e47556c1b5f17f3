"use strict";
// Who is served: the first items of a run on a line of time each, and at one moment who waits and who is served.

const FIRST = 30;

/** The rows of the engine as items: `{ name, from, start, to, note }`, times in one unit, and that unit. */
weir.items = ({ columns }) => {
  const by = new Map(columns.map((column) => [column.name, column.values]));
  const column = (...names) => names.map((name) => by.get(name)).find(Boolean);
  const [from, start, to] = [column("arrival", "arrival_ns", "sent_ns"), column("start", "start_ns"), column("end", "end_ns")];
  if (!from || !to) return null;
  const kind = column("class", "flow");
  const id = column("id", "sequence");
  const notes = ["core", "link", "outcome", "length", "size_bytes"].filter((name) => by.has(name));
  const items = from.map((_, row) => ({
    name: `${kind?.[row] ?? ""} ${id?.[row] ?? row}`.trim(),
    from: from[row],
    start: start?.[row] ?? null,
    to: to[row],
    note: notes.filter((name) => by.get(name)[row] !== null).map((name) => `${name} ${by.get(name)[row]}`).join(", "),
  }));
  items.sort((one, other) => one.from - other.from);
  return { items: items.slice(0, FIRST), inNanoseconds: !by.has("arrival") };
};

/** All moments at which something happens, in order. */
weir.moments = (items) => [...new Set(items.flatMap((each) => [each.from, each.start, each.to]).filter((each) => each !== null))].sort((one, other) => one - other);

/** Who is served and who waits at a moment. */
weir.presence = (items, moment) => {
  const present = items.filter((each) => each.from <= moment && moment < each.to);
  const served = present.filter((each) => each.start !== null && each.start <= moment);
  return { served, waiting: present.filter((each) => !served.includes(each)) };
};

/** The lines of time, with the moment. */
weir.lanes = ({ items, inNanoseconds }, moment, { width, unit }) => {
  const [line, left, top] = [16, Math.min(150, width / 3), 6];
  const height = top + line * items.length + 30;
  const first = Math.min(...items.map((each) => each.from));
  const last = Math.max(...items.map((each) => each.to));
  const x = (time) => left + ((time - first) / (last - first || 1)) * (width - left - 12);
  const made = weir.svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "When each of the first items arrived, was served and left" });
  items.forEach((each, place) => {
    const y = top + line * place;
    const begun = each.start ?? each.from;
    made.append(weir.svg("text", { x: left - 8, y: y + 11, class: "name" }, each.name));
    if (begun > each.from) made.append(weir.svg("rect", { x: x(each.from), y: y + 5, width: x(begun) - x(each.from), height: 4, class: "waits" }));
    made.append(weir.svg("rect", { x: x(begun), y: y + 2, width: Math.max(1, x(each.to) - x(begun)), height: 10, class: "served" }, weir.svg("title", {}, each.note)));
  });
  for (const tick of weir.ticks(first, last)) {
    const shown = inNanoseconds ? weir.withUnit(tick / 1e9, "s") : weir.withUnit(tick, unit);
    made.append(weir.svg("text", { x: x(tick), y: height - 8, class: "tick" }, shown));
  }
  made.append(weir.svg("line", { x1: x(moment), x2: x(moment), y1: 0, y2: height - 24, class: "moment" }));
  return made;
};
