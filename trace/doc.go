// Package trace is the file format of spoor: it writes a merged trace, reads
// it lazily, checks it thoroughly, and renders calls as text and JSON.
//
// A reader never expands a trace. Ranks that did the same things share one
// grammar; what differs between them is a column, evaluated for the rank at
// hand. Memory is proportional to the compressed sections that are looked at,
// whatever the number of calls and ranks.
//
// Invariants that writer, reader and Check share:
//
//  1. A file MUST describe itself: functions, parameters and their directions
//     come from its schema section, not from the tables of the program that
//     reads it; otherwise old traces would change their meaning.
//  2. Every byte MUST be covered by a checksum or by an exact comparison;
//     otherwise damage could pass for content.
//  3. Equal content MUST give equal bytes; otherwise traces could not be
//     compared, cached or tested.
//  4. No length in a file may be believed before that many bytes are there;
//     otherwise a damaged file could exhaust memory.
//
// The package does not record, does not merge ranks, and does not call MPI.
// docs/format.md describes the format byte by byte.
package trace
