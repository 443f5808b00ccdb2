package gen

import "testing"

func TestX(t *testing.T) {
	for _, m := range []string{"mpich", "openmpi"} {
		lib, f, err := Build("mpicc."+m, "/tmp/orc/"+m[:1])
		t.Log(lib, len(f), err)
	}
}
