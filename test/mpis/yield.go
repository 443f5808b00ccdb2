package mpis

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Yielding returns an environment in which ranks yield their cores while they wait, as Open MPI's do by option: it
// preloads testdata/yield.c after the environment's own libraries.
func (m *MPI) Yielding(env []string) ([]string, error) {
	if m.Family != "mpich" {
		return env, nil
	}
	library, err := yield()
	if err != nil {
		return nil, err
	}
	const preload = "LD_PRELOAD="
	last := preload + library
	for _, v := range append(os.Environ(), env...) {
		if strings.HasPrefix(v, preload) && v != preload {
			last = v + ":" + library
		}
	}
	return append(env[:len(env):len(env)], last), nil
}

// yield makes the library, where no test made it before.
var yield = sync.OnceValues(func() (string, error) {
	source := Root("test", "mpis", "testdata", "yield.c")
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	library := Root("build", "programs", fmt.Sprintf("yield-%x.so", sha256.Sum256(text)))
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	if err := os.MkdirAll(filepath.Dir(library), 0o777); err != nil {
		return "", err
	}
	made := fmt.Sprint(library, os.Getpid())
	if out, err := exec.Command("cc", "-O2", "-shared", "-fPIC", "-o", made, source, "-ldl").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", source, err, out)
	}
	return library, os.Rename(made, library)
})
