#!/bin/sh
# For /usr/local/sbin/integration: root runs the commands of the service with it, as the user of the service and with
# its settings. systemd reads the token of the caller and the secrets of the service; only the command can see them.
unit=integration-command-$$
given=/run/credentials/$unit.service
stored=/etc/integration-service/credentials

# Where the command finds a file of the shell. If the file does not exist, the command that needs it says so.
path_of() { if [ -f "$2" ]; then echo "$given/$1"; else echo "$2"; fi; }

is_enabled() { systemctl --quiet is-enabled "integration-service@$1" 2>/dev/null; }
has_file() { [ -f "/etc/integration-service/$1.environment" ]; }

# A service that a command starts would end with its terminal, and would lack the restarts and limits of its unit.
case "$*" in
serve | domain | edge | worker)
  echo "The service runs as a unit: systemctl start integration-service@$1" >&2
  exit 2
  ;;
esac

# `config check --role` has the settings of this role, every other command those of the unit that opens the database:
# `serve`, or `domain`.
role=domain
case "$*" in
'config check '*--role[\ =]edge*) role=edge ;;
'config check '*--role[\ =]worker*) role=worker ;;
'config check '*--role[\ =]domain*) ;;
*) if is_enabled serve || { has_file serve && ! has_file domain && ! is_enabled domain; }; then role=serve; fi ;;
esac

set -- /opt/integration-service/integration "$@"
# By env, because systemd prefers the values of the environment file to those of --setenv.
[ -z "$DATA_DIR" ] || set -- "DATA_DIR=$DATA_DIR" "$@"
[ -z "$SECRETS_KEY_FILE" ] || set -- "SECRETS_KEY_FILE=$SECRETS_KEY_FILE" "$@"
[ -z "$INTEGRATION_ADDRESS" ] || set -- "INTEGRATION_ADDRESS=$INTEGRATION_ADDRESS" "$@"
[ -z "$INTEGRATION_CA" ] || set -- "INTEGRATION_CA=$INTEGRATION_CA" "$@"
[ -z "$INTEGRATION_TOKEN_FILE" ] || set -- "INTEGRATION_TOKEN_FILE=$(path_of token "$INTEGRATION_TOKEN_FILE")" "$@"
[ -z "$DATABASE_URL_FILE" ] || set -- "DATABASE_URL_FILE=$(path_of database-url "$DATABASE_URL_FILE")" "$@"
set -- env "$@"
[ ! -f "$INTEGRATION_TOKEN_FILE" ] || set -- "--property=LoadCredential=token:$INTEGRATION_TOKEN_FILE" "$@"
url=${DATABASE_URL_FILE:-$stored/database-url}
if [ -f "$url" ]; then
  set -- "--property=LoadCredential=database-url:$url" "--setenv=DATABASE_URL_FILE=$given/database-url" "$@"
fi
if [ -f $stored/temporal-api-key ]; then
  set -- --property=LoadCredential=temporal-api-key:$stored/temporal-api-key \
    "--setenv=TEMPORAL_API_KEY_FILE=$given/temporal-api-key" "$@"
fi
exec systemd-run --quiet --collect --wait --pty --pipe --unit=$unit --uid=integration-service \
  --property=UMask=0077 --property=EnvironmentFile=/etc/integration-service/environment \
  --property=EnvironmentFile=-/etc/integration-service/$role.environment \
  --property=StateDirectory=integration-service --property=StateDirectoryMode=0700 \
  --setenv=DATA_DIR=/var/lib/integration-service/live "$@"
