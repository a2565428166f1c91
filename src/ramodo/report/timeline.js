// The timeline of a log: lines above, flagged ones and kinds below, added up as far as it is zoomed.

const MOST_BARS = 120;
const LEAST_STEPS = 5;
const SECOND = 1000;
const DAY = 86400 * SECOND;
const TICKS = [
  { dtickrange: [null, 60 * SECOND], value: "%H:%M:%S" },
  { dtickrange: [60 * SECOND, DAY], value: "%H:%M\n%b %-d" },
  { dtickrange: [DAY, null], value: "%b %-d" },
];
let from = 0;
let to = data.timeline ? data.timeline.lines.length : 0;

// Times as the log writes them: it names no zone, so no other is to be put in its place.
function clock(step) {
  return new Date(1000 * (data.timeline.begin + data.timeline.step * step)).toISOString().slice(0, 19);
}

// A log that writes no year has the one that stands for it.
function spoken(step) {
  return clock(step).replace("T", " ").replace(/^2000-/, "");
}

// Counts of the steps in view, added up to bars.
function addedUp(pairs, together) {
  const found = new Map();
  for (const [step, n] of pairs) {
    if (step < from || step >= to) continue;
    const bar = Math.floor((step - from) / together);
    found.set(bar, (found.get(bar) ?? 0) + n);
  }
  return [...found].sort(([a], [b]) => a - b);
}

function timeline(c) {
  const { lines: all, flagged, kinds, step } = data.timeline;
  const together = Math.max(1, Math.ceil((to - from) / MOST_BARS));
  const span = (bar) => `${spoken(from + bar * together)} to ${spoken(Math.min(to, from + (bar + 1) * together))}`;
  const middle = (bar) => clock(from + (bar + 0.5) * together);
  const hover = (what) => ([bar, n]) => `${n.toLocaleString("en-US")} ${what}${n === 1 ? "" : "s"}<br>${span(bar)}`;
  const bars = addedUp(all.map((n, i) => [i, n]), together).filter(([, n]) => n);
  const names = ["flagged", ...kinds.map((_, i) => `kind ${i + 1}`)];
  const marks = [flagged, ...kinds].map((pairs, i) => {
    const found = addedUp(pairs, together);
    return {
      type: "scatter", mode: "markers", yaxis: "y2", name: names[i], x: found.map(([bar]) => middle(bar)), y: found.map(() => names[i]),
      marker: {
        color: i ? c.known : c.outlier, symbol: i ? "circle" : "diamond", opacity: 0.85, line: { color: c.panel, width: 1 },
        size: found.map(([, n]) => Math.min(22, 6 + 3 * Math.log2(n))),
      },
      hoverinfo: "text", hovertext: found.map(hover(i ? `line of ${names[i]}` : "flagged line")),
    };
  });
  const share = Math.min(0.6, 0.12 * names.length);
  return {
    traces: [{
      type: "bar", name: "lines", x: bars.map(([bar]) => middle(bar)), y: bars.map(([, n]) => n), width: 1000 * step * together,
      marker: { color: c.usual, line: { color: c.panel, width: to - from > 60 ? 0 : 1 } }, hoverinfo: "text", hovertext: bars.map(hover("line")),
    }, ...marks],
    layout: layout(c, {
      dragmode: touch ? false : "zoom", margin: { l: 8, r: 12, t: 12, b: 8 },
      xaxis: axis(c, "", { type: "date", hoverformat: " ", tickformatstops: TICKS, range: [clock(from), clock(to)], fixedrange: touch, anchor: "y2" }),
      yaxis: axis(c, "lines", { domain: [share + 0.06, 1], rangemode: "tozero" }),
      yaxis2: axis(c, "", { domain: [0, share], type: "category", categoryarray: [...names].reverse(), range: [-0.6, names.length - 0.4] }),
    }),
  };
}

function showSpan(begin, end) {
  const n = data.timeline.lines.length;
  const size = Math.min(n, Math.max(LEAST_STEPS, Math.round(end - begin)));
  from = Math.min(n - size, Math.max(0, Math.round(begin)));
  to = from + size;
  const shownLines = data.timeline.lines.slice(from, to).reduce((sum, count) => sum + count, 0);
  byId("span").textContent = `${spoken(from)} to ${spoken(to)}: ${shownLines.toLocaleString("en-US")} lines`;
  return draw("over");
}

const ZOOMS = {
  in: (size) => [from + size / 4, to - size / 4],
  out: (size) => [from - size / 2, to + size / 2],
  earlier: (size) => [from - size / 4, to - size / 4],
  later: (size) => [from + size / 4, to + size / 4],
  all: () => [0, data.timeline.lines.length],
};
const KEYS = { "+": "in", "=": "in", "-": "out", "−": "out", ArrowLeft: "earlier", ArrowRight: "later", 0: "all", Home: "all" };

function zoom(how) {
  return showSpan(...ZOOMS[how](to - from));
}

function startTimeline() {
  if (!data.timeline) return;
  byId("timeline").hidden = false;
  for (const text of data.timeline.said) byId("over-time").append(element("li", { text }));
  byId("over-time").hidden = !data.timeline.said.length;
  for (const button of byId("timeline").querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(button.dataset.zoom));
  byId("over").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
    event.preventDefault();
    zoom(KEYS[event.key]);
  });
  showSpan(from, to).then((place) => {
    const at = (time) => (Date.parse(`${String(time).replace(" ", "T")}Z`) / 1000 - data.timeline.begin) / data.timeline.step;
    place.on("plotly_relayout", (change) => {
      if ("xaxis.range[0]" in change) showSpan(at(change["xaxis.range[0]"]), at(change["xaxis.range[1]"]));
      else if (change["xaxis.autorange"]) zoom("all");
    });
  });
}
