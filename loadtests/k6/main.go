// Command k6 is k6 with SQL and with Fieldveil's own extension built in.
package main

import (
	"os"

	"github.com/grafana/xk6-sql/sql"
	"go.k6.io/k6/cmd"

	_ "github.com/fieldveil/fieldveil/loadtests/k6/fieldveil"
	_ "github.com/grafana/xk6-sql"
)

func main() {
	// Everything is built in, and nothing is told to anybody.
	os.Setenv("K6_AUTO_EXTENSION_RESOLUTION", "false")
	os.Setenv("K6_NO_USAGE_REPORT", "true")
	for _, driver := range []string{"pgx", "postgres", "mysql"} {
		sql.RegisterModule(driver)
	}
	cmd.Execute()
}
