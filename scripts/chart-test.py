#!/usr/bin/env python3
"""Looks at the Helm chart: its linter, what it renders from several values, against the schemas of Kubernetes, and what
it must say of hosts. Called by chart-test.sh, which brings Helm and the schemas.

    scripts/chart-test.py HELM [WED]
"""

import json
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import yaml

CHART = Path(__file__).resolve().parent.parent / "deploy/chart"
# The oldest version that the chart names, and the newest that there are schemas of.
VERSIONS = ["1.25", "1.37"]
BASE = {"database": {"existingSecret": "wedflow-database"}}
ALL = {
    **BASE,
    "replicas": 3,
    "secretKey": {"existingSecret": "wedflow-key"},
    "host": {"lanes": 2, "guestMemoryMiB": 512, "guests": "processes", "allowHttp": ["acme/api.example.com:443"],
             "trustProxy": ["10.0.0.0/8"], "filesClaim": "wedflow-files", "extraArguments": ["--in-flight", "500"]},
    "metrics": {"enabled": True, "serviceMonitor": {"enabled": True}},
    "tolerations": [{"key": "hosts", "operator": "Exists"}],
}
DIRECTORY = {"database": {"existingSecret": "wedflow-directory", "isDirectory": True},
             "host": {"clusters": ["one", "two"]}, "podDisruptionBudget": {"enabled": False}}


def run(*arguments, values, must=True):
    done = subprocess.run([HELM, *arguments, "--values", "-"], input=json.dumps(values), capture_output=True, text=True)
    if must and done.returncode:
        raise SystemExit(f"helm {' '.join(map(str, arguments))}: {done.stderr or done.stdout}")
    return done


def rendered(values):
    """Renders the chart for each version; returns what the newest one gets, by kind and name."""
    for version in VERSIONS:
        text = run("template", "main", CHART, "--kube-version", version, values=values).stdout
        documents = [document for document in yaml.safe_load_all(text) if document]
        for document in documents:
            # Prometheus's operator brings its own definitions.
            if document["kind"] != "ServiceMonitor":
                kubernetes_validate.validate(document, version, strict=True)
    return {(document["kind"], document["metadata"]["name"]): document for document in documents}


def check(is_so, text):
    if not is_so:
        raise SystemExit(f"the chart is wrong: {text}")


def check_pod(workload):
    spec = workload["spec"]["template"]["spec"]
    container = spec["containers"][0]
    own = container["securityContext"]
    check(spec["securityContext"]["runAsNonRoot"] and own["readOnlyRootFilesystem"], "pods run as root, or write to it")
    check(own["capabilities"]["drop"] == ["ALL"] and not own["allowPrivilegeEscalation"], "pods have capabilities")
    check(not spec["automountServiceAccountToken"], "pods have a token of the cluster")
    check("memory" in container["resources"]["limits"], "memory without a limit")
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    check(mounted == {volume["name"] for volume in spec["volumes"]}, "volumes")
    return spec, container


def check_host(deployment):
    spec, container = check_pod(deployment)
    check(container["readinessProbe"]["httpGet"]["path"] == "/health/ready", "readiness")
    check(container["livenessProbe"]["httpGet"]["path"] == "/health/live", "liveness")
    wanted = deployment["spec"]["selector"]["matchLabels"].items()
    check(wanted <= deployment["spec"]["template"]["metadata"]["labels"].items(), "the deployment's selector")
    drains = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    check(spec["terminationGracePeriodSeconds"] >= drains + 10, "hosts have no time to drain")
    return container


def secrets_of(container):
    return {one["name"]: one["valueFrom"].get("secretKeyRef") for one in container["env"]}


def main():
    run("lint", "--strict", CHART, values=BASE)
    plain = rendered(BASE)
    container = check_host(plain["Deployment", "main-wedflow"])
    address = {"name": "wedflow-database", "key": "DATABASE_URL"}
    check(secrets_of(container)["DATABASE_URL"] == address, "the database's address")
    check(secrets_of(container)["WEDFLOW_SECRET_KEY"]["name"] == "wedflow-database", "the key of secrets")
    check(("PodDisruptionBudget", "main-wedflow") in plain and len(plain) == 4, f"its parts: {list(plain)}")
    job = plain["Job", "main-wedflow-migrate"]
    check(job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade", "migrations before hosts")
    migrate = check_pod(job)[1]
    check(migrate["args"] == ["--json", "migrate"] and secrets_of(migrate)["DATABASE_URL"] == address, "migrations")

    whole = rendered(ALL)
    container = check_host(whole["Deployment", "main-wedflow"])
    check(all(isinstance(word, str) for word in container["args"]), "arguments are text")
    check(container["args"][-2:] == ["--in-flight", "500"], "further arguments")
    labels = whole["Service", "main-wedflow-metrics"]["metadata"]["labels"].items()
    wanted = whole["ServiceMonitor", "main-wedflow"]["spec"]["selector"]["matchLabels"].items()
    check(wanted <= labels, "the monitor finds its service")
    check(not wanted <= whole["Service", "main-wedflow"]["metadata"]["labels"].items(), "the monitor finds one service")

    placed = rendered(DIRECTORY)
    container = check_host(placed["Deployment", "main-wedflow"])
    check("WEDFLOW_DIRECTORY" in secrets_of(container), "the directory's address")
    check("WEDFLOW_DIRECTORY" in secrets_of(placed["Job", "main-wedflow-migrate"]["spec"]["template"]["spec"]
                                            ["containers"][0]), "the directory's address, of migrations")
    check("one,two" in container["args"], "clusters")

    for wrong in ({}, {**BASE, "host": {"guests": "elsewhere"}}, {**BASE, "host": {"lane": 2}}, {**BASE, "replica": 2},
                  {**BASE, "metrics": {"serviceMonitor": {"enabled": True}}}):
        check(run("template", "main", CHART, values=wrong, must=False).returncode, f"it takes {wrong}")
    if WED:
        options = [word for word in container["args"] + check_host(whole["Deployment", "main-wedflow"])["args"]
                   if word.startswith("--")]
        known = subprocess.run([WED, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        check(all(option in known for option in options), f"options that `wed serve` does not have: {options}")
    print("the chart is as it should be")


if __name__ == "__main__":
    HELM, WED = (sys.argv[1:] + [None])[:2]
    sys.exit(main())
