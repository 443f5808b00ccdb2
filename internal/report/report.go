// Package report makes one HTML file of a trace that opens anywhere, without a
// network: what ran, calls and structure, who talked to whom, who waited for
// whom, and when.
//
// Invariants:
//
//  1. What is embedded MUST be bounded whatever the trace: many ranks share
//     rows, long times share tiles, long lists are cut and say so.
//  2. Nothing of the trace may become markup or script: data is packed, and the
//     page writes it as text.
//  3. Every number says how well it is known where the trace keeps less.
//
// The page is plain HTML, CSS and JavaScript from the folder assets, put
// together without a build step. The package computes no profile of its own:
// what it shows comes from the packages summary, profile, matrix and imbalance.
package report

import (
	"bytes"
	"cmp"
	"compress/flate"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// Options control the page.
type Options struct {
	SiteNaming *sites.Naming                      // names call sites; nil: module and offset
	Code       *trace.Code                        // machine code for loops; nil: loops follow from the order of calls
	Progress   func(what string, done, total int) // may be nil; called by several goroutines
	UsesViewer bool                               // the page requests more detail from a Viewer
}

// Data is what a page shows.
type Data struct {
	Title             string             `json:"title"`
	File              string             `json:"file"`
	Producer          string             `json:"producer"`
	Findings          []PageFinding      `json:"findings"`
	Summary           *sums.Summary      `json:"summary"`
	Classes           int                `json:"classes"`
	Hosts             int                `json:"hosts"`
	CallSites         CallSiteTable      `json:"flat"`
	Structures        []ProgramStructure `json:"structure"`
	TrafficLayers     []TrafficLayer     `json:"matrix"`
	EfficiencyReport  *efficiency.Report `json:"imbalance"` // nil without times
	Timeline          *Timeline          `json:"timeline"`  // nil without times
	WaitStates        *WaitTable         `json:"waiting"`   // nil if the ranks' waits aren't known
	Iterations        *Iterations        `json:"iterations"`
	NoWaitsReason     string             `json:"no_waits"` // the trace's reason for having no wait states; "" if it gives no reason
	PerRankNumbers    []PerRankNumber    `json:"numbers"`
	Files             []MPIIOFile        `json:"files"`
	FilesOmitted      int                `json:"more_files"`
	PosixFiles        []PosixFile        `json:"posix"`
	PosixFilesOmitted int                `json:"more_posix"`
	HeatMaps          []HeatMap          `json:"heats"`
	Topologies        []Topology         `json:"topologies"`
	FromServer        bool               `json:"live"` // the page comes from a server, which has more detail

	calls *profile.CallSiteTable
}

// Bounds of what is embedded.
const (
	maxClasses = 200   // number of listed classes
	maxHosts   = 200   // number of listed hosts
	maxCalls   = 500   // number of listed call sites in EfficiencyReport
	maxCells   = 40000 // number of cells with traffic of a matrix at one resolution
)

// CollectData collects what the page of a trace shows.
func CollectData(r *trace.Reader, o Options) (*Data, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if o.SiteNaming == nil {
		o.SiteNaming = sites.NamingByAddress(calltree.LocateByOffset)
	}
	s, err := sums.Summarise(r)
	if err != nil {
		return nil, err
	}
	d := &Data{Title: s.Command, File: filepath.Base(r.Name()), Producer: "spoor " + show.Version, Summary: s, FromServer: o.UsesViewer}
	d.Title = cmp.Or(d.Title, d.File)
	s.File = d.File
	// The timeline and d.EfficiencyReport both read each call with its own time, so they are made in parallel.
	painted := make(chan error, 1)
	go func() {
		var err error
		if r.HasTimes() {
			d.Timeline, err = timeline(r, s, o)
		}
		painted <- err
	}()
	err = d.tables(r, o)
	if e := <-painted; err == nil && e != nil {
		err = fmt.Errorf("timeline: %w", e)
	}
	if err != nil {
		return nil, err
	}
	if err := d.waiting(r, o); err != nil {
		return nil, fmt.Errorf("waiting: %w", err)
	}
	var rep *waits.Report
	if d.WaitStates != nil {
		rep = d.WaitStates.Report
	}
	d.CallSites = flat(d.calls, rep)
	if d.WaitStates != nil {
		d.WaitStates.cut()
	}
	if err := d.iterations(r, rep, o); err != nil {
		return nil, fmt.Errorf("iterations: %w", err)
	}
	if d.PerRankNumbers, err = numbers(r, d.CallSites.PerRank, d.WaitStates, o); err != nil {
		return nil, fmt.Errorf("numbers of ranks: %w", err)
	}
	d.cut()
	return d, nil
}

// tables adds everything that needs neither the timeline nor the wait states.
func (d *Data) tables(r *trace.Reader, o Options) (err error) {
	name := func(s trace.Site) string {
		p := o.SiteNaming.Locate("", s.WithoutCallers())
		return p.String()
	}
	if r.HasTimes() {
		if d.EfficiencyReport, err = efficiency.Analyse(r, efficiency.Options{
			AllFunctions: true, NameSite: name, Progress: func(done, total int) { o.Progress("adding up times", done, total) },
		}); err != nil {
			return fmt.Errorf("efficiency: %w", err)
		}
	}
	d.Classes, d.Hosts = r.Classes(), len(d.Summary.Hosts)
	if err = d.looked(r, o); err != nil {
		return err
	}
	if d.Topologies, err = topologies(r); err != nil {
		return fmt.Errorf("topologies: %w", err)
	}
	if d.calls, err = calls(r, o); err != nil {
		return err
	}
	if d.Structures, err = structures(r, o.SiteNaming.Locate, o); err != nil {
		return fmt.Errorf("structure: %w", err)
	}
	if d.TrafficLayers, err = layers(r, o); err != nil {
		return fmt.Errorf("matrix: %w", err)
	}
	return nil
}

// cut shortens long lists.
func (d *Data) cut() {
	for i := range d.Summary.Classes {
		c := &d.Summary.Classes[i]
		c.Ranks = c.Ranks[:min(len(c.Ranks), 1)] // the page needs one rank; their number is elsewhere
	}
	d.Summary.Classes = d.Summary.Classes[:min(len(d.Summary.Classes), maxClasses)]
	d.Summary.Hosts = d.Summary.Hosts[:min(len(d.Summary.Hosts), maxHosts)]
	if d.EfficiencyReport != nil {
		d.EfficiencyReport.Calls = d.EfficiencyReport.Calls[:min(len(d.EfficiencyReport.Calls), maxCalls)]
	}
}

// A TrafficLayer is the traffic of one kind.
type TrafficLayer struct {
	Name            string        `json:"name"`
	Ranks           int           `json:"ranks"`
	Total           matrix.Cell   `json:"total"`
	ToOtherWorlds   matrix.Cell   `json:"elsewhere"`
	UnsizedMessages uint64        `json:"unsized"`
	UnknownCalls    uint64        `json:"unknown"`
	SizeHistogram   []matrix.Cell `json:"sizes"` // messages of 0 bytes, then, at index i, of 2^(i-1) to 2^i - 1 bytes
	Levels          []MatrixLevel `json:"levels"`
}

// A MatrixLevel is a matrix at one resolution. Cells is packed. It has for each row with traffic its distance from the
// previous one and its number of cells; for each cell follow its distance from the previous one, messages, and bytes.
type MatrixLevel struct {
	RanksPerRow int    `json:"bin"` // ranks per row
	RowCount    int    `json:"size"`
	PackedCells string `json:"cells"`
	CellCount   int    `json:"count"`
}

// layers counts the traffic of each kind at a few resolutions.
func layers(r *trace.Reader, o Options) ([]TrafficLayer, error) {
	list := []TrafficLayer{} // not nil, which would be null in the page's data
	for _, kind := range []struct {
		name string
		opts matrix.Options
	}{
		{"point-to-point", matrix.Options{PointToPoint: true}},
		{"collectives", matrix.Options{Collectives: true}},
		{"one-sided", matrix.Options{RMA: true}},
	} {
		if !matrix.HasTraffic(r, kind.opts) {
			continue
		}
		kind.opts.Progress = func(n, total int) { o.Progress("counting "+kind.name, n, total) }
		m, err := matrix.Compute(r, kind.opts)
		if err != nil {
			return nil, err
		}
		l := TrafficLayer{
			Name: kind.name, Ranks: m.Ranks, Total: m.Total, ToOtherWorlds: m.ToElsewhere, UnsizedMessages: m.UnsizedMessages, UnknownCalls: m.UnknownPartnerCalls,
		}
		last := 0
		for i, c := range m.SizeHistogram {
			if c.Messages > 0 {
				last = i + 1
			}
		}
		l.SizeHistogram = m.SizeHistogram[:last]
		for _, size := range []int{64, 256, 1024, m.Ranks} {
			bin := max(1, (m.Ranks+size-1)/size)
			if n := len(l.Levels); n > 0 && l.Levels[n-1].RanksPerRow <= bin {
				continue
			}
			if lv, ok := level(m, bin); ok || len(l.Levels) == 0 {
				l.Levels = append(l.Levels, lv)
			}
		}
		list = append(list, l)
	}
	return list, nil
}

// level encodes a matrix with bin ranks per row; false if it has more than maxCells cells.
func level(m *matrix.Matrix, bin int) (MatrixLevel, bool) {
	if bin > m.RanksPerRow {
		m = m.WithRanksPerRow(bin)
	}
	lv := MatrixLevel{RanksPerRow: bin, RowCount: m.RowCount()}
	var b []byte
	last := 0
	for i, row := range m.Rows() {
		if lv.CellCount += len(row); lv.CellCount > maxCells {
			return lv, false
		}
		b = appendUvarint(b, uint64(i-last), uint64(len(row)))
		last = i
		to := 0
		for _, e := range row {
			b = appendUvarint(b, uint64(e.Column-to), e.Messages, e.Bytes)
			to = e.Column
		}
	}
	lv.PackedCells = packed(b)
	return lv, true
}

func appendUvarint(b []byte, list ...uint64) []byte {
	for _, v := range list {
		for v >= 0x80 {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		b = append(b, byte(v))
	}
	return b
}

// packed compresses bytes as text: raw deflate in base 64, which browsers read.
func packed(b []byte) string {
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestCompression)
	if err != nil {
		panic(err) // impossible: the only error is an invalid compression level
	}
	w.Write(b)
	w.Close()
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

//go:embed assets
var assets embed.FS

// scripts are the modules of the page; a module comes after those it imports.
var scripts = []string{
	"format.js", "dom.js", "data.js", "cells.js", "table.js", "links.js", "findings.js", "overview.js", "calls.js", "structure.js", "matrix.js", "sizes.js", "imbalance.js",
	"looks.js", "tiles.js", "single.js", "axis.js", "rows.js", "paint.js", "stats.js", "parts.js", "hand.js", "timeline.js", "waiting.js", "graph.js", "ranks.js", "iterations.js", "fileheat.js", "files.js", "main.js",
}

// What is removed from the modules when they become one script.
var (
	imports = regexp.MustCompile(`(?m)^import [^;]*;\n`)
	exports = regexp.MustCompile(`(?m)^export `)
)

// WritePage writes the page.
func WritePage(w io.Writer, d *Data) error {
	page, err := assets.ReadFile("assets/page.html")
	if err != nil {
		return err
	}
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return err
	}
	var script bytes.Buffer
	for _, name := range scripts {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		script.Write(exports.ReplaceAll(imports.ReplaceAll(text, nil), nil))
	}
	// Packed, the data is a text of letters and digits: nothing in it can end the script element that holds it.
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	connect := ""
	if d.FromServer {
		connect = "connect-src 'self'; "
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(d.Title), "{{style}}", string(style), "{{script}}", script.String(), "{{data}}", packed(data), "{{connect}}", connect,
	).WriteString(w, string(page))
	return err
}
