// Package version holds the version of the tool. The trace format has its own.
package version

// Number is the version.
const Number = "0.1.0"
