#!/usr/bin/env bash
# Every check and every test, the fast ones first; `test.sh lint` only what looks at the source.
# Ends at the first step that fails, with its exit code.
source "$(dirname "$0")/lib.sh"

only=${1:-all}

# A private Postgres that the tests started does not outlive them; one that ran before stays up.
ran_before=no
running() { [[ -x $wed ]] && "$wed" db status --json 2>/dev/null | grep -q '"running": *true'; }
running && ran_before=yes
finish() {
  local status=$?
  if [[ $ran_before == no ]] && running; then
    "$wed" --quiet db stop >/dev/null || say "the private Postgres could not be stopped"
  fi
  exit "$status"
}
trap finish EXIT

guest_workspaces=(guest-sdk/rust sample-transitions tests/guests)
logs=$(mktemp -d)

formatting() {
  local workspace
  cargo fmt --all --check || return
  for workspace in "${guest_workspaces[@]}"; do
    cargo fmt --manifest-path "$workspace/Cargo.toml" --all --check || return
  done
}

# Guests are tested natively, each workspace in a target folder of its own.
in_guests() {
  local workspace=$1 command=$2
  shift 2
  cargo "$command" --manifest-path "$workspace/Cargo.toml" --target-dir "$workspace/target" --locked "$@"
}

samples() {
  in_guests sample-transitions build --release --target wasm32-wasip2
}

# Runs a test command and keeps what it prints, for the count at the end.
counted() {
  local name=$1
  shift
  "$@" 2>&1 | tee "$logs/$name"
}

# Prometheus's own tool reads the rules as Prometheus does.
alert_rules() {
  if ! command -v promtool >/dev/null; then
    say "skipped: promtool is not here (Debian's package prometheus)"
    return
  fi
  promtool check rules packaging/monitoring/alerts.yml
}

# Rated as `systemd-analyze security wedflow` rates it where it runs, ten times as large.
service_unit() {
  if ! command -v systemd-analyze >/dev/null; then
    say "skipped: systemd-analyze is not here (Debian's package systemd)"
    return
  fi
  systemd-analyze security --offline=true --threshold=20 --no-pager packaging/debian/wedflow.service | tail -n 1
}

container_file() {
  .venv/bin/hadolint packaging/Containerfile
}

python_sdk() {
  (cd guest-sdk/python && .venv/bin/python -m pytest --quiet) || return
  (cd sample-transitions/order/charge && PYTHONPATH=../../../guest-sdk/python ../../../guest-sdk/python/.venv/bin/python -m pytest --quiet)
}

javascript_sdk() {
  npm --prefix guest-sdk/js test --silent -- >"$logs/npm.txt" 2>&1 || { cat "$logs/npm.txt"; return 1; }
  grep -E '^# (tests|pass|fail)' "$logs/npm.txt"
  rm "$logs/npm.txt"
}

go_sdk() {
  local go
  go=$(command -v go || echo /usr/local/go/bin/go)
  if ! "$go" version >/dev/null 2>&1; then
    say "skipped: Go is not here"
    return
  fi
  (cd guest-sdk/go && "$go" vet ./... && "$go" test ./...)
}

documentation() {
  RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --release --locked --quiet
}

step "What the machine needs" scripts/setup.sh test
step "Formatting" formatting
step "Links in the documentation" python3 scripts/links.py
step "Alert rules" alert_rules
step "Container file" container_file
step "Service unit" service_unit
step "Helm chart" scripts/chart-test.sh ready
step "Licences of dependencies" .venv/bin/python scripts/licences.py
step "Guest SDK: clippy" in_guests guest-sdk/rust clippy --all-targets --quiet -- -D warnings
step "Samples: clippy" in_guests sample-transitions clippy --workspace --all-targets --quiet -- -D warnings
if [[ $only != lint ]]; then
  step "Samples: build for wasm32-wasip2" samples
  step "Python SDK: tests" python_sdk
  step "JavaScript SDK: tests" javascript_sdk
  step "Go SDK: vet and tests" go_sdk
  step "Guest SDK: tests" counted guest-sdk in_guests guest-sdk/rust test --workspace --no-fail-fast
  step "Samples: tests" counted samples in_guests sample-transitions test --workspace --no-fail-fast
fi
step "Host: clippy" cargo clippy --workspace --all-targets --release --locked --quiet -- -D warnings
step "Host: documentation" documentation
if [[ $only != lint ]]; then
  step "Host: build" build_wed
  step "Guard: instructions of a check" scripts/guard-instructions.sh
  step "The sample order: build in its languages" scripts/order.sh
  step "Host: tests" counted host cargo test --workspace --release --locked --no-fail-fast
fi

summary
if [[ $only != lint ]]; then
  cat "$logs"/* | awk '
    /^test result:/ { runners++; passed += $4; failed += $6; ignored += $8 }
    END { printf "\nAll checks passed: %d tests in %d runners, %d failed, %d ignored.\n", passed, runners, failed, ignored }'
else
  say "All checks passed."
fi
rm -rf "$logs"
