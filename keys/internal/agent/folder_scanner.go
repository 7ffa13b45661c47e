package agent

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/keystore"
)

// folderScanner reads the folder again and again, and asks no KMS: what was removed is
// dropped even while the KMS hangs.
type folderScanner struct {
	store   *keystore.Store
	state   *state
	changes *changeLogger

	folder fs.FileInfo // in which keysets were last seen
}

// scanPatience is how long a scan may take before that is logged as a problem: a
// file system that hangs keeps removals from being seen.
const scanPatience = 10 * time.Second

func (l *folderScanner) run(ctx context.Context, interval time.Duration) {
	for ctx.Err() == nil {
		l.state.beginScan()
		l.watch(ctx, scanPatience, l.scan)
		timer := time.NewTimer(jittered(interval))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// watch waits for a scan, and logs one that does not end. At the end nobody
// waits for it.
func (l *folderScanner) watch(ctx context.Context, patience time.Duration, scan func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		scan()
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-late.C:
			l.changes.log()
		}
	}
}

func (l *folderScanner) scan() {
	listing, err := l.list()
	if listing == nil {
		l.state.applyScan(nil, nil, err)
		l.changes.log()
		return
	}
	names := map[string]scannedName{}
	tenants := map[string][]keystore.Purpose{}
	for _, name := range listing.Tenants {
		tenants[name] = listing.Purposes[name]
	}
	read := l.state.keptNames()
	if err == nil {
		read = append(read, listing.Names...)
	}
	for _, name := range read {
		purposes, there := listing.Purposes[name]
		if _, done := names[name]; done || !there {
			continue
		}
		f := scannedName{purposes: purposes}
		f.wrapped, f.err = readWrapped(l.store, name, purposes)
		names[name] = f
	}
	l.state.applyScan(names, tenants, err)
	l.changes.logIgnored(listing.Ignored)
	l.changes.log()
}

// list reads the folder's names; with an error if there are too many. An empty folder in place of the one that held
// keysets is what an unmounted volume leaves: nobody removed a name, so that is a
// folder that is gone. In the same folder, an empty one says that all were removed.
func (l *folderScanner) list() (*keystore.Listing, error) {
	listing, tooMany := l.store.List()
	if listing == nil {
		return nil, tooMany
	}
	folder, err := os.Stat(l.store.Folder())
	switch {
	case err != nil:
		return nil, fault.Failure(l.store.Folder(), fault.Cause(err), "make the folder readable")
	case len(listing.Purposes) > 0:
		l.folder = folder
	case l.folder != nil && !os.SameFile(l.folder, folder):
		return nil, fault.Failure(l.store.Folder(), "another folder is in its place and holds no keyset",
			"mount the folder of keysets again; or start the agent anew if this is the right one")
	}
	return listing, tooMany
}
