#!/bin/bash
# setup_test: what stands between a fresh clone and its build: packages that are missing, and what the pages need of npm.
set -euo pipefail
source=$TETHER_SOURCE_DIR build=$(dirname "$TETHER")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
fail() { echo "$1" >&2; cat "$work/said" >&2; exit 1; }

echo "--- neither root nor sudo, and every package missing: the whole command, and how much it is"
mkdir -p "$work/tether" "$work/bin" "$work/dpkg"
cp -r "$source/script" "$work/tether/"
ln -s /usr/bin/* "$work/bin/"
rm -f "$work/bin/sudo"
echo 'Dir::State::status "/dev/null";' >"$work/apt.conf"
anybody=()
[ "$(id -u)" != 0 ] || anybody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
status=0
DPKG_ADMINDIR=$work/dpkg APT_CONFIG=$work/apt.conf PATH=$work/bin \
  "${anybody[@]}" "$work/tether/script/run" >"$work/said" 2>&1 </dev/null || status=$?
[ "$status" = 1 ] || fail "status $status"
grep -q 'As root, run' "$work/said" || fail "the remedy is not said"
grep -qE '^  apt-get update && apt-get install --no-install-recommends build-essential .* python3( |$)' "$work/said" ||
  fail "the whole command is not said"
if [ -n "$(apt-cache policy libmujoco-dev)" ]; then # else apt knows no lists here
  grep -qE '[0-9]{2,} packages, [0-9.,]+ [kMG]?B to fetch, [0-9.,]+ [kMG]?B on disk' "$work/said" || fail "how much is not said"
fi

echo "--- npm is asked once for a package-lock.json, whoever builds how often"
mkdir -p "$work/web" "$work/npm"
cp "$source/web/install.sh" "$work/web/"
echo '{"name": "pages", "version": "1.0.0"}' >"$work/web/package.json"
echo '{"name": "pages", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "pages", "version": "1.0.0"}}}' \
  >"$work/web/package-lock.json"
printf '#!/bin/sh\necho asked >>"%s"\nexec "%s" "$@"\n' "$work/said" "$(command -v npm)" >"$work/npm/npm"
chmod +x "$work/npm/npm"
: >"$work/said"
install() { HOME=$work PATH=$work/npm:$PATH "$work/web/install.sh" >>"$work/said" 2>&1 || fail "install.sh failed"; }
asked() { [ "$(grep -c asked "$work/said")" = "$1" ] || fail "npm was not asked $1 times"; }
install & # two builds at once
install
wait $!
asked 1
touch "$work/web/package-lock.json" # as a change of branches does
install
asked 1
echo >>"$work/web/package-lock.json"
install
asked 2

echo "--- no build calls npm itself, else it would in the folder of each preset"
ninja -C "$build" -t commands tether_web_app >"$work/said"
grep -q web/install.sh "$work/said" || fail "the pages are built without what they need"
! grep -q 'npm ' "$work/said" || fail "the build calls npm"

echo "--- script/bench builds the programs that it runs"
grep -q '^case.*script/build bench' "$source/script/bench" || fail "script/bench does not build"
mapfile -t targets < <(python3 -c 'import json, sys
print(*(target for preset in json.load(open(sys.argv[1]))["buildPresets"] if preset["name"] == "bench" for target in preset["targets"]))' \
  "$source/CMakePresets.json")
ninja -C "$build" -t commands "${targets[@]}" >"$work/said"
for program in tether lockstep_client telemetry_limits log_open; do
  grep -qE " -o $program " "$work/said" || fail "$program is not built for script/bench"
done
