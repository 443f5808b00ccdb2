package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

type matrixOptions struct {
	out            string
	force          bool
	of             []string
	json, messages bool
	bin            int
}

func newMatrix() *cobra.Command {
	var o matrixOptions
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "matrix [flags] [TRACE]",
		Short: "Show how many bytes and messages each rank sends to each other rank",
		Long: `Ranks are those of MPI_COMM_WORLD, for messages on any communicator.
Point-to-point messages of all modes count, where they are sent. --of can name
others: collectives by their logical pattern (who needs whose data), and
one-sided transfers (rma). With many ranks, several share a row; CSV and JSON
have every pair.
More: docs/matrix.md`,
		Example: `  spoor matrix app.spoor
  spoor matrix --of p2p,collectives -o app.png app.spoor
  spoor matrix -o app.csv app.spoor              every pair of ranks that communicates
  spoor matrix --bin 64 --messages app.spoor     64 ranks share a row; numbers of messages`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error { return runMatrix(cmd, r, o) }),
	}
	f := cmd.Flags()
	window.add(f)
	forceFlag(f, &o.force)
	f.StringVarP(&o.out, "output", "o", "", "write to this `file`: .txt, .csv, .json or .png")
	f.StringSliceVar(&o.of, "of", []string{"p2p"}, "count these `kinds`: p2p, collectives, rma")
	f.Lookup("of").DefValue = "p2p"
	f.BoolVar(&o.messages, "messages", false, "numbers of messages instead of bytes")
	f.IntVar(&o.bin, "bin", 0, "`N` ranks share a row (default: as fits)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// textRows is how many rows a matrix printed as text has at most, unless --bin is given.
const textRows = 16

func runMatrix(cmd *cobra.Command, r *trace.Reader, o matrixOptions) error {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(o.out), "."))
	if o.out == "" || sections.SpecialFileKind(o.out) != "" { // a device or FIFO has no suffix that says the format
		format = "txt"
		if o.json {
			format = "json"
		}
	}
	fits := false // rows are to be joined until the matrix is as narrow as the terminal
	most := map[string]int{"txt": textRows, "csv": r.Ranks(), "json": r.Ranks(), "png": matrix.MaxPictureRows}[format]
	switch {
	case most == 0 && r.Ranks() > 0:
		return fmt.Errorf("%s: the name has to end in .txt, .csv, .json or .png", o.out)
	case o.bin < 0:
		return errors.New("--bin has to be positive")
	case len(o.of) == 0 || len(o.counted()) != len(o.of):
		return &usageError{cmd, fmt.Errorf("--of %s: kinds are p2p, collectives and rma", strings.Join(o.of, ","))}
	case o.bin == 0:
		fits = format == "txt" && o.out == ""
		o.bin = max(1, (r.Ranks()+most-1)/max(1, most))
	}
	p := newProgress(cmd.ErrOrStderr(), "counting messages", r.Ranks())
	var mu sync.Mutex
	m, err := matrix.Compute(r, matrix.Options{
		PointToPoint: slices.Contains(o.of, "p2p"), Collectives: slices.Contains(o.of, "collectives"), RMA: slices.Contains(o.of, "rma"), RanksPerRow: o.bin,
		Progress: func(int, int) {
			mu.Lock()
			defer mu.Unlock()
			p.step()
		},
	})
	p.end()
	if err != nil {
		return err
	}
	u := matrix.MeasureBytes
	if o.messages {
		u = matrix.MeasureMessages
	}
	if fits {
		m = m.FitTextWidth(u, terminalWidth(cmd))
	}
	write := func(w io.Writer) error { return writeMatrix(w, m, u, format, o) }
	if o.out == "" {
		return buffered(cmd.OutOrStdout(), write)
	}
	return writeWhole(o.out, o.force, write)
}

// writeWhole has write make a file. The file appears under its name only when it is complete; devices and FIFOs are
// written directly.
func writeWhole(path string, force bool, write func(io.Writer) error) error {
	switch sections.SpecialFileKind(path) {
	case "device", "FIFO":
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	if err := mayWrite(path, force); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if failed := (*os.PathError)(nil); errors.As(err, &failed) { // users know the file's name, not the temporary one
		return fmt.Errorf("%s: %w", path, failed.Err)
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := buffered(f, write); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func writeMatrix(w io.Writer, m *matrix.Matrix, u matrix.Measure, format string, o matrixOptions) error {
	switch format {
	case "csv":
		m.WriteCSV(w)
	case "png":
		return m.WritePNG(w, u)
	case "json":
		return writeJSON(w, jsonMatrix(m, o))
	default:
		printMatrix(w, m, u, o)
	}
	return nil
}

func printMatrix(out io.Writer, m *matrix.Matrix, u matrix.Measure, o matrixOptions) {
	fmt.Fprintf(out, "%s, %s; rows send, columns receive", u, strings.Join(o.counted(), ", "))
	if m.RanksPerRow > 1 {
		fmt.Fprintf(out, "; %d ranks share a row: --bin", m.RanksPerRow)
	}
	fmt.Fprint(out, "\n\n")
	m.WriteText(out, u)
	fmt.Fprintf(out, "\n%s in %s\n", show.FormatBytes(int64(m.Total.Bytes)), show.FormatPlural(m.Total.Messages, "message"))
	if m.ToElsewhere.Messages > 0 {
		fmt.Fprintf(out, "and %s in %s to ranks outside of this world, or without a track\n",
			show.FormatBytes(int64(m.ToElsewhere.Bytes)), show.FormatPlural(m.ToElsewhere.Messages, "message"))
	}
	if m.UnsizedMessages > 0 {
		fmt.Fprintf(out, "%s of datatypes whose size is not known count with no bytes\n", show.FormatPlural(m.UnsizedMessages, "message"))
	}
	if m.UnknownPartnerCalls > 0 {
		fmt.Fprintf(out, "left out: %s whose partners are not known\n", show.FormatPlural(m.UnknownPartnerCalls, "call"))
	}
}

// matrixKinds are the kinds of traffic: the value of --of, and the name in the matrix's title and JSON.
var matrixKinds = [][2]string{{"p2p", "point-to-point"}, {"collectives", "collectives"}, {"rma", "one-sided"}}

// counted returns the names of the kinds of traffic that --of selects.
func (o *matrixOptions) counted() []string {
	var list []string
	for _, kind := range matrixKinds {
		if slices.Contains(o.of, kind[0]) {
			list = append(list, kind[1])
		}
	}
	return list
}

type matrixJSON struct {
	Counted   []string      `json:"counted"`
	Ranks     int           `json:"ranks"`
	Bin       int           `json:"ranks_per_row"`
	Total     matrix.Cell   `json:"total"`
	Elsewhere matrix.Cell   `json:"elsewhere"`
	Unsized   uint64        `json:"messages_of_unknown_size"`
	Unknown   uint64        `json:"calls_left_out"`
	Sizes     []sizesJSON   `json:"sizes"`
	Cells     []matrixEntry `json:"cells"`
}

type sizesJSON struct {
	Least uint64 `json:"least"` // lower end of a range of message sizes, in bytes
	Most  uint64 `json:"most"`  // upper end of that range, in bytes
	matrix.Cell
}

type matrixEntry struct {
	From int `json:"from"` // row of the sending ranks, from 0; its first rank is From times ranks_per_row
	To   int `json:"to"`
	matrix.Cell
}

func jsonMatrix(m *matrix.Matrix, o matrixOptions) matrixJSON {
	j := matrixJSON{
		Counted: o.counted(), Ranks: m.Ranks, Bin: m.RanksPerRow, Total: m.Total, Elsewhere: m.ToElsewhere, Unsized: m.UnsizedMessages,
		Unknown: m.UnknownPartnerCalls, Sizes: []sizesJSON{}, Cells: []matrixEntry{},
	}
	for i, c := range m.SizeHistogram {
		if c.Messages > 0 {
			least, most := matrix.SizeBinRange(i)
			j.Sizes = append(j.Sizes, sizesJSON{least, most, c})
		}
	}
	for i, row := range m.Rows() {
		for _, e := range row {
			j.Cells = append(j.Cells, matrixEntry{i, e.Column, e.Cell})
		}
	}
	return j
}
