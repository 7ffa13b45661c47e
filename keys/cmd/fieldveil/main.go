// Command fieldveil makes and rotates keysets, runs the key agent, and checks policies.
package main

import (
	"os"

	"github.com/fieldveil/fieldveil/keys/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], os.Stdout, os.Stderr))
}
