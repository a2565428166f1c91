// Figures. Plotly interprets some HTML in texts, so `plain` escapes it.

function plain(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function theme() {
  return Object.fromEntries(["ink", "quiet", "line", "panel", "usual", "outlier", "known"].map((n) => [n, colour(n)]));
}

const touch = matchMedia("(pointer: coarse)").matches;

function axis(c, title, more = {}) {
  return {
    title: { text: title, font: { size: 13, color: c.quiet }, standoff: 8 },
    gridcolor: c.line, linecolor: c.line, zeroline: false, tickfont: { size: 12, color: c.quiet },
    automargin: true, fixedrange: true, ...more,
  };
}

function layout(c, more) {
  const family = getComputedStyle(document.body).fontFamily;
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family, color: c.ink, size: 13 },
    margin: { l: 8, r: 12, t: 30, b: 8 }, showlegend: false, dragmode: false, hovermode: "closest",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: c.quiet, activecolor: c.ink },
    hoverlabel: { bgcolor: c.panel, bordercolor: c.quiet, font: { family, color: c.ink, size: 13 }, align: "left" },
    ...more,
  };
}

function line(x, y, c, more = {}) {
  return { type: "scatter", mode: "lines", x, y, line: { color: c.outlier, width: 2 }, ...more };
}

function histogram(c) {
  const { edges, counts, threshold, first_flagged: first, logarithmic } = data.histogram;
  const middle = counts.map((_, i) => (edges[i] + edges[i + 1]) / 2);
  const bars = (name, color, pattern, begin, end) => ({
    type: "bar", name, x: middle.slice(begin, end), y: counts.slice(begin, end).map((n) => n || null),
    width: counts.slice(begin, end).map((_, i) => edges[begin + i + 1] - edges[begin + i]),
    marker: { color, line: { color: c.panel, width: 1 }, pattern: { shape: pattern, bgcolor: color, fgcolor: c.panel, size: 6, solidity: 0.15 } },
    hoverinfo: "text",
    hovertext: counts.slice(begin, end).map(
      (n, i) => `${n.toLocaleString("en-US")} row${n === 1 ? "" : "s"}<br>${shown(edges[begin + i])} to ${shown(edges[begin + i + 1])}<br>${name}`),
  });
  return {
    traces: [bars("below the cut-off", c.usual, "", 0, first), bars("flagged", c.outlier, "/", first, counts.length)],
    layout: layout(c, {
      bargap: 0, barmode: "overlay", showlegend: true,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 }, itemclick: false, itemdoubleclick: false },
      xaxis: axis(c, "score"),
      yaxis: axis(c, logarithmic ? "rows (logarithmic)" : "rows", logarithmic
        ? { type: "log", range: [Math.log10(0.6), Math.log10(Math.max(...counts)) + 0.15], dtick: 1, tickformat: ",d" } : {}),
      shapes: [{ type: "line", x0: threshold, x1: threshold, yref: "paper", y0: 0, y1: 1, line: { color: c.ink, width: 1.5, dash: "dash" } }],
      annotations: [{
        x: threshold, yref: "paper", y: 1, xanchor: "left", yanchor: "top", xshift: 5, showarrow: false,
        text: `cut-off ${shown(threshold)}`, font: { color: c.ink, size: 12 }, bgcolor: c.panel,
      }],
    }),
  };
}

function hoverText(i) {
  const { ids, scores, flagged, places } = data.map;
  const lines = [`<b>${plain(brief(ids[i], 40))}</b>`, `score ${shown(scores[i])}${flagged[i] ? ", flagged" : ""}`];
  const row = places[i] < 0 ? null : data.table.rows[places[i]];
  for (const [name, value, contribution] of (row?.reasons ?? []).slice(0, 5)) {
    const is = value === 0 || value === null ? "" : ` = ${shown(value)}`;
    lines.push(`${signed(contribution)}  ${plain(brief(said(name, value === 0), 40))}${is}`);
  }
  return lines.join("<br>");
}

function brief(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// A direction, and the features of rows at its ends.
function axisTitle(name, [low, high]) {
  const [left, right] = [low, high].map((text) => plain(brief(text, 24)));
  if (!left && !right) return name;
  return `${left ? `← ${left}   ` : ""}${name}${right ? `   ${right} →` : ""}`;
}

function points(c) {
  const all = data.map.x.map((_, i) => i);
  const trace = (name, chosen, marker) => ({
    type: "scatter", mode: "markers", name, x: chosen.map((i) => data.map.x[i]), y: chosen.map((i) => data.map.y[i]),
    marker, hoverinfo: "text", hovertext: chosen.map(hoverText),
  });
  const known = trace("label: outlier", data.map.known ?? [], { color: c.known, size: 11, opacity: 0.8, symbol: "circle-open", line: { width: 1.25 } });
  const traces = [
    trace("below the cut-off", all.filter((i) => !data.map.flagged[i]), { color: c.usual, size: 5, opacity: 0.55 }),
    { ...known, hoverinfo: "skip" },
    trace("flagged", all.filter((i) => data.map.flagged[i]), { color: c.outlier, size: 8, symbol: "diamond", line: { color: c.panel, width: 1 } }),
  ];
  const free = { showticklabels: false, ticks: "", fixedrange: touch };
  return {
    traces: traces.filter((t) => t.x.length),
    layout: layout(c, {
      showlegend: true, dragmode: touch ? false : "zoom", margin: { l: 8, r: 8, t: 36, b: 8 },
      legend: { orientation: "h", itemsizing: "constant", x: 0, y: 1.01, yanchor: "bottom", font: { size: 12 } },
      xaxis: axis(c, axisTitle("first direction", data.map.axes[0]), free), yaxis: axis(c, axisTitle("second direction", data.map.axes[1]), free),
    }),
  };
}

function loss(c) {
  const epochs = data.training.loss.map((_, i) => i + 1);
  const text = data.training.loss.map((value, i) => `epoch ${i + 1}<br>loss ${shown(value)}`);
  return {
    traces: [line(epochs, data.training.loss, c, { mode: "lines+markers", marker: { color: c.outlier, size: 5 }, hoverinfo: "text", hovertext: text })],
    layout: layout(c, { margin: { l: 8, r: 12, t: 12, b: 8 }, xaxis: axis(c, "epoch", { tickformat: "d", range: [0.5, epochs.length + 0.5] }), yaxis: axis(c, "mean ranking loss", { rangemode: "tozero" }) }),
  };
}

function agreement(c, x, y, chance, titles, heading) {
  const hovertext = x.map((_, i) => `${titles[0]} ${shown(x[i], 3)}<br>${titles[1]} ${shown(y[i], 3)}`);
  const unit = { range: [-0.01, 1.02], dtick: 0.2 };
  return {
    traces: [
      line([0, 1], chance, c, { line: { color: c.quiet, width: 1, dash: "dot" }, hoverinfo: "skip" }),
      line(x, y, c, { hoverinfo: "text", hovertext }),
    ],
    layout: layout(c, { title: { text: heading, font: { size: 14, color: c.ink }, x: 0, xanchor: "left", pad: { l: 8 } }, margin: { l: 8, r: 12, t: 40, b: 8 }, xaxis: axis(c, titles[0], unit), yaxis: axis(c, titles[1], unit) }),
  };
}

function roc(c) {
  const { false_positives: x, true_positives: y, auc } = data.curves;
  return agreement(c, x, y, [0, 1], ["false positive rate", "true positive rate"], `ROC: area ${auc.toFixed(4)}`);
}

function precision(c) {
  const { recall, precision: y, average_precision: mean, share } = data.curves;
  return agreement(c, recall, y, [share, share], ["recall", "precision"], `Precision and recall: average ${mean.toFixed(4)}`);
}

// Each figure by the id of its element. A later call redraws it in other colours.
const FIGURES = { histogram, over: timeline, points, roc, precision, loss };

function draw(id) {
  const place = byId(id);
  const made = FIGURES[id](theme());
  const buttons = id === "points" && !touch && place.clientWidth > 560;
  place.setAttribute("role", buttons ? "group" : "img");
  return Plotly.react(place, made.traces, { ...made.layout, ...sizeOf(id) }, {
    responsive: true, displaylogo: false, displayModeBar: buttons ? "hover" : false, showTips: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
  });
}

function drawAll() {
  const there = { roc: data.curves, precision: data.curves, over: data.timeline };
  return Promise.all(Object.keys(FIGURES).filter((id) => !(id in there) || there[id]).map(draw));
}

// On paper a figure is drawn for a fixed width, whatever the screen, and then stretched to the width of the paper.
const ON_PAPER = { histogram: [700, 300], over: [700, 430], points: [700, 430], roc: [345, 300], precision: [345, 300], loss: [700, 220] };
let onPaper = false;

function sizeOf(id) {
  return onPaper ? { width: ON_PAPER[id][0], height: ON_PAPER[id][1], autosize: false } : {};
}

function drawOnPaper(begins) {
  onPaper = begins;
  const drawn = drawAll();
  for (const container of document.querySelectorAll(".chart .svg-container")) {
    const place = container.closest(".chart");
    const [width, height] = ON_PAPER[place.id];
    container.style.aspectRatio = begins ? `${width} / ${height}` : "";
    for (const figure of container.querySelectorAll(":scope > .main-svg")) {
      if (begins) figure.setAttribute("viewBox", `0 0 ${width} ${height}`);
      else figure.removeAttribute("viewBox");
    }
    if (!begins) Plotly.Plots.resize(place);
  }
  return drawn;
}
