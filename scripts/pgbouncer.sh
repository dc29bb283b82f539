#!/bin/sh
# Shows that everything works behind Debian's PgBouncer in transaction mode. Installs it when it is missing (as root, on a
# Debian machine), then runs the check, which starts its own Postgres and its own PgBouncer and stops both.
set -eu

cd "$(dirname "$0")/.."
PATH="$PATH:/usr/sbin"

if ! command -v pgbouncer >/dev/null; then
  apt-get update
  # Only the program: the service of the package is not needed.
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends pgbouncer
fi

exec npx tsx scripts/pgbouncer-check.ts "$(command -v pgbouncer)"
