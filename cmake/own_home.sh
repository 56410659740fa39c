#!/bin/sh
# own_home.sh COMMAND…: runs a test with a home of its own, which goes away with it. The user's is never touched.
home=$(mktemp -d "${TMPDIR:-/tmp}/tether-home-XXXXXX") || exit 1
trap 'rm -rf "$home"' EXIT
unset XDG_STATE_HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
HOME=$home "$@"
