package connections

import (
	"crypto/rand"
	"fmt"
	"math/big"

	"github.com/fieldveil/fieldveil/keys/internal/fault"
	"github.com/fieldveil/fieldveil/keys/internal/policy/catalog"
)

// ProbeDate is a date that no mask leaves as it is: never the first of a year.
func ProbeDate() string {
	number, err := rand.Int(rand.Reader, big.NewInt(8000*300))
	if err != nil {
		return "2001-02-03"
	}
	n := number.Int64()
	return fmt.Sprintf("%04d-%02d-%02d", 1000+n/300, 2+n%300/28, 1+n%28)
}

// ErrNotRevealed says that a column is masked, or not opened at all.
func ErrNotRevealed(name catalog.Table, column string) error {
	return fault.Input(Through, "its user does not see the values of "+name.String()+"."+column+" as they are",
		"let a rule give the user the treatment reveal, and see that --through leads through a sidecar")
}
