// Drives the page as a reader would, and writes what it found into the page.

const results = [];
const check = (what, good, more) => results.push(`${good ? "ok" : "FAIL"} ${what}${good || more === undefined ? "" : `: ${more}`}`);
const $ = (s) => document.querySelector(s);
const all = (s) => [...document.querySelectorAll(s)];
const pause = () => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(f, 10))));
const column = (table, i) => [...table.querySelectorAll("tbody tr")].map((r) => r.children[i].textContent);
// painted counts the colours of a canvas.
const painted = (c) => {
  const copy = document.createElement("canvas");
  copy.width = c.width;
  copy.height = c.height;
  const g = copy.getContext("2d", { willReadFrequently: true }), seen = new Set();
  g.drawImage(c, 0, 0);
  const d = g.getImageData(0, 0, c.width, c.height).data;
  for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
  return seen.size;
};
const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));

const drive = async () => {
  for (let i = 0; i < 200 && !document.documentElement.dataset.ready; i++) await pause();
  check("the page gets ready", document.documentElement.dataset.ready === "true");
  for (const id of EXPECT.sections) check(`section ${id}`, $(`section#${id} h2`) && $(`#nav a[href="#${id}"]`));
  check("the title is the command", $("#title").textContent === EXPECT.title, $("#title").textContent);
  check("nothing became markup", !window.hacked && !$("main b.hack"));

  // Sorting by name, both ways, and filtering.
  const functions = $('table[aria-label="MPI functions"]'), name = functions.querySelector("th button");
  name.click();
  const up = column(functions, 0);
  check("sorts by name", functions.querySelector("th").getAttribute("aria-sort") === "ascending" && up.join() === [...up].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).join(), up);
  name.click();
  check("and back", column(functions, 0).join() === [...up].reverse().join());
  const filter = $("#overview input[type=search]");
  if (filter) {
    filter.value = "allred";
    filter.dispatchEvent(new Event("input"));
    check("filters", column(functions, 0).join() === "MPI_Allreduce", column(functions, 0));
  }

  // The flat table.
  const flat = $('table[aria-label="Calls by place"]'), heads = [...flat.querySelectorAll("th button")];
  if (!EXPECT.timeless) heads.find((b) => b.textContent === "Calls").click(); // else it is so from the start
  const numbers = column(flat, heads.findIndex((b) => b.textContent === "Calls")).map((t) => Number(t.replaceAll(",", "")));
  check("the flat table sorts by numbers", numbers.length > 2 && numbers.every((n, i) => i === 0 || n <= numbers[i - 1]), numbers);
  check("it lists ranks", column($('table[aria-label="Totals of ranks"]'), 0).length > 0);

  // The structure.
  const lines = () => all("#structure .tree li").filter((e) => e.getClientRects().length > 0 && e.checkVisibility?.({ contentVisibilityAuto: true, visibilityProperty: true }) !== false).length;
  $("#unfold").click();
  const unfolded = lines();
  $("#fold").click();
  check("folds", lines() < unfolded, `${lines()} of ${unfolded} lines`);
  $("#unfold").click();
  check("unfolds", lines() === unfolded);
  const call = $("#structure input[type=search]");
  call.value = "allreduce";
  call.dispatchEvent(new Event("input"));
  check("marks calls", all("#structure .hit").length > 0);

  // The matrix.
  const matrix = $("#matrix canvas");
  check("the matrix is painted", painted(matrix) > 5, painted(matrix));
  check("cell by cell or in bins", Number(matrix.dataset.bin) === EXPECT.bin, matrix.dataset.bin);
  const whole = Number(matrix.dataset.span);
  for (let i = 0; i < 8; i++) $("#matrix-in").click();
  check("zooms in", Number(matrix.dataset.span) < whole || whole <= 4, matrix.dataset.span);
  check("to single ranks", matrix.dataset.bin === "1", matrix.dataset.bin);
  $("#matrix-all").click();
  check("and out", Number(matrix.dataset.span) === whole);
  matrix.focus();
  key(matrix, "ArrowRight");
  check("is read by keys", /From rank.* to rank/.test($("#tip").textContent) && !$("#tip").hidden, $("#tip").textContent);
  const boxes = all("#matrix input[type=checkbox]");
  if (boxes.length > 1) {
    const label = matrix.getAttribute("aria-label");
    boxes[1].click();
    check("adds collectives", matrix.getAttribute("aria-label") !== label && /collectives/.test(matrix.getAttribute("aria-label")));
  }
  check("lists busy pairs", column($('table[aria-label="Busiest pairs of ranks"]'), 0).length > 0);

  check("sizes have bars", all("#sizes rect.b").length > 0);
  if (EXPECT.timeless) {
    for (const id of ["imbalance", "timeline", "waiting"]) check(`${id} says that there are no times`, /no times/i.test($(`#${id}`).textContent), $(`#${id}`).textContent);
    const times = all("main td, main dd, main .t, main .dim").map((e) => e.textContent).filter((t) => /\d (ns|µs|ms|s|min|h)\b/.test(t));
    check("nothing has a time", times.length === 0, times.slice(0, 5).join("; "));
    check("no column of times", !all("main thead th").some((e) => /Time|Mean|Before|Imbalance|MPI|Of run/.test(e.textContent)), all("main thead th").map((e) => e.textContent));
    look();
    return;
  }
  check("imbalance lists calls", column($("#imbalance table"), 0).includes("MPI_Allreduce"));

  // The timeline.
  const time = $("#timeline canvas");
  check("the timeline is painted", painted(time) > 4, painted(time));
  check("it says how it knows", EXPECT.known.test($("#timeline .lead").textContent), $("#timeline .lead").textContent);
  const span = Number(time.dataset.to);
  for (let i = 0; i < 5; i++) $("#time-in").click();
  await pause();
  check("zooms into time", Number(time.dataset.to) - Number(time.dataset.from) < span / 10);
  $("#time-all").click();
  await pause();
  check("back to all of it", Number(time.dataset.to) === span && Number(time.dataset.from) === 0);
  const find = $("#time-search");
  find.value = "allreduce";
  find.dispatchEvent(new Event("input"));
  check("finds a function", /MPI_Allreduce: [\d,]+ call/.test($("#hits").textContent), $("#hits").textContent);
  time.focus();
  key(time, "ArrowDown");
  check("is read by keys, too", /^ranks? \d+/.test($("#tip").textContent), $("#tip").textContent);
  if (EXPECT.rows) {
    check("threads have rows", Number(time.dataset.rows) === EXPECT.rows, time.dataset.rows);
    for (let i = 0; i < EXPECT.rows; i++) key(time, "ArrowDown");
    check("which keys reach", /, thread \d/.test($("#tip").textContent), $("#tip").textContent);
    $("#time-threads").click();
    await pause();
    check("and which can be hidden", Number(time.dataset.rows) === EXPECT.ranks, time.dataset.rows);
    $("#time-threads").click();
  }
  check("has a table", column($('table[aria-label="Time of ranks by kind of call"]'), 0).length > 0);

  look();
};

// look tries what the page looks like.
const look = () => {
  // Themes differ, and their text has contrast.
  const back = () => getComputedStyle(document.body).backgroundColor;
  const light = back();
  $("#theme").click();
  $("#theme").click();
  check("has a dark theme", back() !== light);
  check("every control has a name", all("button, input, select").every((e) => e.textContent || e.getAttribute("aria-label") || e.closest("label")));
};

try {
  await drive();
} catch (e) {
  results.push(`FAIL the driver: ${e.stack}`);
}
return results.join("\n");
