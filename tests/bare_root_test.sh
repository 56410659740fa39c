#!/bin/bash
# bare_root_test: a fresh Debian 12 with nothing but git, as a stranger has it. Needs root, debootstrap and the network.
#   bare_root_test.sh package    the .deb is installed there, and an ordinary user runs a scene from a folder that isn't theirs
#   bare_root_test.sh source     the repository is cloned there, and `script/run` and `script/package` are all that is said
set -euo pipefail
what=$1 source=$TETHER_SOURCE_DIR build=$(dirname "$TETHER")
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "needs root and debootstrap"; exit 77; }
# Mounts and processes of the new root end with this test.
[ "${inside:-}" ] || inside=yes exec unshare --mount --pid --fork --kill-child "$0" "$@"

root=$(mktemp -d)
chmod 755 "$root" # an ordinary user lives there too
trap 'umount --lazy "$root/proc" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
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

case "$what" in
  package)
    cpack --config "$build/CPackConfig.cmake" -B "$root/tmp/package" >/dev/null 2>&1
    there apt-get -qq update
    there bash -c 'DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends --yes /tmp/package/tether_*.deb' \
      >"$root/tmp/apt.log" 2>&1 || { cat "$root/tmp/apt.log"; exit 1; }
    there useradd --create-home ann
    alone su ann -c 'cd / && tether run frc2011 --duration 2'
    there su ann -c 'tether verify /home/ann/.local/state/tether/runs/*'
    ;;
  source)
    git -c safe.directory='*' clone --quiet --bare "file://$source" "$root/tether.git"
    there git clone --quiet /tether.git /root/tether
    there bash -c 'cd /root/tether && script/build'
    alone bash -c 'cd /root/tether && script/run --duration 3' 2>&1 | tee "$root/tmp/run.log"
    grep -q '^ready float-udp=127.0.0.1:5801 web=http://127.0.0.1:8080$' "$root/tmp/run.log"
    grep -q 'hand at x' "$root/tmp/run.log" # the driver drives
    there bash -c 'cd /root/tether && script/package'
    ;;
esac
