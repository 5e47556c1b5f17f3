"use strict";
// Keys of a scenario changed in its text, so that comments and order stay. Tables are `[name]` or `[[name]]`; of these the key of
// one is meant, counted from 0.

/** The lines of the text with the table that each is in: `{ line, table, count }`. */
weir.lines = (text) => {
  let table = "";
  let count = 0;
  const counts = new Map();
  return text.split("\n").map((line) => {
    const header = /^\s*\[(\[?)\s*([\w.-]+)\s*\]/.exec(line);
    if (header) {
      table = header[2];
      count = counts.get(table) ?? 0;
      counts.set(table, count + 1);
    }
    return { line, table, count };
  });
};

/** Where the value of a line ends: before a comment, outside of strings. */
weir.valueEnd = (line) => {
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const each = line[at];
    if (quote) {
      if (each === "\\" && quote === '"') at++;
      else if (each === quote) quote = "";
    } else if (each === '"' || each === "'") quote = each;
    else if (each === "#") return line.slice(0, at).trimEnd().length;
  }
  return line.trimEnd().length;
};

/** The value of a key in one line, and where it stands: `{ row, from, to, value }`; none where it has lines of its own. */
weir.find = (text, table, count, key) => {
  const lines = weir.lines(text);
  for (let row = 0; row < lines.length; row++) {
    const each = lines[row];
    if (each.table !== table || each.count !== count) continue;
    const head = new RegExp(`^\\s*${key}\\s*=\\s*`).exec(each.line);
    if (!head) continue;
    const to = weir.valueEnd(each.line);
    return { row, from: head[0].length, to, value: each.line.slice(head[0].length, to) };
  }
  return null;
};

/** The text with a value that was found written anew. */
weir.replaced = (text, found, value) => {
  const lines = text.split("\n");
  const line = lines[found.row];
  lines[found.row] = line.slice(0, found.from) + value + line.slice(found.to);
  return lines.join("\n");
};

/** The specs in `disciplines = [...]`, where it stands in one line. */
weir.disciplines = (text) => {
  const found = weir.find(text, "", 0, "disciplines");
  if (!found || !found.value.endsWith("]")) return null;
  return [...found.value.matchAll(/"([^"]*)"/g)].map((each) => each[1]);
};

/** The text with other disciplines; a reference that is no more of them goes. */
weir.withDisciplines = (text, specs) => {
  const found = weir.find(text, "", 0, "disciplines");
  const changed = weir.replaced(text, found, `[${specs.map((each) => JSON.stringify(each)).join(", ")}]`);
  const reference = weir.find(changed, "", 0, "reference");
  if (!reference || specs.some((each) => JSON.stringify(each) === reference.value)) return changed;
  return weir.replaced(changed, reference, JSON.stringify(specs[0]));
};
