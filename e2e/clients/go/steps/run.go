package steps

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"
)

// How long one step may take: a hang is a failure with a name.
const limit = 30 * time.Second

// In this order.
var names = []string{
	"connect", "write", "read", "search", "update", "upsert", "batch", "prepared", "binary", "transaction", "null",
	"refusal", "copy_in", "copy_out",
}

// Absent says that the driver has no such thing.
type Absent string

func (a Absent) Error() string { return string(a) }

// Client is one driver: how it connects, what it does in each step, and how an error of it tells its SQLSTATE.
type Client[C any] struct {
	Name     string
	Connect  func(context.Context) (C, error)
	Close    func(context.Context, C)
	Steps    map[string]func(context.Context, C) error
	SQLState func(error) string
}

type line struct {
	Client string `json:"client"`
	Step   string `json:"step"`
	OK     *bool  `json:"ok"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Run runs all steps, each with a connection that the ones before left usable.
func Run[C any](client Client[C]) {
	var conn *C
	said := json.NewEncoder(os.Stdout)
	for _, name := range names {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := step(ctx, client, name, &conn)
		result := line{Client: client.Name, Step: name}
		var absent Absent
		switch {
		case errors.As(err, &absent):
			result.Detail = err.Error()
		case err != nil:
			result.OK, result.Code, result.Detail = new(bool), client.SQLState(err), err.Error()
			if conn != nil {
				client.Close(ctx, *conn)
				conn = nil
			}
		default:
			worked := true
			result.OK = &worked
		}
		result.Detail, _, _ = strings.Cut(result.Detail, "\n")
		if said.Encode(result) != nil {
			os.Exit(1)
		}
		cancel()
	}
	if conn != nil {
		client.Close(context.Background(), *conn)
	}
}

func step[C any](ctx context.Context, client Client[C], name string, conn **C) error {
	run, ok := client.Steps[name]
	if !ok {
		return errors.New("the program has no such step")
	}
	if *conn == nil {
		fresh, err := client.Connect(ctx)
		if err != nil {
			return err
		}
		*conn = &fresh
	}
	return run(ctx, **conn)
}
