// The order's fourth step, in JavaScript: sends the goods.

import { transition } from "@wedflow/guest";

/** Working days that a parcel takes. */
const DAYS = 2;

export const ship = transition(
  {
    description: "Sends the goods of an order",
    reads: { item: "text", quantity: "integer", reservation: "text" },
    writes: { shipment: "jsonb", arrives: "date" },
  },
  ({ item, quantity, reservation }, host) => {
    const day = host.now().toDate();
    for (let left = DAYS; left > 0; ) {
      day.setUTCDate(day.getUTCDate() + 1);
      if (day.getUTCDay() % 6) left--;
    }
    const arrives = day.toISOString().slice(0, 10);
    host.log.info("ships", { item, arrives });
    return { shipment: { from: reservation, parcels: Math.ceil(quantity / 10), contents: [{ item, quantity }] }, arrives };
  },
);
