// Package option has what names the options of Google's clients.
package option

func WithUserAgent(string) any { return nil }
