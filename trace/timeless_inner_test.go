package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Times in a trace that says it has none are an error, whether of one section or another.
func TestTimesOfTimeless(t *testing.T) {
	for _, section := range timed {
		if section == container.SectionSeries {
			continue // is not among the raw sections
		}
		c := sample(t)
		c.NoTimes = true
		raw, err := sections.RawSections(c, wire.EstimatePackedSize, true)
		if err != nil {
			t.Fatal(err)
		}
		raw[section] = []byte{0}
		checkFails(t, raw, container.SectionNames[section])
	}
	c := sample(t)
	c.NoTimes = true
	raw, err := sections.RawSections(c, wire.EstimatePackedSize, true)
	if err != nil {
		t.Fatal(err)
	}
	raw[container.SectionProcess] = c.Processes.AppendSection(nil, sections.RankMPITimes{})
	checkFails(t, raw, "process")
}

func checkFails(t *testing.T, raw [container.SectionCount][]byte, section string) {
	t.Helper()
	file := container.Assemble(raw, unpacked, nil)
	r, err := open(file)
	if err == nil {
		err = Check(r)
	}
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `section "`+section+`"`) {
		t.Errorf("section %s: error %v", section, err)
	}
}
