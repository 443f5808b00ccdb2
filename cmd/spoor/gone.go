package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// goneVerbs maps verbs of earlier releases to the verbs that replace them.
var goneVerbs = map[string]string{"timing": "papers codecs", "pass": "papers pass"}

// goneFlags maps verbs to flags that they had in earlier releases, and these to what replaces them.
var goneFlags = map[string]map[string]string{
	"run": {
		"rounds": "--plugin $(spoor papers pass --plugin)", "sample": "spoor papers codecs --sample", "model": "--tolerance or --budget, which make a trace lossy",
		"draw": thinInstead + " --trip-counts", "partners": thinInstead + " --partners", "order": thinInstead + " --order", "seed": thinInstead + " --seed",
	},
	"reduce": {
		"draw": thinInstead + " --trip-counts", "partners": thinInstead + " --partners", "order": thinInstead + " --order", "seed": thinInstead + " --seed",
	},
	"calltree": {
		"structure": structureInstead, "sites": structureInstead + " --sites", "times": structureInstead + " --times", "thread": structureInstead + " --thread",
		"rsd": "spoor papers rsd", "tolerance": "spoor papers rsd --align order --tolerance", "style": "spoor papers terms --style",
		"machine": "spoor simulate -o there.spoor, then spoor calltree there.spoor", "fold": "--loops-from order", "all": "--all-ranks",
	},
	"db calltree": {"style": "spoor papers terms --style, of the trace", "all": "--all-ranks"},
	"profile": {
		"machine": "spoor simulate --sites --machine", "gaps": "--before", "after": "--by-previous",
	},
	"simulate": {
		"model": loggopsInstead, "latency": loggopsInstead, "overhead": loggopsInstead, "message-gap": loggopsInstead, "byte-gap": loggopsInstead,
		"byte-overhead": loggopsInstead, "eager": loggopsInstead, "L": loggopsInstead, "g": loggopsInstead, "G": loggopsInstead, "O": loggopsInstead, "S": loggopsInstead,
		"gaps": "--compute-times all|median|mean", "each-round": "--no-shortcuts", "each-rank": "--no-shortcuts",
	},
	"replay":     {"receives": "spoor papers replay", "most-calls": "spoor papers replay --most-calls", "record": "--output"},
	"proxy":      {"gaps": "--compute-times histogram|mean|all", "fold": "--loops-from order"},
	"diff":       {"times": "spoor compare", "all": "--all-ranks"},
	"matrix":     {"collectives": "--of p2p,collectives", "rma": "--of p2p,rma", "no-p2p": "--of"},
	"report":     {"port": "--serve=PORT"},
	"efficiency": {"inside": "--without-init", "all": "--all-calls"},
	"io":         {"each": "--no-grouping"},
	"where":      {"all": "--all-ranks"},
	"recover":    {"all": "--all-ranks"},
}

const (
	thinInstead      = "spoor papers thin"
	loggopsInstead   = "spoor papers loggops"
	structureInstead = "spoor papers structure"
)

// instead adds a removed flag's replacement to an error about the flag.
func instead(cmd *cobra.Command, err error) error {
	no := (*pflag.NotExistError)(nil)
	if !errors.As(err, &no) {
		return err
	}
	name, dashes := no.GetSpecifiedName(), "--"
	if len(name) == 1 {
		dashes = "-"
	}
	if now := goneFlags[strings.TrimSuffix(verbPrefix(cmd), ": ")][name]; now != "" {
		return fmt.Errorf("%s%s is gone; now: %s", dashes, name, now)
	}
	return err
}
