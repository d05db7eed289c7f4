"""The order's third step, in Python, beside the second: takes the money, to the cent."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from wedflow import Job, Retry, log, transition

FEE = Decimal("0.029")
CENT = Decimal("0.01")


@dataclass
class Order:
    card: str
    total: Decimal


@transition(writes={"payment": str, "fee": Decimal}, timeout=10)
def charge(order: Order, job: Job):
    """Charges the order's total to the card."""
    match order.card:
        case "declined":
            log.warn("the card is declined", total=order.total)
            return {"payment": "declined"}
        case "busy" if job.attempt == 1:
            # Nothing is committed; the trigger says when it is tried again.
            raise Retry("the bank does not answer")
    fee = (order.total * FEE).quantize(CENT, ROUND_HALF_EVEN)
    return {"payment": f"paid {order.total} by {order.card}", "fee": fee}
