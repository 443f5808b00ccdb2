package profile

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/show"
)

// A chain of functions that does not fit loses template arguments and namespaces, the last one least, then functions without a name, then
// those from the outside. The last function's own name stays.
func TestChain(t *testing.T) {
	chain := []string{"solver::run<std::vector<int> >", "fn@0x1230", "grid::Field<double>::update", "fn@0x4560"}
	for _, x := range []struct {
		chain []string
		after string
		width int
		want  string
	}{
		{chain, "", 100, "  solver::run<std::vector<int> >() > fn@0x1230() > grid::Field<double>::update() > fn@0x4560()"},
		{chain, "", 86, "  solver::run<std::vector<…>>() > fn@0x1230() > …Field<…>::update() > fn@0x4560()"},
		{chain, "", 40, "  …run() > … > …Field<…>::update() > …"},
		{chain, "", 20, "  … > …update() > …"},
		{chain, "", 10, "  update()"},
		{chain, "", 3, "  update()"},
		{chain[:3], "", 60, "  …run<…>() > fn@0x1230() > grid::Field<double>::update()"},
		{[]string{"main", "a", "b", "step"}, "", 22, "  … > b() > step()"},
		{[]string{"main", "a", "b", "step"}, ": … MPI_Barrier, MPI_Bcast", 40, "  … > a() > b() > step(): … MPI_Barrier…"},
		{[]string{"fn@0x1", "fn@0x2", "fn@0x3"}, "", 20, "  … > fn@0x3()"},
		{[]string{"import numerics", "interpreted code"}, "", 60, "  import numerics > interpreted code"},
	} {
		row := row{text: "  ", chain: x.chain, after: x.after}
		if got := row.fit(show.NewNameShortener(x.chain), x.width); got != x.want {
			t.Errorf("%q in %d columns: %s\nwant %s", x.chain, x.width, got, x.want)
		}
	}
}
