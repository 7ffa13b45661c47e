// Command tink-tool does with stock tink-go what each line of standard input
// asks for, and answers with a line. It is a test tool: programs on Tink for
// Python and for Java do the same, and what one makes the others have to read.
// The form of a line is in e2e/interop/program.py.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tink-tool: "+err.Error())
		os.Exit(1)
	}
}

func serve(stdin io.Reader, stdout io.Writer) error {
	requests, answers := json.NewDecoder(stdin), json.NewEncoder(stdout)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		done, err := r.run()
		if err != nil {
			done = answer{Error: err.Error()}
		}
		if err := answers.Encode(done); err != nil {
			return err
		}
	}
}
