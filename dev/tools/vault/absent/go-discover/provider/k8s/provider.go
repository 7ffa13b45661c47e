// Package k8s finds no peers.
package k8s

import (
	"errors"
	"log"
)

type Provider struct{}

func (*Provider) Addrs(map[string]string, *log.Logger) ([]string, error) {
	return nil, errors.New("this build finds no peers")
}

func (*Provider) Help() string { return "" }
