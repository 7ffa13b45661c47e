package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/fieldveil/fieldveil/keys/internal/table"
	"github.com/fieldveil/fieldveil/keys/internal/table/connections"
)

// maxSamples bounds what a standby that never catches up costs.
const maxSamples = 10_000

// lagMeter measures how far standbys are behind in time. The server's own
// replay_lag stands still while a standby does.
type lagMeter struct{ samples []sample }

// sample is where the server's log ended at a time.
type sample struct {
	at  time.Time
	end int64
}

const lagSQL = `SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0')::int8::text, count(replay_lsn)::text,
  coalesce(pg_catalog.pg_wal_lsn_diff(min(replay_lsn), '0/0')::int8::text, '0')
FROM pg_catalog.pg_stat_replication`

// Lag is how long ago the server's log ended where the slowest standby is now.
func (s *Server) Lag(ctx context.Context) (table.Lag, error) {
	session, err := s.Connected(ctx, connections.Direct)
	if err != nil {
		return table.Lag{}, err
	}
	rows, err := session.query(ctx, lagSQL, nil, nil)
	if err != nil {
		return table.Lag{}, err
	}
	var numbers [3]int64
	for i := range numbers {
		if numbers[i], err = strconv.ParseInt(string(rows[0][i]), 10, 64); err != nil {
			return table.Lag{}, &table.Transient{Reason: "--direct: an answer that was not asked for"}
		}
	}
	end, standbys, replayed := numbers[0], int(numbers[1]), numbers[2]
	if standbys == 0 {
		return table.Lag{}, nil
	}
	return table.Lag{Standbys: standbys, Behind: s.lag.behind(time.Now(), end, replayed)}, nil
}

func (m *lagMeter) behind(now time.Time, end, replayed int64) time.Duration {
	m.samples = append(m.samples, sample{now, end})
	for len(m.samples) > 0 && (m.samples[0].end <= replayed || len(m.samples) > maxSamples) {
		m.samples = m.samples[1:]
	}
	if len(m.samples) == 0 {
		return 0
	}
	return now.Sub(m.samples[0].at)
}
