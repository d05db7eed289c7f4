#!/usr/bin/env bash
# Uses a container's image as a container engine would, in name spaces of its own: `in-image.sh ROOT HEALTH`. ROOT is
# mounted read-only, /tmp and the volume are empty, and all runs as the image's user. HEALTH is the health check of the
# image, a word on each line.
set -euo pipefail

root=$1
mapfile -t health < <(sed '1d; /^$/d' "$2")
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o uid=10001,gid=10001,mode=700 tmpfs "$root/var/lib/wedflow"
for device in null random urandom; do
  [[ -c $root/dev/$device ]] || touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
run=(chroot --userspec=10001:10001 "$root" env -i PATH=/usr/bin:/bin HOME=/var/lib/wedflow WEDFLOW_HOME=/var/lib/wedflow
  WEDFLOW_CACHE=/var/lib/wedflow/cache LANG=C.UTF-8)
# What the demo downloads is checked by this machine's certificates.
if [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then
  cp /etc/ssl/certs/ca-certificates.crt "$root/var/lib/wedflow/authorities"
  chmod 644 "$root/var/lib/wedflow/authorities"
  run+=(SSL_CERT_FILE=/var/lib/wedflow/authorities)
fi
cp /etc/resolv.conf /etc/hosts "$root/var/lib/wedflow/"
for file in resolv.conf hosts; do
  [[ -e $root/etc/$file ]] || touch "$root/etc/$file"
  mount --bind "$root/var/lib/wedflow/$file" "$root/etc/$file"
done
mount -o remount,bind,ro "$root"

if "${run[@]}" /bin/bash -c 'echo x >/usr/x' 2>/dev/null; then
  echo "the root can be written to" >&2
  exit 1
fi
"${run[@]}" /usr/bin/wed demo paper >"$root/var/lib/wedflow/demo" 2>&1 || { cat "$root/var/lib/wedflow/demo" >&2; exit 1; }
grep -q tr_final "$root/var/lib/wedflow/demo"
"${run[@]}" /usr/bin/wed --json serve --listen 127.0.0.1:8080 >"$root/var/lib/wedflow/serve" 2>&1 &
host=$!
lives=no
for ((tries = 0; tries < 100; tries++)); do
  if "${run[@]}" "${health[@]}" 2>/dev/null; then lives=yes && break; fi
  sleep 0.3
done
kill "$host"
wait "$host" || true
"${run[@]}" /usr/bin/wed --quiet db stop
if [[ $lives == no ]]; then
  cat "$root/var/lib/wedflow/serve" >&2
  exit 1
fi
if "${run[@]}" "${health[@]}" 2>/dev/null; then
  echo "the health check says that a host lives which has ended" >&2
  exit 1
fi
