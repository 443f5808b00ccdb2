// Package trace reads traces: it opens a file lazily, checks it thoroughly, says what ranks called, how
// long that took and when it was, and renders calls as text and JSON.
//
// A Reader never expands a trace. Ranks that did the same things share one
// grammar; what differs between them is a column, evaluated for the rank at
// hand. Memory is proportional to the compressed sections that are looked at,
// whatever the number of calls and ranks.
//
// Invariants:
//
//  1. What a call means comes from the file's schema section, not from the tables of the program that
//     reads it; otherwise old traces would change their meaning.
//  2. Every byte of a file MUST be covered by a checksum or by an exact comparison, and a section is
//     decoded only after its checksum; otherwise damage could pass for content.
//  3. No length in a file may be believed before that many bytes are there;
//     otherwise a damaged file could exhaust memory.
//  4. Readers and ranks are safe for use by several goroutines at once.
//
// # Which time do I ask for
//
// From the cheapest to the dearest; TimeKind says how exact the times of calls are, TimeExtent how long the run took.
//
//   - A call site's sum over the ranks of a class: [Reader.Times]. Every mode that keeps times has it. profile, compare, db and info
//     add it up in internal/sites/sums, which is what a new answer asks.
//   - What each rank spent, in all and by call site: [Rank.Totals]; over the ranks of a class [Reader.Totals], which has means and
//     extremes without a look at each rank. efficiency asks it.
//   - A call path, or a loop: [Leaves.Times], times of the leaves of the structure tree. internal/calltree adds them up: ask that.
//   - The same as this one rank had them, to compute as long again: reissue.LeafGapsCache. simulate and proxy ask it; the times are those of
//     the leaf, scaled to the rank's own totals.
//   - Other values than means, call after call: reissue.CallTimeEstimator draws them from histograms. proxy and replay ask it.
//   - How times of a call site are spread: [Reader.Histograms], if the trace has some; profile --histogram counts calls otherwise.
//   - First calls apart from later ones: [Reader.UnusualFirstCalls]. Findings of info about warm-up come from it.
//   - When ranks computed, by iteration: [Reader.When], as the run's end saw it; who waited for whom: [Reader.Waits]. info and
//     report ask these first, since they need no call in order.
//   - Each call at its time, with parameters: [Rank.TimedCalls], or internal/ops if it also matters what the call did. Exports,
//     dump and hang ask it. Without parameters [Rank.TimedTerminals] is faster: timelines ask it.
//   - Both of them from one position, skipping repetitions: [Rank.TimedWalk]. ops, replay and simulate ask it.
//   - What a stream did at a moment: [Rank.MomentAt]. Timelines and cut ask it.
//   - Ticks as they were stored: [Rank.RawTimes]. Only codecs ask it.
//
// The package does not write traces (internal/file/sections does), does not record, does not merge ranks, and does not call MPI.
// docs/format.md describes the format byte by byte. Track and Sequence are handed through to spoor's own packages.
package trace
