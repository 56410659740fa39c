#!/bin/bash
# bare_root_test: a fresh Debian with nothing but git, as a stranger has it. Needs root, debootstrap and the network.
# RELEASE is Debian's name for it: bookworm (12), trixie (13).
#   bare_root_test.sh package RELEASE    the .deb made here is installed there, and an ordinary user runs a scene
#   bare_root_test.sh source RELEASE     the repository is cloned there: an ordinary user is told what is missing;
#                                        `script/run` and `script/package` are all that root says
#   bare_root_test.sh test RELEASE       script/test there, whole, and a bench; once packages are installed, without a network
set -euo pipefail
what=$1 release=$2 source=$TETHER_SOURCE_DIR build=$(dirname "$TETHER")
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "needs root and debootstrap"; exit 77; }
# Mounts and processes of the new root end with this test.
[ "${inside:-}" ] || inside=yes exec unshare --mount --pid --fork --kill-child "$0" "$@"

root=$(mktemp -d)
chmod 755 "$root" # an ordinary user lives there too
trap 'umount --lazy "$root/proc" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase --include=git,ca-certificates "$release" "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
cp /etc/resolv.conf "$root/etc/"
# The certificates of a proxy in between, where this machine knows one.
cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
chroot "$root" update-ca-certificates >/dev/null 2>&1

# A command in the new root, with none of the variables of this one but its proxies.
enter=(chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
  NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
  ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"})
there() { "${enter[@]}" "$@"; }
# The same without a network: ports are nobody else's.
alone() { unshare --net bash -c 'ip link set lo up; exec "$@"' bash "${enter[@]}" "$@"; }

there useradd --create-home ann

expect() { # LOG REGEX
  grep -qE "$2" "$root/tmp/$1.log" || { cat "$root/tmp/$1.log"; echo "no line '$2'"; exit 1; }
}

clone() { # to /root/tether
  git -c safe.directory='*' clone --quiet --bare "file://$source" "$root/tether.git"
  there git clone --quiet /tether.git /root/tether
}

install_and_run() { # PACKAGE…, as paths there
  there apt-get -qq update
  there env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends --yes "$@" \
    >"$root/tmp/apt.log" 2>&1 || { cat "$root/tmp/apt.log"; exit 1; }
  alone su ann -c 'cd / && tether run frc2011 --duration 2'
  there su ann -c 'tether verify /home/ann/.local/state/tether/runs/*'
  there su ann -c 'cd / && python3 -c "import tether; sim = tether.Scene(\"gripper\").sim(); sim.step(6); print(sim.time)"' >"$root/tmp/python.log"
  expect python '^0\.01$'
}

case "$what" in
  package)
    cpack --config "$build/CPackConfig.cmake" -B "$root/tmp/package" >/dev/null 2>&1
    debs=("$root"/tmp/package/*.deb)
    install_and_run "${debs[@]#"$root"}"
    # The sample of docs/library.md, with nothing but the packages and two compilers.
    there env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends --yes gcc g++ libc6-dev pkgconf sqlite3 \
      >"$root/tmp/apt.log" 2>&1 || { cat "$root/tmp/apt.log"; exit 1; }
    there su ann -c 'cd && cp /usr/share/doc/tether/clients/c/library.c . &&
      gcc library.c -o in-c $(pkgconf --cflags --libs tether) && ./in-c &&
      g++ -x c++ library.c -o in-cxx $(pkgconf --cflags --libs tether) && ./in-cxx' | tee "$root/tmp/library.log"
    [ "$(grep -cE '^after 1\.667 s: [0-9.]+ degrees$' "$root/tmp/library.log")" = 2 ]
    # The extension for packed telemetry, from where its name says.
    there su ann -c "sqlite3 :memory: '.load /usr/lib/tether/tether-telemetry.so' 'SELECT name FROM pragma_module_list'" >"$root/tmp/sqlite.log"
    expect sqlite '^tether-telemetry, .* /usr/lib/tether/tether-telemetry\.so$'
    ;;
  source)
    clone
    there cp -r /root/tether /home/ann/tether
    there chown -R ann /home/ann/tether
    there su ann -c 'cd /home/ann/tether && script/run; echo "status $?"' >"$root/tmp/ann.log" 2>&1
    expect ann 'status 1'
    expect ann '^  apt-get update && apt-get install --no-install-recommends build-essential '
    there bash -c 'cd /root/tether && script/build' 2>&1 | tee "$root/tmp/build.log"
    expect build 'installing [0-9]+ packages, [0-9.,]+ MB to fetch, [0-9.,]+ [MG]B on disk: build-essential '
    expect build 'fetching: [0-9]+ %'
    expect build 'installing: [0-9]+ %'
    alone bash -c 'cd /root/tether && script/run --duration 3' 2>&1 | tee "$root/tmp/run.log"
    expect run '^ready float-udp=127.0.0.1:5801 web=http://127.0.0.1:8080$'
    expect run 'hand at x' # the driver drives
    mapfile -t debs < <(there bash -c 'cd /root/tether && script/package' | grep '\.deb$')
    install_and_run "${debs[@]}"
    ;;
  test)
    clone
    there bash -c 'cd /root/tether && script/setup --test'
    alone bash -c 'cd /root/tether && script/test'
    alone bash -c 'cd /root/tether && script/bench start'
    ;;
esac
