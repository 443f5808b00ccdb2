import { calls } from "./calls.js";
import { facts, overview } from "./overview.js";
import { data } from "./data.js";
import { repaint } from "./dom.js";
import { files } from "./files.js";
import { findings } from "./findings.js";
import { imbalance } from "./imbalance.js";
import { iterations } from "./iterations.js";
import { matrix } from "./matrix.js";
import { numbersOfRanks } from "./ranks.js";
import { sizes } from "./sizes.js";
import { structure } from "./structure.js";
import { timeline } from "./timeline.js";
import { waiting } from "./waiting.js";

// The theme: as the system has it, unless chosen here.
const themes = ["auto", "light", "dark"];
const button = document.getElementById("theme");
const wear = (theme) => {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = "Theme: " + theme;
  repaint();
};
button.addEventListener("click", () => wear(themes[(themes.indexOf(document.documentElement.dataset.theme || "auto") + 1) % 3]));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

// Paper is white whatever the screen is, and has nothing to click.
let before = "auto";
const printed = (yes) => document.querySelectorAll(".table").forEach((t) => t.onPaper(yes));
addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme || "auto"; wear("light"); printed(true); });
addEventListener("afterprint", () => { wear(before); printed(false); });

let soon = 0;
addEventListener("resize", () => { cancelAnimationFrame(soon); soon = requestAnimationFrame(repaint); });

// The parts of the page, in order. Each adds its section, if it has one.
facts();
const linkFindings = findings();
overview();
await timeline();
await iterations();
waiting();
imbalance();
await numbersOfRanks();
calls();
structure();
await matrix();
sizes();
await files();
linkFindings?.();
document.getElementById("foot").append(`${data.file}, made by ${data.producer}. ${data.live ? "spoor report --serve on this machine loads the parts that you look at." : "This page is one file and loads nothing else."}`);

// The link of the section in view is marked.
const links = new Map([...document.querySelectorAll("#nav a")].map((a) => [a.hash.slice(1), a]));
const seen = new IntersectionObserver((list) => {
  for (const e of list) {
    if (!e.isIntersecting) continue;
    for (const a of links.values()) a.removeAttribute("aria-current");
    links.get(e.target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-15% 0px -75% 0px" });
for (const id of links.keys()) seen.observe(document.getElementById(id));
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
document.documentElement.dataset.ready = "true";
