#!/bin/sh
# Makes the databases of the service and of Temporal, at the first start of PostgreSQL.
set -eu
# A failed command ends the script here, but would not as an argument of psql.
service=$(cat /run/secrets/service-database-password)
temporal=$(cat /run/secrets/temporal-database-password)
# By the environment: `ps` shows arguments to all users of the machine.
export service temporal
psql --set=ON_ERROR_STOP=1 --username=postgres <<'SQL'
\getenv service service
\getenv temporal temporal
CREATE ROLE integration LOGIN PASSWORD :'service';
CREATE DATABASE integration OWNER integration;
CREATE ROLE temporal LOGIN PASSWORD :'temporal';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL
