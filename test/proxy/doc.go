// Package proxy tests the strongest claim about a trace: that a program can be
// made from it which does the same. Each program is traced, its proxy generated,
// compiled without a warning, run under the recorder, and the two traces
// compared.
//
// It doesn't test what a trace holds; test/oracle does.
package proxy
