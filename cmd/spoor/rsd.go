package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/nests"
	"github.com/spoor-hpc/spoor/trace"
)

// rsd prints loop nests over all of the ranks.
func (d *dumper) rsd(ranks []int) error {
	list, err := nests.BySites(d.r, ranks)
	if err != nil {
		return err
	}
	for _, n := range list {
		if d.o.stream >= 0 && n.Thread != d.o.stream {
			continue
		}
		if d.o.json {
			err = json.NewEncoder(d.out).Encode(n.JSON(d.where))
		} else {
			err = n.WriteText(d.out, d.where)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// where names a call site: with --sites as programs and libraries tell, and with what is around it.
func (d *dumper) where(s trace.Site) string {
	if !d.o.sites {
		return s.String()
	}
	var list []string
	for _, f := range s.Frames() {
		list = append(list, d.places.text(f))
	}
	return strings.Join(list, " < ")
}

// needWhole refuses flags for parts of threads beside one that shows whole ones.
func needWhole(changed func(name string) bool, flag string, names ...string) error {
	for _, name := range append(windowNames(), names...) {
		if changed(name) {
			return fmt.Errorf("--%s shows whole threads; leave out --%s", flag, name)
		}
	}
	return nil
}
