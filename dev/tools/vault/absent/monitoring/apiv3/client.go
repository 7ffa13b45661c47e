// Package monitoring has no client of Google's monitoring.
package monitoring

import (
	"context"
	"errors"
)

type MetricClient struct{}

func NewMetricClient(context.Context, ...any) (*MetricClient, error) {
	return nil, errors.New("this build has no client of Google's monitoring")
}
