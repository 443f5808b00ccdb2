package powers

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

var (
	exchanges = flag.Int("exchanges", 2, "so many traces with two calls exchanged, or another value, are made of each of the corpus")
	seed      = flag.Uint64("seed", 1, "of the choice of these calls")
)

// mostExchanged bounds the calls of a thread of which two are exchanged.
const mostExchanged = 20_000

// exchange writes a trace in which two calls of a thread have changed places, or a value of a call is another. Few such traces can have
// been recorded: handles are used before they are made, collective calls don't meet, requests are completed that nobody began, ranks and
// roots are in no communicator.
func exchange(t *testing.T, from, to string, random *rand.Rand, value bool) bool {
	r, err := trace.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	done := false
	part, err := reduce.ChangeValues(r, &reduce.ValueChange{
		EditValues: func(*trace.Rank, int, []int64) {},
		EditTracks: func(list []*track.Track) error {
			for range 50 {
				k := list[random.IntN(len(list))]
				if value {
					vals := k.Signatures[random.IntN(len(k.Signatures))].Values
					if len(vals) < 2 {
						continue
					}
					i := 1 + random.IntN(len(vals)-1)
					vals[i] += []int64{1, -1, 3, 100, -100, 1 << 20, -vals[i]}[random.IntN(7)]
					done = true
					return nil
				}
				s := &k.Streams[random.IntN(len(k.Streams))]
				n := s.Grammar.Len()
				if n < 2 || n > mostExchanged || len(k.Lanes) > 0 {
					continue
				}
				var calls []uint32
				for c := range s.Grammar.All() {
					calls = append(calls, c)
				}
				i := random.IntN(len(calls) - 1)
				j := i + 1
				if random.IntN(2) == 0 {
					j = random.IntN(len(calls))
				}
				if calls[i] == calls[j] {
					continue
				}
				calls[i], calls[j] = calls[j], calls[i]
				b := track.NewBuilderFrom(k)
				for stream := range k.Streams {
					if &k.Streams[stream] != s {
						for c := range k.Streams[stream].Grammar.All() {
							b.Stream(stream).Append(c)
						}
						continue
					}
					for _, c := range calls {
						b.Stream(stream).Append(c)
					}
				}
				grammars := b.Grammars()
				for len(grammars) < len(k.Streams) {
					grammars = append(grammars, grammar.NewBuilder().Grammar())
				}
				x, _, _ := b.Finish(grammars)
				x.DropCallPositions()
				*k = *x
				done = true
				return nil
			}
			return nil
		},
		Note: "two calls exchanged",
	}, func(int) {})
	if err == nil {
		defer part.Close()
		err = sections.WriteFile(to, part.Content, true)
	}
	if err != nil && !value { // nothing can be written of some values
		t.Fatalf("%s: %v", from, err)
	}
	return done && err == nil
}

// TestExchanged: no input has a verb panic, or go on for ever.
func TestExchanged(t *testing.T) {
	spoor, dir := mpis.NeedSpoor(t), t.TempDir()
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, r := range corpus {
		hash := fnv.New64a()
		hash.Write([]byte(r.name))
		random := rand.New(rand.NewPCG(*seed, hash.Sum64()))
		for n := range *exchanges {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d.spoor", r.name, n))
			if !exchange(t, filepath.Join("testdata", r.name+".spoor"), path, random, n%2 > 0) {
				continue
			}
			for _, verb := range append(verbs, "extrapolate -n 32 -o O T T T", "check T") {
				slots <- struct{}{}
				wait.Go(func() {
					defer func() { <-slots }()
					survives(t, spoor, dir, path, verb)
				})
			}
		}
	}
	wait.Wait()
}

func survives(t *testing.T, spoor, dir, path, verb string) {
	var args []string
	for _, word := range strings.Fields(verb) {
		switch {
		case word == "T":
			word = path
		case word == "O" || strings.HasPrefix(word, "O."):
			word = strings.NewReplacer(" ", "", "/", "").Replace(verb) + "-" + filepath.Base(path) + word[1:]
		}
		args = append(args, word)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, spoor, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if ctx.Err() == nil && (err == nil || !bytes.Contains(out, []byte("goroutine "))) {
		return
	}
	if ctx.Err() != nil {
		t.Errorf("%s: doesn't end", strings.Join(args, " "))
	} else {
		t.Errorf("%s: %v\n%.2000s", strings.Join(args, " "), err, out[max(0, bytes.Index(out, []byte("panic:"))):])
	}
	if keep := os.Getenv("SPOOR_TEST_KEEP"); keep != "" {
		if data, err := os.ReadFile(path); err == nil {
			_ = os.WriteFile(filepath.Join(keep, filepath.Base(path)), data, 0o644)
		}
	}
}
