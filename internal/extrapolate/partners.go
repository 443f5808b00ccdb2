package extrapolate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
)

// mostPartners is the largest number of forms of the partner's rank that are tried.
const mostPartners = 4

// byPartner fits a value that depends on the partner's rank, as a message's size depends on the sender's block. Its
// forms have the partner's rank in place of the own rank.
func (m *pattern) byPartner(s *fitted, names []string, cuts [][]cut, g *group) {
	obs, vals := s.obs, s.vals
	for c, name := range names[:min(len(names), len(g.cells))] {
		partner := &g.cells[c].one
		if name != "dest" && name != "source" && !strings.HasSuffix(name, ".source") || partner.wrong != "" || len(partner.forms) == 0 ||
			partner.turn > 0 || slices.ContainsFunc(cuts, func(x []cut) bool { return x[c].one < 0 }) {
			continue
		}
		there := slices.Clone(obs)
		for i := range there {
			there[i][expr.VariableRank] = cuts[i][c].one
		}
		t := &tried{obs: there, vals: vals}
		if m.judge(t, plainly); len(t.forms) == 0 || t.wrong != "" {
			continue
		}
		var forms []form
		for _, f := range t.forms {
			for _, p := range partner.forms[:min(len(partner.forms), mostPartners)] {
				grid, ok := sharedGrid(f.grid, p.grid)
				if !ok {
					continue
				}
				forms = append(forms, form{Expr: f.Replace(func(v expr.Variable) *expr.Expr {
					if v == expr.VariableRank {
						return p.Expr
					}
					return expr.VariableExpr(v)
				}), grid: grid})
			}
		}
		if len(forms) > 0 {
			t.forms = forms
			m.memo[fmt.Sprint("by partner ", len(m.memo))] = t
			s.tried = t
			return
		}
	}
}
