import { data } from "./data.js";
import { el, section } from "./dom.js";
import { percent } from "./format.js";
import { way, ways } from "./links.js";

// findings are the first lines of the page: where the run's time is lost, each with ways to its evidence.
export const findings = () => {
  if (data.summary.no_times) return;
  const list = data.findings;
  const evidence = (f) => [
    f.function && way("calls", "Calls", f.function, f.site || ""),
    f.evidence === "path" && way("waiting", "Critical path"),
    f.evidence === "iterations" && way("iterations", "Over the iterations", f.seen),
    f.evidence === "waiting" && way("waiting", "Who waits for whom", f.function, f.site),
    f.function && !f.evidence && way("imbalance", "Over the ranks", f.function, f.site || ""),
    f.rank >= 0 && way("ranks", `Rank ${f.rank} among the others`, f.rank),
    f.function && way("structure", "In the structure", f.function, f.site || ""),
    way("timeline", "On the timeline", { name: f.function || "", rows: f.rank >= 0 && !f.function ? String(f.rank) : "", seen: f.seen }),
  ];
  const part = section("findings", "Findings", null,
    list.length === 0 ? el("p", { className: "lead", textContent: "No single cause takes 5 % of the run." })
      : el("ol", { className: "findings" }, list.map((f) => el("li", {}, el("strong", { textContent: percent(f.share) }), el("span", {}, el("span", { className: "say", textContent: f.text }), el("span", { className: "ways" }, evidence(f)))))));
  // Sections that links lead to are made later: a link without one goes then.
  return () => part.querySelectorAll(".way").forEach((e) => { if (!ways[e.dataset.to]) e.remove(); });
};
