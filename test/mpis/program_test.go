package mpis

import "testing"

func TestRunsOn(t *testing.T) {
	openmpi := func(major, minor int) *MPI {
		return &MPI{Name: "openmpi", Family: "openmpi", Version: Version{major, minor}, Fort: "f"}
	}
	abi := &MPI{Name: "openmpi-abi", Family: "openmpi", Version: Version{6, 0}}
	for _, c := range []struct {
		name  string
		words []string
		m     *MPI
		want  bool
	}{
		{"a.c", []string{"mpich", "openmpi"}, openmpi(4, 1), true},
		{"a.c", []string{"mpich"}, openmpi(4, 1), false},
		{"a.c", []string{"openmpi>=5.0"}, openmpi(4, 1), false},
		{"a.c", []string{"openmpi>=5.0"}, openmpi(10, 0), true},
		{"a.c", []string{"openmpi", "!openmpi=5.0"}, openmpi(5, 0), false},
		{"a.c", []string{"openmpi", "!openmpi=5.0"}, openmpi(5, 1), true},
		{"a.c", []string{"!openmpi>=6.0", "openmpi"}, openmpi(5, 9), true},
		{"a.c", []string{"!openmpi>=6.0", "openmpi"}, openmpi(6, 0), false},
		{"a.c", []string{"openmpi", "!openmpi>=6.0"}, abi, true},
		{"a.c", []string{"openmpi", "!openmpi-abi"}, abi, false},
		{"a.c", []string{"openmpi", "!openmpi-abi"}, openmpi(6, 0), true},
		{"a.f90", []string{"openmpi"}, openmpi(6, 0), true},
		{"a.f90", []string{"openmpi"}, abi, false},
	} {
		if got := (&Program{Name: c.name, MPIs: c.words}).RunsOn(c.m); got != c.want {
			t.Errorf("%s with %q on %s %v: %v", c.name, c.words, c.m.Name, c.m.Version, got)
		}
	}
	for _, text := range []string{"lam", "openmpi-abi", "openmpi=", "mpich>=x", "!", "mpich>4.0"} {
		if w, err := parseMPI(text); err == nil {
			t.Errorf("%q is taken as %+v", text, w)
		}
	}
}
