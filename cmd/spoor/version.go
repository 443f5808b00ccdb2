package main

// version is the version of the tool; the trace format has its own.
const version = "0.1.0"
