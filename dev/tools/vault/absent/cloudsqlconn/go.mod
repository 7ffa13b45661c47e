module cloud.google.com/go/cloudsqlconn

go 1.25.1
