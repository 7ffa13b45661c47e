package main

import (
	"slices"

	"github.com/hashicorp/vault/sdk/helper/consts"
)

// builtins names the plugins that this program has compiled in, which the core asks for by name.
type builtins struct{}

var names = map[consts.PluginType][]string{
	consts.PluginTypeSecrets:    {"transit"},
	consts.PluginTypeCredential: {"approle", "kubernetes"},
}

func (builtins) Contains(name string, kind consts.PluginType) bool {
	return slices.Contains(names[kind], name)
}

func (builtins) Keys(kind consts.PluginType) []string { return names[kind] }

func (builtins) Get(string, consts.PluginType) (func() (any, error), bool) { return nil, false }

func (b builtins) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, b.Contains(name, kind)
}

func (builtins) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }
