// The table of top outliers: sorted by its headers, filtered by the search and by a group.

const AT_FIRST = 25;
const IN_ROW = 3;
const IN_LINE = 2; // how many views a row names before it is unfolded

const state = { column: "rank", descending: false, query: "", group: null, all: false, every: false };
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

// Kinds of rows, each represented by its highest; a row that resembles no other is a kind of its own.
const kinds = data.kinds.map(([n, places]) => ({ n, rows: places.map((place) => lines[place]) }));
for (const kind of kinds) for (const row of kind.rows) row.kind = kind;

// Bars are shares of the score: the strongest reason is short where it explains little.
function largestOf(row) {
  return Math.max(Math.abs(row.score), ...row.reasons.map(([, , contribution]) => Math.abs(contribution)));
}

// A button that unfolds all reasons of a row.
function unfolding(row) {
  const button = element("button", { type: "button", class: "plain small why-button", "aria-expanded": "false", onclick: () => toggle(row) });
  button.append("All reasons", element("span", { class: "hidden", text: ` of ${row.id}` }));
  row.button = button;
  return button;
}

// A button that unfolds the other rows of a kind.
function likeThis(row) {
  const { n } = row.kind;
  if (n < 2 || row !== row.kind.rows[0]) return [];
  const button = element("button", { type: "button", class: "plain small like-button", "aria-expanded": "false", onclick: () => toggleKind(row.kind, button) });
  button.append(`${n.toLocaleString("en-US")} rows like this`, element("span", { class: "hidden", text: `, of ${row.id}` }));
  return [button];
}

function toggleKind(kind, button) {
  kind.open = !kind.open;
  button.setAttribute("aria-expanded", String(kind.open));
  refresh();
}

function documentOf(row) {
  if (!row.text) return element("span", { class: "quiet", text: "(empty)" });
  return markedText(row.text, row.marks ?? [], (row.reasons ?? []).map(([, , contribution]) => contribution));
}

function reasonsCell(row) {
  if (!row.reasons) return cell("reasons", "Reasons", element("p", { class: "quiet", text: "not explained here" }));
  const list = element("ul", { class: "reasons-list" });
  if (row.thin) list.append(element("li", { text: row.thin[0].toUpperCase() + row.thin.slice(1) }));
  for (const [name, value, contribution] of row.thin ? [] : row.reasons.slice(0, IN_ROW)) {
    list.append(element("li", {}, bar(said(name, value === 0), value, contribution, largestOf(row))));
  }
  const [lacks, amount] = row.lacks;
  if (lacks && amount > 0) list.append(element("li", {}, bar(lacks, null, amount, largestOf(row))));
  return cell("reasons", "Reasons", list, element("div", { class: "buttons" }, ...likeThis(row), unfolding(row)));
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
    element("th", { role: "rowheader", scope: "row", class: "id data", "data-label": "Id", title: row.id, text: row.id }),
    cell("score", "Score", even(row.score, 5)),
    cell("percentile", "Percentile", percentile(row.percentile)),
    cell("flagged", "Flag", element("span", { class: row.flagged ? "flag" : "quiet", text: row.flagged ? "outlier" : "no" })),
  );
  if (withLabels) made.append(cell("known", "Label", row.known ? "outlier" : "other"));
  if (withReasons) made.append(reasonsCell(row));
  row.element = made;
  row.parts = [made];
  if (withTexts) {
    made.classList.add("above");
    row.parts.push(element("tr", { role: "row", class: "document" }, element("td", { role: "cell", class: "text", colspan: COLUMNS.length }, documentOf(row))));
  }
}

function details(row) {
  return element("tr", { role: "row", class: "details", id: `why-${row.place}` },
    element("td", { role: "cell", colspan: COLUMNS.length }, element("div", { class: "why" }, ...sum(row))));
}

// A score as the sum of what each feature adds to it, and the rows that it was compared with.
function sum(row) {
  const table = simpleTable(["Feature", "Value", "Adds to the score", "Typical"], [],
    `${row.id}: what its score of ${shown(row.score, 5)} is made of`);
  for (const reason of row.reasons) {
    const [name, value, contribution] = reason;
    table.tBodies[0].append(element("tr", {},
      element("th", { scope: "row", class: "data", text: said(name, value === 0) }),
      element("td", { text: value === null ? "" : shown(value) }),
      element("td", {}, bar(null, null, contribution, largestOf(row))),
      element("td", { text: typical(reason) })));
  }
  const others = [...(row.lacks[0] ? [row.lacks] : []), ["all other features", row.rest]];
  for (const [text, amount] of others) {
    const written = Math.abs(amount) < 1e-5 * Math.abs(row.score) ? "0" : signed(amount);
    table.tBodies[0].append(element("tr", {}, element("th", { scope: "row", class: "data", text }), element("td"),
      element("td", {}, element("span", { class: "reason" }, element("span"), element("span", { class: "amount", text: written }))), element("td")));
  }
  const spread = row.spread ? [element("p", { class: "spread", text: `${row.spread[0].toUpperCase()}${row.spread.slice(1)}.` })] : [];
  const nearest = row.nearest.length ? [element("p", { class: "data", text: `Nearest reference rows: ${row.nearest.join(", ")}` })] : [];
  return [table, ...spread, ...byViews(row), ...nearest];
}

function toggle(row) {
  if (row.details) {
    row.details.remove();
    row.details = null;
  } else {
    row.details = details(row);
    row.parts.at(-1).after(row.details);
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
  const folded = !state.every && !asked && !state.group;
  const found = (folded ? kinds.map((kind) => kind.rows[0]) : lines).filter((row) => row.found.includes(asked) && (!state.group || state.group.has(row.place)));
  found.sort((a, b) => sign * compare(valueOf(a), valueOf(b)) || a.rank - b.rank);
  const kept = state.all ? found : found.slice(0, AT_FIRST);
  const body = byId("rows").tBodies[0];
  body.replaceChildren(...kept.flatMap((row) => {
    const together = folded && row.kind.open ? row.kind.rows : [row];
    return together.flatMap((one) => {
      if (!one.element) build(one);
      one.parts.forEach((part) => part.classList.toggle("like", one !== row));
      return one.details ? [...one.parts, one.details] : one.parts;
    });
  }));
  const what = folded ? "kinds of rows" : "rows";
  const narrowed = asked || state.group ? `${found.length} of ${lines.length} rows match` : `${found.length} ${found.length === 1 ? what.replace("s", "") : what}`;
  byId("matches").textContent = kept.length < found.length ? `${narrowed}; the first ${kept.length} are shown` : narrowed;
  byId("every").hidden = kinds.length === lines.length || Boolean(asked) || Boolean(state.group);
  byId("every").textContent = state.every ? "One entry for each kind" : "Every row";
  byId("more").hidden = kept.length === found.length;
  byId("more").textContent = `Show all ${found.length}`;
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
  byId("every").addEventListener("click", () => {
    state.every = !state.every;
    refresh();
  });
  byId("more").addEventListener("click", () => {
    state.all = true;
    refresh();
  });
  refresh();
}
