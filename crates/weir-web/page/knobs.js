"use strict";
// What can be moved in a scenario: loads, shares, rates and numbers of cores that its text has, and the parameters of its
// disciplines. Each is found in the text, and written back there.

/** A number to move: `name`, `value`, `low`, `high`, `step`, `shown(value)`, and `written(text, value)`, the text with another. */
weir.knobs = (text) => {
  const found = [];
  const seen = new Set();
  for (const { line, table, count } of weir.lines(text)) {
    const key = /^\s*([\w-]+)\s*=/.exec(line)?.[1];
    const place = `${table} ${count} ${key}`;
    if (!key || seen.has(place)) continue;
    seen.add(place);
    const made = knobOf(text, table, count, key);
    if (made) found.push(made);
  }
  return [...found, ...parameters(text)];

  function knobOf(text, table, count, key) {
    const value = weir.find(text, table, count, key)?.value;
    const name = weir.nameOf(text, table, count, key);
    const write = (text, value) => weir.replaced(text, weir.find(text, table, count, key), value);
    if (key === "load" && /^[\d.]+$/.test(value)) {
      return { name, value: Number(value), low: 0.05, high: 0.98, step: 0.01, shown: (x) => x.toFixed(2), written: (text, x) => write(text, x.toFixed(2)) };
    }
    if (key === "share" && table === "class" && /^[\d.]+$/.test(value)) {
      return { name, value: Number(value), low: 0.01, high: 0.99, step: 0.01, shown: (x) => x.toFixed(2), written: (text, x) => write(text, x.toFixed(2)) };
    }
    if (key === "cores" && /^[\d_]+$/.test(value)) return whole(name, Number(value.replaceAll("_", "")), write);
    const rate = /^"([\d.]+)\s*([A-Za-z/]+)"$/.exec(value ?? "");
    if (key === "rate" && rate) return scaled(name, Number(rate[1]), rate[2], write);
    const mixture = /^\{\s*mixture\s*=\s*\[\s*\[\s*("[^"]+")\s*,\s*([\d.]+)\s*\]\s*,\s*\[\s*("[^"]+")\s*,\s*([\d.]+)\s*\]\s*,?\s*\]\s*\}$/.exec(value ?? "");
    if (mixture) return mixed(name, mixture, write);
    return null;
  }
};

/** What a key is called: `workload.load`, or `flow web: rate` where the table has a name. */
weir.nameOf = (text, table, count, key) => {
  const own = weir.find(text, table, count, "name")?.value.replaceAll('"', "");
  if (own) return `${table} ${own}: ${key}`;
  return table ? `${table}.${key}` : key;
};

function whole(name, value, write) {
  const high = Math.max(2 * value, 4);
  return { name, value, low: 1, high, step: 1, shown: String, written: (text, x) => write(text, String(x)) };
}

/** A quantity with a unit, from a quarter of what stands there to four times as much. */
function scaled(name, value, unit, write) {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(value)));
  const shown = (x) => `${Number(x.toFixed(digits))}${unit}`;
  const step = 10 ** -digits;
  return { name, value, low: Math.max(step, Number((value / 4).toFixed(digits))), high: value * 4, step, shown, written: (text, x) => write(text, JSON.stringify(shown(x))) };
}

/** How often the second of two sizes comes. */
function mixed(name, [, first, , second, share], write) {
  const written = (text, x) => write(text, `{ mixture = [[${first}, ${(1 - x).toFixed(2)}], [${second}, ${x.toFixed(2)}]] }`);
  return { name: `${name}: share of ${second.replaceAll('"', "")}`, value: Number(share), low: 0.01, high: 0.99, step: 0.01, shown: (x) => x.toFixed(2), written };
}

/** Parameters that are written as a whole number: `alpha:10`. */
function parameters(text) {
  return (weir.disciplines(text) ?? []).flatMap((spec, place) => {
    const parts = /^(\w+):(\d+)$/.exec(spec);
    if (!parts) return [];
    const written = (text, x) => {
      const specs = weir.disciplines(text);
      specs[place] = `${parts[1]}:${x}`;
      return weir.withDisciplines(text, specs);
    };
    return [{ name: `${parts[1]}: parameter`, value: Number(parts[2]), low: 1, high: Math.max(50, 4 * Number(parts[2])), step: 1, shown: String, written }];
  });
}
