"use strict";
// Draws every chart of the page, again when the theme or the width changes.
(() => {
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const config = () => {
    const style = getComputedStyle(document.documentElement);
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
  const draw = () => {
    for (const [id, spec] of Object.entries(specs)) {
      const node = document.getElementById(id);
      const options = { actions: false, renderer: "svg", config: config(), tooltip: { theme: dark.matches ? "dark" : "light" } };
      vegaEmbed(node, spec, options).catch((error) => { node.textContent = "This chart could not be drawn: " + error.message; });
    }
  };
  draw();
  dark.addEventListener("change", draw);
})();
