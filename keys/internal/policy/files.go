package policy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// maxBytes bounds a file, and all files of a bundle together.
const maxBytes = 64 << 20

// file is a file of a folder or of a bundle.
type file struct {
	name    string // as a person finds it
	slashed string // its path within the folder or bundle, with slashes
	content []byte
	leftOut string // why it is not read, though it looks as if it should be
}

// rego and the two below tell files by name, as OPA does of a bundle.
func (f file) rego() bool { return strings.HasSuffix(f.slashed, ".rego") }

func (f file) json() bool { return strings.EqualFold(path.Ext(f.slashed), ".json") }

// structured tells more files than OPA reads: data.YAML is named, not passed over.
func (f file) structured() bool {
	switch strings.ToLower(path.Ext(f.slashed)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

func (f file) data() bool {
	switch path.Base(f.slashed) {
	case "data.json", "data.yaml", "data.yml":
		return true
	}
	return false
}

// at is where a file of data lies below data.
func (f file) at() []string {
	folder := path.Dir(f.slashed)
	if folder == "." {
		return nil
	}
	return strings.Split(folder, "/")
}

func (f file) test() bool { return strings.HasSuffix(f.slashed, "_test.rego") }

func hidden(slashed string) bool {
	return strings.HasPrefix(slashed, ".") || strings.Contains(slashed, "/.")
}

// besideLibrary are the folders that stand beside the library's own and are no part
// of the policies there: contract files, and the starter set, which is a root of its own.
var besideLibrary = []string{"contract/", "starter/"}

// ofOneRoot drops them where the library is, and the library's own tests, which
// speak of policies of their own.
func ofOneRoot(files []file) []file {
	within := func(folder string) func(file) bool {
		return func(f file) bool { return strings.HasPrefix(f.slashed, folder) }
	}
	if slices.ContainsFunc(files, within("fieldveil/plan.rego")) {
		for _, folder := range besideLibrary {
			files = slices.DeleteFunc(files, within(folder))
		}
		files = slices.DeleteFunc(files, func(f file) bool {
			return f.test() && (within("fieldveil/")(f) || within("system/")(f))
		})
	}
	return files
}

// whyLeftOut is why a file is not read that somebody may have meant: nothing where all is well.
// Names that begin with two dots are those of mounted volumes, which link to them.
func whyLeftOut(f file) string {
	switch {
	case f.rego() || hidden(f.slashed) && (!ofKind(f.slashed) || strings.Contains(f.slashed, "/..")):
		return ""
	case strings.EqualFold(path.Ext(f.slashed), ".rego"):
		return "left out: OPA reads files that end in .rego alone"
	case hidden(f.slashed) && f.structured():
		return "left out: its name, or that of its folder, begins with a dot"
	}
	return ""
}

// ofKind tells whether a path lies in a folder for a kind of data.
func ofKind(slashed string) bool {
	top, _, below := strings.Cut(slashed, "/")
	return below && slices.ContainsFunc(kinds, func(k kind) bool { return k.folder == top })
}

// choice tells the files that are read.
type choice func(file) bool

// ofPolicies are those that a policy is made of: what is hidden and tests are not.
func ofPolicies(f file) bool { return !f.test() && withTests(f) }

// withTests are those and their tests.
func withTests(f file) bool { return !hidden(f.slashed) && (f.rego() || f.structured()) }

// folderFiles reads the files of a folder; place is its name for a person.
func folderFiles(folder fs.FS, place string, wanted choice) ([]file, error) {
	var files []file
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fault.Failure(filepath.Join(place, name), fault.Cause(err), "see that it can be read")
		}
		f := file{name: filepath.Join(place, filepath.FromSlash(name)), slashed: name}
		if f.leftOut = whyLeftOut(f); f.leftOut != "" && !entry.IsDir() {
			files = append(files, f)
			return nil
		}
		if name != "." && hidden(name) {
			if entry.IsDir() && !ofKind(name) {
				return fs.SkipDir
			}
			return nil
		}
		link := entry.Type()&fs.ModeSymlink != 0
		if entry.IsDir() || !link && !wanted(f) {
			return nil
		}
		info, err := fs.Stat(folder, name)
		if link && err == nil && info.IsDir() {
			return fault.Input(f.name, "a link to a folder, which OPA does not follow in a bundle", "put the folder itself there, or name it as a PATH of its own")
		}
		if link && !wanted(f) {
			return nil
		}
		switch {
		case err != nil:
			return fault.Failure(f.name, fault.Cause(err), "see that it can be read")
		case !info.Mode().IsRegular():
			return fault.Input(f.name, "no regular file", "put a file there or take it away")
		case info.Size() > maxBytes:
			return fault.Input(f.name, "longer than 64 MiB", "no catalog is as long: see what it is")
		}
		if f.content, err = fs.ReadFile(folder, name); err != nil {
			return fault.Failure(f.name, fault.Cause(err), "see that it can be read")
		}
		files = append(files, f)
		return nil
	})
	return ofOneRoot(files), err
}

// bundleFiles reads the files of a bundle.
func bundleFiles(content []byte, place string) ([]file, error) {
	remedy := "make it with: fieldveil policy build"
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fault.Input(place, "not a bundle ("+err.Error()+")", remedy)
	}
	var files []file
	archive := tar.NewReader(unzipped)
	left := int64(maxBytes)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return ofOneRoot(files), nil
		}
		if err != nil {
			return nil, fault.Input(place, "not a bundle ("+err.Error()+")", remedy)
		}
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		f := file{name: place + "/" + name, slashed: name}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		// Of a bundle OPA reads what is hidden too.
		if f.test() || !f.rego() && !f.data() && !ofPolicies(f) {
			if f.leftOut = whyLeftOut(f); f.leftOut == "" {
				continue
			}
		}
		if left -= header.Size; left < 0 {
			return nil, fault.Input(place, "longer than 64 MiB", "no policies are as long: see what it is")
		}
		if f.content, err = io.ReadAll(archive); err != nil { // as many bytes as the header says
			return nil, fault.Input(place, "not a bundle ("+err.Error()+")", remedy)
		}
		files = append(files, f)
	}
}

// readBounded reads a file that a person named.
func readBounded(name, remedy string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, fault.Input(name, fault.Cause(err), remedy)
	case !info.Mode().IsRegular():
		return nil, fault.Input(name, "no regular file", remedy)
	case info.Size() > maxBytes:
		return nil, fault.Input(name, "longer than 64 MiB", remedy)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.Failure(name, fault.Cause(err), "see that it can be read")
	}
	return content, nil
}
