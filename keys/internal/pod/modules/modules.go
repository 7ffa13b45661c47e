// Package modules hands over the modules of the image that this program is in,
// WebAssembly and native: files beside a list of their SHA-256, as sha256sum writes it.
//
// The list guards against half a copy and against mixed versions. It is no signature:
// whoever can change the modules can change the list.
package modules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/atomicfile"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
)

// List is the file with a line for each module.
const List = "SHA256SUMS"

const (
	maxListBytes   = 64 << 10 // some hundreds of lines
	maxModuleBytes = 64 << 20 // ten times a module of today
)

// Module is a line of the list.
type Module struct {
	Name string
	Sum  string // in hex
}

// line is one of sha256sum, in text or binary mode. A name that leads elsewhere is none.
var line = regexp.MustCompile(`^([0-9a-f]{64}) [ *]([A-Za-z0-9][A-Za-z0-9._-]*\.(?:wasm|so))$`)

// Copy puts the listed modules into a folder, and the list last: all of them are read,
// held to the list and on the disk before the first has its name.
func Copy(from, to string) ([]Module, error) {
	list, text, err := readList(from)
	if err != nil {
		return nil, err
	}
	if err := unlisted(from, list); err != nil {
		return nil, err
	}
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return nil, fault.Input(to, "there is no such folder", "make it first, or mount a volume there")
	}
	var staged []*atomicfile.Staged
	defer func() {
		for _, one := range staged {
			one.Discard()
		}
	}()
	stage := func(name string, content []byte) error {
		path := filepath.Join(to, name)
		if there, err := regularfile.Read(path, int64(len(content))); err == nil && string(there) == string(content) {
			return nil
		}
		one, err := atomicfile.Stage(path, content)
		if err != nil {
			return notWritten(path, err)
		}
		staged = append(staged, one)
		// Who copies and who reads are two users.
		if err := one.Share(); err != nil {
			return notWritten(path, err)
		}
		return nil
	}
	for _, module := range list {
		content, err := module.read(from)
		if err != nil {
			return nil, err
		}
		if err := stage(module.Name, content); err != nil {
			return nil, err
		}
	}
	if err := stage(List, text); err != nil {
		return nil, err
	}
	for _, one := range staged {
		if err := one.Replace(); err != nil {
			return nil, notWritten(to, err)
		}
	}
	return list, nil
}

func readList(from string) ([]Module, []byte, error) {
	path := filepath.Join(from, List)
	text, err := regularfile.Read(path, maxListBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.Input(path, "there is no list of modules", "run it in Fieldveil's image, or name the folder of modules with --from")
	case err != nil:
		return nil, nil, fault.Failure(path, fault.Cause(err), "make the list readable")
	}
	var list []Module
	for _, one := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		parts := line.FindStringSubmatch(one)
		if parts == nil || slices.ContainsFunc(list, func(other Module) bool { return other.Name == parts[2] }) {
			return nil, nil, fault.Input(path, "not a list of modules", "make it with: sha256sum *.wasm *.so > "+List)
		}
		list = append(list, Module{Name: parts[2], Sum: parts[1]})
	}
	return list, text, nil
}

// unlisted refuses modules that nothing was said of.
func unlisted(from string, list []Module) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fault.Failure(from, fault.Cause(err), "make the folder readable")
	}
	for _, entry := range entries {
		name := entry.Name()
		if (strings.HasSuffix(name, ".wasm") || strings.HasSuffix(name, ".so")) && !slices.ContainsFunc(list, func(module Module) bool { return module.Name == name }) {
			return fault.Input(filepath.Join(from, name), "it is not in "+List, "build the image anew")
		}
	}
	return nil
}

func (m Module) read(from string) ([]byte, error) {
	path := filepath.Join(from, m.Name)
	content, err := regularfile.Read(path, maxModuleBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input(path, "it is in "+List+" and not there", "build the image anew")
	case err != nil:
		return nil, fault.Failure(path, fault.Cause(err), "make the module readable")
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != m.Sum {
		return nil, fault.Input(path, "it is not the module that "+List+" speaks of: its SHA-256 is another", "fetch or build the image anew")
	}
	return content, nil
}

func notWritten(path string, err error) error {
	return fault.Failure(path, "it can not be written ("+fault.Cause(err)+")", "see that the volume has room and can be written by this user")
}
