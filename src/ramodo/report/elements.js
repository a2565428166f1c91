// Elements and numbers. Everything that comes from data goes through textContent, so it stays text.

const data = JSON.parse(document.getElementById("data").textContent);

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function shown(value, digits = 4) {
  if (typeof value === "string") return value; // an hour
  const size = Math.abs(value);
  if (size < 1e15 && (size >= 1000 || Number.isInteger(value))) return Math.round(value).toLocaleString("en-US");
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

// The same number of digits in each line of a column.
function even(value, digits) {
  const size = Math.abs(value);
  return size >= 10 ** digits || size < 1e-4 ? shown(value, digits) : value.toPrecision(digits);
}

function signed(value) {
  return (value < 0 ? "−" : "+") + even(Math.abs(value), 3);
}

function percent(share) {
  if (share === 0) return "0 %";
  if (share > 0.999 && share < 1) return "above 99.9 %";
  return share < 0.001 ? "below 0.1 %" : `${Number((100 * share).toPrecision(share < 0.01 ? 1 : share > 0.99 ? 3 : 2))} %`;
}

// Two decimals, or as many as it takes not to round up to 100.
function percentile(value) {
  let digits = 2;
  while (value < 100 && digits < 12 && Number(value.toFixed(digits)) === 100) digits += 1;
  return value.toFixed(digits);
}

// The name of a feature, for rows that have it or lack it.
function said(name, lacks) {
  return lacks ? `lacks ${data.names[name]}` : data.names[name];
}

// A bar with its number; bars that lower the score are striped, so colour is never the only sign.
function bar(name, value, contribution, largest) {
  const lowers = contribution < 0;
  const width = Math.max(2, Math.round((100 * Math.abs(contribution)) / (largest || 1)));
  const fill = element("span", { class: lowers ? "fill lowers" : "fill" });
  fill.style.width = `${width}%`;
  const line = element("span", { class: value === null ? "reason plain-reason" : "reason" });
  if (name !== null) line.append(element("span", { class: "reason-name data", text: name, title: name }));
  if (value !== null) line.append(element("span", { class: "reason-value", text: value === 0 ? "" : `= ${shown(value)}` }));
  line.append(
    element("span", { class: "track", "aria-hidden": "true" }, fill),
    element("span", { class: "amount", text: signed(contribution) }),
  );
  return line;
}

// A document with the passages of its reasons marked, the strongest most visibly, and never by colour alone.
// `marks` are [first character, end, reason] in order, `amounts` what each reason adds to the score.
function markedText(text, marks, amounts) {
  const characters = Array.from(text);
  const largest = Math.max(...amounts, 0) || 1;
  const made = element("span", { class: "marked data" });
  let last = 0;
  for (const [begin, end, reason] of marks) {
    if (begin < last) continue;
    made.append(characters.slice(last, begin).join(""));
    const strength = amounts[reason] >= largest / 2 ? "strong" : "weak";
    made.append(element("mark", { class: strength, title: `adds ${signed(amounts[reason])} to the score`, text: characters.slice(begin, end).join("") }));
    last = end;
  }
  made.append(characters.slice(last).join(""));
  return made;
}

// What is usual for a reason: [name, value, contribution, share, mean, compared with others, rows, of how many].
function typical([, value, , share, mean, compared, rows, of]) {
  if (typeof value === "string") return compared;
  if (rows !== undefined && share < 0.5) return `in ${rows ? `at most ${shown(rows)}` : "none"} of ${shown(of)} rows`;
  if (!share) return "in no reference row";
  return `${compared ? `${compared}: ` : ""}in ${percent(share)} of reference rows${value === null ? "" : `, typically ${shown(mean, 3)}`}`;
}

function simpleTable(head, rows, caption) {
  const table = element("table", { class: "simple" }, element("caption", { text: caption }));
  if (head) table.append(element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col", text })))));
  const body = element("tbody");
  for (const [first, ...rest] of rows) {
    const line = element("tr", {}, element("th", { scope: "row", class: "data", text: String(first) }));
    line.append(...rest.map((text) => element("td", { class: "data", text: String(text) })));
    body.append(line);
  }
  table.append(body);
  return table;
}
