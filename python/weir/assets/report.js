"use strict";
// Draws every chart that is shown, again when the theme changes, and those in a fold when it is opened. While charts are
// being drawn the root says so: data-charts is "drawing", then "drawn". Tables that go on beyond the screen say so too.
(() => {
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const views = new Map();
  let waiting = 0;
  const config = () => {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { labelColor: colour("--soft"), titleColor: colour("--soft"), gridColor: colour("--line"), domainColor: colour("--line"), tickColor: colour("--line"), gridOpacity: 0.7, titleFontWeight: 500, labelFontSize: 11, titleFontSize: 11.5 };
    return {
      background: "transparent",
      font: getComputedStyle(document.body).fontFamily,
      view: { stroke: null },
      axis,
      legend: { labelColor: colour("--ink"), titleColor: colour("--soft"), labelFontSize: 12, symbolStrokeWidth: 2.5 },
      text: { color: colour("--ink") },
      tooltip: { content: "encoding" },
    };
  };
  const draw = (id) => {
    const node = document.getElementById(id);
    const options = { actions: false, renderer: "svg", config: config(), tooltip: { theme: dark.matches ? "dark" : "light" } };
    views.get(id)?.finalize();
    // Who cannot see the chart is given its title.
    const spec = { description: node.getAttribute("aria-label"), ...specs[id] };
    return vegaEmbed(node, spec, options).then(
      (view) => views.set(id, view),
      (error) => { node.textContent = "This chart could not be drawn: " + error.message; },
    );
  };
  // A chart in a closed fold has no width to be drawn at.
  const drawShown = (within) => {
    const shown = Object.keys(specs).filter((id) => {
      const node = document.getElementById(id);
      return within.contains(node) && (node.checkVisibility?.() ?? node.offsetParent !== null);
    });
    root.dataset.charts = "drawing";
    waiting += 1;
    Promise.all(shown.map(draw)).then(() => {
      waiting -= 1;
      if (waiting === 0) root.dataset.charts = "drawn";
    });
  };
  drawShown(root);
  dark.addEventListener("change", () => drawShown(root));
  document.addEventListener("toggle", (event) => { if (event.target.open) drawShown(event.target); }, true);

  for (const scroll of document.querySelectorAll(".scroll")) {
    const cue = () => scroll.parentElement.classList.toggle("more", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
    scroll.addEventListener("scroll", cue, { passive: true });
    new ResizeObserver(cue).observe(scroll);
  }
})();
