// Package export tests what `spoor export` writes by the tools that it is for: they have to read
// it without a complaint, and to find in it what the trace has, counted here without the
// exporter's help.
package export
