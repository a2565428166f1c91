// The table of top outliers: sorted by its headers, filtered by the search and by a group.

const AT_FIRST = 25;
const IN_ROW = 3;
const IN_LINE = 2; // views that a row names before it is unfolded
const LONG = 90; // characters of a document that four lines of the narrowest column hold

const state = { column: "rank", descending: false, query: "", group: null, all: false };
const withTexts = data.table.rows.some((row) => row.text !== null);
const withLabels = data.table.rows.some((row) => row.known !== null);
const withReasons = data.table.rows.some((row) => row.reasons);

const COLUMNS = [
  ["rank", "Rank", (row) => row.rank],
  ["id", "Id", (row) => row.id],
  ["score", "Score", (row) => row.score],
  ["percentile", "Percentile", (row) => row.percentile],
  ["flagged", "Flag", (row) => Number(row.flagged)],
  ...(withLabels ? [["known", "Label", (row) => Number(row.known)]] : []),
  ...(withTexts ? [["text", "Document", (row) => row.text]] : []),
  ...(withReasons ? [["reasons", "Strongest reasons", (row) => (row.reasons ? data.names[row.reasons[0]?.[0]] ?? "" : "\uffff")]] : []),
];

const lines = data.table.rows.map((row, i) => {
  const names = (row.reasons ?? []).map(([name, value]) => said(name, value === 0));
  const views = (row.views ?? []).slice(0, IN_LINE).map(([view]) => data.views[view]);
  return { ...row, rank: i + 1, place: i, found: [row.id, row.text ?? "", ...names, ...views].join("\n").toLowerCase() };
});

function cell(key, label, ...content) {
  return element("td", { role: "cell", class: `${key} data`, "data-label": label }, ...content);
}

function largestOf(row) {
  return Math.max(...row.reasons.map(([, , contribution]) => Math.abs(contribution)), 0);
}

// Unfolds what else there is to say of a row: its reasons, and a document that takes more than a few lines.
function unfolding(row) {
  const button = element("button", { type: "button", class: "plain small", "aria-expanded": "false", onclick: () => toggle(row) });
  button.append(row.reasons ? "All reasons" : "Whole document", element("span", { class: "hidden", text: ` of ${row.id}` }));
  row.button = button;
  return button;
}

function isLong(row) {
  return (row.text ?? "").length > LONG;
}

function textCell(row) {
  const text = row.text ? element("span", { class: "clamp", text: row.text }) : element("span", { class: "quiet", text: "(empty)" });
  return cell("text", "Document", text, ...(isLong(row) && !withReasons ? [unfolding(row)] : []));
}

function reasonsCell(row) {
  if (!row.reasons) {
    const none = element("p", { class: "quiet", text: "not explained here" });
    return cell("reasons", "Reasons", none, ...(isLong(row) ? [unfolding(row)] : []));
  }
  const list = element("ul", { class: "reasons-list" });
  for (const [name, value, contribution] of row.reasons.slice(0, IN_ROW)) {
    list.append(element("li", {}, bar(said(name, value === 0), value, contribution, largestOf(row))));
  }
  return cell("reasons", "Reasons", list, ...byViews(row, IN_LINE), unfolding(row));
}

// What views add to the score, the strongest first; nothing where there is one only.
function byViews(row, most = row.views.length) {
  if (row.views.length < 2) return [];
  const named = row.views.slice(0, most).map(([view, amount]) => `${data.views[view]} ${shown(amount, 3)}`);
  return [element("p", { class: "data views", text: `By: ${named.join(", ")}` })];
}

function build(row) {
  const made = element("tr", { role: "row" },
    cell("rank", "Rank", String(row.rank)),
    element("th", { role: "rowheader", scope: "row", class: "id data", "data-label": "Id", text: row.id }),
    cell("score", "Score", even(row.score, 5)),
    cell("percentile", "Percentile", percentile(row.percentile)),
    cell("flagged", "Flag", element("span", { class: row.flagged ? "flag" : "quiet", text: row.flagged ? "outlier" : "no" })),
  );
  if (withLabels) made.append(cell("known", "Label", row.known ? "outlier" : "other"));
  if (withTexts) made.append(textCell(row));
  if (withReasons) made.append(reasonsCell(row));
  row.element = made;
}

function details(row) {
  const inner = element("div", { class: "why" });
  if (isLong(row)) inner.append(element("p", { class: "data", text: row.text }));
  if (row.reasons) inner.append(...sum(row));
  return element("tr", { role: "row", class: "details", id: `why-${row.place}` },
    element("td", { role: "cell", colspan: COLUMNS.length }, inner));
}

// A score as the sum of what each feature adds to it, and the rows that it was compared with.
function sum(row) {
  const table = simpleTable(["Feature", "Value", "Adds to the score", "Typical"], [],
    `${row.id}: what its score of ${shown(row.score, 5)} is made of`);
  for (const [name, value, contribution, share, mean] of row.reasons) {
    const typical = share ? `in ${percent(share)} of reference rows, mean ${shown(mean, 3)}` : "in no reference row";
    table.tBodies[0].append(element("tr", {},
      element("th", { scope: "row", class: "data", text: said(name, value === 0) }),
      element("td", { text: shown(value) }),
      element("td", {}, bar(null, null, contribution, largestOf(row))),
      element("td", { text: typical })));
  }
  table.tBodies[0].append(element("tr", {}, element("th", { scope: "row", text: "all other features" }), element("td"),
    element("td", {}, element("span", { class: "reason" }, element("span"), element("span", { class: "amount", text: Math.abs(row.rest) < 1e-5 * Math.abs(row.score) ? "0" : signed(row.rest) }))), element("td")));
  const nearest = row.nearest.length ? [element("p", { class: "data", text: `Nearest reference rows: ${row.nearest.join(", ")}` })] : [];
  return [table, ...byViews(row), ...nearest];
}

function toggle(row) {
  if (row.details) {
    row.details.remove();
    row.details = null;
  } else {
    row.details = details(row);
    row.element.after(row.details);
    row.button.setAttribute("aria-controls", row.details.id);
  }
  row.button.setAttribute("aria-expanded", String(Boolean(row.details)));
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
}

function refresh() {
  const valueOf = COLUMNS.find(([key]) => key === state.column)[2];
  const sign = state.descending ? -1 : 1;
  const asked = state.query.trim().toLowerCase();
  const found = lines.filter((row) => row.found.includes(asked) && (!state.group || state.group.has(row.place)));
  found.sort((a, b) => sign * compare(valueOf(a), valueOf(b)) || a.rank - b.rank);
  const kept = state.all ? found : found.slice(0, AT_FIRST);
  const body = byId("rows").tBodies[0];
  body.replaceChildren(...kept.flatMap((row) => {
    if (!row.element) build(row);
    return row.details ? [row.element, row.details] : [row.element];
  }));
  const narrowed = asked || state.group ? `${found.length} of ${lines.length} rows match` : `${lines.length} rows`;
  byId("matches").textContent = kept.length < found.length ? `${narrowed}; the first ${kept.length} are shown` : narrowed;
  byId("more").hidden = kept.length === found.length;
  byId("more").textContent = `Show all ${found.length} rows`;
  byId("ungroup").hidden = !state.group;
  for (const header of byId("rows").tHead.rows[0].cells) {
    if (header.dataset.key !== state.column) header.removeAttribute("aria-sort");
    else header.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
  }
}

function sortBy(key) {
  state.descending = state.column === key ? !state.descending : ["score", "percentile", "flagged", "known"].includes(key);
  state.column = key;
  refresh();
}

function showGroup(places) {
  state.group = new Set(places);
  state.query = byId("search").value = "";
  refresh();
  byId("outliers").scrollIntoView();
  byId("search").focus({ preventScroll: true });
}

function startTable() {
  const table = byId("rows");
  table.caption.textContent = data.table.caption;
  byId("notation").textContent = data.notation;
  byId("notation").hidden = !data.notation;
  for (const [key, label] of COLUMNS) {
    const button = element("button", { type: "button", text: label, onclick: () => sortBy(key) });
    table.tHead.rows[0].append(element("th", { role: "columnheader", scope: "col", "data-key": key, class: key }, button));
  }
  byId("search").addEventListener("input", (event) => {
    state.query = event.target.value;
    refresh();
  });
  byId("ungroup").addEventListener("click", () => {
    state.group = null;
    refresh();
    byId("search").focus();
  });
  byId("more").addEventListener("click", () => {
    state.all = true;
    refresh();
  });
  refresh();
}
