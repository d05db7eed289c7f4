#!/usr/bin/env bash
# Looks at the Helm chart of deploy/chart with Helm's linter and the schemas of Kubernetes. Builds Helm with Go where it
# is not here, and keeps it and the schemas for later; `chart-test.sh ready` is skipped where they are not here yet.
source "$(dirname "$0")/lib.sh"

version=v3.18.6
helm=$(command -v helm || echo "$tools/helm-$version/helm")
if [[ ${1:-} == ready && ! (-x $helm && -f $tools/chart/ready) ]]; then
  say "skipped: \`make chart-test\` fetches what it takes"
  exit
fi
if [[ ! -x $helm ]]; then
  go=$(command -v go || echo /usr/local/go/bin/go)
  [[ -x $go ]] || fail "neither helm nor Go is here: install one of them"
  say "Building Helm $version"
  GOBIN="$tools/helm-$version" "$go" install "helm.sh/helm/v3/cmd/helm@$version"
fi
python_tools chart kubernetes-validate==1.37.0
program=()
[[ ! -x $wed ]] || program=("$wed")
"$tools/chart/bin/python" scripts/chart-test.py "$helm" "${program[@]}"
