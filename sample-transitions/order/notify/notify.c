/* The order's last step, in C: tells the customer. */
#include "wedflow.h"

static void notify(wed_job *job) {
  wed_text_t customer = wed_text(job, "customer");
  wed_text_t item = wed_text(job, "item");
  if (wed_failed(job)) return;
  wed_text_t message = wed_format("%t, your %t is on its way", customer, item);
  wed_log(WED_INFO, message);
  wed_set_text(job, "message", message);
  wed_set_text(job, "status", wed_str("closed"));
}

WED_COMPONENT("order_notify",
  {.name = "notify", .description = "Tells the customer that the goods are on their way", .run = notify,
   .reads = WED_ATTRIBUTES({"customer", "text"}, {"item", "text"}),
   .writes = WED_ATTRIBUTES({"message", "text"}, {"status", "text"})});
