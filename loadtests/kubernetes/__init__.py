"""The suites in a Kubernetes cluster: many k6 runners, targets given by address, CPU from the containers' cgroups."""
