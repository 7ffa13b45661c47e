// PostgreSQL's own parser, for the differential test alone.
module github.com/fieldveil/fieldveil/e2e/sqldiff/parse

go 1.24.0

require github.com/pganalyze/pg_query_go/v6 v6.2.5

require google.golang.org/protobuf v1.33.0 // indirect
