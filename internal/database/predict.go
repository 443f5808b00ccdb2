package database

import "github.com/spoor-hpc/spoor/internal/simulate/traced"

// Predict keeps what a simulation says of a run, in place of what one on the same machine said before.
func (d *DB) Predict(run int64, p *traced.Prediction) error {
	tx, err := d.db.Begin()
	if err != nil {
		return d.failed(err)
	}
	defer tx.Rollback() // does nothing behind a commit
	ns := func(ps int64) float64 { return float64(ps) / 1000 }
	share := 0.0
	for _, u := range p.Unmodelled {
		share += u.Share
	}
	mean := p.Mean()
	w := &writer{tx: tx}
	w.insert("prediction", "run", "machine", "mapping", "cpu", "gaps", "source", "end_ns", "traced_ns", "compute_ns", "overhead_ns", "wait_ns", "transfer_ns",
		"recorded_ns", "not_modelled")(
		run, p.Machine, p.Mapping, p.CPU, p.Gaps, p.Source, ns(p.EndPs), p.TracedNs, ns(mean.Compute), ns(mean.Overhead), ns(mean.Wait), ns(mean.Transfer),
		ns(mean.Recorded), share)
	if w.err == nil {
		w.err = tx.Commit()
	}
	return d.failed(w.err)
}
