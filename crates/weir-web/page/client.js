"use strict";
// The engine as the page sees it: questions with promised answers, and a worker that can be stopped at any time.
const weir = {};

/** The most memory the engine takes; as it was linked. */
weir.MEMORY = 2 ** 31;
/** The largest data file that is taken: in memory it takes several times as much. */
weir.LARGEST_FILE = 256 * 2 ** 20;

/** What ended a question besides an answer. */
weir.Stopped = class extends Error {};

/** The bytes that stand in letters; `Uint8Array.from` takes some thirty times as long (docs/performance.md). */
weir.bytes = (base64) => {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  return bytes;
};

weir.Engine = class {
  /** Unpacks and compiles the engine that stands in the page, while its worker starts. */
  static async open() {
    const engine = new weir.Engine();
    engine.equip(await WebAssembly.compile(fzstd.decompress(weir.bytes(document.getElementById("engine").textContent))));
    return engine;
  }

  constructor() {
    this.source = URL.createObjectURL(new Blob([weirEngine.worker], { type: "text/javascript" }));
    this.files = new Map();
    this.start();
  }

  start() {
    this.pending = new Map();
    this.last = 0;
    this.worker = new Worker(this.source);
    this.worker.onmessage = ({ data }) => this.receive(data);
  }

  /** Hands the module and the files to the worker. Nobody waits for these messages: what comes after them does. */
  equip(module) {
    this.module = module;
    const begins = [{ module, limit: weir.MEMORY }, ...[...this.files].map(([file, bytes]) => ({ file, bytes }))];
    for (const message of begins) this.send(message).catch(() => {});
  }

  send(message, progress) {
    const id = ++this.last;
    return new Promise((kept, broken) => {
      this.pending.set(id, { kept, broken, progress });
      this.worker.postMessage({ id, ...message });
    });
  }

  receive({ id, answer, progress, died }) {
    const asked = this.pending.get(id);
    if (!asked) return;
    if (progress) {
      asked.progress?.(...progress);
      return;
    }
    this.pending.delete(id);
    if (died === undefined) {
      asked.kept(answer);
    } else {
      asked.kept({ failed: weir.Engine.reason(died) });
      this.stop();
    }
  }

  static reason(died) {
    if (died === "memory") {
      return { message: "the run takes more than the 2 GiB that it may have in a page", remedy: "shorten it, or run it by the command `weir run`" };
    }
    return { message: `the engine has ended, which is a defect of weir: ${died}`, remedy: "copy the link and report it" };
  }

  /** Asks; `progress(done, total)` learns how far the answer is. */
  ask(question, progress) {
    return this.send({ question }, progress);
  }

  /** Hands over a data file. */
  async take(name, bytes) {
    this.files.set(name, bytes);
    await this.send({ file: name, bytes });
  }

  /** Breaks off whatever is asked. */
  stop() {
    const pending = this.pending;
    this.worker.terminate();
    this.start();
    this.equip(this.module);
    for (const { broken } of pending.values()) broken(new weir.Stopped());
  }
};
