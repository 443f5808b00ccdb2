package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/rsd"
	"github.com/spoor-hpc/spoor/trace"
)

// How --rsd aligns ranks.
const (
	bySites = "sites"
	byOrder = "order"
)

// checkRSD checks the flags that go with --rsd.
func checkRSD(changed func(name string) bool, o *dumpOptions) error {
	switch {
	case changed("tolerance") && o.rsd != byOrder:
		return errors.New("--tolerance needs --rsd=order")
	case o.rsd != "" && o.structure:
		return errors.New("only one of --structure and --rsd")
	case o.rsd != "" && o.times:
		return errors.New("--times needs --structure")
	case o.rsd != "" && o.rsd != bySites && o.rsd != byOrder:
		return fmt.Errorf("--rsd=%s: ranks are aligned by sites or order", o.rsd)
	}
	return nil
}

// rsd prints loop nests over all of the ranks.
func (d *dumper) rsd(ranks []int) error {
	var list []*rsd.Nests
	var err error
	if d.o.rsd == byOrder {
		list, err = rsd.ByOrder(d.r, ranks, d.o.precision)
	} else {
		list, err = rsd.BySites(d.r, ranks)
	}
	if errors.Is(err, rsd.ErrWide) {
		return fmt.Errorf("%s: %w: try a higher --tolerance, or --rsd=sites", d.r.Name(), err)
	} else if err != nil {
		return err
	}
	for _, n := range list {
		if d.o.stream >= 0 && n.Thread != d.o.stream {
			continue
		}
		if d.o.json {
			err = json.NewEncoder(d.out).Encode(n.JSON(d.where))
		} else {
			n.WriteText(d.out, d.where)
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
