/* The conformance guest in C; ../BEHAVIOURS.md says what each transition does. */
#include "wedflow.h"

#define SINGLES \
  {"a_text", "text"}, {"a_enum", "text"}, {"a_integer", "integer"}, {"a_bigint", "bigint"}, \
  {"a_numeric", "numeric"}, {"a_float", "float"}, {"a_boolean", "boolean"}, \
  {"a_timestamptz", "timestamptz"}, {"a_date", "date"}, {"a_interval", "interval"}, {"a_uuid", "uuid"}, \
  {"a_jsonb", "jsonb"}
#define ARRAYS \
  {"l_text", "text[]"}, {"l_enum", "text[]"}, {"l_integer", "integer[]"}, {"l_bigint", "bigint[]"}, \
  {"l_numeric", "numeric[]"}, {"l_float", "float[]"}, {"l_boolean", "boolean[]"}, \
  {"l_timestamptz", "timestamptz[]"}, {"l_date", "date[]"}, {"l_interval", "interval[]"}, \
  {"l_uuid", "uuid[]"}, {"l_jsonb", "jsonb[]"}

static const wed_attribute all[] = {SINGLES, ARRAYS};
enum { ALL = sizeof all / sizeof *all };

static void echo(wed_job *job) {
  for (size_t n = 0; n < ALL; n++) wed_set(job, all[n].name, *wed_get(job, all[n].name));
}

static void nulls(wed_job *job) {
  int32_t count = 0;
  for (size_t n = 0; n < ALL; n++) count += wed_is_null(job, all[n].name);
  wed_set_integer(job, "a_integer", count);
  wed_set_null(job, "a_text");
}

static void required(wed_job *job) { wed_set_text(job, "a_text", wed_text(job, "a_text")); }

static void unicode(wed_job *job) {
  wed_text_t text = wed_text(job, "a_text");
  int32_t points = 0;
  for (size_t n = 0; n < text.length; n++) points += (text.at[n] & 0xc0) != 0x80;
  wed_set_text(job, "a_text", wed_format("%t ✓ 𝄞", text));
  wed_set_integer(job, "a_integer", points);
}

static void large(wed_job *job) {
  int64_t bytes = 0;
  wed_set_null(job, "a_text");
  if (!wed_is_null(job, "a_text")) {
    wed_text_t text = wed_text(job, "a_text");
    bytes += (int64_t)text.length;
    if (text.length > 100000) text.length = 100000;
    wed_set_text(job, "a_text", text);
  }
  if (!wed_is_null(job, "l_text")) {
    wed_list list = wed_array(job, "l_text");
    for (size_t n = 0; n < list.length; n++)
      if (list.at[n].kind == WED_TEXT) bytes += (int64_t)list.at[n].text.length;
  }
  wed_set_bigint(job, "a_bigint", bytes);
}

static void names(wed_job *job) {
  wed_text_t text = wed_str("");
  for (size_t n = 0; n < job->attributes; n++)
    text = n ? wed_format("%t,%t", text, wed_name(job, n)) : wed_name(job, n);
  wed_set_text(job, "a_text", text);
}

static void about_the_job(wed_job *job) {
  wed_set_text(job, "a_text", wed_format("%t %d %t %t %u", job->flow, job->wid, job->trigger, job->transition,
                                         job->attempt));
  wed_set_timestamptz(job, "a_timestamptz", job->deadline);
}

static void assign(wed_job *job) {
  static const wed_scalar list[] = {
      {.kind = WED_INTEGER, .integer = 1}, {.kind = WED_NULL}, {.kind = WED_INTEGER, .integer = 3}};
  wed_set_integer(job, "a_integer", 7);
  wed_set_numeric(job, "a_numeric", wed_str("1.50"));
  wed_set_text(job, "a_text", wed_str("it's"));
  wed_set_array(job, "l_integer", list, 3);
}

static void clause(wed_job *job) { wed_clause(job, wed_str("a_text='done', a_integer=a_integer+1")); }

static void mixed(wed_job *job) {
  wed_set(job, "a_text", *wed_get(job, "a_text"));
  wed_set(job, "a_numeric", *wed_get(job, "a_numeric"));
  wed_set(job, "a_float", *wed_get(job, "a_float"));
  wed_set(job, "a_timestamptz", *wed_get(job, "a_timestamptz"));
  wed_set(job, "a_date", *wed_get(job, "a_date"));
  wed_set_sql(job, "a_integer", "a_integer + 1");
}

static void not_yet(wed_job *job) { wed_abort(job, wed_str("not yet")); }
static void in_a_minute(wed_job *job) { wed_abort_after(job, 90500000, wed_str("in a minute")); }
static void no_stock(wed_job *job) { wed_retry(job, wed_str("no stock")); }
static void no_customer(wed_job *job) { wed_fail(job, wed_str("no such customer")); }

__attribute__((noinline)) static int pick(const int *list, int length, int index) {
  if (index >= length) wed_panic(wed_format("index %d is not there", index));
  return list[index];
}

static void error(wed_job *job) {
  static const int list[] = {1, 2, 3};
  wed_set_integer(job, "a_integer", pick(list, 3, 7));
}

static void undeclared(wed_job *job) { wed_set_text(job, "a_text", wed_str("x")); }
static void wrong_type(wed_job *job) { wed_set_text(job, "a_integer", wed_str("x")); }
static void out_of_range(wed_job *job) { wed_set_integer(job, "a_integer", 2147483648); }

static void loop(wed_job *job) {
  volatile int on = 1;
  while (on) {}
  wed_abort(job, wed_str(""));
}

__attribute__((noinline)) static int deeper(volatile int *n) {
  volatile int here = *n + 1;
  return deeper(&here) + here;
}
static void recursion(wed_job *job) {
  volatile int n = 0;
  wed_set_integer(job, "a_integer", deeper(&n));
}

static void memory(wed_job *job) {
  for (;;) {
    volatile char *block = wed_alloc(1 << 20);
    for (size_t n = 0; n < 1 << 20; n += 512) block[n] = 1;
    if (!block) break;
  }
  wed_abort(job, wed_str(""));
}

static void log_lines(wed_job *job) {
  wed_log(WED_DEBUG, wed_str("d"));
  wed_log(WED_INFO, wed_str("i"));
  wed_log(WED_WARN, wed_str("w"));
  wed_log(WED_ERROR, wed_str("e"));
  wed_field fields[] = {{wed_str("from"), wed_str("a")}, {wed_str("to"), wed_str("ü")}};
  wed_log_with(WED_INFO, wed_str("moved"), 2, fields);
  wed_abort(job, wed_str("logged"));
}

static void print(wed_job *job) { wed_abort(job, wed_str("printed")); }

static void nap(wed_job *job) {
  int64_t before = wed_now();
  wed_sleep(20000);
  wed_set_bigint(job, "a_bigint", wed_now() - before);
}

static void sleep_for_ever(wed_job *job) {
  wed_sleep(86400000000);
  wed_abort(job, wed_str(""));
}

static void now_random(wed_job *job) {
  wed_set_timestamptz(job, "a_timestamptz", wed_now());
  wed_set_bigint(job, "a_bigint", (int64_t)wed_random());
}

static void library(wed_job *job) {
  wed_set_text(job, "a_text", wed_format("%l %l", wed_now(), (int64_t)wed_random()));
}

static wed_text_t setting(const char *key) {
  wed_text_t value;
  return wed_config(key, &value) ? value : wed_str("-");
}
static wed_text_t secret_bytes(const char *name) {
  wed_text_t value;
  return wed_secret(name, &value) ? wed_format("%u", (uint32_t)value.length) : wed_str("-");
}
static void config_secret(wed_job *job) {
  wed_set_text(job, "a_text", wed_format("%t|%t|%t|%t", setting("region"), setting("absent"),
                                         secret_bytes("api_key"), secret_bytes("absent")));
}

static void fresh(wed_job *job) {
  static int32_t calls;
  wed_set_integer(job, "a_integer", ++calls);
}

static void clause_of_ten(wed_job *job) {
  wed_clause(job, wed_format("t1=%q, t2='done'", wed_text(job, "t1")));
}

static void manifest(wed_job *job) { wed_set_integer(job, "a_integer", (int64_t)wed_integer(job, "a_integer") + 1); }

#define INTEGER WED_ATTRIBUTES({"a_integer", "integer"})
#define TEXT WED_ATTRIBUTES({"a_text", "text"})

WED_COMPONENT("conformance",
  {.name = "echo", .run = echo, .reads = {all, ALL}, .writes = {all, ALL}},
  {.name = "nulls", .run = nulls, .reads = {all, ALL}, .writes = WED_ATTRIBUTES({"a_integer", "integer"}, {"a_text", "text"})},
  {.name = "required", .run = required, .reads = TEXT, .writes = TEXT},
  {.name = "unicode", .run = unicode, .reads = TEXT, .writes = WED_ATTRIBUTES({"a_text", "text"}, {"a_integer", "integer"})},
  {.name = "large", .run = large, .reads = WED_ATTRIBUTES({"a_text", "text"}, {"l_text", "text[]"}),
   .writes = WED_ATTRIBUTES({"a_bigint", "bigint"}, {"a_text", "text"})},
  {.name = "names", .run = names, .writes = TEXT},
  {.name = "job", .run = about_the_job, .reads = WED_NONE, .writes = WED_ATTRIBUTES({"a_text", "text"}, {"a_timestamptz", "timestamptz"})},
  {.name = "assign", .run = assign, .reads = WED_NONE,
   .writes = WED_ATTRIBUTES({"a_integer", "integer"}, {"a_numeric", "numeric"}, {"a_text", "text"}, {"l_integer", "integer[]"})},
  {.name = "clause", .run = clause, .reads = WED_NONE},
  {.name = "mixed", .run = mixed, .reads = WED_ATTRIBUTES({"a_text", "text"}, {"a_numeric", "numeric"},
     {"a_float", "float"}, {"a_timestamptz", "timestamptz"}, {"a_date", "date"}),
   .writes = WED_ATTRIBUTES({"a_text", "text"}, {"a_numeric", "numeric"}, {"a_float", "float"},
     {"a_timestamptz", "timestamptz"}, {"a_date", "date"}, {"a_integer", "integer"})},
  {.name = "abort", .run = not_yet, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "abort_after", .run = in_a_minute, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "fail", .run = no_stock, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "fail_for_good", .run = no_customer, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "error", .run = error, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "undeclared", .run = undeclared, .reads = WED_NONE, .writes = INTEGER},
  {.name = "wrong_type", .run = wrong_type, .reads = WED_NONE, .writes = INTEGER},
  {.name = "out_of_range", .run = out_of_range, .reads = WED_NONE, .writes = INTEGER},
  {.name = "loop", .run = loop, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "recursion", .run = recursion, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "memory", .run = memory, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "log", .run = log_lines, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "print", .run = print, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "sleep", .run = nap, .reads = WED_NONE, .writes = WED_ATTRIBUTES({"a_bigint", "bigint"})},
  {.name = "sleep_for_ever", .run = sleep_for_ever, .reads = WED_NONE, .writes = WED_NONE},
  {.name = "now_random", .run = now_random, .reads = WED_NONE, .writes = WED_ATTRIBUTES({"a_timestamptz", "timestamptz"}, {"a_bigint", "bigint"})},
  {.name = "library", .run = library, .reads = WED_NONE, .writes = TEXT},
  {.name = "config_secret", .run = config_secret, .reads = WED_NONE, .writes = TEXT},
  {.name = "fresh", .run = fresh, .reads = WED_NONE, .writes = INTEGER},
  {.name = "clause_of_ten", .run = clause_of_ten,
   .reads = WED_ATTRIBUTES({"t1", "text"}, {"t2", "text"}, {"t3", "text"}, {"t4", "text"}, {"t5", "text"},
                           {"t6", "text"}, {"t7", "text"}, {"t8", "text"}, {"t9", "text"}, {"t10", "text"})},
  {.name = "manifest", .run = manifest, .reads = INTEGER, .writes = INTEGER,
   .description = "Says all there is to say", .condition = "a_integer < 3", .timeout_ms = 1500,
   .fuel = 1000000000, .memory = 67108864});
