// Command parse gives PostgreSQL's own syntax tree of each text: a JSON string a line in, a JSON object a line out,
// with the tree, or with nothing but the word that the text is no SQL.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	pgquery "github.com/pganalyze/pg_query_go/v6"
)

type answer struct {
	Tree  json.RawMessage `json:"tree,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 0, 1<<16), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for in.Scan() {
		var text string
		if err := json.Unmarshal(in.Bytes(), &text); err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(parse(text)); err != nil {
			log.Fatal(err)
		}
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func parse(text string) answer {
	tree, err := pgquery.ParseToJSON(text)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Tree: json.RawMessage(tree)}
}
