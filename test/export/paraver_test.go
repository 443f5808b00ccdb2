package export

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/test/paravertest"
)

// prv reads what Paraver gets by the grammar of its files.
func prv(t *testing.T, x traced, dir string) {
	got, err := paravertest.Read(dir, convert.ParaverBaseName)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Compare(x.r); err != nil {
		t.Error(err)
	}
}
