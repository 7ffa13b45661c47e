"""The canary of MySQL and MariaDB: its tables, its statements, and a run. Marks, leaks, policies and reports are those
of PostgreSQL's."""
