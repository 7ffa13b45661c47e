// Package resource knows no resource of HashiCorp's cloud.
package resource

import "errors"

type Resource struct{}

func FromString(string) (Resource, error) {
	return Resource{}, errors.New("this build knows no resource of HashiCorp's cloud")
}
