module github.com/google/go-metrics-stackdriver

go 1.25.1

require github.com/armon/go-metrics v0.4.1
