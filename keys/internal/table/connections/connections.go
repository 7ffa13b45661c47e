// Package connections is what the work on tables does alike for every protocol: it holds a connection straight to the server
// and one through the sidecar, proves by values of its own that nothing is masked, and tells errors without their texts.
package connections

import (
	"context"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
)

// The sides, by the flags that say where they are.
const (
	Direct  = "--direct"
	Through = "--through"
)

// Session is one connection.
type Session interface {
	// Identity tells servers apart, and what else the two sides must have alike.
	Identity(ctx context.Context) (string, error)
	Close()
}

// Pair is the connections to both sides, each made when it is asked for.
type Pair[S Session] struct {
	// Connect connects to a side.
	Connect func(ctx context.Context, side string) (S, error)
	made    map[string]S
}

// Connected is the connection to a side.
func (s *Pair[S]) Connected(ctx context.Context, side string) (S, error) {
	if session, made := s.made[side]; made {
		return session, nil
	}
	session, err := s.Connect(ctx, side)
	if err != nil {
		return session, err
	}
	if s.made == nil {
		s.made = map[string]S{}
	}
	s.made[side] = session
	return session, nil
}

// Reset drops both connections.
func (s *Pair[S]) Reset() {
	for _, session := range s.made {
		session.Close()
	}
	s.made = nil
}

// RequireOne refuses sides that lead to two servers, or whatever else identities tell apart: what one reads the other would not
// find.
func (s *Pair[S]) RequireOne(ctx context.Context, what string) error {
	var seen [2]string
	for i, side := range []string{Direct, Through} {
		session, err := s.Connected(ctx, side)
		if err != nil {
			return err
		}
		if seen[i], err = session.Identity(ctx); err != nil {
			return err
		}
	}
	if seen[0] != seen[1] {
		return fault.Input("--through and --direct", "they lead to two "+what, "let both lead to the one where the table is")
	}
	return nil
}
