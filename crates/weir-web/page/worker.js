"use strict";
// The engine in a worker: one question at a time, each with its answer. The page hands over the compiled module first.
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const TOLD_EVERY = 100; // milliseconds
let engine = null;
let asked = 0;
let told = 0;
let panic = "";

const imports = {
  weir: {
    progress(done, total) {
      const now = performance.now();
      if (now - told > TOLD_EVERY) {
        told = now;
        postMessage({ id: asked, progress: [done, total] });
      }
    },
    panicked(at, length) {
      panic = text(at, length);
    },
  },
};

function text(at, length) {
  return decoder.decode(new Uint8Array(engine.memory.buffer, at, length));
}

/** Puts bytes into the memory of the engine; returns where, and how many. */
function put(bytes) {
  const at = engine.weir_allocate(bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  return [at, bytes.length];
}

function answer(question) {
  const at = engine.weir_call(...put(encoder.encode(JSON.stringify(question))));
  return JSON.parse(text(at, engine.weir_answer_length()));
}

/** Why the engine ended: its own words, or that there was no more memory. */
function death(error, limit) {
  if (panic) return panic;
  const held = engine === null ? 0 : engine.memory.buffer.byteLength;
  if (held > limit / 2 || error instanceof RangeError) return "memory";
  return String(error);
}

let limit = 0;
onmessage = async ({ data }) => {
  asked = data.id;
  try {
    if (data.module) {
      limit = data.limit;
      engine = (await WebAssembly.instantiate(data.module, imports)).exports;
      engine.weir_begin();
      postMessage({ id: data.id, answer: null });
    } else if (data.file) {
      engine.weir_take_file(...put(encoder.encode(data.file)), ...put(new Uint8Array(data.bytes)));
      postMessage({ id: data.id, answer: null });
    } else {
      postMessage({ id: data.id, answer: answer(data.question) });
    }
  } catch (error) {
    postMessage({ id: data.id, died: death(error, limit) });
  }
};
