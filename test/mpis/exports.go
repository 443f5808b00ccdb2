package mpis

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// Exported lists the C functions of the library that have a PMPI_ twin, sorted.
func (m *MPI) Exported() ([]string, error) {
	var path string
	for _, name := range m.Libraries {
		if path = name; filepath.IsAbs(path) {
			break
		}
		out, err := exec.Command("cc", "-print-file-name="+name).Output()
		if err != nil {
			return nil, err
		}
		if path = strings.TrimSpace(string(out)); filepath.IsAbs(path) {
			break
		}
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			names[s.Name] = true
		}
	}
	var list []string
	for name := range names {
		if strings.HasPrefix(name, "MPI") && names["P"+name] {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	return list, nil
}
