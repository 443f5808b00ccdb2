package database

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func verdicts(list []HistoryStep) (text []string) {
	for _, s := range list {
		text = append(text, s.TagValue+" "+s.Verdict)
	}
	return text
}

// TestHistory: made-up histories with known answers.
func TestHistory(t *testing.T) {
	for _, c := range []struct {
		name string
		list []StepValues
		want []string
	}{
		{"steady", []StepValues{{"a", []float64{100, 101, 99}}, {"b", []float64{102, 100, 98}}, {"c", []float64{101, 99, 100}}}, []string{"a same", "b same", "c same"}},
		{"one step up", []StepValues{{"a", []float64{100, 101, 99}}, {"b", []float64{130, 131, 129}}, {"c", []float64{131, 130, 129}}}, []string{"a same", "b more", "c same"}},
		{"up and down", []StepValues{{"a", []float64{100}}, {"b", []float64{150}}, {"c", []float64{100}}}, []string{"a same", "b more", "c less"}},
		{"noise as large as the step", []StepValues{{"a", []float64{80, 100, 130}}, {"b", []float64{100, 130, 160}}}, []string{"a same", "b same"}},
		{"below the threshold", []StepValues{{"a", []float64{100, 100, 100}}, {"b", []float64{109, 109, 109}}}, []string{"a same", "b same"}},
		{"creeping", []StepValues{{"a", []float64{100}}, {"b", []float64{104}}, {"c", []float64{108}}, {"d", []float64{125}}}, []string{"a same", "b same", "c same", "d more"}},
		{"from nothing", []StepValues{{"a", []float64{0}}, {"b", []float64{5}}}, []string{"a same", "b more"}},
	} {
		if diff := cmp.Diff(c.want, verdicts(FindTrend(c.list, 0.1))); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestMedianDeviation(t *testing.T) {
	mid, deviation := medianDeviation([]float64{1, 9, 4, 5, 1000})
	if mid != 5 || deviation != 1.4826*4 {
		t.Errorf("%g ± %g", mid, deviation)
	}
}
