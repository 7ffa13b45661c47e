package run

import (
	"slices"
	"sync"
	"sync/atomic"
)

// So many failures are told in words.
const told = 10

// Tally counts answers and failures of all clients.
type Tally struct {
	answers, wrong, errors atomic.Int64
	mutex                  sync.Mutex
	failures               []string
}

// Answer counts an answer that is as it must be.
func (tally *Tally) Answer() {
	tally.answers.Add(1)
}

// Wrong counts an answer that is not. What was looked at is said, never the value.
func (tally *Tally) Wrong(what string) {
	tally.answers.Add(1)
	tally.wrong.Add(1)
	tally.tell("wrong answer: " + what)
}

// Error counts what failed. Its text holds no value.
func (tally *Tally) Error(text string) {
	tally.errors.Add(1)
	tally.tell(text)
}

// tell keeps the first few, each once.
func (tally *Tally) tell(text string) {
	tally.mutex.Lock()
	defer tally.mutex.Unlock()
	if len(tally.failures) < told && !slices.Contains(tally.failures, text) {
		tally.failures = append(tally.failures, text)
	}
}

func (tally *Tally) into(result *Result) {
	tally.mutex.Lock()
	defer tally.mutex.Unlock()
	result.Answers, result.WrongAnswers, result.Errors = tally.answers.Load(), tally.wrong.Load(), tally.errors.Load()
	result.Failures = append([]string{}, tally.failures...)
}
