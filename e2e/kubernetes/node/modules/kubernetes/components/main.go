// Command components is each of Kubernetes' own components, by the name that it is called by. They share most of
// what they are made of, so one program is linked in place of five.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // of CronJobs, as in the stock programs

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // as in the stock programs
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // as in the stock programs
	_ "k8s.io/component-base/metrics/prometheus/version"  // as in the stock programs
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	name := filepath.Base(os.Args[0])
	command, there := components[name]
	if !there {
		fmt.Fprintf(os.Stderr, "no component is called %s\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
