package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// ConfigVariable is the environment variable with the path of a rank's ReplayConfig. The replayer gets no arguments,
// so that MPI sees a bare command line.
const ConfigVariable = "SPOOR_REPLAY"

// A ReplayConfig is the file by which `spoor replay` configures the ranks.
type ReplayConfig struct {
	Trace        string        `json:"trace"`
	Libraries    []string      `json:"libraries"`         // MPI libraries; the first that can be loaded is used
	ReportFolder string        `json:"reports,omitempty"` // directory for the ranks' reports; "": they write none
	Timeout      time.Duration `json:"timeout,omitempty"` // limit for one call; 0: no limit
	Options
	DeriveReceives bool `json:"derived,omitempty"` // receives are derived from all ranks' sends, not made as recorded
	// ProbedFunctions, if not empty, lists functions to look up. The process then writes a ProbeResult to standard output and
	// replays nothing.
	ProbedFunctions []string `json:"probe,omitempty"`
	// Calibrate, if not nil, is what the ranks measure about the machine. Nothing is replayed then.
	Calibrate *machine.MeasureTask `json:"calibrate,omitempty"`
}

// A ProbeResult is what the replayer found out about its MPI.
type ProbeResult struct {
	Flavour string   `json:"flavour"`
	Missing []string `json:"missing"` // functions of Probe that the MPI lacks
}

// Write writes the config to a file.
func (c *ReplayConfig) Write(path string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

// ReadConfig reads the config that the environment names.
func ReadConfig() (*ReplayConfig, error) {
	path := os.Getenv(ConfigVariable)
	if path == "" {
		return nil, fmt.Errorf("%s is not set: this program is started by spoor replay", ConfigVariable)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := new(ReplayConfig)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// CanReplayDespite reports whether a replay can make calls that are an obstacle for other tools.
func CanReplayDespite(o reissue.Obstacle) bool {
	switch strings.TrimSuffix(o.Function, "_c") {
	case "MPI_Register_datarep":
		return true // each process makes the call once, as in the original
	case "MPI_T_cvar_handle_alloc", "MPI_T_pvar_handle_alloc", "MPI_T_event_handle_alloc":
		return strings.Contains(o.Reason, "(obj_handle)") // toolObject has a substitute for the unknown object
	}
	return false
}
