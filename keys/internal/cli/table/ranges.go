package table

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fieldveil/fieldveil/keys/internal/cli/command"
	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/table"
)

func newRanges() *cobra.Command {
	var where location
	var count int
	var output string
	c := &cobra.Command{
		Use:   "ranges --table SCHEMA.TABLE --count N",
		Short: "Divide a table into ranges of keys, one a worker",
		Long: "Divide a table into ranges of its primary key with about as many rows each, as arguments\n" +
			"--from and --to of the other commands. The first has no begin and the last no end, so that\n" +
			"rows that come later are in one of them. Make them once for all workers: rows between two\n" +
			"ranges that were made at different times would be nobody's. It reads the primary key's index\n" +
			"once from begin to end.",
		Example: "  fieldveil table ranges --table public.customer --count 8 --direct 'postgres://owner@db:5432/shop'",
		Args:    command.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if count < 1 || count > 10_000 {
				return fault.Input("--count", "not between 1 and 10000", "give the number of workers")
			}
			if output != "text" && output != "json" {
				return command.NoSuchForm(output, "text or json")
			}
			server, err := where.open(c.Context(), "", false)
			if err != nil {
				return err
			}
			defer server.Reset()
			keys, err := server.Boundaries(c.Context(), count)
			if err != nil {
				return onceConnected(err)
			}
			ranges := make([]table.Range, len(keys)+1)
			for i, key := range keys {
				ranges[i].To, ranges[i+1].From = key, key
			}
			if output == "json" {
				return command.WriteJSON(c.OutOrStdout(), rangeList{ranges})
			}
			for _, part := range ranges {
				fmt.Fprintln(c.OutOrStdout(), rangeArguments(part))
			}
			return nil
		},
	}
	where.add(c)
	c.Flags().IntVar(&count, "count", 1, "how many ranges; a small table has fewer")
	c.Flags().StringVar(&output, "output", "text", "`FORM`: text, a line of arguments each, or json")
	return c
}

func parseKey(flag, text string, key []string) (table.Key, error) {
	if text == "" {
		return nil, nil
	}
	var parts table.Key
	if json.Unmarshal([]byte(text), &parts) != nil {
		parts = nil
		if len(key) == 1 {
			parts = table.Key{text}
		}
	}
	if len(parts) != len(key) {
		return nil, notOfThisTable(flag+" "+text, key)
	}
	return parts, nil
}

func notOfThisTable(place string, key []string) error {
	return fault.Input(place, "not a key: the primary key is "+strings.Join(key, ", "), "write a JSON list with a text for each of its columns")
}

// rangeArguments is a range as a shell takes it.
func rangeArguments(part table.Range) string {
	var words []string
	if part.From != nil {
		words = append(words, "--from "+shellQuoted(part.From.String()))
	}
	if part.To != nil {
		words = append(words, "--to "+shellQuoted(part.To.String()))
	}
	return strings.Join(words, " ")
}

func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
