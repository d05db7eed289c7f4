from decimal import Decimal

from order_charge import charge
from wedflow import testing


def test_a_card_is_charged_and_the_fee_is_rounded_to_the_cent():
    answer = testing.call(charge, card="visa", total=Decimal("25.00"))
    assert answer.values == {"payment": "paid 25.00 by visa", "fee": Decimal("0.72")}


def test_a_declined_card_is_a_result_and_a_busy_bank_is_not():
    assert testing.call(charge, card="declined", total=Decimal(1)).values == {"payment": "declined"}
    assert testing.call(charge, card="busy", total=Decimal(1)).retry
