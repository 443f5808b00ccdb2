package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/run/launch"
)

// fileOptions say which calls that work on files are traced beside those of MPI.
type fileOptions struct {
	whose            string // "", app or all
	include, exclude []string
	special          bool
}

func (o *fileOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.whose, "io", "", "`app|all`: also calls on files: the program's, or all")
	f.Lookup("io").NoOptDefVal = "app"
	f.StringArrayVar(&o.include, "io-include", nil, "with --io, only files whose path matches this `pattern`, or is below DIR/")
	f.StringArrayVar(&o.exclude, "io-exclude", nil, "with --io, no files whose path matches this `pattern`, or is below DIR/")
	f.BoolVar(&o.special, "io-special", false, "with --io, also pipes, sockets, devices, /proc and /sys")
}

func (o *fileOptions) check() error {
	switch {
	case o.whose != "" && o.whose != "app" && o.whose != "all":
		return fmt.Errorf("--io=%s: app or all", o.whose)
	case o.whose == "" && (len(o.include) > 0 || len(o.exclude) > 0 || o.special):
		return fmt.Errorf("--io-include, --io-exclude and --io-special are for --io")
	}
	for _, p := range append(append([]string{}, o.include...), o.exclude...) {
		if p == "" || strings.Contains(p, ":") {
			return fmt.Errorf("pattern %q: it must not be empty, nor have a colon in it", p)
		}
	}
	return nil
}

// library is the shim that has what is wanted.
func (o *fileOptions) library() string {
	if o.whose == "" {
		return "libspoor.so"
	}
	return "libspoor-io.so"
}

// vars are what that reads in each rank.
func (o *fileOptions) vars() (list []launch.Var) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, launch.Var{Name: name, Value: value})
		}
	}
	add("SPOOR_IO", o.whose)
	add("SPOOR_IO_INCLUDE", strings.Join(o.include, ":"))
	add("SPOOR_IO_EXCLUDE", strings.Join(o.exclude, ":"))
	if o.special {
		add("SPOOR_IO_SPECIAL", "1")
	}
	return list
}
