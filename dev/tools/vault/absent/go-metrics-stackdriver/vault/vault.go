// Package vault has what names Vault's metrics.
package vault

func Extractor() {}

func Bucketer() {}
