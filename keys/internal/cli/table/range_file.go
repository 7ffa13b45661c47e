package table

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/regularfile"
	"github.com/fieldveil/fieldveil/keys/internal/strictjson"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

// rangeList is what `fieldveil table ranges --output json` writes.
type rangeList struct {
	Ranges []table.Range `json:"ranges"`
}

// maxRangesBytes has room for the most ranges there are, with long keys.
const maxRangesBytes = 16 << 20

// rangeFlags say which rows: by two keys, or as one of the ranges in a file.
type rangeFlags struct {
	from, to    string
	file, index string
	ofFile      *table.Range // nil where no file is named
}

func (f *rangeFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "only rows after this `KEY`: a text, or a JSON list with a text for each column of the primary key")
	flags.StringVar(&f.to, "to", "", "only rows up to and with this `KEY`")
	flags.StringVar(&f.file, "ranges", "", "only rows of one range in this `FILE`, which fieldveil table ranges --output json wrote")
	flags.StringVar(&f.index, "range-index", "", "`NUMBER` of that range, from 0; in an Indexed Job $(JOB_COMPLETION_INDEX)")
}

// check reads the file, which needs no server.
func (f *rangeFlags) check() error {
	switch {
	case f.file == "" && f.index == "":
		return nil
	case f.file == "":
		return fault.Input("--range-index", "there is no --ranges that it is of", "name the file of ranges")
	case f.from != "" || f.to != "":
		return fault.Input("--ranges", "--from and --to say which rows, too", "give the one or the other")
	case f.index == "":
		return fault.Input("--range-index", "not given", "say which range of the file: in an Indexed Job, --range-index=$(JOB_COMPLETION_INDEX)")
	}
	index, err := strconv.Atoi(f.index)
	if err != nil || index < 0 {
		return fault.Input("--range-index \""+f.index+"\"", "not a number from 0 on",
			"give the range's number; $(JOB_COMPLETION_INDEX) is known in a Job with completionMode: Indexed")
	}
	ranges, err := readRanges(f.file)
	if err != nil {
		return err
	}
	if index >= len(ranges) {
		return fault.Input("--range-index "+f.index, fmt.Sprintf("%s holds %s, from number 0", f.file, command.Plural(int64(len(ranges)), "range", "ranges")),
			"give a lower number; a Job has as many completions as there are ranges")
	}
	f.ofFile = &ranges[index]
	return nil
}

// readRanges refuses a list that leaves rows to nobody: each range begins where the one before it ends.
func readRanges(path string) ([]table.Range, error) {
	text, err := regularfile.Read(path, maxRangesBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Input("--ranges "+path, "there is no such file", "make it with: fieldveil table ranges --output json")
	case err != nil:
		return nil, fault.Unreadable("--ranges "+path, err)
	}
	var list rangeList
	if err := strictjson.Decode(text, &list); err != nil || len(list.Ranges) == 0 {
		return nil, fault.Input("--ranges "+path, "not a list of ranges", "make it with: fieldveil table ranges --output json")
	}
	var ended table.Key
	for i, part := range list.Ranges {
		if !slices.Equal(part.From, ended) || (part.To == nil) != (i == len(list.Ranges)-1) {
			return nil, fault.Input("--ranges "+path, fmt.Sprintf("range %d does not go on where the one before it ends, or the last ends before the table does, so that rows would be nobody's", i),
				"take the whole list that one run of fieldveil table ranges wrote")
		}
		ended = part.To
	}
	return list.Ranges, nil
}

// of gives the range of a table with this primary key.
func (f *rangeFlags) of(key []string) (part table.Range, err error) {
	if f.ofFile == nil {
		if part.From, err = parseKey("--from", f.from, key); err != nil {
			return part, err
		}
		part.To, err = parseKey("--to", f.to, key)
		return part, err
	}
	for _, bound := range []table.Key{f.ofFile.From, f.ofFile.To} {
		if bound != nil && len(bound) != len(key) {
			return part, notOfThisTable("--ranges "+f.file, key)
		}
	}
	return *f.ofFile, nil
}

// flagOf names where a bound comes from.
func (f *rangeFlags) flagOf(flag string, key table.Key) string {
	if f.ofFile != nil {
		flag = "--ranges " + f.file + ": range " + f.index + ":"
	}
	return flag + " " + key.String()
}
