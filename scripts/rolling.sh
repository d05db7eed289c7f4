#!/usr/bin/env bash
# Replaces hosts of an earlier revision by this one's under load: `rolling.sh REVISION`. The earlier `wed` is built from
# source once and kept below ~/.cache/wedflow/earlier; WEDFLOW_EARLIER_WED names a program that is there already.
source "$(dirname "$0")/lib.sh"

(($# == 1)) || fail "usage: rolling.sh REVISION"
revision=$(git rev-parse --verify --quiet "$1^{commit}") || fail "$1 is no revision of this repository."

build_earlier() {
  local source
  source=$(mktemp -d)
  git worktree add --quiet --detach "$source" "$revision"
  trap 'git worktree remove --force "$source"' RETURN
  (cd "$source" && watched cargo build --release --locked --bin wed --target-dir "$source/target")
  mkdir -p "$(dirname "$earlier")"
  cp "$source/target/release/wed" "$earlier"
}

earlier="${WEDFLOW_EARLIER_WED:-${XDG_CACHE_HOME:-$HOME/.cache}/wedflow/earlier/$revision}"
[[ -x "$earlier" ]] || step "Building wed of ${revision:0:12}" build_earlier
scripts/build.sh samples
export WEDFLOW_EARLIER_WED="$earlier"
step "Replacing its hosts by this revision's under load" \
  cargo test --release --locked -p wedflow-tests --test acceptance -- recovery::rolling::earlier --ignored --nocapture
