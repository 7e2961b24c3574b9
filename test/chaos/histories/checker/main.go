// Reads operations from the standard input, a line of JSON each, and answers a line of JSON for each family: whether
// its operations are linearizable. What happens to one family does not concern another, so each is checked by itself.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// The search can take exponential time; a family without a verdict by then is reported as Unknown.
var limit = flag.Duration("limit", 30*time.Second, "time for each family")

type verdict struct {
	Family  string `json:"family"`
	Verdict string `json:"verdict"`
}

func main() {
	flag.Parse()
	if err := judge(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(history io.Reader, verdicts io.Writer) error {
	names, operations, err := byFamily(history)
	if err != nil {
		return err
	}
	answers := json.NewEncoder(verdicts)
	for _, name := range names {
		result := porcupine.CheckOperationsTimeout(model, telling(operations[name]), *limit)
		if err := answers.Encode(verdict{name, string(result)}); err != nil {
			return err
		}
	}
	return nil
}

// In the order in which the families begin.
func byFamily(history io.Reader) ([]string, map[string][]porcupine.Operation, error) {
	var names []string
	operations := map[string][]porcupine.Operation{}
	for lines := json.NewDecoder(history); ; {
		var read operation
		if err := lines.Decode(&read); errors.Is(err, io.EOF) {
			return names, operations, nil
		} else if err != nil {
			return nil, nil, err
		}
		if !read.isKnown() {
			return nil, nil, fmt.Errorf("no operation with an outcome: %+v", read)
		}
		// Without an answer it may happen at any time from its call on.
		if read.Outcome == unknown {
			read.Return = math.MaxInt64
		}
		if _, ok := operations[read.Family]; !ok {
			names = append(names, read.Family)
		}
		operations[read.Family] = append(operations[read.Family], porcupine.Operation{
			ClientId: read.Client,
			Input:    read,
			Call:     read.Call,
			Return:   read.Return,
		})
	}
}
