#!/bin/sh
# Makes the tables of Temporal, or updates those of an earlier version. Can be repeated.
set -eu
# By the environment: `ps` shows arguments to all users of the machine.
SQL_PASSWORD=$(cat /run/secrets/temporal-database-password)
export SQL_PASSWORD
make_tables() {
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "$2"
}
make_tables temporal postgresql/v12/temporal
make_tables temporal_visibility postgresql/v12/visibility
