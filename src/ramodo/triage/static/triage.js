// Keys and buttons of the labelling page. The server renders pages and cards; nothing here builds HTML from data.
"use strict";

const byId = (id) => document.getElementById(id);
const csrf = document.querySelector("meta[name=csrf]").content;
let busy = false, working = false;

function say(text) {
  byId("said").textContent = "";
  requestAnimationFrame(() => { byId("said").textContent = text; });
}

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = !text;
}

async function send(path, body, type = "application/json") {
  let answer;
  try {
    answer = await fetch(path, {
      method: "POST", headers: { "X-CSRF-Token": csrf, "Content-Type": type, Accept: "application/json" },
      body: type === "application/json" ? JSON.stringify(body) : body,
    });
  } catch {
    trouble("The server does not answer. Nothing was changed; labels it acknowledged are safe. Start it again and reload this page.");
    return null;
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    trouble(found.error?.message ?? `The server refused the request (${answer.status}). Nothing was changed.`);
    return null;
  }
  trouble("");
  return found;
}

function show(found) {
  if (found.card !== undefined && byId("card")) byId("card").innerHTML = found.card;
  if (found.live !== undefined && byId("live")) byId("live").innerHTML = found.live;
  if (found.problems !== undefined) byId("problems").innerHTML = found.problems;
  if (found.said) say(found.said);
  const learning = document.querySelector(".learning");
  if (learning) {
    const now = learning.dataset.working === "yes";
    if (now && !working) setTimeout(watch, 300);
    working = now;
  }
}

async function act(path, body = {}) {
  if (busy) return;
  busy = true;
  try {
    const found = await send(path, body);
    if (found) show(found);
    if (found?.reload) location.assign(found.reload);
  } finally {
    busy = false;
  }
}

async function watch() {
  try {
    const found = await (await fetch("/live", { headers: { Accept: "application/json" } })).json();
    working = false;
    show(found);
  } catch {
    trouble("The server does not answer. Labels it acknowledged are safe.");
  }
}

const shownRow = () => Number(document.querySelector(".card")?.dataset.row || -1);
const label = (value) => { if (shownRow() >= 0) act("/label", { row: shownRow(), label: value }); };

const KEYS = {
  o: () => label(1), i: () => label(-1), u: () => label(0), z: () => act("/undo"), r: () => act("/refit"),
  ArrowLeft: () => act("/move", { step: -1 }), ArrowRight: () => act("/move", { step: 1 }),
  "/": () => byId("search")?.focus(), "?": () => byId("keys")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys")?.open) return;
  if (event.target.matches("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const does = (byId("card") || event.key === "z") && KEYS[event.key];
  if (!does) return;
  event.preventDefault();
  does();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { label: value, move, undo, refit, back, all, keys, go, name } = button.dataset;
  if (value !== undefined) label(Number(value));
  else if (move !== undefined) act("/move", { step: Number(move) });
  else if (undo !== undefined) act("/undo");
  else if (refit !== undefined) act("/refit");
  else if (back !== undefined) act("/back", { version: Number(back) });
  else if (go !== undefined) act("/go", { row: Number(go) });
  else if (keys !== undefined) byId("keys").showModal();
  else if (all !== undefined) {
    const { kind, of } = button.closest("[data-kind]").dataset;
    act("/kinds/label", { number: Number(kind), version: Number(of), label: Number(all) });
  } else if (name !== undefined) {
    const wanted = prompt("Your name, to be stored with your labels", name);
    if (wanted) act("/name", { name: wanted });
  }
});

document.addEventListener("change", (event) => {
  if (event.target.name === "queue") {
    event.target.blur();
    act("/queue", { queue: event.target.value });
  }
});

byId("find")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const found = await send("/search", { text: byId("search").value });
  if (!found) return;
  byId("found").innerHTML = found.found;
  say(found.said);
});

byId("import")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = byId("file").files[0];
  if (!file) return;
  const found = await send("/import", file, "text/csv");
  if (found) { show(found); trouble(""); byId("problems").textContent = found.said; }
});

const root = document.documentElement;
const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const nameTheme = () => { byId("theme").textContent = isDark() ? "Light colours" : "Dark colours"; };
const kept = localStorage.getItem("theme");
if (kept) root.dataset.theme = kept;
nameTheme();
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  nameTheme();
});

show({});
root.dataset.ready = "yes";
