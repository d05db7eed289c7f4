"""Uses the client that was generated from the description: makes a flow, starts an instance, reads it back."""

import sys

from wedflow_client import AuthenticatedClient
from wedflow_client.api.flows import flows_apply, flows_get, flows_list
from wedflow_client.api.instances import instances_get, instances_list, instances_start
from wedflow_client.api.tokens import tokens_me
from wedflow_client.models import FlowDefinition, Problem, Start

address, token = sys.argv[1:]
client = AuthenticatedClient(base_url=address, token=token, raise_on_unexpected_status=True)

me = tokens_me.sync(client=client)
assert me.user == "ann", me

definition = FlowDefinition.from_dict(
    {
        "name": "made",
        "final": "n >= 3",
        "attribute": [{"name": "n", "type": "integer", "default": "0"}],
        "trigger": [{"name": "t", "when": "n < 3", "transition": "step", "attempts": 7}],
    }
)
applied = flows_apply.sync("made", client=client, body=definition)
assert applied.created, applied
assert [one.name for one in flows_list.sync(client=client).items] == ["made"]
flow = flows_get.sync("made", client=client)
assert flow.definition.to_dict()["trigger"][0]["attempts"] == 7, flow

started = instances_start.sync("made", client=client, body=Start.from_dict({"state": {"n": 1}}))
instance = instances_get.sync("made", started.wid, client=client)
assert instance.state.to_dict() == {"n": 1}, instance
assert [one.wid for one in instances_list.sync("made", client=client).items] == [started.wid]

missing = flows_get.sync("none", client=client)
assert isinstance(missing, Problem) and missing.code == "not_found", missing
