// What a test asks of a page that is open. Evaluated once a page; `pages` then has the questions.
var pages = {
  // What is wrong with what is shown: not drawn, cut off, empty axes, tables that go on and do not say so.
  faults() {
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
    for (const chart of this.shown(".chart")) {
      for (const fault of this.ofChart(chart)) found.push(`${chart.id} (${chart.ariaLabel}) ${fault}`);
    }
    for (const scroll of this.shown(".scroll")) {
      const wider = scroll.scrollWidth > scroll.clientWidth + 1;
      const cue = getComputedStyle(scroll.parentElement, "::after").content.includes("scroll");
      if (wider !== cue) found.push(wider ? "a table goes on and does not say so" : "a whole table says that it goes on");
    }
    return found;
  },

  ofChart(chart) {
    const svg = chart.querySelector("svg");
    if (!svg) return [`is not drawn: ${chart.textContent}`];
    const found = [];
    const box = svg.getBoundingClientRect();
    const room = chart.getBoundingClientRect();
    if (box.right > room.right + 1 || box.left < room.left - 1) found.push("is wider than its place");
    if (box.width < 0.9 * room.width) found.push("is narrower than its place");
    if (!svg.querySelector(".role-mark :is(path, line, text, rect)")) found.push("has no marks");
    for (const text of this.seen(svg, "text")) {
      const place = text.getBoundingClientRect();
      const within = place.left > box.left - 1 && place.right < box.right + 1 && place.top > box.top - 1 && place.bottom < box.bottom + 1;
      if (!within) found.push(`cuts off "${text.textContent}"`);
      if (/NaN|undefined|Infinity|\de[-+\u2212]?\d/.test(text.textContent)) found.push(`shows "${text.textContent}"`);
    }
    for (const axis of svg.querySelectorAll(".role-axis")) {
      const numbers = /(linear|log|symlog) scale/.test(axis.ariaLabel ?? "");
      if (numbers && this.seen(axis, ".role-axis-label text").length < 2) found.push(`has an empty axis: ${axis.ariaLabel}`);
    }
    return found;
  },

  shown(selector) {
    return [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  },

  seen(within, selector) {
    const texts = [...within.querySelectorAll(selector)];
    return texts.filter((text) => text.textContent.trim() && text.getAttribute("opacity") !== "0");
  },

  // The columns of the comparison that matter and do not stand within the window.
  hidden() {
    const head = [...document.querySelectorAll("h2")].find((each) => each.textContent === "The comparison");
    const table = head?.closest("section").querySelector(".scroll");
    if (!table) return [];
    const right = table.getBoundingClientRect().right + 1;
    const matter = /^(mean( delay| latency)?|p99|max|loss|late|dropped)( \(|$)/;
    const cells = [...table.querySelectorAll("thead th")].filter((each) => matter.test(each.textContent));
    return cells.filter((each) => each.getBoundingClientRect().right > right).map((each) => each.textContent);
  },

  // Once the charts have the width that the page gives them, or after some seconds.
  settled() {
    const fits = (chart) => {
      const svg = chart.querySelector("svg");
      return !svg || Math.abs(svg.getBoundingClientRect().width - chart.clientWidth) < 2;
    };
    return new Promise((done) => {
      let tries = 300;
      const look = () => (this.shown(".chart").every(fits) || --tries === 0 ? done() : requestAnimationFrame(look));
      look();
    });
  },

  unfold() {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  },

  // The heights at which the marks of a kind stand, from the top.
  middles(marks) {
    const boxes = [...document.querySelectorAll(marks)].map((each) => each.getBoundingClientRect());
    return boxes.map((box) => box.top + box.height / 2).sort((one, other) => one - other);
  },
};
