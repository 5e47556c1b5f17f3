"use strict";
// The page: a scenario as text and as a form, a run that grows, its figures, a curve, and who is served.

const at = (id) => document.getElementById(id);
const POINTS = 9;
const TYPED = 300; // milliseconds after the last key until a run begins

const page = {
  engine: null,
  listing: [],
  state: { text: "", name: "scenario.toml", figure: null, subject: null, knob: null, discipline: null },
  /** The turn of what is shown: whatever comes of an earlier one is dropped. */
  turn: 0,
  busy: false,
  result: null,
  /** The needs of what was shown last, as text. */
  needs: null,
  timer: 0,
};

/** Asks the engine; a question whose turn is over never returns. */
page.ask = async (turn, question, progress) => {
  const answer = await page.engine.ask(question, progress);
  if (turn !== page.turn) throw new weir.Stopped();
  return answer;
};

/** Begins something new: what went on is broken off. */
page.begin = () => {
  page.turn += 1;
  if (page.busy) page.engine.stop();
  page.busy = true;
  return page.turn;
};

/** Runs a piece of work to its end, or until another begins. */
page.work = async (of) => {
  const turn = page.begin();
  at("stop").disabled = false;
  try {
    await of(turn);
  } catch (error) {
    if (!(error instanceof weir.Stopped)) throw error;
    return;
  }
  page.busy = false;
  at("stop").disabled = true;
};

page.says = (words) => {
  at("status").textContent = words;
};

page.progress = (share) => {
  at("progress").value = share;
};

// The text and its refusal.

page.scenario = () => ({ text: page.state.text, name: page.state.name });

page.refused = ({ file, line, column, message, remedy }) => {
  const place = line === null ? file : `${file}:${line}${column === null ? "" : `:${column}`}`;
  at("refusal").hidden = false;
  at("refusal-words").textContent = `${place}: ${message}: ${remedy}`;
  const here = line !== null && file === page.state.name;
  at("refusal-line").hidden = !here;
  at("refusal-line").onclick = () => page.select(line);
  page.number(here ? line : null);
  page.says("The scenario is refused.");
};

page.failed = ({ message, remedy }) => {
  at("refusal").hidden = false;
  at("refusal-line").hidden = true;
  at("refusal-words").textContent = `${message}: ${remedy}`;
  page.says("There is no result.");
};

/** Numbers the lines, one of which is refused. */
page.number = (refused) => {
  const count = page.state.text.split("\n").length;
  const numbers = Array.from({ length: count }, (_, place) => weir.element("span", place + 1 === refused ? { class: "refused" } : {}, `${place + 1}\n`));
  at("numbers").replaceChildren(...numbers);
  at("numbers").scrollTop = at("text").scrollTop;
};

/** Selects a line of the text. */
page.select = (line) => {
  const lines = page.state.text.split("\n");
  const from = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  at("text").focus();
  at("text").setSelectionRange(from, from + lines[line - 1].length);
};

// The form.

page.form = (checked) => {
  page.pick(checked);
  page.knobs();
};

/** The disciplines of the model, those of the scenario checked. */
page.pick = ({ model }) => {
  const written = weir.disciplines(page.state.text);
  const names = page.listing.filter((each) => each.models.includes(model) && !each.example.includes("("));
  at("pick").hidden = written === null;
  if (written === null) return;
  const nameOf = (spec) => spec.split(/[:(]/)[0];
  const chips = names.map((each) => {
    const own = written.find((spec) => nameOf(spec) === each.name);
    const box = weir.element("input", { type: "checkbox", value: own ?? each.example });
    box.checked = own !== undefined;
    box.onchange = () => page.toggle(box);
    return weir.element("label", { title: `${each.title}: ${each.rule}` }, box, ` ${own ?? each.example}`);
  });
  at("disciplines").replaceChildren(...chips);
};

page.toggle = (box) => {
  const specs = weir.disciplines(page.state.text);
  const left = box.checked ? [...specs, box.value] : specs.filter((each) => each !== box.value);
  if (left.length === 0) {
    box.checked = true;
    page.says("A scenario has one discipline at least.");
    return;
  }
  page.write(weir.withDisciplines(page.state.text, left));
};

/** A slider for each number that can be moved. One that is held stays as it is, and the others follow the text. */
page.knobs = () => {
  const knobs = weir.knobs(page.state.text);
  const names = knobs.map((knob) => knob.name);
  const shown = [...at("knobs").querySelectorAll("input")];
  if (names.join("\n") === shown.map((each) => each.dataset.name).join("\n")) {
    shown.forEach((input, place) => page.turned(input, knobs[place]));
    return;
  }
  at("knobs").replaceChildren(...knobs.map(page.slider));
  at("over").replaceChildren(...names.map((name) => weir.element("option", { value: name }, name)));
  if (names.includes(page.state.knob)) at("over").value = page.state.knob;
  at("curve-part").hidden = names.length === 0;
};

page.turned = (input, knob) => {
  if (input !== document.activeElement) input.value = knob.value;
  input.nextElementSibling.textContent = knob.shown(knob.value);
};

page.slider = (knob) => {
  const input = weir.element("input", { type: "range", min: knob.low, max: knob.high, step: knob.step, "data-name": knob.name });
  input.value = knob.value;
  const shown = weir.element("output", {}, knob.shown(knob.value));
  input.oninput = () => {
    const now = weir.knobs(page.state.text).find((each) => each.name === knob.name);
    page.write(now.written(page.state.text, Number(input.value)));
    shown.textContent = now.shown(Number(input.value));
  };
  return weir.element("label", {}, weir.element("span", {}, knob.name), input, shown);
};

/** Takes another text, and runs it. */
page.write = (text, wait = 60) => {
  page.state.text = text;
  if (at("text").value !== text) at("text").value = text;
  page.number(null);
  clearTimeout(page.timer);
  page.timer = setTimeout(page.run, wait);
};

// The run.

page.run = () =>
  page.work(async (turn) => {
    page.result = null;
    page.remember();
    at("refusal").hidden = true;
    at("fingerprint").textContent = "";
    page.says("Running…");
    page.progress(0);
    const checked = await page.ask(turn, { call: "check", ...page.scenario() });
    if (checked.refused) return page.refused(checked.refused);
    if (checked.failed) return page.failed(checked.failed);
    page.form(checked.checked);
    page.choose(checked.checked.disciplines);
    const last = await page.grow(turn, page.scenario(), page.show);
    if (last === null) return null;
    page.progress(1);
    return page.ended(turn, last);
  });

/** Runs a scenario; `show` is given the results so far that there are. Returns the text of the last, or nothing where it failed. */
page.grow = async (turn, scenario, show) => {
  const begun = await page.ask(turn, { call: "begin", ...scenario });
  if (begun.refused) return page.refused(begun.refused) ?? null;
  let last = "";
  for (let done = 0; done < begun.begun.replications; done++) {
    const inside = (part, whole) => page.progress((done + (whole ? part / whole : 0)) / begun.begun.replications);
    const answer = await page.ask(turn, { call: "step" }, begun.begun.replications === 1 ? inside : undefined);
    if (answer.failed) return page.failed(answer.failed) ?? null;
    page.progress(answer.result.done / answer.result.of);
    if (answer.result.text === null) continue;
    last = answer.result.text;
    show(JSON.parse(last), answer.result);
  }
  return last;
};

page.show = (result, { done, of } = { done: 1, of: 1 }) => {
  page.result = result;
  const { figures } = weir.choices(result, null);
  page.turnToNeed(result, figures);
  if (!figures.includes(page.state.figure)) page.state.figure = page.usual(figures);
  const { subjects } = weir.choices(result, page.state.figure);
  if (!subjects.includes(page.state.subject)) page.state.subject = subjects[0];
  page.options("figure", figures, page.state.figure);
  page.options("subject", subjects, page.state.subject);
  page.draw();
  if (done < of) page.says(`${done} of ${of} replications.`);
};

/** What is needed is shown first, and once more when something else is needed. */
page.turnToNeed = (result, figures) => {
  const needs = JSON.stringify(result.needs ?? []);
  const needed = weir.needed(result);
  if (page.needs === needs || (needed && !figures.includes(needed.figure))) return;
  if (page.needs !== null || page.state.figure === null) Object.assign(page.state, needed);
  page.needs = needs;
};

/** What is shown first otherwise: how long it takes, on average. */
page.usual = (figures) => ["response mean", "latency mean", "delay mean"].find((each) => figures.includes(each)) ?? figures[0];

page.options = (id, names, value) => {
  const shown = [...at(id).options].map((each) => each.value);
  if (shown.join("\n") !== names.join("\n")) at(id).replaceChildren(...names.map((name) => weir.element("option", { value: name }, name)));
  at(id).value = value;
};

page.width = () => Math.max(300, Math.min(860, at("chart").clientWidth || 600));

page.draw = () => {
  if (page.result === null) return;
  const rows = weir.chosen(page.result, page.state.figure, page.state.subject);
  const title = `${page.state.figure} of ${page.state.subject}, by discipline`;
  const bound = weir.bound(page.result, page.state.figure, page.state.subject);
  at("chart").replaceChildren(weir.chart(rows, { width: page.width(), title, bound }));
  at("table").replaceChildren(weir.table(rows, page.result.reference));
};

/** What stands under a finished result: its checks, and the fingerprint of its bytes. */
page.ended = async (turn, text) => {
  const failed = (page.result.checks ?? []).filter((check) => check.ok === false);
  const passed = (page.result.checks ?? []).length - failed.length;
  const words = failed.map((check) => `${check.check}${check.discipline ? ` of ${check.discipline}` : ""}`);
  at("checks").textContent = failed.length ? `Self-checks that failed: ${words.join(", ")}.` : `${passed} self-checks, none failed.`;
  page.says(page.result.unstable ?? "Finished.");
  const digest = await weir.sha256(text);
  if (turn !== page.turn) return;
  const command = `python -c "import weir; print(weir.run('${page.state.name}').digest)"`;
  at("fingerprint").textContent = digest === null ? "The browser offers no SHA-256 here." : `SHA-256 of the result: ${digest}. With weir installed, \`${command}\` prints the same.`;
  at("fingerprint").dataset.digest = digest ?? "";
  at("save").onclick = () => page.save(`${text}\n`, page.state.name.replace(/(\.toml)?$/, ".json"));
  at("save").disabled = false;
};

page.save = (text, name) => {
  const link = weir.element("a", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// The curve.

page.curve = () =>
  page.work(async (turn) => {
    const knob = weir.knobs(page.state.text).find((each) => each.name === at("over").value);
    if (!knob) return;
    page.state.knob = knob.name;
    page.remember();
    const points = [];
    for (let place = 0; place < POINTS; place++) {
      const value = page.point(knob, place / (POINTS - 1));
      if (points.some((each) => each.at === value)) continue;
      page.says(`Curve: ${knob.shown(value)}, ${place + 1} of ${POINTS}.`);
      const scenario = { text: knob.written(page.state.text, value), name: page.state.name };
      const last = await page.grow(turn, scenario, () => {});
      if (last === null) return;
      const result = JSON.parse(last);
      points.push({ at: value, rows: weir.chosen(result, page.state.figure ?? page.usual(weir.choices(result, null).figures), page.state.subject ?? "all") });
      const title = `${page.state.figure} of ${page.state.subject} over ${knob.name}`;
      at("curve").replaceChildren(weir.curves(points, { width: page.width(), title, label: knob.name }), page.legend(points[0].rows));
    }
    page.says("Finished.");
  });

/** A value on the way from the least to the largest, which the slider can have. */
page.point = ({ low, high, step }, share) => Number((low + Math.round(((high - low) * share) / step) * step).toPrecision(12));

page.legend = (rows) => weir.element("p", { class: "legend" }, ...rows.map((row, place) => weir.element("span", { class: `tone${place % 8}` }, row.discipline)));

// Who is served.

page.choose = (disciplines) => {
  const value = disciplines.includes(page.state.discipline) ? page.state.discipline : disciplines[0];
  page.state.discipline = value;
  page.options("discipline", disciplines, value);
  at("lanes").replaceChildren();
  at("presence").textContent = "";
  at("moves").hidden = true;
};

page.follow = () =>
  page.work(async (turn) => {
    page.state.discipline = at("discipline").value;
    page.says("Following the first items…");
    const answer = await page.ask(turn, { call: "first_rows", ...page.scenario(), discipline: page.state.discipline, rows: 4 * FIRST });
    if (answer.refused) return page.refused(answer.refused);
    if (answer.failed) return page.failed(answer.failed);
    const found = weir.items(answer.first_rows);
    if (found === null || found.items.length === 0) return page.says("This model has no items to follow.");
    page.followed(found);
    return page.says("Finished.");
  });

page.followed = (found) => {
  const moments = weir.moments(found.items);
  at("moment").max = moments.length - 1;
  at("moment").value = 0;
  at("moves").hidden = false;
  const show = () => {
    const moment = moments[Number(at("moment").value)];
    const unit = page.result?.time_unit ?? "";
    at("lanes").replaceChildren(weir.lanes(found, moment, { width: page.width(), unit }));
    const { served, waiting } = weir.presence(found.items, moment);
    const named = (items) => items.map((each) => each.name).join(", ") || "nobody";
    const time = found.inNanoseconds ? weir.withUnit(moment / 1e9, "s") : weir.withUnit(moment, unit);
    at("presence").textContent = `At ${time}: in service ${named(served)}; waiting ${named(waiting)}.`;
  };
  at("moment").oninput = show;
  const move = (by) => {
    at("moment").value = Number(at("moment").value) + by;
    show();
  };
  at("before").onclick = () => move(-1);
  at("after").onclick = () => move(1);
  show();
};

// Files, links, examples.

page.take = (files) =>
  page.work(async () => {
    for (const file of files) {
      if (file.size > weir.LARGEST_FILE) return page.failed(page.tooLarge(file));
      if (file.name.endsWith(".toml")) {
        page.state.name = file.name;
        page.state.text = await file.text();
      } else {
        await page.engine.take(file.name, await file.arrayBuffer());
      }
    }
    const held = [...page.engine.files].map(([name, bytes]) => `${name} (${bytes.byteLength.toLocaleString("en")} bytes)`);
    at("held").textContent = held.length ? `Data files: ${held.join(", ")}. They stay in this page.` : "";
    return page.write(page.state.text, 0);
  });

page.tooLarge = ({ name, size }) => ({
  message: `${name} has ${Math.round(size / 2 ** 20)} MiB, must have at most ${weir.LARGEST_FILE / 2 ** 20} MiB in a page`,
  remedy: "thin it out, or run it by the command `weir run`",
});

/** Writes the state into the address, so that a copied link holds all of it. */
page.remember = async () => {
  const packed = await weir.packed(page.state);
  history.replaceState(null, "", `#s=${packed}`);
};

page.copy = async () => {
  await page.remember();
  try {
    await navigator.clipboard.writeText(location.href);
    page.says("The link is copied. It holds the scenario, and no data file.");
  } catch {
    page.says("The browser does not let pages copy: copy the address instead.");
  }
};

page.examples = () => {
  at("example").append(...weirEngine.examples.map(({ title }, place) => weir.element("option", { value: place }, title)));
  at("example").onchange = () => {
    const example = weirEngine.examples[Number(at("example").value)];
    if (example) page.example(example);
  };
};

page.example = ({ text, name }) => {
  Object.assign(page.state, { text, name, figure: null, subject: null, knob: null });
  page.needs = null;
  page.write(text, 0);
};

page.listen = () => {
  at("text").oninput = () => page.write(at("text").value, TYPED);
  at("text").onscroll = () => {
    at("numbers").scrollTop = at("text").scrollTop;
  };
  for (const id of ["figure", "subject"]) {
    at(id).onchange = () => {
      page.state[id] = at(id).value;
      if (page.result) page.show(page.result);
      page.remember();
    };
  }
  at("stop").onclick = () => {
    page.begin();
    page.busy = false;
    at("stop").disabled = true;
    page.says("Stopped: what is shown is of the replications so far.");
  };
  at("again").onclick = page.run;
  at("draw").onclick = page.curve;
  at("follow").onclick = page.follow;
  at("link").onclick = page.copy;
  at("open").onchange = () => page.take(at("open").files);
  at("keep").onclick = () => page.save(page.state.text, page.state.name);
  document.ondragover = (event) => event.preventDefault();
  document.ondrop = (event) => {
    event.preventDefault();
    page.take(event.dataTransfer.files);
  };
  addEventListener("resize", page.draw);
};

page.open = async () => {
  page.engine = await weir.Engine.open();
  page.listing = (await page.engine.ask({ call: "listing" })).listing;
  page.examples();
  page.listen();
  const state = await weir.unpacked(location.hash);
  if (state) Object.assign(page.state, state);
  if (state) page.write(state.text, 0);
  else page.example(weirEngine.examples[0]);
  at("example").value = state ? "" : "0";
  document.documentElement.dataset.ready = "yes";
};

page.open();
