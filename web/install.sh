#!/bin/bash
# install.sh: puts what package-lock.json lists into node_modules, once: nothing is done, and no network asked, while it stands there.
set -euo pipefail
cd "$(dirname "$0")"
exec 9<. # two builds may begin at once
flock 9
! cmp -s package-lock.json node_modules/.installed-lock.json || exit 0
echo "web/install.sh: installing what web/package-lock.json lists"
if ! npm ci --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error; then
  echo "web/install.sh: npm could not install what web/package-lock.json lists; this once it needs the network" >&2
  exit 1
fi
mkdir -p node_modules # where nothing is listed
cp package-lock.json node_modules/.installed-lock.json # last: an installation that was interrupted is done again
