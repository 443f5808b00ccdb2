// Package model is what a trace is made of, as plain data: functions and their parameters, call
// sites, places in memory, statistics of times, processes, and what the program's code says.
//
// Package trace gives all of it under the same names; a program that reads traces needs only that. Whoever
// makes a trace without reading one imports this package alone.
//
// Invariants:
//
//  1. Nothing here reads or writes a file.
//  2. Numbers of a Type, a Dir and an Attr are part of the format and never change.
package model
