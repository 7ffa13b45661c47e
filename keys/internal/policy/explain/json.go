package explain

import (
	"encoding/json"
	"io"
)

// JSON writes the report as one document; its members are those of Report.
func (r *Report) JSON(w io.Writer) error { return writeJSON(w, r) }

// JSON writes the difference as one document; its members are those of Diff.
func (d *Diff) JSON(w io.Writer) error { return writeJSON(w, d) }

func writeJSON(w io.Writer, document any) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return write(w, string(text)+"\n")
}
