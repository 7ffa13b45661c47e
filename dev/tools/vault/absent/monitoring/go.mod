module cloud.google.com/go/monitoring

go 1.25.1
