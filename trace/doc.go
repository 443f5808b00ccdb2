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
// The package does not write traces (internal/file/sections does), does not record, does not merge ranks, and does not call MPI.
// docs/format.md describes the format byte by byte. Track and Sequence are handed through to spoor's own packages.
package trace
