package cli

import "runtime/debug"

// Version is set by what builds a release:
// go build -ldflags "-X github.com/fieldveil/fieldveil/keys/internal/cli.Version=1.2.3".
var Version string

// version is what this program is told to be, or what Go knows of its module.
func version() string {
	if Version != "" {
		return Version
	}
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" && build.Main.Version != "(devel)" {
		return build.Main.Version
	}
	return "unreleased"
}
