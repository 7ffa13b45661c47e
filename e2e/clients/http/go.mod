// Clients of JSON over HTTP: Go's net/http, and one that sends bodies by the million and compares every answer.
module github.com/fieldveil/fieldveil/e2e/clients/http

go 1.25.0
