package keystore

// Witness attests a destruction. What it prepares is lasting and attests
// nothing: the intent to destroy. It attests when all is gone, and only then.
type Witness interface {
	// Earlier is what a run that was cut short prepared for this name, or nil.
	Earlier(name string) (*Destruction, error)
	Prepare(*Destruction) error
	// Confirm attests. When it can't, the same run again can.
	Confirm() error
	// Cancel withdraws what was prepared: nothing was destroyed.
	Cancel()
}

// NoWitness attests nothing.
type NoWitness struct{}

// Earlier is nil.
func (NoWitness) Earlier(string) (*Destruction, error) { return nil, nil }

// Prepare does nothing.
func (NoWitness) Prepare(*Destruction) error { return nil }

// Confirm does nothing.
func (NoWitness) Confirm() error { return nil }

// Cancel does nothing.
func (NoWitness) Cancel() {}
