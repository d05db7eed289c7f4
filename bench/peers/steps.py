"""Three steps of work, one after the other, for COUNT pieces of work, as steps.mjs does it.

    python steps.py awa DATABASE_URL COUNT

Prints {"steps": n, "seconds": s}.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, replace

STEPS = 3


@dataclass(frozen=True)
class State:
    """State of a piece of work, as wide as the sample component's."""

    id: int
    step: int = 0
    note: str | None = None
    customer: str = "ann"
    product: str = "tea"
    quantity: int = 3
    price: str = "12.50"
    paid: bool = False
    city: str = "Paris"
    street: str = "Rue Monge 12"
    remark: str | None = None


def advance(state: State) -> State:
    """Does one step."""
    return replace(state, step=state.step + 1, note=f"step {state.step} of {state.id} for {state.customer}")


async def awa(url: str, count: int) -> float:
    from awa import AsyncClient

    client = AsyncClient(url, max_connections=10)
    await client.migrate()
    left, opened = count, asyncio.Event()

    @client.task(State, kind="step", queue="steps")
    async def step(job):
        nonlocal left
        state = advance(job.args)
        if state.step < STEPS:
            await client.insert(state, kind="step", queue="steps")
            return
        left -= 1
        if left == 0:
            opened.set()

    await client.start([("steps", 100)])
    begun = time.perf_counter()
    for at in range(0, count, 500):
        states = [State(id) for id in range(at, min(at + 500, count))]
        await client.enqueue_many_copy(states, kind="step", queue="steps")
    await opened.wait()
    seconds = time.perf_counter() - begun
    await client.shutdown()
    await client.close()
    return seconds


PEERS = {"awa": awa}


def main() -> None:
    if len(sys.argv) != 4 or sys.argv[1] not in PEERS or not sys.argv[3].isdecimal():
        sys.exit(f"usage: python steps.py {'|'.join(PEERS)} DATABASE_URL COUNT")
    peer, url, count = PEERS[sys.argv[1]], sys.argv[2], int(sys.argv[3])
    seconds = asyncio.run(peer(url, count))
    print(json.dumps({"steps": count * STEPS, "seconds": seconds}))


main()
