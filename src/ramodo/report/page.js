// Fills the page, and follows the reader's choice of colours.

function fillSummary() {
  byId("title").textContent = data.title;
  byId("written").textContent = `Written ${data.written}`;
  for (const [name, value] of data.cards) {
    byId("cards").append(element("div", {}, element("dt", { text: name }), element("dd", { text: value })));
  }
  for (const sentence of data.summary) byId("sentences").append(element("p", { class: "data", text: sentence }));
  byId("headline").textContent = data.headline;
  byId("first").hidden = !withReasons;
  for (const [place, text] of withReasons ? data.first : []) {
    const row = lines[place];
    const link = element("a", { href: "#outliers", text: row.id, onclick: (event) => { event.preventDefault(); showGroup(row.kind.rows.map((one) => one.place)); } });
    const item = element("li", {}, link, element("span", { class: "data", text }));
    if (row.text) item.append(element("p", { class: "first-text" }, documentOf(row)));
    byId("first").querySelector("ol").append(item);
  }
  if (data.warnings.length) {
    const list = element("ul", {}, ...[...data.warnings, ...(data.noise ? [data.noise] : [])].map((text) => element("li", { text: text[0].toUpperCase() + text.slice(1) })));
    byId("warnings").append(element("div", { class: "warning", role: "note", "aria-label": "Warnings" },
      element("h3", { text: "Before you trust this ranking" }), list));
  } else if (data.noise) {
    byId("warnings").append(element("p", { class: "warning", role: "note", text: data.noise }));
  } else {
    byId("warnings").append(element("p", { class: "good", text: "The checks of this fit found no problems." }));
  }
}

function fillCaptions() {
  for (const [section, place, caption] of [["scores", "histogram", data.histogram.caption], ["map", "points", data.map.caption],
    ["timeline", "over", data.timeline?.caption], ["training", "loss", data.training.caption], ["labels", "roc", data.curves?.caption], ["labels", "precision", data.curves?.caption]]) {
    if (!caption) continue;
    byId(section).querySelector("figcaption").textContent = caption;
    byId(place).setAttribute("aria-label", caption);
  }
  byId("labels").hidden = !data.curves;
  byId("labelled").hidden = !data.labelled;
  if (data.labelled) {
    byId("labelled").querySelector("p").textContent = data.labelled.said;
    byId("labelled").querySelector("div").append(simpleTable(["Row", "Label", "By"], data.labelled.rows, "Labelled rows, highest score first"));
  }
  const { edges, counts } = data.histogram;
  const bars = counts.map((n, i) => [`${shown(edges[i])} to ${shown(edges[i + 1])}`, n.toLocaleString("en-US")]).filter((_, i) => counts[i]);
  byId("bars").append(simpleTable(["Score", "Rows"], bars, "Rows by score"));
}

function driverList(drivers, of) {
  const largest = Math.max(...drivers.map(([, contribution]) => Math.abs(contribution)), 0);
  return element("ul", { class: "reasons-list" }, ...drivers.map(([name, contribution, rows, lacks]) => element("li", {},
    bar(said(name, lacks), null, contribution, largest), element("span", { class: "quiet count", text: rows ? `strong in ${rows} of ${of}` : "strong in none" }))));
}

function groupCard(group, i) {
  const button = element("button", { type: "button", class: "plain small", onclick: () => showGroup(group.rows), text: "Show these rows" });
  button.append(element("span", { class: "hidden", text: ` of kind ${i + 1}` }));
  const ids = group.rows.slice(0, 5).map((place) => data.table.rows[place].id).join(", ");
  const more = group.n > Math.min(5, group.rows.length) ? `, and ${(group.n - Math.min(5, group.rows.length)).toLocaleString("en-US")} more` : "";
  return element("li", {}, element("h3", { text: `Kind ${i + 1}: ${group.n.toLocaleString("en-US")} rows` }),
    driverList(group.drivers, group.n), element("p", { class: "data quiet", text: ids + more }), button);
}

function fillGroups() {
  const explained = data.table.rows.filter((row) => row.reasons).length;
  if (!explained) {
    byId("groups").hidden = true;
    return;
  }
  if (data.drivers.length) {
    byId("drivers").append(
      element("p", { class: "prose", text: "What adds most to the scores of the highest rows, on average. The count says how many rows have it among their own strongest reasons; a feature that adds a little to every score may be a strong reason for none." }),
      driverList(data.drivers, data.explained));
  }
  if (!data.groups.length) {
    byId("grouped").append(element("p", { text: "No two of these rows share their reasons." }));
    return;
  }
  byId("grouped").append(element("p", { class: "prose", text: "Rows that are high for the same reason, and what they have in common, largest kind first:" }));
  const few = data.groups.slice(0, 6).map(groupCard);
  byId("grouped").append(element("ul", { class: "group-cards" }, ...few));
  if (data.groups.length > 6) {
    const rest = data.groups.slice(6).map((group, i) => groupCard(group, i + 6));
    byId("grouped").append(element("details", {}, element("summary", { text: `${rest.length} smaller kinds` }), element("ul", { class: "group-cards" }, ...rest)));
  }
}

function fillReproduction() {
  const { call, command, seed, options, changed, versions, data: source, seconds } = data.reproduction;
  byId("call").textContent = call;
  byId("command").textContent = command;
  byId("typed").hidden = !command;
  byId("facts").append(
    simpleTable(null, [...source, ["seed", seed]], "Data and seed"),
    simpleTable(null, versions, "Versions"),
    simpleTable(null, seconds.map(([name, value]) => [name, `${value} s`]), "Time of each stage"));
  byId("options").append(simpleTable(["Option", "Value", "Default or changed"], options.map(([name, value]) => [name, value, changed.includes(name) ? "changed" : "default"]), "Options of the detector"));
  byId("findings").append(simpleTable(["Check", "Value", "Meaning"], data.findings.map(([name, value, meaning]) => [name, shown(value, 3), meaning]), "Checks of this fit"));
}

function fillSections() {
  for (const section of document.querySelectorAll("main > section:not([hidden])")) {
    const link = element("a", { href: `#${section.id}`, text: section.querySelector("h2").textContent });
    byId("sections").append(element("li", {}, link));
  }
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return (document.documentElement.dataset.theme ?? (prefersDark.matches ? "dark" : "light")) === "dark";
}

function recolour() {
  byId("theme").textContent = isDark() ? "Light colours" : "Dark colours";
  return drawAll();
}

byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  recolour();
});
prefersDark.addEventListener("change", recolour);

// On paper: light colours, and everything unfolded.
let before = null;
addEventListener("beforeprint", () => {
  before = { theme: document.documentElement.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
  before.closed.forEach((part) => { part.open = true; });
  document.documentElement.dataset.theme = "light";
  drawOnPaper(true);
});
addEventListener("afterprint", () => {
  if (!before) return;
  before.closed.forEach((part) => { part.open = false; });
  if (before.theme) document.documentElement.dataset.theme = before.theme;
  else delete document.documentElement.dataset.theme;
  before = null;
  drawOnPaper(false);
});

fillSummary();
fillCaptions();
startTable();
startTimeline();
fillGroups();
fillReproduction();
fillSections();
recolour().then(() => { document.documentElement.dataset.ready = "yes"; });
