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
-- Temporal creates its two databases itself.
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'temporal';
SQL
