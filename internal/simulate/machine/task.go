package machine

import (
	"encoding/json"
	"fmt"
	"os"
)

// A MeasureTask is what the ranks of a job are to measure.
type MeasureTask struct {
	ResultFile           string `json:"out,omitempty"` // file for the CalibrationResult
	MaxMessageBytes      int64  `json:"most"`          // size of the largest message, in bytes
	AllowNoise           bool   `json:"noisy,omitempty"`
	NoBackgroundProgress bool   `json:"quiet,omitempty"`
	TestFile             string `json:"file,omitempty"` // file to write, read and remove; "": files are not measured
	// TracedCalls, if not 0, is the number of calls that ranks 0 and 1 make so that a tracer records them. Nothing is
	// measured then.
	TracedCalls int `json:"talk,omitempty"`
}

// A CalibrationResult is what a job with a MeasureTask found.
type CalibrationResult struct {
	MachineText    string             `json:"machine"`  // text of the machine file; "" if Noise is set
	NoiseErrorText string             `json:"noise"`    // error because the times varied too much; "" if the machine was measured
	LocalCallNs    float64            `json:"local_ns"` // time of MPI_Comm_rank, in ns
	Library        string             `json:"library"`
	RankBindings   []ProcessorBinding `json:"seats"`
}

// Write writes the result to a file.
func (r *CalibrationResult) Write(path string) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}

// ReadCalibrationResult reads a file that Write made.
func ReadCalibrationResult(path string) (*CalibrationResult, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(CalibrationResult)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
