// Package sections is the trace file as its writers see it, and the codecs of its sections in both directions: each
// file has the type of a section, what appends it, what decodes it, and between them the bytes.
//
// Content is a whole trace in memory. Encode, WriteFile and Draft put it into a file. Package trace
// reads files, section by section, with the decoders that stand here.
//
// Invariants:
//
//  1. A file MUST describe itself: functions, parameters and their directions
//     come from its schema section, not from the tables of the program that
//     reads it; otherwise old traces would change their meaning.
//  2. Equal content MUST give equal bytes; otherwise traces could not be
//     compared, cached or tested.
//  3. No length in a file may be believed before that many bytes are there;
//     otherwise a damaged file could exhaust memory.
//  4. What an appender writes, its decoder MUST read as the same; where a value is rounded, once: what was read and
//     is written again gives the same bytes.
//
// docs/format.md describes the format byte by byte.
package sections
