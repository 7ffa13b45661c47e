package main

import "github.com/hashicorp/vault/sdk/helper/consts"

// builtins names the plugins that this program has compiled in, which the core asks for by name.
type builtins struct{}

var names = map[consts.PluginType]string{
	consts.PluginTypeSecrets:    "transit",
	consts.PluginTypeCredential: "kubernetes",
}

func (builtins) Contains(name string, kind consts.PluginType) bool { return names[kind] == name }

func (builtins) Keys(kind consts.PluginType) []string {
	if name, there := names[kind]; there {
		return []string{name}
	}
	return nil
}

func (builtins) Get(string, consts.PluginType) (func() (any, error), bool) { return nil, false }

func (builtins) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, names[kind] == name
}

func (builtins) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }
