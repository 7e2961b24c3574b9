#!/bin/sh
# Makes the databases of the service and of Temporal, at the first start of PostgreSQL.
set -eu
psql --set=ON_ERROR_STOP=1 --username=postgres \
  --set=service="$(cat /run/secrets/service-database-password)" \
  --set=temporal="$(cat /run/secrets/temporal-database-password)" <<'SQL'
CREATE ROLE integration LOGIN PASSWORD :'service';
CREATE DATABASE integration OWNER integration;
-- Temporal creates its two databases itself.
CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'temporal';
SQL
